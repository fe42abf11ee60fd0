/* Is the file of a record sound? It is checked by the readers, and for what they cannot see:
 * figures that contradict each other, repeated entries, a file name of another pattern or GPU.
 *
 * In: a file. Out: a list of faults, each with JSON pointer, line and remedy. */
#ifndef AUTOTUNE_RECORD_VALIDATE_H
#define AUTOTUNE_RECORD_VALIDATE_H

#include "record/record.h"

/* Adds the faults of the file to `faults`, at most a hundred a file. A damaged file is a fault, not
 * an error. *entries: how many entries it has. AT_IO, AT_NOT_FOUND, AT_NO_MEMORY. */
at_status record_validate(const char *path, record_faults *faults, size_t *entries,
                          at_error *error);

#endif
