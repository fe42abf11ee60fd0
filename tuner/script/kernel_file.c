#include "script/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/paths.h"
#include "cpp/need.h"
#include "cpp/render.h"
#include "script/includer.h"
#include "script/state.h"

/* Names under which the compiler gets the headers of templates/kernel_file. */
static const char host_name[] = "autotune_host.h", signature_name[] = "autotune_signature.h";

/* Types that the headers of the Toolkit's libraries have from others of it. */
static const char *const library_types[] = {"half",
                                            "__half",
                                            "half2",
                                            "__half2",
                                            "__nv_bfloat16",
                                            "nv_bfloat16",
                                            "__nv_bfloat162",
                                            "nv_bfloat162",
                                            "cuComplex",
                                            "cuFloatComplex",
                                            "cuDoubleComplex",
                                            "cudaDataType",
                                            NULL};

/* Headers of which the compiler gets a text of our own, where the kernel has one of the words;
 * none: always. A name may be the beginning of many. */
static const struct replacement {
    const char *name, *file;
    const char *const *words;
} replaced[] = {
    {"cub/cub.cuh", "cub.h", NULL},
    {"thrust/", "thrust.h", (const char *const[]){"thrust", NULL}},
    {"cublas", "libraries.h", library_types},
    {"cusparse", "libraries.h", library_types},
    {"cusolver", "libraries.h", library_types},
};
enum { REPLACED = sizeof replaced / sizeof *replaced };

/* The place of its row; REPLACED: it is the Toolkit's own text. */
static size_t replacement_of(cpp_span name)
{
    for (size_t i = 0; i < REPLACED; i++)
        if (name.length >= strlen(replaced[i].name) &&
            memcmp(name.text, replaced[i].name, strlen(replaced[i].name)) == 0)
            return i;
    return REPLACED;
}

static bool is_replaced(cpp_span name)
{
    return replacement_of(name) < REPLACED;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* Refuses what the compiler would end at without a word. */
static at_status check_bytes(const script_range *text, const char *path, at_error *error)
{
    const char *stop = memchr(text->bytes, 0xff, text->size_bytes);
    if (strlen(text->bytes) != text->size_bytes)
        return error_set_at(error, AT_SCRIPT, path, 0, "it holds a NUL, at which C++ source ends");
    if (stop)
        return error_set_at(error, AT_SCRIPT, path, line_of(text->bytes, stop),
                            "the byte 0xff is here, at which the compiler stops to read: save the "
                            "file as UTF-8");
    return AT_OK;
}

static at_status read_unit(kernel_file *k, const char *name, const char *path, at_error *error)
{
    if (k->count == SOURCE_HEADERS_MAX - 1)
        return error_set_at(error, AT_SCRIPT, path, 0, "more than %d files are included",
                            SOURCE_HEADERS_MAX - 2);
    script_range text;
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
                 ? cpp_unit_read(text.bytes, &k->units[k->count], error)
                 : error_no_memory(error);
    k->count++;
    return status;
}

/* "../inc/x.h" from beside the file that includes it, where that is below one of the folders. */
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

/* The file in one of the folders, and its name from there: beside the one that includes it, where
 * that says "name", else in the folder itself. <name> is not the one beside, as for every compiler.
 */
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

/* The unit that is this file, under whichever name; k->count: there is none yet. */
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

/* Has each line name what it includes by the name of that unit, units[i] for the line i, where it
 * says another: the compiler knows headers by their names, and two folders may have a "util.h". */
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
    return cpp_unit_read(text, &k->units[u], error);
}

/* Reads what the unit includes that was not read yet. */
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
    return status;
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

/* The unit that the line includes; 0, which no line does: it is none of the file's own. */
static size_t own_unit(const kernel_file *k, const cpp_include *i)
{
    for (size_t n = 1; n < k->count; n++)
        if (cpp_span_is(i->name, k->names[n]))
            return n;
    return 0;
}

