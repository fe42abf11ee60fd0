/* Fuzzes packed plans. Any bytes must be an error, or a plan that packs to the same size. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "device/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const pack *read, const pack *written)
{
    /* The bytes of strings and NaNs may change, but the size must stay. */
    if (written->failed || read->position != written->size_bytes)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int kind = 0; kind < 2; kind++) {
        pack read = {0}, written = {0};
        read.bytes = malloc(size + 1);
        if (!read.bytes)
            return 0;
        memcpy(read.bytes, data, size);
        read.size_bytes = size;
        read.capacity_bytes = size + 1;
        problem_plan problem;
        launch_plan launch;
        if (kind == 0 && plan_get_problem(&read, &problem)) {
            plan_put_problem(&written, &problem);
            check_same(&read, &written);
        } else if (kind == 1 && plan_get_launch(&read, &launch)) {
            plan_put_launch(&written, &launch);
            check_same(&read, &written);
        }
        pack_deinit(&read);
        pack_deinit(&written);
    }
    return 0;
}
