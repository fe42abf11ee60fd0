/* Recorded entries in commands: which are meant, and how they are named. */
#ifndef AUTOTUNE_CMD_RESULTS_ENTRY_H
#define AUTOTUNE_CMD_RESULTS_ENTRY_H

#include <jansson.h>

#include "cmd/line/options.h"
#include "record/record.h"

/* Is the record of a pattern that the operands after the first name (none: all), and of --gpu? */
bool results_wants(const options *o, const record *r);

/* Has the entry the values of --set? */
bool results_wants_entry(const options *o, const record_entry *e);

/* "rows=8192,cols=8192 (warm)", cut with "..." at `width` characters; 0: as it fits. */
void results_problem(const record_entry *e, char *text, size_t size_bytes, size_t width);

/* The entry as the file has it; borrowed. */
const json_t *results_json(const record *r, const record_entry *e);

/* Puts what it is the answer to: "problem", "cache" and "objective". */
void results_put_question(json_t **object, const record_entry *e);

#endif
