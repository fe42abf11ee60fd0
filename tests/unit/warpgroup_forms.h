/* Forms of the matrix products of warpgroups (wgmma), with operands placed according to the PTX ISA
 * ("canonical layouts", "register fragments"), and their expected results.
 *
 * The kernel of a form has 128 threads and WARPGROUP_IMAGE_BYTES of dynamic shared memory. Its
 * arguments are the addresses of the image, of the registers of a and of those of d, the
 * descriptors of a and of b (as if shared memory began at 0, which is not so on a GPU), whether d
 * is added, and the address of the metadata. The result replaces the registers of d. */
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
    const char *types; /* types of d, a and b in the opcode's spelling, with the following
                          modifiers */
    int n;
    int swizzle; /* swizzle in bytes; 16: no swizzle */
    bool a_in_registers;
    bool turned_a, turned_b;
    int scale_a, scale_b;
    bool keeps;
    int offset;  /* offset of a and b from the start of the swizzle's pattern, in bytes */
    int base;    /* base of that pattern, in rows of 128 bytes */
    bool sparse; /* a has half of its columns */
    int selector;
} warpgroup_form;

/* Ends in a form without types. */
extern const warpgroup_form warpgroup_forms[];

typedef struct warpgroup_data {
    uint8_t image[WARPGROUP_IMAGE_BYTES]; /* contents of shared memory */
    uint32_t a_registers[WARPGROUP_THREADS][4];
    uint32_t d_registers[WARPGROUP_THREADS][WARPGROUP_MOST_N / 2];
    uint32_t metadata[WARPGROUP_THREADS];
    uint8_t columns[WARPGROUP_ROWS][WARPGROUP_MOST_K]; /* column of each stored element of a */
    uint64_t at_a, at_b;                               /* descriptors */
    /* Bits of the elements. */
    uint32_t a[WARPGROUP_ROWS][WARPGROUP_MOST_K], b[WARPGROUP_MOST_N][WARPGROUP_MOST_K],
        c[WARPGROUP_ROWS][WARPGROUP_MOST_N];
} warpgroup_data;

void warpgroup_fill(const warpgroup_form *f, warpgroup_data *d);         /* always the same data */
void warpgroup_kernel(const warpgroup_form *f, char *text, size_t size); /* CUDA C++, "k" */

/* Returns the largest distance of an element of d from its expected value, divided by the sum of
 * the magnitudes of its terms; infinite if an integer is wrong. *row and *column are its
 * position. */
double warpgroup_distance(const warpgroup_form *f, const warpgroup_data *d, int *row, int *column);

/* Returns the largest allowed distance, for exact sums that are rounded once. */
double warpgroup_allowed(const warpgroup_form *f);

#endif
