#define _GNU_SOURCE /* for asprintf() and memmem() */
#include "compile/log.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pack.h"

/* A part of the log, not NUL-terminated. */
typedef struct text_view {
    const char *start;
    size_t size;
} text_view;

static bool take_line(const char **rest, text_view *line)
{
    if (!**rest)
        return false;
    line->start = *rest;
    line->size = strcspn(*rest, "\n");
    *rest += line->size + ((*rest)[line->size] == '\n');
    return true;
}

static const char *find_in(text_view t, const char *needle)
{
    return memmem(t.start, t.size, needle, strlen(needle));
}

/* Returns true if the line contains `phrase`, `name` and `end` in a row; '\0' is the line's end. */
static bool line_names(text_view line, const char *phrase, const char *name, char end)
{
    const char *at = find_in(line, phrase), *line_end = line.start + line.size;
    if (!at)
        return false;
    at += strlen(phrase);
    size_t n = strlen(name), left = (size_t)(line_end - at);
    if (left < n || memcmp(at, name, n) != 0)
        return false;
    return end ? left > n && at[n] == end : left == n;
}

static uint64_t read_number(text_view *t)
{
    uint64_t v = 0;
    while (t->size && *t->start >= '0' && *t->start <= '9') {
        if (v < UINT32_MAX)
            v = v * 10 + (uint64_t)(*t->start - '0');
        t->start++;
        t->size--;
    }
    return v;
}

typedef struct figure {
    const char *unit; /* text after the number */
    size_t offset;    /* offset in kernel_resources */
} figure;

static const figure figures[] = {
    {" registers", offsetof(kernel_resources, registers)},
    {" barriers", offsetof(kernel_resources, barriers)},
    {" bytes stack frame", offsetof(kernel_resources, stack_bytes)},
    {" bytes spill stores", offsetof(kernel_resources, spill_store_bytes)},
    {" bytes spill loads", offsetof(kernel_resources, spill_load_bytes)},
    {" bytes smem", offsetof(kernel_resources, static_shared_bytes)},
    {" bytes cmem[", offsetof(kernel_resources, constant_bytes)},
};

/* Adds every "<number><unit>" of the line to the resources. Adds both numbers of "64+16 bytes smem"
 * of older versions (memory of the kernel and of the system). */
static void read_figures(text_view line, kernel_resources *out)
{
    uint64_t carried = 0;
    while (line.size) {
        if (*line.start < '0' || *line.start > '9') {
            line.start++;
            line.size--;
            continue;
        }
        uint64_t v = read_number(&line) + carried;
        carried = line.size && *line.start == '+' ? v : 0;
        for (size_t i = 0; !carried && i < sizeof figures / sizeof figures[0]; i++) {
            size_t n = strlen(figures[i].unit);
            if (line.size < n || memcmp(line.start, figures[i].unit, n) != 0)
                continue;
            uint32_t field;
            memcpy(&field, (char *)out + figures[i].offset, sizeof field);
            field = v > UINT32_MAX - field ? UINT32_MAX : field + (uint32_t)v;
            memcpy((char *)out + figures[i].offset, &field, sizeof field);
            break;
        }
    }
}

at_status compile_log_read(const char *log, const char *entry, kernel_resources *out,
                           at_error *error)
{
    static const char compiling[] = "Compiling entry function '";
    static const char properties[] = "Function properties for ";
    *out = (kernel_resources){0};
    bool found = false, in_entry = false, in_properties = false;
    text_view line;
    while (take_line(&log, &line)) {
        if (find_in(line, compiling)) {
            in_entry = line_names(line, compiling, entry, '\'');
            in_properties = false;
        } else if (find_in(line, properties)) {
            in_properties = line_names(line, properties, entry, '\0');
        } else if (find_in(line, " bytes gmem")) {
            read_figures(line, out);
        } else if (find_in(line, " bytes stack frame")) {
            if (in_properties)
                read_figures(line, out);
            in_properties = false;
        } else if (in_entry && find_in(line, ": Used ")) {
            read_figures(line, out);
            found = true;
            in_entry = false;
        }
    }
    if (found)
        return AT_OK;
    *out = (kernel_resources){0};
    return error_set(error, AT_NOT_FOUND, "the source has no kernel '%s' (extern \"C\" __global__)",
                     entry);
}

