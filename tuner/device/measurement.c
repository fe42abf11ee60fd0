#include "device/measurement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release(const void *owned)
{
    void *block;
    memcpy(&block, &owned, sizeof block);
    free(block);
}

bool measurement_own(measurement *m)
{
    const char *message = m->message && *m->message ? m->message : NULL;
    char *text = message ? strdup(message) : NULL;
    int64_t *samples = m->sample_count ? malloc(m->sample_count * sizeof *samples) : NULL;
    bool whole = (text || !message) && (samples || !m->sample_count);
    if (samples)
        memcpy(samples, m->samples_ns, m->sample_count * sizeof *samples);
    m->message = text;
    m->samples_ns = samples;
    m->sample_count = samples ? m->sample_count : 0;
    return whole;
}

void measurement_deinit(measurement *m)
{
    release(m->message);
    release(m->samples_ns);
    *m = (measurement){0};
}

int64_t measurement_fastest_ns(const measurement *m)
{
    int64_t fastest = 0;
    for (size_t i = 0; i < m->sample_count; i++)
        if (m->samples_ns[i] > 0 && (!fastest || m->samples_ns[i] < fastest))
            fastest = m->samples_ns[i];
    return fastest;
}

/* nvmlClocksThrottleReason* of nvml.h, of which 0x1 (idle), 0x2 (application clocks) and 0x100
 * (display clocks) are no fault. */
static const struct {
    uint64_t bit;
    const char *text;
} reasons[] = {
    {0x04, "power cap"},     {0x08, "hardware slowdown"},      {0x10, "synchronised boost"},
    {0x20, "thermal limit"}, {0x40, "hardware thermal limit"}, {0x80, "power brake"},
};

char *board_throttle_text(uint64_t throttle, char *out, size_t size_bytes)
{
    size_t used = 0;
    if (size_bytes > 0)
        *out = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if ((throttle & reasons[i].bit) && used < size_bytes)
            used += (size_t)snprintf(out + used, size_bytes - used, "%s%s", used ? ", " : "",
                                     reasons[i].text);
    return out;
}
