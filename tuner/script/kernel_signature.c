#include "script/kernel_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
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

bool kernel_includer(const char *path, char *out, size_t size_bytes)
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
        script_bytes text = {0};
        at_error error = {0};
        const int n = snprintf(beside, sizeof beside, "%s%s", folder, entries[i]->d_name);
        if (!found && strcmp(entries[i]->d_name, name) != 0 && n > 0 && (size_t)n < sizeof beside &&
            !script_read_file(beside, &text, &error))
            found = includes(text.bytes, name);
        if (found && *out == '\0') /* keeps the first file that matches */
            snprintf(out, size_bytes, "%s", entries[i]->d_name);
        free(text.bytes);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static const char signature_name[] = "autotune_signature.h";

at_status kernel_signature_header(included *to, const char *host_dir, const char **name,
                                  at_error *error)
{
    *name = signature_name;
    return kernel_header_add(to, host_dir, "signature.h", NULL, signature_name, error);
}

at_status kernel_signature(const kernel_file *k, const char *entry, const char *defines,
                           const char *const *options, size_t option_count, const char *host_dir,
                           const script_compiler *compiler, cpp_argument out[CPP_MAX_PARAMETERS],
                           size_t *count, char **log, at_error *error)
{
    *log = NULL;
    included headers;
    pack source = {0};
    char *text = NULL, *ptx = NULL;
    at_status status = included_copy(&k->headers, &headers, error);
    if (!status)
        status = kernel_header_add(&headers, host_dir, "signature.h", NULL, signature_name, error);
    pack_append_text(&source, k->head);
    pack_append_text(&source, defines);
    pack_append_text(&source, "#line 1 \"");
    pack_append_text(&source, k->name);
    pack_append_text(&source, "\"\n");
    pack_append_text(&source, k->text);
    pack_append_text(&source, "\n#define AUTOTUNE_ENTRY ");
    pack_append_text(&source, entry);
    pack_append_text(&source, "\n#include \"autotune_signature.h\"\n");
    text = pack_take_text(&source);
    if (!status && !text)
        status = error_no_memory(error);
    if (!status)
        status = kernel_file_compile(compiler,
                                     &(script_source){.name = k->name,
                                                      .text = text,
                                                      .headers = headers.headers,
                                                      .header_count = headers.count,
                                                      .options = options,
                                                      .option_count = option_count},
                                     &ptx, log, error);
    if (!status && (!ptx || !cpp_signature_read(ptx, "autotune_signature", out, count)))
        status = error_set_at(error, AT_COMPILE, k->path, 0, "the kernel does not compile");
    if (!status && *count > CPP_MAX_PARAMETERS)
        status = error_set_at(error, AT_SCRIPT, k->path, 0,
                              "the kernel %s takes %zu arguments; at most %d are allowed: put some "
                              "of them into a struct that is passed by value",
                              entry, *count, CPP_MAX_PARAMETERS);
    included_deinit(&headers);
    free(text);
    free(ptx);
    return status;
}

at_status kernel_header_add(included *to, const char *dir, const char *first, const char *second,
                            const char *name, at_error *error)
{
    const char *const files[] = {first, second};
    pack all = {0};
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < 2 && files[i]; i++) {
        char path[PATH_MAX];
        script_bytes text;
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
    script_bytes text;
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
