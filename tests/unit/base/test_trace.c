#include "check.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"

static json_t *written(trace *t, const char *path)
{
    at_error error = {0};
    json_error_t why;
    assert_ok(trace_close(t, &error), error);
    json_t *all = json_load_file(path, 0, &why);
    assert_true(json_is_array(all));
    return all;
}

static json_t *find(json_t *all, const char *name, size_t skip)
{
    size_t i;
    json_t *event;
    json_array_foreach(
        all, i, event) if (strcmp(json_string_value(json_object_get(event, "name")), name) == 0 &&
                           skip-- == 0) return event;
    return NULL;
}

static double number(json_t *event, const char *name)
{
    return json_number_value(json_object_get(event, name));
}

static trace *open_at(int64_t zero_ns, char path[64])
{
    at_error error = {0};
    trace *t;
    snprintf(path, 64, "/tmp/test_trace.%d", (int)getpid());
    assert_ok(trace_open(path, zero_ns, &t, &error), error);
    return t;
}

TEST(a_span_is_a_complete_event_in_microseconds_from_zero)
{
    char path[64];
    trace *t = open_at(1000000, path);
    uint32_t lane = trace_lane(t, TRACE_COMPILE, "compile worker 0");
    trace_span(t, lane, "compile", 1002500, 1012500, 32);
    json_t *all = written(t, path), *span = find(all, "compile", 0);
    assert_string_equal(json_string_value(json_object_get(span, "ph")), "X");
    assert_true(number(span, "ts") == 2.5 && number(span, "dur") == 10);
    assert_true(number(json_object_get(span, "args"), "count") == 32);
    json_decref(all);
    unlink(path);
}

TEST(lanes_are_named_and_apart)
{
    char path[64];
    trace *t = open_at(0, path);
    uint32_t a = trace_lane(t, TRACE_DEVICE, "cuda:0"), b = trace_lane(t, TRACE_DEVICE, "cuda:1");
    trace_span(t, a, "try", 0, 1000, 1);
    trace_span(t, b, "try", 0, 1000, 1);
    json_t *all = written(t, path);
    assert_true(number(find(all, "try", 0), "tid") != number(find(all, "try", 1), "tid"));
    json_t *name = find(all, "thread_name", 1);
    assert_string_equal(json_string_value(json_object_get(json_object_get(name, "args"), "name")),
                        "cuda:1");
    json_decref(all);
    unlink(path);
}

TEST(spans_of_a_lane_do_not_overlap)
{
    char path[64];
    trace *t = open_at(0, path);
    uint32_t lane = trace_lane(t, TRACE_TUNER, "x");
    trace_span(t, lane, "first", 1000, 5000, 1);
    trace_span(t, lane, "within", 2000, 5000, 1);
    trace_span(t, lane, "behind", 3000, 9000, 1);
    json_t *all = written(t, path);
    assert_null(find(all, "within", 0));
    assert_true(number(find(all, "behind", 0), "ts") == 5);
    json_decref(all);
    unlink(path);
}

TEST(without_a_trace_nothing_happens)
{
    assert_int_equal(trace_lane(NULL, TRACE_TUNER, "x"), 0);
    trace_span(NULL, 0, "x", 0, 1, 1);
    assert_int_equal(trace_close(NULL, NULL), AT_OK);
}

TEST(what_cannot_be_written_is_told)
{
    at_error error = {0};
    trace *t;
    assert_int_equal(trace_open("/nowhere/x", 0, &t, &error), AT_IO);
    assert_ok(trace_open("/dev/full", 0, &t, &error), error);
    assert_int_equal(trace_close(t, &error), AT_IO);
}
