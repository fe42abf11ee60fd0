/* Forms of the matrix products of a warp (mma), and their expected results. The PTX ISA gives the
 * positions of fragments and of the metadata of sparse rows.
 *
 * The kernel of a form has 32 threads. Its arguments are the addresses of a, b, c, d and the
 * indices of sparse rows. Matrices are stored row by row, with 64 bits per element; an index is a
 * byte. */
#ifndef AUTOTUNE_MATRIX_FORMS_H
#define AUTOTUNE_MATRIX_FORMS_H

#include <stddef.h>
#include <stdint.h>

enum { MATRIX_MOST = 4096, MATRIX_THREADS = 32 };

typedef struct matrix_form { /* in its expressions, g = lane / 4, t = lane % 4, i = element */
    const char *opcode;
    int m, n, k;
    const char *a_row, *a_column, *b_row, *c_row, *c_column;
    const char *types[4]; /* types of d, a, b, c */
    const char *sparse;   /* ".sp" or similar if a has half of its columns; NULL if a is dense */
    int indices;          /* number of indices of a sparse row */
    const char *index_row, *index_number, *index_lanes;
    int selector;
    int products;         /* products at once, whose rows follow each other; 0 means 1 */
    const char *b_column; /* NULL means "g" */
} matrix_form;

/* The last form has no opcode. */
extern const matrix_form matrix_forms[];

typedef struct matrix_data { /* bits of the elements */
    uint64_t a[MATRIX_MOST], b[MATRIX_MOST], c[MATRIX_MOST], d[MATRIX_MOST];
    uint8_t indices[MATRIX_MOST];
} matrix_data;

void matrix_fill(const matrix_form *f, uint64_t *random, matrix_data *d);
void matrix_kernel(const matrix_form *f, char *text, size_t size); /* CUDA C++; the kernel is "k" */

/* Returns the largest distance of an element of d from its expected value, relative to the sum of
 * the magnitudes of its terms, or infinity if an integer is wrong. *row and *column get the
 * element's position. */
double matrix_distance(const matrix_form *f, const matrix_data *d, int *row, int *column);

/* Returns the largest allowed distance for sums that are exact and rounded once. */
double matrix_allowed(const matrix_form *f);

#endif
