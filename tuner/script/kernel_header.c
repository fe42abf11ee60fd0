#include "script/kernel_header.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

at_status kernel_header_add(included *to, const char *dir, const char *first, const char *second,
                            const char *name, at_error *error)
{
    const char *const files[] = {first, second};
    pack all = {0};
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < 2 && files[i]; i++) {
        char path[PATH_MAX];
        script_range text;
        snprintf(path, sizeof path, "%s/kernel_file/%s", dir, files[i]);
        status = script_read_file(path, &text, error);
        if (!status)
            pack_append(&all, text.bytes, text.size_bytes);
        free(text.bytes);
    }
    char *text = pack_take_text(&all);
    if (!status)
        return included_add(to, name, text, error);
    free(text);
    return status;
}

at_status kernel_header_includes(const char *dir, const char *file, pack *out, at_error *error)
{
    char path[PATH_MAX];
    script_range text;
    snprintf(path, sizeof path, "%s/kernel_file/%s", dir, file);
    at_status status = script_read_file(path, &text, error);
    for (const char *at = text.bytes; !status && *at;) {
        const size_t size = strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
        if (strncmp(at, "#include ", 9) == 0)
            pack_append(out, at, size);
        at += size;
    }
    free(text.bytes);
    return status;
}
