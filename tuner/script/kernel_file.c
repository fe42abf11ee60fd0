#include "script/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"
#include "base/paths.h"
#include "script/state.h"

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static at_status check_bytes(const script_bytes *text, const char *path, at_error *error)
{
    const char *stop = memchr(text->bytes, 0xff, text->size_bytes);
    if (strlen(text->bytes) != text->size_bytes)
        return error_set_at(error, AT_SCRIPT, path, 0,
                            "it contains a NUL character, at which C++ source ends");
    if (stop)
        return error_set_at(error, AT_SCRIPT, path, line_of(text->bytes, stop),
                            "this line has the byte 0xff, where the compiler stops reading: save "
                            "the file as UTF-8");
    return AT_OK;
}

static at_status read_unit(kernel_file *k, const char *name, const char *path, at_error *error)
{
    if (k->count == SOURCE_HEADERS_MAX - 1)
        return error_set_at(error, AT_SCRIPT, path, 0, "more than %d files are included",
                            SOURCE_HEADERS_MAX - 2);
    script_bytes text;
    at_status status = script_read_file(path, &text, error);
    if (status)
        return status;
    status = check_bytes(&text, path, error);
    if (status) {
        free(text.bytes);
        return status;
    }
    k->texts[k->count] = text.bytes;
    k->names[k->count] = strdup(name);
    k->paths[k->count] = strdup(path);
    k->reals[k->count] = realpath(path, NULL);
    status = k->names[k->count] && k->paths[k->count] && k->reals[k->count]
                 ? cpp_unit_read(text.bytes, NULL, 0, &k->units[k->count], error)
                 : error_no_memory(error);
    k->count++;
    return status;
}

/* Finds a name such as "../inc/x.h" beside the including file, if the path stays below a folder. */
static bool find_around(const char *const *folders, size_t folder_count, const char *from_path,
                        const char *name, char path[PATH_MAX], char own_name[PATH_MAX])
{
    char around[PATH_MAX], whole[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(from_path, '/');
    const int n = snprintf(around, sizeof around, "%.*s%s",
                           slash ? (int)(slash + 1 - from_path) : 0, from_path, name);
    if (name[0] == '/' || n < 0 || (size_t)n >= sizeof around || !realpath(around, whole))
        return false;
    for (size_t i = 0; i < folder_count; i++) {
        const char *name_there = realpath(folders[i], folder) ? paths_below(folder, whole) : NULL;
        if (name_there && script_find_file(&folders[i], 1, name_there, path, PATH_MAX)) {
            snprintf(own_name, PATH_MAX, "%s", name_there);
            return true;
        }
    }
    return false;
}

/* Finds a file and its name below its folder. An include with quotes is first looked up beside the
 * file that includes it, then every include in the folders. */
static bool find_file(const char *const *folders, size_t folder_count, const char *from,
                      const char *from_path, const char *name, bool is_quoted, char path[PATH_MAX],
                      char own_name[PATH_MAX])
{
    const char *slash = is_quoted ? strrchr(from, '/') : NULL;
    const int n =
        snprintf(own_name, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - from) : 0, from, name);
    if (slash && n > 0 && n < PATH_MAX &&
        script_find_file(folders, folder_count, own_name, path, PATH_MAX))
        return true;
    snprintf(own_name, PATH_MAX, "%s", name);
    if (script_find_file(folders, folder_count, name, path, PATH_MAX))
        return true;
    return strstr(name, "./") &&
           find_around(folders, folder_count, from_path, name, path, own_name);
}

static size_t find_unit(const kernel_file *k, const char *path)
{
    char real[PATH_MAX];
    size_t u = 0;
    if (!realpath(path, real))
        return k->count;
    while (u < k->count && strcmp(k->reals[u], real) != 0)
        u++;
    return u;
}

/* Writes the units' names into #include lines, because two folders may have a "util.h". Include i
 * gets the name of units[i]. */
