/* The functions that scripts and templates can call: Lua's own without those that reach out of the
 * sandbox. Those whose work depends on their arguments count it against the instruction limit. */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_LIBRARY_H
#define AUTOTUNE_SCRIPT_SANDBOX_LIBRARY_H

#include "base/error.h"
#include "script/sandbox/sandbox.h"

/* Puts them into a sandbox: the table that its environments start with, and the methods of strings.
 * AT_SCRIPT when its memory limit is too small, AT_NO_MEMORY. */
at_status sandbox_open_library(sandbox *s, at_error *error);

#endif
