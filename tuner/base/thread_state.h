/* The state of a thread of a foreign program that changes how numbers are read, written and
 * computed: its locale (a comma where C has a point, digits in groups, other words for errors), its
 * rounding mode, subnormals that count as zero, floating-point exceptions that trap.
 *
 * The C library, Lua and jansson all ask the calling thread for these. So a function that other
 * people's code calls puts them aside at its beginning and back at its end, and nothing in between
 * needs to know. Other threads, and the process, keep theirs. */
#ifndef AUTOTUNE_BASE_THREAD_STATE_H
#define AUTOTUNE_BASE_THREAD_STATE_H

#include <fenv.h>
#include <locale.h>

#include "base/error.h"

typedef struct thread_state {
    locale_t own, before;
    fenv_t arithmetic;
} thread_state;

/* The calling thread is as a program's first thread begins: the C locale, round to nearest, no
 * traps. AT_NO_MEMORY changes nothing. After AT_OK, thread_state_restore() by the same thread puts
 * back what `before` keeps. */
at_status thread_state_plain(thread_state *before, at_error *error);
void thread_state_restore(thread_state *before);

#endif