/* Returns true if the lines up to the next empty line are a warning or the remark on suppressing
 * warnings. A log with errors does not need them. */
static bool is_beside_errors(text_view line)
{
    return find_in(line, "): warning #") ||
           strncmp(line.start, "Remark: The warnings can", 24) == 0;
}

void compile_log_trim(char *log)
{
    const bool has_errors = strstr(log, "): error") != NULL;
    const char *rest = log;
    char *end = log;
    bool skips = false;
    text_view line;
    while (take_line(&rest, &line)) {
        if (strncmp(line.start, "ptxas info", 10) == 0 || strncmp(line.start, "ptxas  ", 7) == 0)
            continue;
        skips = has_errors && (skips || is_beside_errors(line));
        if (skips) {
            skips = line.size > 0;
            continue;
        }
        size_t n = (size_t)(rest - line.start);
        memmove(end, line.start, n);
        end += n;
    }
    while (end > log && (end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\r'))
        end--;
    *end = '\0';
}

bool compile_source_place(const char *source, const char *word, char *place, size_t place_bytes)
{
    char file[256] = "";
    unsigned long number = 0;
    const char *rest = source;
    text_view line;
    for (; take_line(&rest, &line); number++) {
        unsigned long given;
        char head[300], name[256];
        snprintf(head, sizeof head, "%.*s", (int)(line.size < sizeof head ? line.size : 0),
                 line.start);
        if (sscanf(head, "#line %lu \"%255[^\"]\"", &given, name) == 2) {
            snprintf(file, sizeof file, "%s", name);
            number = given - 1;
        } else if (file[0] && find_in(line, word)) {
            snprintf(place, place_bytes, "%s:%lu", file, number);
            return true;
        }
    }
    return false;
}

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
                /* NVRTC contains headers called __nv_... */
                (strncmp(own, "__nv_", 5) != 0 && !exists(name + 1, (size_t)(end - name - 1)))) {
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

enum { WORD_BYTES = 128, REMEDY_BYTES = 512 };

/* A remedy, and the patterns of names (for fnmatch) to which it applies; NULL ends the patterns. */
typedef struct known_names {
    const char *remedy, *patterns[10];
} known_names;

static const known_names headers[] = {
    {"sqrtf, expf and their like need no header; INFINITY, NAN and cuda::std::sqrt are in "
     "<cuda/std/cmath>",
     {"cmath"}},
    {"sqrtf, expf and their like need no header; INFINITY and NAN are in <cuda/std/cmath>",
     {"math.h"}},
    {"#include <cuda/std/limits>, which has cuda::std::numeric_limits<float>::max() for FLT_MAX",
     {"cfloat", "float.h"}},
    {"printf needs no header here: leave it out", {"cstdio", "stdio.h"}},
    {"assert needs no header here: leave it out", {"cassert", "assert.h"}},
    {"memcpy and memset need no header here: leave it out", {"cstring", "string.h"}},
    {"malloc and free need no header here: leave it out", {"cstdlib", "stdlib.h"}},
    {"clock needs no header here: leave it out", {"ctime", "time.h"}},
    {"min and max of numbers need no header here: leave it out", {"algorithm"}},
    {"the driver's interface is for host code: a kernel does not need it", {"cuda.h"}},
    {"it belongs to the CUDA samples, not to the Toolkit: copy it into the script's folder",
     {"helper_*.h"}},
};

static const char host_only[] =
    "this header is for host code, and NVRTC compiles for the device alone: put the code that "
    "needs it into another file, or between #ifndef __CUDACC_RTC__ and #endif";

static const char host_header[] =
    "this header has host code: include only headers for the device, such as "
    "<cub/block/block_reduce.cuh> in place of <cub/cub.cuh>";

static const char host_function[] =
    "NVRTC compiles for the device alone: mark the function __device__, or put it between #ifndef "
    "__CUDACC_RTC__ and #endif";

static const char no_namespace[] =
    "no included header has this namespace: cuda::std is in <cuda/std/...>, cooperative_groups in "
    "<cooperative_groups.h>, and std is for host code";

/* Headers of the host's system with an ending in their names. */
static const char *const host_headers[] = {
    "complex.h",   "errno.h",   "fcntl.h",   "fenv.h",   "getopt.h",  "inttypes.h", "locale.h",
    "memory.h",    "omp.h",     "pthread.h", "setjmp.h", "signal.h",  "sched.h",    "stdarg.h",
    "tgmath.h",    "threads.h", "unistd.h",  "wchar.h",  "windows.h", "malloc.h",   "sys/*",
    "immintrin.h", "mpi.h",     "bits/*",    "dirent.h", "ctype.h"};

/* Names whose header NVRTC does not include by default, or that exist only on the host. */
static const known_names names[] = {
    {"#include <cuda/std/cmath>, or write __int_as_float(0x7f800000)", {"INFINITY"}},
    {"#include <cuda/std/cmath>, or write __int_as_float(0x7fc00000)", {"NAN"}},
    {"#include <math_constants.h>, for CUDART_INF and CUDART_INF_F", {"HUGE_VAL*"}},
    {"#include <cuda/std/cstdint>",
     {"int[0-9]*_t", "uint[0-9]*_t", "*int_fast[0-9]*_t", "*int_least[0-9]*_t", "*intptr_t",
      "*intmax_t", "*INT[0-9]*_M??", "SIZE_MAX", "PTRDIFF_M??"}},
    {"#include <cuda/std/climits>",
     {"CHAR_BIT", "*CHAR_M??", "*SHRT_M??", "INT_M??", "UINT_MAX", "*LONG_M??"}},
    {"#include <cuda/std/limits>, for cuda::std::numeric_limits<float>::max(), epsilon() and their "
     "like",
     {"FLT_*", "DBL_*"}},
    {"#include <cuda/std/limits>, for cuda::std::numeric_limits", {"numeric_limits"}},
    {"#include <math_constants.h>, for CUDART_PI and its like", {"M_*"}},
    {"#include <math_constants.h>", {"CUDART_*"}},
    {"#include <cuda_fp16.h>", {"half", "half2", "__half*", "__float2half*", "__hadd*"}},
    {"#include <cuda_bf16.h>", {"*nv_bfloat16*", "__float2bfloat16*"}},
    {"#include <cuda_fp8.h>", {"__nv_fp8*"}},
    {"#include <cuda_fp4.h>", {"__nv_fp4*"}},
    {"#include <cuComplex.h>", {"cu*Complex"}},
    {"#include <curand_kernel.h>", {"curand*"}},
    {"#include <cuda_pipeline.h>", {"__pipeline_*"}},
    {"#include <cooperative_groups.h>", {"cooperative_groups"}},
    {"#include <mma.h>", {"nvcuda"}},
    {"write unsigned int", {"uint"}},
    {"write unsigned char", {"uchar"}},
    {"write unsigned short", {"ushort"}},
    {"write unsigned long", {"ulong"}},
    {"a kernel ends by return, or with an error by __trap()", {"exit"}},
    {"a kernel ends with an error by __trap()", {"abort"}},
    {"random numbers are in <curand_kernel.h>", {"rand"}},
    {"this function is for host code: a kernel cannot allocate or copy by functions of the runtime",
     {"cudaMalloc*", "cudaMemcpy*"}},
};

static const char *find_name(const known_names *known, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        for (const char *const *pattern = known[i].patterns; *pattern; pattern++)
            if (fnmatch(*pattern, name, 0) == 0)
                return known[i].remedy;
    return NULL;
}

/* Copies the text between `before` and the next quote. Returns false if `line` lacks them. */
static bool quoted_after(const char *line, const char *before, char word[WORD_BYTES])
{
    const char *at = strstr(line, before);
    if (!at)
        return false;
    at += strlen(before);
    size_t length = strcspn(at, "\"");
    if (at[length] != '"' || length == 0 || length >= WORD_BYTES)
        return false;
    memcpy(word, at, length);
    word[length] = '\0';
    return true;
}

static bool is_in_toolkit(const char *include_dir, const char *name)
{
    char path[PATH_MAX];
    static const char *const folders[] = {"", "cccl/"};
    for (size_t i = 0; include_dir[0] && i < 2; i++) {
        int n = snprintf(path, sizeof path, "%s/%s%s", include_dir, folders[i], name);
        if (n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Recommends the device's version of a standard header, such as <cuda/std/climits> for <limits.h>.
 * Returns false if the device has no version. */
static bool recommend_header(const char *include_dir, const char *header, char text[REMEDY_BYTES])
{
    char name[WORD_BYTES + 16];
    size_t stem = strlen(header);
    const bool is_of_c = stem > 2 && strcmp(header + stem - 2, ".h") == 0;
    snprintf(name, sizeof name, "cuda/std/%s%.*s", is_of_c ? "c" : "",
             (int)(is_of_c ? stem - 2 : stem), header);
    if (strchr(header, '/') || !is_in_toolkit(include_dir, name))
        return false;
    snprintf(text, REMEDY_BYTES, "NVRTC has no headers of host code: #include <%s>%s", name,
             is_of_c ? "" : ", whose names are in cuda::std");
    return true;
}

static bool is_of_host(const char *header)
{
    for (size_t i = 0; i < sizeof host_headers / sizeof *host_headers; i++)
        if (fnmatch(host_headers[i], header, 0) == 0)
            return true;
    /* Headers of the C++ standard library have no ending. */
    return !strchr(header, '.') && !strchr(header, '/');
}

static void describe_header(const char *header, const char *include_dir, char text[REMEDY_BYTES])
{
    const char *known = find_name(headers, sizeof headers / sizeof *headers, header);
    if (known)
        snprintf(text, REMEDY_BYTES, "%s", known);
    else if (recommend_header(include_dir, header, text))
        return;
    else if (is_of_host(header))
        snprintf(text, REMEDY_BYTES, "%s", host_only);
    else
        snprintf(
            text, REMEDY_BYTES,
            "no file of that name is in the script's folder, among the tool's own or %s; -I DIR "
            "names a folder that has it",
            include_dir[0] ? "in the CUDA Toolkit"
                           : "elsewhere: there is no CUDA Toolkit with headers here");
}

static void find_remedy(const char *line, const char *include_dir, char text[REMEDY_BYTES])
{
    char word[WORD_BYTES];
    const char *known = NULL;
    text[0] = '\0';
    if (quoted_after(line, "cannot open source file \"", word)) {
        describe_header(word, include_dir, text);
    } else if (quoted_after(line, "namespace \"std\" has no member \"", word)) {
        known = find_name(names, sizeof names / sizeof *names, word);
        snprintf(text, REMEDY_BYTES, "write cuda::std::%s%s%s", word,
                 known ? ": " : ", from a header <cuda/std/...>", known ? known : "");
    } else if (strstr(line, "not allowed in JIT mode")) {
        known = include_dir[0] && strstr(line, "/include/") ? host_header : host_function;
        snprintf(text, REMEDY_BYTES, "%s", known);
    } else {
        if (quoted_after(line, "identifier \"", word) && strstr(line, "is undefined"))
            known = find_name(names, sizeof names / sizeof *names, word);
        if (strstr(line, "name followed by \"::\" must be a class or namespace name"))
            known = no_namespace;
        snprintf(text, REMEDY_BYTES, "%s", known ? known : "");
    }
}

void compile_log_add_remedy(char **log, const char *include_dir)
{
    char text[REMEDY_BYTES], *longer;
    const char *at = strstr(*log, "error: ");
    while (at && at > *log && at[-1] != '\n')
        at--;
    char *line = at ? strndup(at, strcspn(at, "\n")) : NULL;
    if (!line)
        return;
    find_remedy(line, include_dir, text);
    if (strcmp(text, no_namespace) == 0 && strstr(at, "based on template argument"))
        text[0] = '\0'; /* The name is the parameter of the template. */
    const size_t end = (size_t)(at - *log) + strlen(line);
    free(line);
    if (!text[0] || asprintf(&longer, "%.*s; %s%s", (int)end, *log, text, *log + end) < 0)
        return;
    free(*log);
    *log = longer;
}
