/* The host's clock, for wall times and deadlines. Kernels are never timed with it. */
#ifndef AUTOTUNE_BASE_CLOCK_H
#define AUTOTUNE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t clock_now_ns(void);

/* Nanoseconds that a processor has spent on the calling thread. */
int64_t clock_thread_ns(void);

/* clock_now_ns() in milliseconds. */
int64_t clock_now_ms(void);

#endif
