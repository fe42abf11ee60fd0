/* What the user sees at the end of a run: tables for people, one JSON object for programs.
 *
 * In: the summary of a run. Out: text on a stream. Times stand in one unit a table, so that they
 * can be compared by eye; the parameters that differ among the rows shown are columns, those that
 * do not are said once. Nothing is coloured unless the caller says that a terminal wants it.
 * AT_IO when the stream does not take the text. */
#ifndef AUTOTUNE_REPORT_REPORT_H
#define AUTOTUNE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "record/summary.h"

typedef struct report_options {
    size_t top; /* rows of the table */
    bool colour;
    size_t columns; /* of the page, at least 40; 0: 100 */
} report_options;

/* The final table: the top variants, the baseline, the speed-up and how sure it is, how many
 * variants ended how, where the time went, the record, warnings. For a run that only compiled, the
 * resources and occupancy of its variants instead, highest occupancy first. */
at_status report_print(const run_summary *s, const report_options *options, FILE *to,
                       at_error *error);

/* The same as one JSON object and a newline; `top` limits "results". Its members are documented in
 * report/json.c. */
at_status report_print_json(const run_summary *s, size_t top, FILE *to, at_error *error);

#endif
