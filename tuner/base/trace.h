/* A timeline of a run in Chrome's trace format (chrome://tracing, ui.perfetto.dev).
 *
 * In: spans of lanes (a compile worker, a device worker, a stage), as they end. Out: a file, one
 * JSON array with an event a line, written as events come: if the run is killed only the last
 * bracket is missing, which readers of the format accept. A lane does one thing at a time, so its
 * spans do not overlap. A NULL trace accepts everything and writes nothing. */
#ifndef AUTOTUNE_BASE_TRACE_H
#define AUTOTUNE_BASE_TRACE_H

#include <stdint.h>

#include "base/error.h"

typedef struct trace trace;

/* The group of lanes that are shown together. */
typedef enum trace_group { TRACE_TUNER, TRACE_COMPILE, TRACE_DEVICE, TRACE_GROUPS } trace_group;

/* Creates the file, as file_open_to_write(); times are shown from `zero_ns` (base/clock.h). AT_IO,
 * AT_NO_MEMORY. */
at_status trace_open(const char *path, int64_t zero_ns, trace **out, at_error *error);

/* Ends the file and frees the trace. AT_IO when anything could not be written. NULL is fine. */
at_status trace_close(trace *t, at_error *error);

/* A lane of its own; `name` is copied. 0, which is no lane, without a trace. */
uint32_t trace_lane(trace *t, trace_group group, const char *name);

/* Adds what the lane did from start to end. `count`: how many things it did at once or in a row. A
 * start before the end of the lane's last span is moved there; nothing is left of a span within
 * it. */
void trace_span(trace *t, uint32_t lane, const char *what, int64_t start_ns, int64_t end_ns,
                uint64_t count);

#endif
