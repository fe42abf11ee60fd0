/* Recorded entries in commands: which ones are meant, and what they are called. */
#ifndef AUTOTUNE_CMD_RESULTS_ENTRY_H
#define AUTOTUNE_CMD_RESULTS_ENTRY_H

#include <jansson.h>

#include "cmd/line/options.h"
#include "record/record.h"

/* Does the record match the patterns among the operands after the first (none: all), and --gpu? */
bool results_wants(const options *o, const record *r);

/* Does the entry match the values of --set? */
bool results_wants_entry(const options *o, const record_entry *e);

/* Writes "rows=8192,cols=8192 (warm)". */
void results_problem(const record_entry *e, char *text, size_t size_bytes);

/* Packs the records that `o` asks for, or all if `o` is NULL, as lua/lib/entries.lua takes them: a
 * new reference. */
json_t *results_pack(const options *o, const record_set *set);

/* Puts the question that the entry answers: "problem", "cache" and "objective". */
void results_put_question(json_t **object, const record_entry *e);

#endif
