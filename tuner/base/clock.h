/* The host: its clock, its cores, the build's sanitizer, and the calling thread's numeric state. */
#ifndef AUTOTUNE_BASE_CLOCK_H
#define AUTOTUNE_BASE_CLOCK_H

#include <fenv.h>
#include <locale.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ---- clock: for wall times and deadlines, never for times of kernels ---- */

/* Returns the time of CLOCK_MONOTONIC, in ns or in ms. */
int64_t clock_now_ns(void);
int64_t clock_now_ms(void);

/* Returns the processor time of the calling thread, in ns. */
int64_t clock_thread_ns(void);

/* Returns the number of cores that this process may use (taskset), at least 1. */
size_t cores_usable(void);

/* SANITIZED is 1 with the address sanitizer, which reserves terabytes of address space, else 0. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- thread state ----
 * A program that uses the library may have changed how its thread reads, writes and computes
 * numbers: a decimal comma, a rounding mode, flushed subnormals, floating-point exceptions that
 * trap. The C library, Lua and jansson obey these settings. Each public function therefore resets
 * them for its own thread at its beginning and restores them at its end. */

typedef struct thread_state {
    locale_t own;      /* the C locale, in use until thread_state_restore(); owned */
    locale_t before;   /* the thread's locale before */
    fenv_t arithmetic; /* the thread's floating-point environment before */
} thread_state;

/* Saves the state of the calling thread in `*before`, then sets the C locale, round to nearest and
 * no traps. The same thread then calls thread_state_restore(). AT_NO_MEMORY changes nothing. */
at_status thread_state_reset(thread_state *before, at_error *error);
void thread_state_restore(thread_state *before);

#endif
