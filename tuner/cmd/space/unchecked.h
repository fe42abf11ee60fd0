/* Variants that no ragged problem checks. */
#ifndef AUTOTUNE_CMD_SPACE_UNCHECKED_H
#define AUTOTUNE_CMD_SPACE_UNCHECKED_H

#include <stdint.h>

#include "base/error.h"
#include "script/script.h"

/* How many configurations of `sp` meet the constraints of no ragged problem, where the pattern has
 * one. Errors: as script_space(). */
at_status count_unchecked(script *s, const space *sp, uint64_t *out, at_error *error);

#endif
