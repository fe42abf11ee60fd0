/* The records that a command works on, and how their entries are selected and named. */
#ifndef AUTOTUNE_CMD_LINE_KNOWN_H
#define AUTOTUNE_CMD_LINE_KNOWN_H

#include <jansson.h>

#include "cmd/line/options.h"
#include "record/folders.h"
#include "record/record.h"

/* Returns whether `asked` names the GPU: by its name, the name of its folder, or whole words of the
 * folder's name ("h100" for nvidia-h100-80gb-hbm3). *exactly is false if words are missing. */
bool known_gpu(const char *gpu, const char *asked, bool *exactly);

/* Lists the folders of records: the folder of --results or, without it, all known folders. */
void known_folders(const options *o, record_folders *out);

/* Reads the records of a pattern from these folders, or all records if `pattern_name` is NULL.
 * Unreadable records are reported on stderr. With `may_be_none` a missing folder is no error. Other
 * errors are those of record_search(). */
at_status known_records(const options *o, const char *pattern_name, bool may_be_none,
                        record_set *out, at_error *error);

/* Returns whether the record matches --gpu and the patterns among the operands after the first. */
bool known_wants(const options *o, const record *r);

/* Returns whether the entry's problem has the values of --set. */
bool known_wants_entry(const options *o, const record_entry *e);

/* Fails if no problem of the wanted records has a variable of --set. AT_USAGE. */
at_status known_check_set(const options *o, const record_set *set, at_error *error);

/* Writes what the entry was measured for, such as "rows=8192,cols=8192 (warm)". */
void known_question(const record_entry *e, char *text, size_t size_bytes);

/* Adds what the entry was measured for: members "problem", "cache", "objective" and "after". */
void known_put_question(json_t **object, const record_entry *e);

/* Packs the records that the options select, or all if `o` is NULL, for lua/lib/entries.lua.
 * Returns a new reference. */
json_t *known_pack(const options *o, const record_set *set);

#endif
