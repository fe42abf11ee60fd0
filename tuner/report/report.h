/* The findings of a run as JSON: what --json prints, and what the text that people see needs beside
 * it (templates/pages/tune.tmpl).
 *
 * In: the summary of a run. Out: new references; NULL when memory ran out, or where a name is not
 * UTF-8. */
#ifndef AUTOTUNE_REPORT_REPORT_H
#define AUTOTUNE_REPORT_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "record/summary.h"

/* The object that --json prints; `top` limits "results". Its members are documented in
 * report/json.c. */
json_t *report_pack(const run_summary *s, size_t top);

/* The values that text needs beside it, documented in report/words.c: the `top` rows of its table,
 * the baseline below them when it is not among them. */
json_t *report_pack_words(const run_summary *s, size_t top);

#endif
