#include "device/outcome.h"

#include <stddef.h>
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
