/* Explains the performance of a variant from its emitted source and an estimate (sim/estimate.h).
 * The explanation has one row for each source line that accesses memory (loads, stores and atomics
 * apart), and sentences about wasted accesses and the bottleneck. */
#ifndef AUTOTUNE_SIM_EXPLAIN_H
#define AUTOTUNE_SIM_EXPLAIN_H

#include "sim/estimate.h"

enum { EXPLAIN_SENTENCES = 24, EXPLAIN_SENTENCE_BYTES = 512 };

typedef enum explain_kind {
    EXPLAIN_LOAD, /* loads and asynchronous copies */
    EXPLAIN_STORE,
    EXPLAIN_ATOMIC,
    EXPLAIN_KIND_COUNT
} explain_kind;

typedef struct explain_line {
    ptx_text file; /* included file, a view of the kernel's PTX; empty for the source itself */
    int line;      /* line number in the file; 0 for code of the CUDA Toolkit's headers */
    sim_counter kinds[EXPLAIN_KIND_COUNT]; /* accesses to global, shared and constant memory */
    sim_counter local;                     /* accesses to local memory */
} explain_line;

/* How sentences name the lines of the source. */
typedef struct explain_source {
    const char *name;          /* file name under which the source was compiled */
    const char *const *places; /* for each line: "file:line", or NULL; the array may be NULL */
    size_t place_count;
    const char *listed; /* file whose line numbers the listing shows; NULL for the source's */
} explain_source;

typedef struct explanation {
    explain_line *lines; /* ascending, lines of the source before lines of other files; owned */
    size_t line_count;
    double scale; /* number of blocks of the launch, divided by the number of blocks that ran */
    char sentences[EXPLAIN_SENTENCES][EXPLAIN_SENTENCE_BYTES];
    size_t sentence_count;
    size_t of_lines; /* number of sentences about lines, which come first */
} explanation;

/* Returns whether a line belongs to the source or a header of the Toolkit, not an included file. */
static inline bool explain_line_is_own(const explain_line *l)
{
    return l->file.length == 0;
}

/* Sums the counters by line and writes the sentences. If the kernel faulted, there are no lines and
 * the fault is the only sentence. The caller frees the result with explanation_deinit(). */
void explain_variant(const sim_estimated *s, const sim_chip *chip, const explain_source *source,
                     explanation *out);
void explanation_deinit(explanation *e);

/* Returns "load", "store" or "atomic". */
const char *explain_kind_name(explain_kind kind);

#endif
