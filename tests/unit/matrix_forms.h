/* Products of matrices by a warp (mma): forms of them, with the fragments' places and those of the
 * metadata of sparse rows as the PTX ISA's tables and figures have them, and what comes out by rows
 * and columns.
 *
 * A form's kernel, of 32 threads, takes the addresses of a, b, c and d, by rows, an element a word
 * of 64 bits, and of the indices of sparse rows, a byte each. */
#ifndef AUTOTUNE_MATRIX_FORMS_H
#define AUTOTUNE_MATRIX_FORMS_H

#include <stddef.h>
#include <stdint.h>

enum { MATRIX_MOST = 4096, MATRIX_THREADS = 32 };

typedef struct matrix_form { /* rows and columns of element i, by lane / 4 = g and lane % 4 = t */
    const char *opcode;
    int m, n, k;
    const char *a_row, *a_column, *b_row, *c_row, *c_column;
    const char *types[4]; /* of d, a, b, c */
    const char *sparse; /* ".sp" and the like; a has half of its columns then. NULL: it is dense */
    int indices;        /* of a sparse row */
    const char *index_row, *index_number, *index_lanes;
    int selector;
    int products;         /* at once, rows of one after those of another; 0: it is one, */
    const char *b_column; /* NULL: g */
} matrix_form;

/* The list ends in a form without opcode. */
extern const matrix_form matrix_forms[];

typedef struct matrix_data { /* bits of the elements */
    uint64_t a[MATRIX_MOST], b[MATRIX_MOST], c[MATRIX_MOST], d[MATRIX_MOST];
    uint8_t indices[MATRIX_MOST];
} matrix_data;

void matrix_fill(const matrix_form *f, uint64_t *random, matrix_data *d);
void matrix_kernel(const matrix_form *f, char *text, size_t size); /* CUDA C++, "k" */

/* The largest distance of an element of d from what it is to be, over the sum of the sizes of what
 * it is a sum of; infinite where an integer is another. *row and *column: of that element. */
double matrix_distance(const matrix_form *f, const matrix_data *d, int *row, int *column);

/* How large that may be where sums are exact and rounded once. */
double matrix_allowed(const matrix_form *f);

#endif
