/* A timeline of a run in Chrome's trace format (chrome://tracing, ui.perfetto.dev).
 *
 * A lane is a compile worker, a device worker or a stage of the tuner; its spans do not overlap.
 * The file is a JSON array with an event per line, written as the events happen. Viewers accept the
 * missing bracket of a killed run. All functions accept a NULL trace and then do nothing. */
#ifndef AUTOTUNE_BASE_TRACE_H
#define AUTOTUNE_BASE_TRACE_H

#include <stdint.h>

#include "base/error.h"

typedef struct trace trace;

/* A group of lanes that are shown together. */
typedef enum trace_group { TRACE_TUNER, TRACE_COMPILE, TRACE_DEVICE, TRACE_GROUPS } trace_group;

/* Creates the file as file_open_to_write() does. `zero_ns`, a time of clock_now_ns(), becomes time
 * 0 of the timeline. AT_IO, AT_NO_MEMORY. */
at_status trace_open(const char *path, int64_t zero_ns, trace **out, at_error *error);

/* Ends the file and frees the trace. AT_IO if any write failed. */
at_status trace_close(trace *t, at_error *error);

/* Adds a lane and returns its number, from 1. Returns 0 if `t` is NULL or memory ran out. */
uint32_t trace_lane(trace *t, trace_group group, const char *name);

/* Adds the span in which a lane did `what` with `count` items; lane 0 is ignored. A span that
 * begins before the end of the lane's last span is shortened to begin there. */
void trace_span(trace *t, uint32_t lane, const char *what, int64_t start_ns, int64_t end_ns,
                uint64_t count);

#endif
