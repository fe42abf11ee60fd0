/* What the two halves of the record (record/record.c reads, record/merge.c writes) share. */
#ifndef AUTOTUNE_RECORD_SCHEMA_H
#define AUTOTUNE_RECORD_SCHEMA_H

#include <stdbool.h>

#define RECORD_SCHEMA "autotune-record"

/* An identifier of at most 63 letters: a name of a pattern, variable or parameter. */
bool record_is_name(const char *text);

#endif