static bool is_own(const kernel_file *k, const cpp_include *i)
{
    return own_unit(k, i) != 0;
}

/* Names that the compiler cannot be asked about, for they would lead out of its folders. */
static bool leads_away(cpp_span name)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    return text[0] == '/' || text[0] == '\0' || strstr(text, "..") || strpbrk(text, "\\<>\"\n");
}

/* Whose parts device code has in the Toolkit's library, or none. */
static bool is_hostile(cpp_span name)
{
    static const char *const names[] = {"cuda.h",   "nvrtc.h",      "cuda_profiler_api.h",
                                        "cufft.h",  "cufftXt.h",    "cuda_gl_interop.h",
                                        "cudaGL.h", "nvToolsExt.h", "curand_mtgp32_host.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cpp_span_is(name, names[i]))
            return true;
    return name.length > 6 && memcmp(name.text, "nvtx3/", 6) == 0;
}

/* A source whose PTX has a number for each #include that leads to the Toolkit, in order: is it
 * there? */
static char *question_text(const kernel_file *k, size_t *count)
{
    pack p = {0};
    *count = 0;
    pack_append_text(&p, "#include <cuda_runtime.h>\nextern \"C\" __device__ const int "
                         "autotune_signature[] = {1");
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].include_count; i++) {
            const cpp_include *one = &k->units[u].includes[i];
            if (is_own(k, one) || is_replaced(one->name) || leads_away(one->name) ||
                is_hostile(one->name))
                continue;
            pack_append_text(&p, "\n#if __has_include(<");
            pack_append(&p, one->name.text, one->name.length);
            pack_append_text(&p, ">)\n,1\n#else\n,0\n#endif\n");
            ++*count;
        }
    pack_append_text(&p, "};\n");
    return pack_take_text(&p);
}

static at_status compile(const script_compiler *compiler, const script_source *source, char **ptx,
                         char **log, at_error *error)
{
    *ptx = *log = NULL;
    if (!compiler->compile)
        return error_set(error, AT_USAGE,
                         "%s: a kernel's own file is read with a compiler, and here is none",
                         source->name);
    return compiler->compile(compiler->context, source, ptx, log, error);
}

/* Reads the numbers of question_text(). */
static const char *next_answer(const char *at)
{
    for (int i = 0; at && i < 4; i++) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    return at;
}

/* <vector>, <stdio.h>: nobody wonders that device code has nothing of them. */
static bool is_standard(const cpp_include *i)
{
    static const char *const names[] = {
        "assert.h", "ctype.h", "errno.h",  "float.h",  "inttypes.h", "limits.h", "math.h",
        "memory.h", "omp.h",   "signal.h", "stdarg.h", "stdint.h",   "stdio.h",  "stdlib.h",
        "string.h", "time.h",  "unistd.h", "mpi.h",    "malloc.h"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (cpp_span_is(i->name, names[n]))
            return true;
    return !memchr(i->name.text, '.', i->name.length) ||
           (i->name.length > 4 && memcmp(i->name.text, "sys/", 4) == 0);
}

static bool is_noted(const pack *list, cpp_span name)
{
    const char *text = (const char *)list->bytes;
    for (size_t at = 0; at + name.length <= list->size_bytes; at++)
        if (memcmp(text + at, name.text, name.length) == 0 &&
            (at + name.length == list->size_bytes || text[at + name.length] == ','))
            return true;
    return false;
}

static at_status note_missing(kernel_file *k, const char *ptx, at_error *error)
{
    const char *found = strstr(ptx, " autotune_signature[");
    const char *at = found ? strchr(found, '{') : NULL;
    const char *end = at ? strchr(at, '}') : NULL;
    pack missing = {0};
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].include_count; i++) {
            cpp_include *one = &k->units[u].includes[i];
            if (is_own(k, one) || is_replaced(one->name))
                continue;
            one->is_missing = true;
            if (!leads_away(one->name) && !is_hostile(one->name)) {
                at = next_answer(at);
                /* Zeroes at the end are left out. */
                one->is_missing = !at || at > end || strtol(at, NULL, 10) == 0;
            }
            one->is_empty = one->is_missing && is_standard(one);
            one->is_missing = one->is_missing && !one->is_empty;
            if (!one->is_missing || is_hostile(one->name) || is_noted(&missing, one->name))
                continue;
            pack_append_text(&missing, missing.size_bytes ? ", " : "");
            pack_append(&missing, one->name.text, one->name.length);
        }
    k->missing = missing.size_bytes ? pack_take_text(&missing) : NULL;
    return missing.failed ? error_no_memory(error) : AT_OK;
}

