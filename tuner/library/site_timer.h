/* Times what a program does between two points, without waiting for it.
 *
 * Two kinds: pairs of CUDA events in the program's own stream, which are asked for later whether
 * they have come to pass; and the host's clock. May be used by several threads at once. A pair of
 * events belongs to the context that was current when it was made, and is used again only there. */
#ifndef AUTOTUNE_LIBRARY_SITE_TIMER_H
#define AUTOTUNE_LIBRARY_SITE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct site_timer site_timer;
typedef struct site_mark site_mark; /* a time that is taken */

/* A test's timer has its own functions. */
typedef struct site_timer_api {
    /* Begins; NULL: this call cannot be timed (its stream is captured into a graph, no memory).
     * *hidden: the device has work before this call, so that what the host does meanwhile costs it
     * nothing. */
    site_mark *(*begin)(site_timer *timer, void *stream, bool *hidden);
    /* Ends, at `now_ns` of the host's clock; false: it was not timed. */
    bool (*end)(site_timer *timer, site_mark *mark, void *stream, int64_t now_ns);
    /* 1: *time_ns is known; 0: not yet; -1: it will not be. */
    int (*ask)(site_timer *timer, site_mark *mark, int64_t *time_ns);
    /* The mark is not needed any more, in whatever state. */
    void (*give)(site_timer *timer, site_mark *mark);
    int64_t (*host_ns)(site_timer *timer); /* the host's clock */
    void (*close)(site_timer *timer);      /* after its marks were given */
} site_timer_api;

struct site_timer {
    const site_timer_api *api;
    bool at_once;      /* times are known when they end */
    int64_t device_ns; /* of the device's time that timing a call takes */
};

/* AT_NO_DEVICE, AT_NO_MEMORY. The caller closes it. */
at_status site_timer_events(site_timer **out, at_error *error);
at_status site_timer_host(site_timer **out, at_error *error);

#endif
