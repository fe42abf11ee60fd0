#include "device/outcome.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[OUTCOME_COUNT] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_REJECTED] = "rejected",
    [OUTCOME_COMPILE_ERROR] = "compile_error",
    [OUTCOME_LAUNCH_ERROR] = "launch_error",
    [OUTCOME_WRONG_RESULT] = "wrong_result",
    [OUTCOME_CRASHED] = "crashed",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_NOT_SIMULATED] = "not_simulated",
    [OUTCOME_TOO_SLOW] = "too_slow",
};

const char *outcome_name(outcome o)
{
    return (size_t)o < OUTCOME_COUNT ? names[o] : "unknown";
}

bool outcome_find(const char *name, outcome *out)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (outcome)i;
            return true;
        }
    }
    return false;
}

void coverage_set_skipped(device_coverage *c, const char *what, const char *why)
{
    if (!c->skipped[0])
        snprintf(c->skipped, sizeof c->skipped, "%s: %s", what, why);
}

void coverage_set_unproven(device_coverage *c, const char *what, const char *why)
{
    c->skipped[0] = '\0';
    c->owes = true;
    coverage_set_skipped(c, what, why);
}

device_coverage *coverage_copy(const device_coverage *c)
{
    device_coverage *copy = c ? malloc(sizeof *copy) : NULL;
    if (copy)
        *copy = *c;
    return copy;
}

static const struct {
    const char *name, *kernel, *blame;
} oracles[ORACLE_KINDS] = {
    [ORACLE_REFERENCE] = {"reference", "the reference kernel", "are wrong"},
    [ORACLE_BASELINE] = {"baseline", "the baseline", "differ from the baseline's"},
    [ORACLE_FILE] = {"file", "the baseline", "differ from the file's"},
    [ORACLE_NONE] = {"none", "the baseline", "differ"},
};

const char *oracle_name(oracle_kind kind)
{
    return oracles[kind].name;
}

const char *oracle_kernel(oracle_kind kind)
{
    return oracles[kind].kernel;
}

bool oracle_is_own(oracle_kind kind)
{
    return kind == ORACLE_BASELINE || kind == ORACLE_FILE;
}

const char *oracle_blame(oracle_kind kind)
{
    return oracles[kind].blame;
}

bool oracle_find(const char *name, oracle_kind *out)
{
    for (int i = 0; i < ORACLE_KINDS; i++)
        if (strcmp(oracles[i].name, name) == 0) {
            *out = (oracle_kind)i;
            return true;
        }
    return false;
}

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

/* Bits nvmlClocksThrottleReason* of nvml.h. Idleness and clocks that a user set are left out. */
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
