/* A portfolio that is to be recorded.
 *
 * In: plain data, all of it borrowed. Out: the text of a record that holds only this portfolio, or
 * the GPU's file with the portfolio merged in, in place of an earlier one for the same fixed
 * variables. The caller sees to it that predicted times are never recorded. */
#ifndef AUTOTUNE_RECORD_DRAFT_H
#define AUTOTUNE_RECORD_DRAFT_H

#include "base/error.h"
#include "device/arch.h"
#include "record/record.h"

/* The times on a problem. */
typedef struct draft_problem {
    record_values problem;
    int64_t baseline_ns;     /* of the script's default; 0: impossible */
    const int64_t *times_ns; /* one a configuration; 0: impossible */
} draft_problem;

typedef struct portfolio_draft {
    const char *pattern;
    const arch_limits *gpu;
    const record_portfolio *portfolio; /* its place is not read */
    size_t problem_count;
    const draft_problem *problems;
    const char *script_hash, *template_hash;
} portfolio_draft;

/* Text of a whole record; the caller frees it. AT_NO_MEMORY. */
at_status draft_format(const portfolio_draft *d, char **text, at_error *error);

/* Merges it into <results_dir>/<gpu>/<pattern>.json, whose path is written to `path`. Errors as
 * record_merge(). */
at_status draft_merge(const char *results_dir, const portfolio_draft *d, char *path,
                      size_t path_bytes, at_error *error);

#endif
