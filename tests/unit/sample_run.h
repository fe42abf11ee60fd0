/* A small finished run for tests of the record and the report: four variants of a transpose. */
#ifndef AUTOTUNE_SAMPLE_RUN_H
#define AUTOTUNE_SAMPLE_RUN_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "record/summary.h"

static const value sample_algorithms[] = {{.kind = VALUE_STRING, .string = "naive"},
                                          {.kind = VALUE_STRING, .string = "tile"}};
static const value sample_tiles[] = {{.kind = VALUE_INTEGER, .integer = 16},
                                     {.kind = VALUE_INTEGER, .integer = 32},
                                     {.kind = VALUE_INTEGER, .integer = 64}};
static const space_parameter sample_parameters[] = {{"algorithm", sample_algorithms, 2},
                                                    {"tile", sample_tiles, 3}};
static const uint16_t sample_baseline[] = {0, 0};

/* Returns the pattern with `rows` x 8192 floats. `variables` must outlive the pattern. */
static inline pattern sample_pattern(int64_t rows, pattern_variable variables[3])
{
    variables[0] = (pattern_variable){"rows", {.kind = VALUE_INTEGER, .integer = rows}};
    variables[1] = (pattern_variable){"cols", {.kind = VALUE_INTEGER, .integer = 8192}};
    variables[2] = (pattern_variable){"dtype", {.kind = VALUE_STRING, .string = "float"}};
    return (pattern){
        .path = "transpose.lua",
        .name = "transpose",
        .summary = "Out-of-place transpose of a row-major matrix",
        .problem_count = 3,
        .problems = {variables, variables, variables},
        .parameter_count = 2,
        .parameters = sample_parameters,
        .baseline = sample_baseline,
        .measurable = true,
    };
}

/* Replaces the message of the result by a copy of `message`. The result owns its message. */
static inline void set_message(run_result *r, const char *message)
{
    measurement whole = r->found;
    whole.message = message;
    measurement_own(&whole);
    measurement_deinit(&r->found);
    r->found = whole;
}

static inline void sample_result(run_summary *s, size_t algorithm, size_t tile, outcome o,
                                 int64_t median_ns)
{
    char configuration[64];
    run_result *r;
    at_error error = {0};
    snprintf(configuration, sizeof configuration, "algorithm=%s,tile=%d",
             sample_algorithms[algorithm].string, (int)sample_tiles[tile].integer);
    assert_ok(run_summary_add(s, configuration, o, &r, &error), error);
    r->values[0] = sample_algorithms[algorithm];
    r->values[1] = sample_tiles[tile];
    r->found.has_resources = o != OUTCOME_COMPILE_ERROR;
    r->found.resources = (kernel_resources){.registers = 32, .static_shared_bytes = 4224};
    r->block_threads = 256;
    r->occupancy = (occupancy){.blocks_per_sm = 8, .warps_per_sm = 64, .fraction = 1};
    snprintf(r->source_hash, sizeof r->source_hash, "%032d", (int)(algorithm * 10 + tile));
    if (o != OUTCOME_OK) {
        set_message(r, "it went wrong");
        return;
    }
    r->time = (stats_summary){.count = 40,
                              .min_ns = median_ns * 99 / 100,
                              .q1_ns = median_ns * 995 / 1000,
                              .median_ns = median_ns,
                              .q3_ns = median_ns * 1005 / 1000,
                              .low_ns = median_ns * 998 / 1000,
                              .high_ns = median_ns * 1002 / 1000};
    r->rates[WORK_BYTES] = 536870912.0 / (double)median_ns;
    r->ceiling_fraction = r->rates[WORK_BYTES] / 4057;
}

/* Makes the run. The best variant has tile 32 and takes `best_ns`. The baseline is naive and
 * takes 1 ms. One variant does not compile, and one variant is wrong. */
static inline void sample_run(run_summary *s, const pattern *p, int64_t best_ns)
{
    at_error error = {0};
    assert_ok(run_summary_init(s, p, PROBLEM_TUNED, &error), error);
    s->device = (device_properties){.kind = "cuda",
                                    .spec = "cuda:0",
                                    .driver = "580.159.04",
                                    .cuda_version = 13000,
                                    .arch = "sm_90"};
    s->device.limits = (arch_limits){.name = "NVIDIA H200", .major = 9, .sm_count = 132};
    sample_result(s, 1, 1, OUTCOME_OK, best_ns);
    sample_result(s, 0, 0, OUTCOME_OK, 1000000);
    sample_result(s, 1, 0, OUTCOME_WRONG_RESULT, 0);
    sample_result(s, 1, 2, OUTCOME_COMPILE_ERROR, 0);
    s->best_found = s->has_baseline = true;
    s->baseline = 1;
    s->speedup = 1000000.0 / (double)best_ns;
    s->verdict = VERDICT_CLEAR;
    s->work[WORK_BYTES] = 536870912;
    s->ceiling = CEILING_COPY;
    s->ceiling_rate = 4057;
    s->space_cartesian = 6;
    s->space_valid = 4;
    s->strategy = "exhaustive";
    s->seed = 1;
    s->wall_s = 3.2;
    s->stage_s[STAGE_ENUMERATE] = 0.004;
    s->stage_s[STAGE_COMPILE] = 1.25;
    s->stage_s[STAGE_MEASURE] = 0.75;
    snprintf(s->script_hash, sizeof s->script_hash, "%032d", 1);
    snprintf(s->template_hash, sizeof s->template_hash, "%032d", 2);
    snprintf(s->nvrtc_version, sizeof s->nvrtc_version, "13.0");
}

#endif
