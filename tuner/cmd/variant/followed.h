/* Does a file's own host code follow what is written into it? A macro that the grid, the block or
 * the shared memory of a launch depends on has to stand in what the launch comes from. */
#ifndef AUTOTUNE_CMD_VARIANT_FOLLOWED_H
#define AUTOTUNE_CMD_VARIANT_FOLLOWED_H

#include <stdint.h>

#include "script/script.h"

/* Warns on stderr of each launch in the file that does not read a parameter on which it depends, of
 * those whose values in `indices` are not the baseline's, and where nothing launches the kernel.
 * `is_macro` says which parameters are macros. */
void followed_warn(script *s, const uint16_t *indices, const bool *is_macro);

#endif
