/* Is the file of a record sound? It is checked against the schema (tuner/schemas/record.json), by
 * the readers, and for what neither can see: figures that contradict each other, repeated entries,
 * a file name of another pattern or GPU.
 *
 * In: a file. Out: a list of faults, each with JSON pointer, line and remedy. */
#ifndef AUTOTUNE_RECORD_VALIDATE_H
#define AUTOTUNE_RECORD_VALIDATE_H

#include <jansson.h>

#include "record/record.h"

/* Adds the faults of the file to `faults`, at most a hundred a file. *entries: how many entries it
 * has. AT_IO, AT_NOT_FOUND, AT_NO_MEMORY; AT_FORMAT concerns the schema: a damaged file is a
 * fault. */
at_status record_validate(const char *path, const json_t *schema, record_faults *faults,
                          size_t *entries, at_error *error);

#endif
