#include "device/coverage.h"

#include <stdlib.h>

device_coverage *coverage_copy(const device_coverage *c)
{
    device_coverage *copy = c ? malloc(sizeof *copy) : NULL;
    if (copy)
        *copy = *c;
    return copy;
}
