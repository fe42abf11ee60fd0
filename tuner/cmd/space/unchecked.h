/* Variants that no ragged problem checks. */
#ifndef AUTOTUNE_CMD_SPACE_UNCHECKED_H
#define AUTOTUNE_CMD_SPACE_UNCHECKED_H

#include <stdint.h>

#include "base/error.h"
#include "script/script.h"

/* Counts the configurations of `sp` that no ragged problem's constraints allow; 0 if the pattern
 * has no ragged problem. Errors: as script_space(). */
at_status count_unchecked(script *s, const space *sp, uint64_t *out, at_error *error);

#endif
