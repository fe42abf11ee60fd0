#include "bench/state.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/stats.h"

void bench_notify(device_bench *b, const char *what, uint64_t index, int64_t limit_ns)
{
    const device_note note = {.what = what,
                              .index = index,
                              .limit_ns =
                                  limit_ns < DEVICE_NOTE_MOST_NS ? limit_ns : DEVICE_NOTE_MOST_NS};
    b->notify(b->notify_context, &note);
}

void bench_answer_failure(device_bench *b, at_status status, const at_error *error,
                          device_answer *answer)
{
    snprintf(b->text, sizeof b->text, "%s", error->message);
    answer->message = b->text;
    answer->found.status = status;
    bool refused = status == AT_COMPILE || status == AT_FORMAT || status == AT_NO_MEMORY;
    bool unknown = status == AT_NO_DEVICE;
    answer->found.outcome = refused   ? OUTCOME_LAUNCH_ERROR
                            : unknown ? OUTCOME_NOT_SIMULATED
                                      : OUTCOME_CRASHED;
    answer->usable = refused || unknown;
    answer->found.sample_count = 0;
}

void bench_reserve_samples(device_bench *b, size_t count)
{
    if (count <= b->sample_capacity)
        return;
    b->samples_ns = memory_have(realloc(b->samples_ns, count * sizeof *b->samples_ns));
    b->sample_capacity = count;
}

int64_t bench_median_ns(const int64_t *samples_ns, size_t count)
{
    stats_summary all;
    stats_summarise_copy(samples_ns, count, &all);
    return all.median_ns;
}

at_status bench_sm_clock(device_bench *b, double *khz, at_error *error)
{
    *khz = 0;
    return b->api->hardware ? b->api->hardware->sm_clock(b->device, khz, error) : AT_OK;
}
