/* Preloaded: sets the clock $CLOCK_AHEAD_S seconds ahead, or behind if the number is negative. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int (*next)(clockid_t, struct timespec *);
    void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
    const char *ahead_s = getenv("CLOCK_AHEAD_S");
    memcpy(&next, &symbol, sizeof next);
    const int failed = next(clock, out);
    if (!failed && ahead_s && clock == CLOCK_REALTIME)
        out->tv_sec += strtoll(ahead_s, NULL, 10);
    return failed;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