static at_status ask_headers(kernel_file *k, const script_compiler *compiler, at_error *error)
{
    size_t count;
    char *text = question_text(k, &count), *ptx = NULL, *log = NULL;
    if (!text)
        return error_no_memory(error);
    at_status status = AT_OK;
    if (count > 0)
        status =
            compile(compiler, &(script_source){.name = k->name, .text = text}, &ptx, &log, error);
    if (!status)
        status = note_missing(k, ptx ? ptx : "", error);
    free(text);
    free(ptx);
    free(log);
    return status;
}

/* Takes over `text`. */
static at_status add_header(included *to, const char *name, char *text, at_error *error)
{
    if (!to->headers)
        to->headers = calloc(SOURCE_HEADERS_MAX, sizeof *to->headers);
    char *kept = strdup(name);
    if (!to->headers || !kept || !text || to->count == SOURCE_HEADERS_MAX) {
        free(kept);
        free(text);
        return error_no_memory(error);
    }
    to->headers[to->count++] = (source_header){.name = kept, .text = text};
    return AT_OK;
}

/* A header of templates/kernel_file, or two, one after the other. */
static at_status add_host_header(included *to, const char *dir, const char *first,
                                 const char *second, const char *name, at_error *error)
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
        return add_header(to, name, text, error);
    free(text);
    return status;
}

/* Names of std that are in templates/kernel_file/std_few.h. */
static bool is_of_few(cpp_token t)
{
    static const char *const names[] = {
        "abs",      "ceil",     "cos",      "exp",     "fabs",          "floor",  "fma",   "fmax",
        "fmin",     "int16_t",  "int32_t",  "int64_t", "int8_t",        "isinf",  "isnan", "log",
        "max",      "min",      "pow",      "round",   "sin",           "size_t", "sqrt",  "tanh",
        "uint16_t", "uint32_t", "uint64_t", "uint8_t", "numeric_limits"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cpp_is(t, names[i]))
            return true;
    return false;
}

typedef enum std_use { STD_NONE, STD_FEW, STD_ALL } std_use;

/* The names of std that a text uses itself. */
static std_use use_of_std(cpp_span text)
{
    std_use use = STD_NONE;
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END && use != STD_ALL; t = cpp_next(&l)) {
        if (cpp_is(t, "numeric_limits")) /* after using namespace std */
            use = STD_FEW;
        if (cpp_is(t, "std"))
            use = cpp_is(cpp_next(&l), "::") && is_of_few(cpp_next(&l)) ? STD_FEW : STD_ALL;
    }
    return use;
}

/* The names of std that are in anything that is wanted, beside those that it uses. A class counts
 * by its members. */
static std_use find_std(const kernel_file *k)
{
    static const char *const words[] = {"std", NULL};
    std_use use = STD_NONE;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].declaration_count; i++) {
            const cpp_declaration *d = &k->units[u].declarations[i];
            if (!d->wanted || d->kind == CPP_USING || d->kind == CPP_TYPE)
                continue;
            std_use own = use_of_std(d->span);
            if (own == STD_NONE && cpp_text_has(k->units, k->count, d->span, words))
                own = STD_ALL; /* by a macro */
            use = own > use ? own : use;
        }
    return use;
}

/* The host's headers that those of the Toolkit include: host.h has their contents. */
static const char *const of_toolkit[] = {"stdint.h", "stdlib.h", "stddef.h",
                                         "string.h", "limits.h", "stdio.h"};

