/* What the user sees at the end of a run: tables for people, one JSON object for programs.
 *
 * In: the summary of a run. Out: text on a stream. All times of a table are in one unit. Parameters
 * that differ among the rows shown are columns; the others are printed once. Colours are the
 * caller's choice. AT_IO when the stream does not take the text. */
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

/* The final report: the top variants, the baseline, the speed-up with its confidence, the number of
 * variants by outcome, the time by stage, the record, warnings. For a run that only compiled:
 * resources and occupancy of its variants, highest occupancy first. */
at_status report_print(const run_summary *s, const report_options *options, FILE *to,
                       at_error *error);

/* The same as one JSON object and a newline; `top` limits "results". Its members are documented in
 * report/json.c. */
at_status report_print_json(const run_summary *s, size_t top, FILE *to, at_error *error);

#endif
