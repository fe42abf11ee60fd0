/* Fuzzes #include lines of sources. Accepted names must stay within the script's folder. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "script/include.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    char *source = malloc(size_bytes + 1);
    if (!source)
        return 0;
    memcpy(source, bytes, size_bytes);
    source[size_bytes] = '\0';
    included i;
    at_error error;
    if (include_collect(&source, "fuzz.tmpl", NULL, 0, &i, &error) == AT_OK) {
        if (i.count != 0)
            abort();
        included_deinit(&i);
    }
    free(source);
    return 0;
}
