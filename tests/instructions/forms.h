/* Every form of the arithmetic instructions of PTX that a GPU of compute capability 9.0 has, as
 * data: which opcode, of which operands, and how to try it. PTX ISA 8.3, chapter "Instruction Set".
 *
 * Operands are described by a letter each, the result first: "r:rs" takes a 32-bit integer and a
 * position and gives a 32-bit integer. Values lie in 64-bit words, those of fewer bits
 * zero-extended. */
#ifndef AUTOTUNE_TESTS_FORMS_H
#define AUTOTUNE_TESTS_FORMS_H

#include <stddef.h>
#include <stdint.h>

/* h: 16 bits of integer, H: f16, B: bf16                          in a register of 16 bits
 * r: 32 bits of integer, s: a position or distance, f: f32, F: f16x2, G: bf16x2      of 32 bits
 * x: 64 bits of integer, g: f64                                   of 64 bits
 * p: a predicate, 0 or 1 */
#define FORM_KINDS "hHBrsfFGxgp"

enum { FORM_SOURCES = 4, FORM_NAME_BYTES = 64, FORM_BODY_BYTES = 512, FORM_KERNEL_BYTES = 4096 };

typedef struct form {
    char
        name[FORM_NAME_BYTES]; /* the opcode, and words where one opcode is tried in several ways */
    char body[FORM_BODY_BYTES]; /* PTX with $d for the result and $a, $b, $c, $e for the sources; $m
                                   for the address of 8 bytes of global memory, $s of shared
                                   memory */
    char result;                /* kinds */
    char sources[FORM_SOURCES + 1];
} form;

/* All forms; `*out` is freed by the caller. Aborts without memory. */
size_t forms_list(form **out);

/* Bytes of a register for a kind: 2, 4, 8; 0 for a predicate. */
unsigned form_kind_bytes(char kind);

/* What stands before the kernels of a PTX module. */
extern const char form_module_header[];

/* Writes the form's body with the registers' names given for its result and its sources. */
void form_body(const form *f, const char *result, const char *const sources[FORM_SOURCES],
               char *text, size_t size);

/* Writes a kernel called `entry` with the parameters (in, out, n): thread i < n reads source s from
 * the word in[s * n + i] and writes the result to out[i]; out[n + i] is its $m. */
void form_kernel(const form *f, const char *entry, char *text, size_t size);

/* The sources of the i-th of `n` tries: all pairs of edge values first, then random values of
 * several distributions. The same for the same seed. */
void form_operands(const form *f, size_t i, uint64_t seed, uint64_t sources[FORM_SOURCES]);

/* The next random number, and a random value of a kind. */
uint64_t form_random(uint64_t *state);
uint64_t form_random_value(char kind, uint64_t *state);

#endif
