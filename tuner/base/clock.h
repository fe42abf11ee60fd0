/* The host's clock, for wall times and deadlines. Kernels are never timed with it. */
#ifndef AUTOTUNE_BASE_CLOCK_H
#define AUTOTUNE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t clock_now_ns(void);

/* The same in milliseconds. */
int64_t clock_now_ms(void);

#endif
