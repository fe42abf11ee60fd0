/* Is a record's file sound? What the schema says (tuner/schemas/record.json), what readers ask for, and what
 * neither can say: figures that contradict each other, entries that repeat each other, a file whose name is
 * another pattern's or GPU's.
 *
 * In: a file. Out: a list of faults, each with the JSON pointer, the line and the remedy. */
#ifndef AUTOTUNE_RECORD_VALIDATE_H
#define AUTOTUNE_RECORD_VALIDATE_H

#include <jansson.h>

#include "record/record.h"

/* Adds what is wrong with the file to `faults`, at most a hundred things a file. *entries: how many it has.
 * AT_IO, AT_NOT_FOUND, AT_NO_MEMORY; AT_FORMAT is of the schema: a damaged file is a fault. */
at_status record_validate(const char *path, const json_t *schema, record_faults *faults, size_t *entries,
                          at_error *error);

#endif
