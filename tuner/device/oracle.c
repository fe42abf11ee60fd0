#include "device/oracle.h"

#include <string.h>

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
