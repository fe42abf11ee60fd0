/* Products of matrices by warpgroups (wgmma): forms of them, with operands placed as the PTX ISA
 * has them ("canonical layouts", "register fragments"), and what comes out by rows and columns.
 *
 * A form's kernel, of 128 threads and WARPGROUP_IMAGE_BYTES of dynamic shared memory, takes the
 * addresses of the image, of the registers of a and of those of d, the descriptors of a and of b
 * (as if shared memory began at 0: it does not on a GPU), whether d is added and the address of the
 * metadata. The registers of d are replaced by the result. */
#ifndef AUTOTUNE_WARPGROUP_FORMS_H
#define AUTOTUNE_WARPGROUP_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WARPGROUP_ROWS = 64,
    WARPGROUP_MOST_N = 256,
    WARPGROUP_MOST_K = 256,
    WARPGROUP_THREADS = 128,
    WARPGROUP_IMAGE_BYTES = 64 << 10
};

typedef struct warpgroup_form {
    const char *types; /* of d, a and b, as the opcode has them, with what comes after */
    int n;
    int swizzle; /* bytes: 16 is none */
    bool a_in_registers;
    bool turned_a, turned_b;
    int scale_a, scale_b;
    bool keeps;
    int offset;  /* of a and b from where the swizzle's pattern begins, in bytes */
    int base;    /* of that pattern, in rows of 128 bytes */
    bool sparse; /* a has half of its columns */
    int selector;
} warpgroup_form;

/* The list ends in a form without types. */
extern const warpgroup_form warpgroup_forms[];

typedef struct warpgroup_data {
    uint8_t image[WARPGROUP_IMAGE_BYTES]; /* of shared memory */
    uint32_t a_registers[WARPGROUP_THREADS][4];
    uint32_t d_registers[WARPGROUP_THREADS][WARPGROUP_MOST_N / 2];
    uint32_t metadata[WARPGROUP_THREADS];
    uint8_t columns[WARPGROUP_ROWS][WARPGROUP_MOST_K]; /* of each element of a */
    uint64_t at_a, at_b;                               /* descriptors */
    /* Bits of the elements. */
    uint32_t a[WARPGROUP_ROWS][WARPGROUP_MOST_K], b[WARPGROUP_MOST_N][WARPGROUP_MOST_K],
        c[WARPGROUP_ROWS][WARPGROUP_MOST_N];
} warpgroup_data;

void warpgroup_fill(const warpgroup_form *f, warpgroup_data *d);         /* always the same */
void warpgroup_kernel(const warpgroup_form *f, char *text, size_t size); /* CUDA C++, "k" */

/* The largest distance of an element of d from what it is to be, over the sum of the sizes of what
 * it is a sum of; infinite where an integer is another. *row and *column: of that element. */
double warpgroup_distance(const warpgroup_form *f, const warpgroup_data *d, int *row, int *column);

/* How large that may be where sums are exact and rounded once. */
double warpgroup_allowed(const warpgroup_form *f);

#endif
