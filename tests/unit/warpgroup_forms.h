/* Forms of the matrix products of warpgroups (wgmma), and their expected results. The PTX ISA says
 * where operands are placed ("canonical layouts", "register fragments").
 *
 * The kernel of a form has 128 threads and WARPGROUP_IMAGE_BYTES of dynamic shared memory. Its
 * arguments are the addresses of the image, of the registers of a and of the registers of d; the
 * descriptors of a and b, for shared memory that begins at 0; whether d is added; the address of
 * the metadata. On a GPU, shared memory begins at another address. The result replaces the
 * registers of d. */
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
    const char *types; /* types of d, a and b as in the opcode, followed by the modifiers */
    int n;
    int swizzle; /* bytes of the swizzle; 16 for no swizzle */
    bool a_in_registers;
    bool turned_a, turned_b;
    int scale_a, scale_b;
    bool keeps;
    int offset;  /* bytes from the start of the swizzle's pattern to the operand */
    int base;    /* start of the swizzle's pattern, in rows of 128 bytes */
    bool sparse; /* whether only half of the columns of a are stored */
    int selector;
} warpgroup_form;

/* The last form has no types. */
extern const warpgroup_form warpgroup_forms[];

typedef struct warpgroup_data {
    uint8_t image[WARPGROUP_IMAGE_BYTES]; /* contents of shared memory */
    uint32_t a_registers[WARPGROUP_THREADS][4];
    uint32_t d_registers[WARPGROUP_THREADS][WARPGROUP_MOST_N / 2];
    uint32_t metadata[WARPGROUP_THREADS];
    uint8_t columns[WARPGROUP_ROWS][WARPGROUP_MOST_K]; /* column of each stored element of a */
    uint64_t at_a, at_b;                               /* descriptors */
    /* bits of the elements */
    uint32_t a[WARPGROUP_ROWS][WARPGROUP_MOST_K], b[WARPGROUP_MOST_N][WARPGROUP_MOST_K],
        c[WARPGROUP_ROWS][WARPGROUP_MOST_N];
} warpgroup_data;

void warpgroup_fill(const warpgroup_form *f, warpgroup_data *d);         /* always the same data */
void warpgroup_kernel(const warpgroup_form *f, char *text, size_t size); /* CUDA C++; kernel "k" */

/* Returns the largest distance between an element of d and its expected value, or infinity if an
 * integer is wrong. The distance is relative to the sum of the magnitudes of the element's
 * terms. *row and *column get the position of the element. */
double warpgroup_distance(const warpgroup_form *f, const warpgroup_data *d, int *row, int *column);

/* Returns the largest allowed distance. */
double warpgroup_allowed(const warpgroup_form *f);

#endif
