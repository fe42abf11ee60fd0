/* Fuzzes the order of a device worker's answers. An answer may be missing, repeated, late, of the
 * wrong kind, or about another variant. Every request must get its own answer or a failure, and the
 * tuner must not wait for a missing answer. Each byte is a step (scripted_device.h). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "scripted_device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scripted_result r = scripted_run(data, size < 512 ? size : 512);
    if (r.wrong) {
        fprintf(stderr, "%s\n", r.wrong);
        abort();
    }
    return 0;
}
