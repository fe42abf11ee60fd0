/* A variant whose work a simulated device has counted. */
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

/* The work of one launch. */
typedef struct explained_launch {
    sim_estimated found;
    explanation explanation;
} explained_launch;

/* A counted variant and everything that it depends on. */
typedef struct explained {
    sim_chip chip;
    script *script;
    problem_kind problem;
    compile_pool *pool;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    char configuration[CONFIGURATION_BYTES];
    emitted source;
    char **places; /* owned; per source line "file:line" in the template, or NULL */
    size_t place_count;
    compile_result compiled, filler; /* the filler prepares inputs; without bytes there is none */
    launch_plan launch, filler_launch;
    problem_plan plan;
    script_contents contents; /* contents of files that are inputs */
    sim_estimate *estimate;
    explained_launch launches[PLAN_MAX_LAUNCHES];
    bool predicts_tuned;  /* predictions are for the tuned problem, counts for the smaller one */
    char *wrong;          /* owned; the error that the proof found; NULL if there is none */
    char *unproven;       /* owned; the reason why the proof failed; NULL if it did not */
    bool is_script_wrong; /* the proof failed because of the script, for example a reference that
                             faults */
} explained;

/* Compiles a configuration (NULL: the default) of the script that `wanted` names, and counts its
 * work on the simulated device, without a proof. With `simulated` the script's problem for
 * simulated devices is counted, if there is one; times are predicted for the tuned problem if that
 * can run here. *x starts zeroed. The caller always calls explained_deinit. */
at_status explained_count(const settings *wanted, const char *configuration, bool simulated,
                          explained *x, at_error *error);
void explained_deinit(explained *x); /* accepts a zeroed one */

/* Returns the name of metric `i` among Nsight Compute's metrics that the simulated device counts,
 * or NULL past the last. *count is for the whole grid, even after a sample of blocks. */
const char *explained_metric(const explained *x, uint32_t launch, size_t i, double *count);

/* Returns whether a launch ended in a fault of the kernel. */
bool explained_faulted(const explained *x);

#endif