static bool has_header(const kernel_file *k, const char *name)
{
    for (size_t n = 0; n < k->headers.count; n++)
        if (strcmp(k->headers.headers[n].name, name) == 0)
            return true;
    return false;
}

/* <vector> and <stdio.h> stay in the text, for nvcc; for NVRTC there is nothing in them. */
static at_status add_empty_headers(kernel_file *k, at_error *error)
{
    at_status status = AT_OK;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; !status && i < k->units[u].include_count; i++) {
            cpp_include *one = &k->units[u].includes[i];
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)one->name.length, one->name.text);
            if (one->is_empty && !has_header(k, name))
                status = add_header(&k->headers, name, strdup(""), error);
        }
    return status;
}

/* Finds the rows of `replaced` that the wanted declarations have use for; the lines of the others
 * are left out. */
static void choose_replaced(kernel_file *k, bool in_use[REPLACED])
{
    for (size_t r = 0; r < REPLACED; r++) {
        in_use[r] = !replaced[r].words;
        for (size_t u = 0; u < k->count && !in_use[r]; u++)
            for (size_t i = 0; i < k->units[u].declaration_count && !in_use[r]; i++) {
                const cpp_declaration *d = &k->units[u].declarations[i];
                in_use[r] = d->wanted && d->kind != CPP_USING &&
                            cpp_text_has(k->units, k->count, d->span, replaced[r].words);
            }
    }
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].include_count; i++) {
            cpp_include *one = &k->units[u].includes[i];
            if (is_replaced(one->name) && !is_own(k, one))
                one->is_missing = !in_use[replacement_of(one->name)];
        }
}

/* Adds the texts of our own, under the names that the files include. */
static at_status add_replaced(kernel_file *k, const char *host_dir, at_error *error)
{
    at_status status = AT_OK;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; !status && i < k->units[u].include_count; i++) {
            const cpp_include *one = &k->units[u].includes[i];
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)one->name.length, one->name.text);
            if (is_replaced(one->name) && !one->is_missing && !is_own(k, one) &&
                !has_header(k, name))
                status =
                    add_host_header(&k->headers, host_dir, replaced[replacement_of(one->name)].file,
                                    NULL, name, error);
        }
    return status;
}

/* Appends the #include lines of a header of templates/kernel_file. */
static at_status append_includes(const char *dir, const char *file, pack *out, at_error *error)
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

/* Appends the Toolkit's headers that a unit begins with, through those of the file's own;
 * replaces[row]: one that has a text of our own is among them. Their lines in the files go. */
static void collect_head(kernel_file *k, size_t unit, const cpp_span *given, size_t given_count,
                         bool visited[SOURCE_HEADERS_MAX], bool replaces[REPLACED + 1], pack *out)
{
    const cpp_unit *u = &k->units[unit];
    const size_t leading = cpp_leading_includes(u, given, given_count);
    visited[unit] = true;
    for (size_t i = 0; i < leading; i++) {
        cpp_include *one = &u->includes[i];
        const size_t own = own_unit(k, one);
        if (own && !visited[own])
            collect_head(k, own, given, given_count, visited, replaces, out);
        if (!own && !one->is_missing)
            replaces[replacement_of(one->name)] = true;
        if (own || one->is_missing || one->is_empty || is_replaced(one->name))
            continue;
        one->is_ahead = true;
        pack_append_text(out, "#include <");
        pack_append(out, one->name.text, one->name.length);
        pack_append_text(out, ">\n");
    }
}

