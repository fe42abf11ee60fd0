/* The GPUs that --device names, by model; and tuning several models side by side. */
#ifndef AUTOTUNE_CMD_TUNING_MODELS_H
#define AUTOTUNE_CMD_TUNING_MODELS_H

#include <stdbool.h>

#include "base/error.h"
#include "run/setup/settings.h"

enum { MODELS_MOST = 16, MODELS_SPEC_BYTES = 512 };

typedef struct gpu_models {
    size_t count;
    char names[MODELS_MOST][256];
    char specs[MODELS_MOST][MODELS_SPEC_BYTES]; /* "cuda:0,2": as settings.device */
} gpu_models;

/* Does --device name more than one GPU, or all? */
bool models_asked(const char *names);

/* Resolves "all" or "cuda:0,2" in a process that asks the driver, or the management library where
 * that is enough. AT_NO_DEVICE if one does not exist, AT_USAGE. */
at_status models_find(const char *names, gpu_models *out, at_error *error);

/* Tunes every model in a process of its own. Each returns from here with *mine set and tunes its
 * model; its output goes to a file until all have ended, and *asked gives it its share of the
 * cores. The caller's process returns when all have ended: their output is printed in order, and
 * *exit_code is the first that is not 0. Interrupts are passed on. AT_IO. */
at_status models_side_by_side(const gpu_models *models, settings *asked, bool *mine, int *exit_code,
                              at_error *error);

#endif
