#include "script/kernel_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types that headers of the Toolkit's libraries take from other headers of the Toolkit. */
static const char *const library_types[] = {
    "__nv_bfloat16", "nv_bfloat162", "half2",     "__nv_bfloat162", "__half",
    "cudaDataType",  "__half2",      "cuComplex", "cuFloatComplex", "cuDoubleComplex",
    "half",          "nv_bfloat16",  NULL};

/* Headers that a file of templates/kernel_file replaces: if the kernel uses one of the words, or
 * always if the list is empty. A name may be the beginning of several headers' names. */
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

/* Returns a header's row in `replaced`, or REPLACED if the Toolkit's own text is used. */
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

/* Returns the index of the unit that a line includes, or 0 (the file itself) without one. */
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

/* Tells whether a name leaves the compiler's folders, so that the compiler cannot be asked. */
static bool leads_away(cpp_span name)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    return text[0] == '/' || text[0] == '\0' || strstr(text, "..") || strpbrk(text, "\\<>\"\n");
}

static bool is_one_of(cpp_span name, const char *const *names)
{
    while (*names && !cpp_span_is(name, *names))
        names++;
    return *names != NULL;
}

/* Tells whether device code does not need the header, or has it in the Toolkit's library. */
static bool is_host_only(cpp_span name)
{
    static const char *const names[] = {"cuda.h",   "nvrtc.h",      "cuda_profiler_api.h",
                                        "cufft.h",  "cufftXt.h",    "cuda_gl_interop.h",
                                        "cudaGL.h", "nvToolsExt.h", "curand_mtgp32_host.h",
                                        NULL};
    return is_one_of(name, names) || (name.length > 6 && memcmp(name.text, "nvtx3/", 6) == 0);
}

/* Returns a source whose PTX has, for each #include of the Toolkit, a 1 if the header exists. */
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
                is_host_only(one->name))
                continue;
            pack_append_text(&p, "\n#if __has_include(<");
            pack_append(&p, one->name.text, one->name.length);
            pack_append_text(&p, ">)\n,1\n#else\n,0\n#endif\n");
            ++*count;
        }
    pack_append_text(&p, "};\n");
    return pack_take_text(&p);
}

static const char *next_answer(const char *at)
{
    for (int i = 0; at && i < 4; i++) {
        at = strchr(at, ',');
        at += at != NULL;
    }
    return at;
}

/* Tells whether device code can do without a header of the standard library. */
static bool is_standard(const cpp_include *i)
{
    static const char *const names[] = {
        "assert.h", "ctype.h", "errno.h",  "float.h",  "inttypes.h", "limits.h", "math.h",
        "memory.h", "omp.h",   "signal.h", "stdarg.h", "stdint.h",   "stdio.h",  "stdlib.h",
        "string.h", "time.h",  "unistd.h", "mpi.h",    "malloc.h",   NULL};
    return is_one_of(i->name, names) || !memchr(i->name.text, '.', i->name.length) ||
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
            if (!leads_away(one->name) && !is_host_only(one->name)) {
                at = next_answer(at);
                /* PTX leaves out zeroes at the end. */
                one->is_missing = !at || at > end || strtol(at, NULL, 10) == 0;
            }
            one->is_empty = one->is_missing && is_standard(one);
            one->is_missing = one->is_missing && !one->is_empty;
            if (!one->is_missing || is_host_only(one->name) || is_noted(&missing, one->name))
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
        status = kernel_file_compile(compiler, &(script_source){.name = k->name, .text = text},
                                     &ptx, &log, error);
    if (!status)
        status = note_missing(k, ptx ? ptx : "", error);
    free(text);
    free(ptx);
    free(log);
    return status;
}

/* Tells whether a name of std is in templates/kernel_file/std_few.h. */
static bool is_of_few(cpp_token t)
{
    static const char *const names[] = {"numeric_limits",
                                        "int16_t",
                                        "int32_t",
                                        "int64_t",
                                        "int8_t",
                                        "uint16_t",
                                        "uint32_t",
                                        "uint64_t",
                                        "uint8_t",
                                        "abs",
                                        "ceil",
                                        "cos",
                                        "exp",
                                        "fabs",
                                        "floor",
                                        "fma",
                                        "fmax",
                                        "fmin",
                                        "isinf",
                                        "isnan",
                                        "log",
                                        "max",
                                        "min",
                                        "pow",
                                        "round",
                                        "sin",
                                        "size_t",
                                        "sqrt",
                                        "tanh",
                                        NULL};
    return cpp_is_any(t, names);
}

typedef enum std_use { STD_NONE, STD_FEW, STD_ALL } std_use;

static std_use use_of_std(cpp_span text)
{
    std_use use = STD_NONE;
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END && use != STD_ALL; t = cpp_next(&l)) {
        if (cpp_is(t, "numeric_limits")) /* the text may have `using namespace std` */
            use = STD_FEW;
        if (cpp_is(t, "std"))
            use = cpp_is(cpp_next(&l), "::") && is_of_few(cpp_next(&l)) ? STD_FEW : STD_ALL;
    }
    return use;
}

/* Returns the part of std that the wanted declarations use. A class counts by its members. */
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
                own = STD_ALL; /* the text uses std through a macro */
            use = own > use ? own : use;
        }
    return use;
}

/* Headers of the host that the Toolkit's headers include; host.h replaces their contents. */
static const char *const of_toolkit[] = {"stdint.h", "stdlib.h", "stddef.h",
                                         "string.h", "limits.h", "stdio.h"};

static bool has_header(const kernel_file *k, const char *name)
{
    for (size_t n = 0; n < k->headers.count; n++)
        if (strcmp(k->headers.headers[n].name, name) == 0)
            return true;
    return false;
}

/* Adds empty headers for <vector> and similar headers, whose #include lines stay for nvcc. */
static at_status add_empty_headers(kernel_file *k, at_error *error)
{
    at_status status = AT_OK;
    for (size_t u = 0; u < k->count; u++)
        for (size_t i = 0; !status && i < k->units[u].include_count; i++) {
            cpp_include *one = &k->units[u].includes[i];
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)one->name.length, one->name.text);
            if (one->is_empty && !has_header(k, name))
                status = included_add(&k->headers, name, strdup(""), error);
        }
    return status;
}

/* Finds the rows of `replaced` that the kernel needs. Marks the headers of other rows as missing.
 */
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

/* Adds the headers of templates/kernel_file under the names that the files include. */
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
                    kernel_header_add(&k->headers, host_dir,
                                      replaced[replacement_of(one->name)].file, NULL, name, error);
        }
    return status;
}

/* Appends to *out an #include line for each header of the Toolkit among a unit's leading #include
 * lines, and among those of the unit's own headers that are included there. Sets is_ahead for these
 * lines. Sets replaces[row] for headers that are in `replaced`. */
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

at_status kernel_cut(kernel_file *k, const cpp_span *roots, size_t root_count,
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
            status = kernel_header_includes(host_dir, replaced[r].file, &head, error);
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
            status = included_add(&k->headers, k->names[i], text, error);
        else
            k->text = text;
    }
    if (!status)
        status = kernel_header_add(&k->headers, host_dir, "host.h", std_header, "autotune_host.h",
                                   error);
    for (size_t i = 0; !status && i < sizeof of_toolkit / sizeof *of_toolkit; i++)
        status = included_add(&k->headers, of_toolkit[i], strdup(""), error);
    if (!status)
        status = add_empty_headers(k, error);
    if (!status)
        status = add_replaced(k, host_dir, error);
    return status;
}
