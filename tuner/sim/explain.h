/* Explains what one variant does, line by line: counters of a simulated run summed by source line,
 * and a verdict in words.
 *
 * In: the emitted source and what an estimate found (sim/estimate.h). Out: one row for each source
 * line that touches memory, with loads, stores and atomics apart, and sentences about what is
 * wasted, where, and what limits. */
#ifndef AUTOTUNE_SIM_EXPLAIN_H
#define AUTOTUNE_SIM_EXPLAIN_H

#include "sim/estimate.h"

enum { EXPLAIN_SENTENCES = 24, EXPLAIN_SENTENCE_BYTES = 512 };

typedef enum explain_kind {
    EXPLAIN_LOAD, /* asynchronous copies too */
    EXPLAIN_STORE,
    EXPLAIN_ATOMIC,
    EXPLAIN_KIND_COUNT
} explain_kind;

typedef struct explain_line {
    ptx_text
        file; /* that the source includes; a view of the kernel's PTX; empty: the source itself */
    int line; /* of the file; 0: code of the toolkit's headers */
    sim_counter kinds[EXPLAIN_KIND_COUNT]; /* global, shared and constant memory */
    sim_counter local;
} explain_line;

/* How messages name the lines of the source. */
typedef struct explain_source {
    const char *name;          /* under which it was compiled */
    const char *const *places; /* "file:line" of line i + 1, or NULL; may itself be NULL */
    size_t place_count;
    const char *listed; /* file after whose lines the listing is numbered; NULL: the source */
} explain_source;

typedef struct explanation {
    explain_line *lines; /* owned; ascending, those of the source before each of the files */
    size_t line_count;
    double scale; /* blocks of the launch over blocks run: 1 when all ran */
    char sentences[EXPLAIN_SENTENCES][EXPLAIN_SENTENCE_BYTES];
    size_t sentence_count;
    size_t of_lines; /* of these, the first ones, which are about lines: the others are about the
                        prediction */
} explanation;

/* Is it a line of the source, or code of headers, and not of a file that the source includes? */
static inline bool explain_line_is_own(const explain_line *l)
{
    return l->file.length == 0;
}

/* Sums and judges. A kernel that faulted has no lines, and its fault is the only sentence.
 * The caller frees *out's lines with explanation_deinit. */
void explain_variant(const sim_estimated *s, const sim_chip *chip, const explain_source *source,
                     explanation *out);
void explanation_deinit(explanation *e);

const char *explain_kind_name(explain_kind kind); /* "load" ... */

#endif
