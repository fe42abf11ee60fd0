/* Terms evaluated for one set of inputs, numbers and texts included: by a program that has no Lua,
 * from a list of steps that can be kept in a file.
 *
 * A program has one step for each node of its terms, after those of its operands. Every step up to
 * the one that is wanted is done, also what `and`, `or` and a choice then leave out: what fails
 * there does no harm. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_SCALAR_H
#define AUTOTUNE_SCRIPT_EXPRESSION_SCALAR_H

#include "base/keymap.h"
#include "base/pack.h"
#include "script/expression/term.h"

typedef struct scalar {
    bool failed; /* Lua would raise an error; then there is no value */
    union {
        int64_t whole; /* of a truth, too: 0 or 1 */
        double number;
        const char *text;
    };
} scalar;

typedef struct scalar_step {
    int op;
    term_type type;
    uint32_t count, of[NODE_MOST_OPERANDS]; /* steps before it */
    uint32_t input;                         /* of a NODE_INPUT: its place among the inputs */
    scalar constant;                        /* of other leaves; its text is borrowed */
} scalar_step;

/* A zeroed one is empty. */
typedef struct scalar_program {
    size_t step_count;
    scalar_step *steps;
    keymap places; /* of nodes that have a step; while it is made */
} scalar_program;

/* The place of an input or a field of `device` among the inputs; false: there is none. */
typedef bool (*scalar_input)(void *context, const node *leaf, uint32_t *place);

/* Adds the steps of a term that are not there; `*step` is the one with its value. The nodes must
 * outlive the additions, and their texts the program. False when a node cannot be evaluated, or for
 * want of memory. */
bool scalar_add(scalar_program *p, const node *term, scalar_input input, void *context,
                uint32_t *step);
void scalar_deinit(scalar_program *p);

void scalar_put(pack *to, const scalar_program *p);
/* Reads and checks what scalar_put() wrote: nothing that a program read here does depends on the
 * bytes being right. `types` are those of the inputs. Texts are views of the pack's bytes. Anything
 * else sets from->failed. The caller calls scalar_deinit() in any case. */
void scalar_get(pack *from, const term_type *types, size_t input_count, scalar_program *out);

/* Does the steps from `first` to `last`; those before must have been done. `values` has room for
 * one of each step. */
void scalar_evaluate(const scalar_program *p, const scalar *inputs, size_t first, size_t last,
                     scalar *values);

#endif