at_status kernel_file_cut(kernel_file *k, const cpp_span *roots, size_t root_count,
                          const cpp_span *given, size_t given_count, const char *host_dir,
                          const script_compiler *compiler, at_error *error)
{
    at_status status = k->text ? AT_OK : ask_headers(k, compiler, error);
    free(k->text);
    free(k->head);
    k->text = k->head = NULL;
    included_deinit(&k->headers);
    if (!status)
        status = cpp_need(k->units, k->count, roots, root_count, k->is_device, error);
    if (status)
        return status;
    bool visited[SOURCE_HEADERS_MAX] = {false}, in_use[REPLACED], replaces[REPLACED + 1] = {false};
    choose_replaced(k, in_use);
    pack head = {0};
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; i < k->units[u].include_count; i++)
            k->units[u].includes[i].is_ahead = false;
    collect_head(k, 0, given, given_count, visited, replaces, &head);
    for (size_t r = 0; !status && r < REPLACED; r++)
        if (replaces[r])
            status = append_includes(host_dir, replaced[r].file, &head, error);
    k->head = pack_take_text(&head);
    if (!status && !k->head)
        status = error_no_memory(error);
    if (status)
        return status;
    static const char *const std_headers[] = {NULL, "std_few.h", "std.h"};
    const char *std_header = std_headers[find_std(k)];
    for (size_t i = 0; !status && i < k->count; i++) {
        char *text = cpp_render(&k->units[i], given, given_count);
        if (!text)
            status = error_no_memory(error);
        else if (i > 0)
            status = add_header(&k->headers, k->names[i], text, error);
        else
            k->text = text;
    }
    if (!status)
        status = add_host_header(&k->headers, host_dir, "host.h", std_header, host_name, error);
    for (size_t i = 0; !status && i < sizeof of_toolkit / sizeof *of_toolkit; i++)
        status = add_header(&k->headers, of_toolkit[i], strdup(""), error);
    if (!status)
        status = add_empty_headers(k, error);
    if (!status)
        status = add_replaced(k, host_dir, error);
    return status;
}

at_status kernel_file_headers(const kernel_file *k, included *out, at_error *error)
{
    at_status status = AT_OK;
    *out = (included){0};
    for (size_t i = 0; !status && i < k->headers.count; i++)
        status =
            add_header(out, k->headers.headers[i].name, strdup(k->headers.headers[i].text), error);
    return status;
}

/* The part of a compiler's log that fits beside a message: its first lines that are no warnings'.
 */
static void add_log(char *text, size_t size_bytes, const char *log)
{
    const char *error_line = strstr(log, "error");
    while (error_line && error_line > log && error_line[-1] != '\n')
        error_line--;
    snprintf(text, size_bytes, "%.900s", error_line ? error_line : log);
    /* What follows from an error in the file is none of the reader's. */
    char *own = strstr(text, "autotune_signature.h(");
    if (own && own > text)
        *own = '\0';
    size_t lines = 0;
    for (char *c = text; *c; c++)
        if (*c == '\n' && ++lines == 10)
            *c = '\0';
    for (size_t n = strlen(text); n > 0 && text[n - 1] == '\n';)
        text[--n] = '\0';
}

/* Collects the names that the compiler calls undefined, each once, on a line each. */
static char *undefined_names(const char *log)
{
    static const char before[] = "identifier \"", after[] = "\" is undefined";
    pack names = {0};
    pack_append_text(&names, "\n");
    for (const char *at = log; (at = strstr(at, before)) != NULL;) {
        at += sizeof before - 1;
        const size_t length = strcspn(at, "\"\n");
        char line[130];
        snprintf(line, sizeof line, "\n%.*s\n", length < 120 ? (int)length : 120, at);
        pack_append(&names, "", 1);
        if (names.failed)
            break;
        names.size_bytes--;
        if (strncmp(at + length, after, sizeof after - 1) == 0 &&
            !strstr((const char *)names.bytes, line))
            pack_append_text(&names, line + 1);
    }
    return pack_take_text(&names);
}

/* The line of the last brace that no other closes; 0: there is none. */
static int open_brace(cpp_span text)
{
    int lines[64] = {0}, depth = 0;
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (cpp_is(t, "{") && depth < 64)
            lines[depth] = t.line;
        depth += cpp_is(t, "{") - cpp_is(t, "}");
        if (depth < 0)
            return 0;
    }
    return depth > 0 && depth <= 64 ? lines[depth - 1] : 0;
}

