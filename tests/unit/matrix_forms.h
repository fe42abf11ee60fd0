/* Forms of the matrix products of a warp (mma), and their expected results. The PTX ISA gives the
 * positions of fragments and of metadata.
 *
 * The kernel of a form has 32 threads. Its arguments are the addresses of a, b, c, d and the
 * indices of sparse rows. Matrices are stored row by row, with 64 bits for each element. An index
 * is a byte. */
#ifndef AUTOTUNE_MATRIX_FORMS_H
#define AUTOTUNE_MATRIX_FORMS_H

#include <stddef.h>
#include <stdint.h>

enum { MATRIX_MOST = 4096, MATRIX_THREADS = 32 };

typedef struct matrix_form { /* in its expressions, g = lane / 4, t = lane % 4, i = element */
    const char *opcode;
    int m, n, k;
    const char *a_row, *a_column, *b_row, *c_row, *c_column;
    const char *types[4]; /* element types of d, a, b, c */
    const char *sparse;   /* ".sp" or similar if half of a's columns are stored, else NULL */
    int indices;          /* number of indices of a sparse row */
    const char *index_row, *index_number, *index_lanes;
    int selector;
    int products;         /* products at once, whose rows follow each other; 0 stands for 1 */
    const char *b_column; /* NULL stands for "g" */
} matrix_form;

/* The last form has no opcode. */
extern const matrix_form matrix_forms[];

typedef struct matrix_data { /* bits of the elements */
    uint64_t a[MATRIX_MOST], b[MATRIX_MOST], c[MATRIX_MOST], d[MATRIX_MOST];
    uint8_t indices[MATRIX_MOST];
} matrix_data;

void matrix_fill(const matrix_form *f, uint64_t *random, matrix_data *d);
void matrix_kernel(const matrix_form *f, char *text, size_t size); /* CUDA C++ of the kernel "k" */

/* Returns the largest distance between an element of d and its expected value, or infinity if an
 * integer is wrong. The distance is relative to the sum of the magnitudes of the element's
 * terms. *row and *column get the position of the element. */
double matrix_distance(const matrix_form *f, const matrix_data *d, int *row, int *column);

/* Returns the largest allowed distance. Sums are exact and rounded once. */
double matrix_allowed(const matrix_form *f);

#endif
