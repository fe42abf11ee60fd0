#define _GNU_SOURCE /* for sched_getaffinity() */
#include "base/clock.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

int64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_now_ms(void)
{
    return clock_now_ns() / 1000000;
}

size_t cores_usable(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

at_status thread_state_reset(thread_state *before, at_error *error)
{
    /* glibc and musl have the C locale built in, so newlocale() allocates nothing. */
    before->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!before->own)
        return error_no_memory(error);
    before->before = uselocale(before->own);
    fegetenv(&before->arithmetic);
    fesetenv(FE_DFL_ENV);
    return AT_OK;
}

void thread_state_restore(thread_state *before)
{
    fesetenv(&before->arithmetic);
    uselocale(before->before);
    freelocale(before->own);
}
