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
#include "sim/estimate.h"
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
    char **places; /* owned; for each source line "file:line" of the template, or NULL */
    size_t place_count;
    compile_result compiled, filler; /* `filler` prepares inputs; its size is 0 if not needed */
    launch_plan launch, filler_launch;
    problem_plan plan;
    script_contents contents; /* contents of files that are inputs */
    sim_estimate *estimate;
    explained_launch launches[PLAN_MAX_LAUNCHES];
    bool predicts_tuned;  /* predictions are for the tuned problem, counts for the simulated one */
    char *wrong;          /* owned; the fault or wrong result that the proof found; NULL if none */
    char *unproven;       /* owned; the reason why there is no proof; NULL if there is one */
    bool is_script_wrong; /* the proof failed because of the script, for example a reference that
                             faults */
} explained;

/* Compiles a configuration (NULL for the default) of the script that `wanted` names, and counts its
 * work on the simulated device, without a proof. With `simulated`, counts the script's simulated
 * problem, if it has one, and predicts times for the tuned problem, if that can run here. *x starts
 * zeroed. The caller always calls explained_deinit(). */
at_status explained_count(const settings *wanted, const char *configuration, bool simulated,
                          explained *x, at_error *error);
void explained_deinit(explained *x); /* `x` may be zeroed */

/* Returns Nsight Compute's name of the metric `i` that the simulated device counts, or NULL after
 * the last metric. *count is for the whole grid, even if only a sample of blocks was executed. */
const char *explained_metric(const explained *x, uint32_t launch, size_t i, double *count);

/* Returns whether a launch ended in a fault of the kernel. */
bool explained_faulted(const explained *x);

#endif