/* The line at which a kernel of the file launches another, as the compiler says it: FILE(LINE):
 * error: ...; 0: it does not. */
static int device_launch(const char *said, char *file, size_t size_bytes)
{
    const char *at = strstr(said, "error: device-side kernel launch");
    if (!at)
        return 0;
    while (at > said && at[-1] != '\n')
        at--;
    const size_t length = strcspn(at, "(\n");
    if (at[length] != '(' || length >= size_bytes)
        return 0;
    memcpy(file, at, length);
    file[length] = '\0';
    return atoi(at + length + 1);
}

/* A name that is nowhere may be the host's: it was cut, or is of a header that is not here. */
static at_status refuse(const kernel_file *k, const char *log, at_error *error)
{
    char said[1024], missing[400] = "", includer[NAME_MAX + 1], around[NAME_MAX + 80] = "";
    const bool lacks =
        k->missing ||
        (log && (strstr(log, "is undefined") || strstr(log, "must be a class or namespace name")));
    add_log(said, sizeof said, log ? log : "");
    char launcher[NAME_MAX + 1];
    const int launch_line = device_launch(said, launcher, sizeof launcher);
    if (launch_line > 0)
        return error_set_at(error, AT_SCRIPT, launcher, launch_line,
                            "the kernel launches another from the device, and such launches are "
                            "neither run nor proven here: tune the one that it launches, kernel = "
                            "{ entry = \"...\" }, as the host would launch it");
    const int open = open_brace((cpp_span){k->units[0].text, k->units[0].length});
    if (strncmp(said, signature_name, strlen(signature_name)) == 0 && open > 0)
        snprintf(said, sizeof said, "the brace that opens in line %d has no end", open);
    else if (strncmp(said, signature_name, strlen(signature_name)) == 0)
        snprintf(said, sizeof said,
                 "as its #if lines are, the file has no such kernel, or it has a template that the "
                 "entry's arguments do not fit");
    if (k->missing)
        snprintf(missing, sizeof missing,
                 "\nNothing is used of these headers, which are not here; -I DIR says where others "
                 "are: %.300s",
                 k->missing);
    if (script_find_includer(k->path, includer, sizeof includer))
        snprintf(around, sizeof around,
                 "\n%s includes this file, and may define what it lacks: name that one", includer);
    return error_set_at(error, AT_COMPILE, k->path, 0, "the kernel does not compile%s:\n%s%s%s",
                        lacks ? " without the host's code around it" : "", said, missing, around);
}

at_status kernel_file_add_signature(included *to, const char *host_dir, const char **name,
                                    at_error *error)
{
    *name = signature_name;
    return add_host_header(to, host_dir, "signature.h", NULL, signature_name, error);
}

at_status kernel_file_signature(const kernel_file *k, const char *entry, const char *defines,
                                const char *const *options, size_t option_count,
                                const char *host_dir, const script_compiler *compiler,
                                cpp_argument out[CPP_MAX_PARAMETERS], size_t *count,
                                char **undefined, at_error *error)
{
    *undefined = NULL;
    included headers;
    pack source = {0};
    char *text = NULL, *ptx = NULL, *log = NULL;
    at_status status = kernel_file_headers(k, &headers, error);
    if (!status)
        status = add_host_header(&headers, host_dir, "signature.h", NULL, signature_name, error);
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
        status = compile(compiler,
                         &(script_source){.name = k->name,
                                          .text = text,
                                          .headers = headers.headers,
                                          .header_count = headers.count,
                                          .options = options,
                                          .option_count = option_count},
                         &ptx, &log, error);
    if (!status && (!ptx || !cpp_signature_read(ptx, "autotune_signature", out, count))) {
        status = refuse(k, log, error);
        *undefined = undefined_names(log ? log : "");
    }
    included_deinit(&headers);
    free(text);
    free(ptx);
    free(log);
    return status;
}
