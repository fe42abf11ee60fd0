/* Fuzzes compiler logs, which quote sources that may be hostile. Any text must be read or refused.
 * The figures of an entry must come from the entry's own lines. Trimming may only remove text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The first byte splits the rest into the entry's name and the log. */
    if (size < 1)
        return 0;
    size_t name_bytes = data[0] < size - 1 ? data[0] : size - 1;
    char *entry = calloc(name_bytes + 1, 1);
    char *log = calloc(size - name_bytes, 1);
    if (!entry || !log)
        abort();
    memcpy(entry, data + 1, name_bytes);
    memcpy(log, data + 1 + name_bytes, size - 1 - name_bytes);

    at_error error = {0};
    kernel_resources r;
    at_status status = compile_log_read(log, entry, &r, &error);
    if (status != AT_OK && status != AT_NOT_FOUND)
        abort();
    if (status == AT_NOT_FOUND && (r.registers || r.stack_bytes || r.static_shared_bytes))
        abort();
    if (status == AT_OK && !strstr(log, entry))
        abort();

    size_t before = strlen(log);
    compile_log_trim(log);
    if (strlen(log) > before)
        abort();
    /* Trimming a second time must remove nothing. */
    char *again = strdup(log);
    if (!again)
        abort();
    compile_log_trim(again);
    if (strcmp(again, log) != 0)
        abort();
    free(again);
    free(entry);
    free(log);
    return 0;
}
