/* A pattern as a file of the T1 format (lua/lib/t1.lua reads such), for other auto-tuners.
 *
 * Expressions become Python's, with the values of the tuned problem and of the device in place of
 * their names. What the format has no words for is told, and left out. */
#ifndef AUTOTUNE_SCRIPT_T1_H
#define AUTOTUNE_SCRIPT_T1_H

#include "script/script.h"

/* Told of what the file does not say, with the script's line (0: of no line). */
typedef void (*t1_left_out)(void *context, int line, const char *text);

/* *out is the caller's. AT_SCRIPT with the line where the space, the launch or an argument cannot
 * be said; AT_NO_MEMORY. */
at_status t1_write(script *s, t1_left_out left_out, void *context, char **out, at_error *error);

#endif
