/* A device worker may say what it likes when it likes: answers that are missing, doubled, late, of
 * another kind, about another variant. Every question is answered, by its own answer or by a
 * failure, and the tuner never waits for what does not come. Each byte is a step
 * (scripted_device.h). */
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
