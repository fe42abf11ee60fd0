/* All forms of the arithmetic PTX instructions of compute capability 9.0, as data: opcode,
 * operands, and the code of a test (PTX ISA 8.3, chapter "Instruction Set").
 *
 * A letter describes each operand, result first: "r:rs" takes a 32-bit integer and a position and
 * returns a 32-bit integer. A value is stored in a 64-bit word, with zeros in its high bits. */
#ifndef AUTOTUNE_TESTS_FORMS_H
#define AUTOTUNE_TESTS_FORMS_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of operands: h integer, H f16, B bf16 (16 bits); r integer, s position or distance, f f32,
 * F f16x2, G bf16x2 (32 bits); x integer, g f64 (64 bits); p predicate, 0 or 1. */
#define FORM_KINDS "hHBrsfFGxgp"

enum { FORM_SOURCES = 4, FORM_NAME_BYTES = 64, FORM_BODY_BYTES = 512, FORM_KERNEL_BYTES = 4096 };

typedef struct form {
    char name[FORM_NAME_BYTES]; /* opcode, and more words if the opcode has several tests */
    char body[FORM_BODY_BYTES]; /* PTX. $d is the result, $a, $b, $c, $e are the sources, $m is the
                                   address of 8 bytes of global memory, $s of shared memory */
    char result;                /* a kind */
    char sources[FORM_SOURCES + 1]; /* kinds */
} form;

/* Lists all forms in *out, which the caller frees. Returns their number. Aborts if memory runs
 * out. */
size_t forms_list(form **out);

/* Returns the bytes of a register of a kind: 2, 4 or 8, or 0 for a predicate. */
unsigned form_kind_bytes(char kind);

/* The text of a PTX module before its kernels. */
extern const char form_module_header[];

/* Writes the body of a form, with these names of the registers of its result and sources. */
void form_body(const form *f, const char *result, const char *const sources[FORM_SOURCES],
               char *text, size_t size);

/* Writes a kernel `entry` with the parameters (in, out, n). Thread i < n reads source s from the
 * word in[s * n + i] and writes the result to out[i]. out[n + i] is its $m. */
void form_kernel(const form *f, const char *entry, char *text, size_t size);

/* Generates the sources of test `i`. First come all pairs of edge values, then random values of
 * several distributions. Equal seeds give equal sources. */
void form_operands(const form *f, size_t i, uint64_t seed, uint64_t sources[FORM_SOURCES]);

/* Return the next random number, and a random value of a kind. */
uint64_t form_random(uint64_t *state);
uint64_t form_random_value(char kind, uint64_t *state);

#endif
