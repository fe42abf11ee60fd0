#include "base/trace.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"

typedef struct lane {
    trace_group group;
    int64_t end_ns; /* end of the lane's last span */
} lane;

struct trace {
    FILE *file;
    char *path;
    int64_t zero_ns;
    lane *lanes; /* lane number n is lanes[n - 1] */
    size_t count;
    bool begun; /* an event has been written */
};

/* Writes an event and releases it. Ignores NULL, which means that memory ran out. */
static void put(trace *t, json_t *event)
{
    if (!event)
        return;
    fputs(t->begun ? ",\n" : "[\n", t->file);
    json_dumpf(event, t->file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(event);
    t->begun = true;
}

static void name_group(trace *t, trace_group group)
{
    static const char *const names[TRACE_GROUPS] = {"tuner", "compile workers", "device workers"};
    put(t, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "name", "process_name", "ph", "M", "pid",
                     (int)group + 1, "tid", 0, "args", "name", names[group]));
}

at_status trace_open(const char *path, int64_t zero_ns, trace **out, at_error *error)
{
    *out = NULL;
    trace *t = calloc(1, sizeof *t);
    char *copy = strdup(path);
    if (!t || !copy) {
        free(t);
        free(copy);
        return error_no_memory(error);
    }
    t->path = copy;
    t->zero_ns = zero_ns;
    int fd;
    at_status status = file_open_to_write(path, &fd, error);
    if (!status && !(t->file = fdopen(fd, "w"))) {
        status = error_set_errno(error, errno, "cannot write the trace %s", path);
        close(fd);
    }
    if (status) {
        free(copy);
        free(t);
        return status;
    }
    for (int g = 0; g < TRACE_GROUPS; g++)
        name_group(t, (trace_group)g);
    *out = t;
    return AT_OK;
}

at_status trace_close(trace *t, at_error *error)
{
    at_status status = AT_OK;
    if (!t)
        return AT_OK;
    fputs("\n]\n", t->file);
    errno = 0;
    bool failed = ferror(t->file) != 0;
    if (fclose(t->file) != 0 || failed)
        status = error_set_errno(error, errno ? errno : EIO, "cannot write the trace %s", t->path);
    free(t->path);
    free(t->lanes);
    free(t);
    return status;
}

uint32_t trace_lane(trace *t, trace_group group, const char *name)
{
    if (!t)
        return 0;
    lane *lanes = array_grow(t->lanes, t->count, sizeof *lanes);
    if (!lanes)
        return 0;
    t->lanes = lanes;
    t->lanes[t->count++] = (lane){.group = group, .end_ns = t->zero_ns};
    put(t, json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "name", "thread_name", "ph", "M", "pid",
                     (int)group + 1, "tid", (int)t->count, "args", "name", name));
    return (uint32_t)t->count;
}

void trace_span(trace *t, uint32_t number, const char *what, int64_t start_ns, int64_t end_ns,
                uint64_t count)
{
    if (!t || number == 0 || number > t->count)
        return;
    lane *l = &t->lanes[number - 1];
    if (start_ns < l->end_ns)
        start_ns = l->end_ns;
    if (end_ns <= start_ns)
        return;
    l->end_ns = end_ns;
    put(t, json_pack("{s:s,s:s,s:i,s:i,s:f,s:f,s:{s:I}}", "name", what, "ph", "X", "pid",
                     (int)l->group + 1, "tid", (int)number, "ts",
                     (double)(start_ns - t->zero_ns) / 1e3, "dur",
                     (double)(end_ns - start_ns) / 1e3, "args", "count", (json_int_t)count));
}
