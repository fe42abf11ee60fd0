/* What one variant does, line by line: counters of a simulated run summed by source line, and a
 * verdict in words.
 *
 * In: the emitted source and what an estimate found (sim/estimate.h). Out: one row for each source
 * line that touches memory, and sentences about what is wasted, where, and what limits. */
#ifndef AUTOTUNE_SIM_EXPLAIN_H
#define AUTOTUNE_SIM_EXPLAIN_H

#include "sim/estimate.h"

enum { EXPLAIN_SENTENCES = 24, EXPLAIN_SENTENCE_BYTES = 320 };

typedef struct explain_access { /* which kinds there are */
    bool loads, stores, atomics;
} explain_access;

typedef struct explain_line {
    int line;             /* of the source; 0: code without a line, or from a header */
    sim_counter global;   /* loads, stores, atomics and asynchronous copies */
    sim_counter shared;
    sim_counter local;
    explain_access global_access, shared_access;
} explain_line;

typedef struct explanation {
    explain_line *lines;  /* owned; ascending */
    size_t line_count;
    double scale;         /* blocks of the launch over blocks run: 1 when all ran */
    char sentences[EXPLAIN_SENTENCES][EXPLAIN_SENTENCE_BYTES];
    size_t sentence_count;
} explanation;

/* Sums and judges. AT_NO_MEMORY. The caller frees *out's lines with explanation_deinit. */
at_status explain_variant(const sim_estimated *s, const sim_chip *chip, explanation *out,
                          at_error *error);
void explanation_deinit(explanation *e);

/* Bytes asked for over bytes moved by sectors: 1 is best; 1 also where nothing moved. */
double explain_sector_efficiency(const sim_counter *c);

#endif
