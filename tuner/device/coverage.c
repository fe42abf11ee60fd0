#include "device/coverage.h"

#include <stdio.h>
#include <stdlib.h>

void coverage_skip(device_coverage *c, const char *what, const char *why)
{
    if (!c->skipped[0])
        snprintf(c->skipped, sizeof c->skipped, "%s: %s", what, why);
}

void coverage_owe(device_coverage *c, const char *what, const char *why)
{
    c->skipped[0] = '\0';
    c->owes = true;
    coverage_skip(c, what, why);
}

device_coverage *coverage_copy(const device_coverage *c)
{
    device_coverage *copy = c ? malloc(sizeof *copy) : NULL;
    if (copy)
        *copy = *c;
    return copy;
}
