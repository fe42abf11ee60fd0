/* Fuzzes images of modules, which come from other programs. Any bytes must be read or refused. An
 * image that was read must contain the kernel. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *ptx = NULL, name[IMAGE_NAME_BYTES];
    at_error error = {0};
    at_status status =
        image_ptx((const char *)data, size, "_Z5clear5range", "sm_90", "module", &ptx, &error);
    if (status ? ptx || !error.message[0] : !ptx || !strstr(ptx, "_Z5clear5range"))
        abort();
    for (const char *at = ptx; at && (at = image_next_variable(at, name)) != NULL;)
        if (strlen(name) == 0)
            abort();
    free(ptx);
    return 0;
}
