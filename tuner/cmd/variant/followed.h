/* The launches in a file's own host code, which have to follow what is written into it: a parameter
 * that the grid, the block, the shared memory or the template's arguments of a launch depend on. */
#ifndef AUTOTUNE_CMD_VARIANT_FOLLOWED_H
#define AUTOTUNE_CMD_VARIANT_FOLLOWED_H

#include <stdint.h>

#include "cmd/line/edit.h"
#include "script/script.h"

/* Adds to `edits`, one list for each unit of the file, the changes of numbers in launches and in
 * what they come from, for the parameters that are no macro of the file (`is_macro`) and whose
 * values in `indices` are not the baseline's. Tells on stderr of each launch that is not changed
 * so, or does not read a macro on which it depends, with the grid and block that it must have.
 * False if there is one.
 */
bool followed_change(script *s, const uint16_t *indices, const bool *is_macro, edit_list *edits);

#endif
