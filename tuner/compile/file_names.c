#include "compile/file_names.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pack.h"

static bool is_given(const char *name, size_t length, const source_header *headers,
                     size_t header_count)
{
    for (size_t i = 0; i < header_count; i++) {
        const char *given = headers[i].name;
        while (strncmp(given, "./", 2) == 0)
            given += 2;
        if (strlen(given) == length && memcmp(given, name, length) == 0)
            return true;
    }
    return false;
}

/* NVRTC has headers within itself. */
static bool is_built_in(const char *name)
{
    return strncmp(name, "__nv_", 5) == 0;
}

static bool exists(const char *path, size_t length)
{
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%.*s", (int)length, path);
    return access(text, F_OK) == 0;
}

void file_names_restore(char *ptx, const char *folder, const source_header *headers,
                        size_t header_count)
{
    const size_t before = strlen(folder);
    char *to = ptx;
    for (const char *at = ptx; *at;) {
        const size_t length = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        const char *word = at + strspn(at, " \t");
        const char *name =
            strncmp(word, ".file", 5) == 0 ? memchr(word, '"', length - (size_t)(word - at)) : NULL;
        const char *end = name ? memchr(name + 1, '"', length - (size_t)(name + 1 - at)) : NULL;
        size_t kept = length, dropped = 0;
        if (end && strncmp(name + 1, folder, before) == 0 && name[1 + before] == '/') {
            const char *own = name + 1 + before + 1;
            if (is_given(own, (size_t)(end - own), headers, header_count) ||
                (!is_built_in(own) && !exists(name + 1, (size_t)(end - name - 1)))) {
                kept = (size_t)(name + 1 - at);
                dropped = before + 1;
            }
        }
        memmove(to, at, kept);
        memmove(to + kept, at + kept + dropped, length - kept - dropped);
        to += length - dropped;
        at += length;
    }
    *to = '\0';
}

static bool is_message_of(const char *line, const char *file, size_t length)
{
    return strncmp(line, file, length) == 0 && line[length] == '(' &&
           isdigit((unsigned char)line[length + 1]);
}

void file_names_complete(char **log, const char *name)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    const char *slash = strrchr(name, '/');
    if (!slash || !*log)
        return;
    const char *file = slash + 1;
    pack out = {0};
    for (const char *at = *log; *at;) {
        const size_t length = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        if (is_message_of(at, file, strlen(file)))
            pack_append(&out, name, (size_t)(file - name));
        pack_append(&out, at, length);
        at += length;
    }
    char *completed = pack_take_text(&out);
    if (!completed)
        return;
    free(*log);
    *log = completed;
}
