/* The table of variants in a report: the best of a measured run, or the resources of a compiled
 * one.
 *
 * Parameters that differ among the rows are columns if the page is wide enough, else lines below
 * each row, as are the resources on an even narrower page; the others are printed once below the
 * table. AT_NO_MEMORY is the only failure. */
#ifndef AUTOTUNE_REPORT_PAGE_H
#define AUTOTUNE_REPORT_PAGE_H

#include <stdio.h>

#include "base/error.h"
#include "record/summary.h"
#include "report/report.h"

/* The options->top fastest, and the baseline below them when it is not among them. */
at_status report_page_measured(const run_summary *s, const report_options *options, FILE *to,
                               at_error *error);

/* The options->top (0: all) by occupancy, then spills, then registers; and the range of them
 * all. */
at_status report_page_compiled(const run_summary *s, const report_options *options, FILE *to,
                               at_error *error);

#endif