static at_status rename_includes(kernel_file *k, size_t u, const size_t *units, at_error *error)
{
    const cpp_unit *unit = &k->units[u];
    pack p = {0};
    const char *at = unit->text;
    for (size_t i = 0; i < unit->include_count; i++) {
        const cpp_span name = unit->includes[i].name;
        if (units[i] == SIZE_MAX || cpp_span_is(name, k->names[units[i]]) || name.text < at)
            continue;
        pack_append(&p, at, (size_t)(name.text - at));
        pack_append_text(&p, k->names[units[i]]);
        at = name.text + name.length;
    }
    if (at == unit->text)
        return AT_OK;
    pack_append_text(&p, at);
    char *text = pack_take_text(&p);
    if (!text)
        return error_no_memory(error);
    cpp_unit_deinit(&k->units[u]);
    free(k->texts[u]);
    k->texts[u] = text;
    return cpp_unit_read(text, NULL, 0, &k->units[u], error);
}

static at_status read_included(kernel_file *k, size_t u, const char *const *folders,
                               size_t folder_count, at_error *error)
{
    const size_t count = k->units[u].include_count;
    size_t *units = calloc(count + 1, sizeof *units);
    at_status status = units ? AT_OK : error_no_memory(error);
    for (size_t i = 0; !status && i < count; i++) {
        const cpp_include *include = &k->units[u].includes[i];
        char path[PATH_MAX], wanted[256], name[PATH_MAX];
        snprintf(wanted, sizeof wanted, "%.*s", (int)include->name.length, include->name.text);
        units[i] = SIZE_MAX;
        if (!find_file(folders, folder_count, k->names[u], k->paths[u], wanted, include->is_quoted,
                       path, name))
            continue;
        units[i] = find_unit(k, path);
        if (units[i] == k->count)
            status = read_unit(k, name, path, error);
    }
    if (!status)
        status = rename_includes(k, u, units, error);
    free(units);
    return status;
}

/* Reads all units again if a unit has macros that open or close scopes in other units, because
 * these macros decide where declarations begin. */
static at_status read_scopes(kernel_file *k, at_error *error)
{
    cpp_macro *scopes = NULL;
    size_t count = 0;
    at_status status = AT_OK;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].macro_count; i++)
            if (!status && cpp_opened_scopes(&k->units[u].macros[i]) != 0 &&
                !array_add((void *)&scopes, &count, &k->units[u].macros[i], sizeof *scopes))
                status = error_no_memory(error);
    for (size_t u = 0; u < k->count && count > 0 && !status; u++) {
        cpp_unit_deinit(&k->units[u]);
        status = cpp_unit_read(k->texts[u], scopes, count, &k->units[u], error);
    }
    free(scopes);
    return status;
}

at_status kernel_file_read(const char *name, const char *path, const char *const *folders,
                           size_t folder_count, kernel_file *out, at_error *error)
{
    *out = (kernel_file){.name = strdup(name),
                         .path = strdup(path),
                         .units = calloc(SOURCE_HEADERS_MAX, sizeof *out->units),
                         .texts = calloc(SOURCE_HEADERS_MAX, sizeof *out->texts),
                         .names = calloc(SOURCE_HEADERS_MAX, sizeof *out->names),
                         .paths = calloc(SOURCE_HEADERS_MAX, sizeof *out->paths),
                         .reals = calloc(SOURCE_HEADERS_MAX, sizeof *out->reals)};
    if (!out->name || !out->path || !out->units || !out->texts || !out->names || !out->paths ||
        !out->reals)
        return error_no_memory(error);
    at_status status = read_unit(out, name, path, error);
    for (size_t u = 0; !status && u < out->count; u++)
        status = read_included(out, u, folders, folder_count, error);
    return status ? status : read_scopes(out, error);
}

void kernel_file_deinit(kernel_file *k)
{
    for (size_t i = 0; i < k->count; i++) {
        cpp_unit_deinit(&k->units[i]);
        free(k->texts[i]);
        free(k->names[i]);
        free(k->paths[i]);
        free(k->reals[i]);
    }
    free(k->units);
    free(k->texts);
    free(k->names);
    free(k->paths);
    free(k->reals);
    free(k->name);
    free(k->path);
    free(k->text);
    free(k->head);
    free(k->missing);
    included_deinit(&k->headers);
    *k = (kernel_file){0};
}

at_status kernel_file_compile(const script_compiler *compiler, const script_source *source,
                              char **ptx, char **log, at_error *error)
{
    *ptx = *log = NULL;
    if (!compiler->compile)
        return error_set(error, AT_USAGE,
                         "%s: reading a kernel's own file needs a compiler, and none was found",
                         source->name);
    return compiler->compile(compiler->context, source, ptx, log, error);
}
