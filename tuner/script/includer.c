#include "script/includer.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

static int is_source(const struct dirent *entry)
{
    static const char *const endings[] = {".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp"};
    const char *dot = strrchr(entry->d_name, '.');
    bool found = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        found = found || (dot && strcmp(dot, endings[i]) == 0);
    return found;
}

/* Has the text a line #include "name", or with a folder before the name? */
static bool includes(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
        const char *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        line += strspn(line, " \t");
        const char *word = *line == '#' ? line + 1 + strspn(line + 1, " \t") : line;
        if (word > line && strncmp(word, "include", 7) == 0 && (at[-1] == '"' || at[-1] == '/') &&
            at[length] == '"')
            return true;
    }
    return false;
}

bool script_find_includer(const char *path, char *out, size_t size_bytes)
{
    char folder[PATH_MAX], beside[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct dirent **entries = NULL;
    bool found = false;
    *out = '\0';
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 2,
             slash ? path : "./");
    const int count = scandir(folder, &entries, is_source, alphasort);
    for (int i = 0; i < count; i++) {
        script_range text = {0};
        at_error error = {0};
        const int n = snprintf(beside, sizeof beside, "%s%s", folder, entries[i]->d_name);
        if (!found && strcmp(entries[i]->d_name, name) != 0 && n > 0 && (size_t)n < sizeof beside &&
            !script_read_file(beside, &text, &error))
            found = includes(text.bytes, name);
        if (found && *out == '\0') /* the first */
            snprintf(out, size_bytes, "%s", entries[i]->d_name);
        free(text.bytes);
        free(entries[i]);
    }
    free(entries);
    return found;
}
