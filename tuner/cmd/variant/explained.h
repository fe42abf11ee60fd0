/* An explained variant: what `autotune explain` found. */
#ifndef AUTOTUNE_CMD_VARIANT_EXPLAINED_H
#define AUTOTUNE_CMD_VARIANT_EXPLAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/compile.h"
#include "device/plan.h"
#include "run/setup/settings.h"
#include "script/emit.h"
#include "script/script.h"
#include "sim/chip.h"
#include "sim/explain.h"

/* The work of one of its launches. */
typedef struct explained_launch {
    sim_estimated found;
    explanation explanation;
} explained_launch;

/* One explained variant and everything it depends on; cmd/variant/explain.c makes and frees it. */
typedef struct explained {
    sim_chip chip;
    script *script;
    problem_kind problem;
    compile_pool *pool;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    char configuration[CONFIGURATION_BYTES];
    emitted source;
    char **places; /* owned; of the source's lines: "file:line" of the template, or NULL */
    size_t place_count;
    compile_result compiled, filler; /* that prepares inputs; without bytes: none */
    launch_plan launch, filler_launch;
    problem_plan plan;
    script_contents contents; /* of files */
    sim_estimate *estimate;
    explained_launch launches[PLAN_MAX_LAUNCHES];
    bool predicts_tuned; /* predictions are of the tuned problem, counts of the smaller one */
    char *wrong;         /* owned; what it does wrong, as the proof found; NULL: nothing is known */
    char *unproven;      /* owned; why the proof could not be had; NULL: it could */
    bool is_script_wrong; /* unproven: an error of the script, such as a reference that faults */
} explained;

/* Compiles a configuration (NULL: the script's default) of the script that `wanted` names and runs
 * it on the simulated device: for the tuned problem or, with `simulated`, for the script's problem
 * for simulated devices if it has one, of which times are predicted for the tuned one all the same,
 * where that can be run. It is not proven. The caller calls explained_deinit, also
 * after a failure; *x starts zeroed. */
at_status explained_count(const settings *wanted, const char *configuration, bool simulated,
                          explained *x, at_error *error);
void explained_deinit(explained *x);

/* Lists which of Nsight Compute's metrics a simulated device counts: the metric at place `i`; NULL
 * past the last. *count covers the whole grid, however many of its blocks were run. */
const char *explained_metric(const explained *x, uint32_t launch, size_t i, double *count);

/* Did a launch end in a fault of the kernel? */
bool explained_faulted(const explained *x);

#endif
