#include "compile/remedy.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_BYTES = 128, REMEDY_BYTES = 512 };

/* A pattern of names (fnmatch) and what it comes with. */
typedef struct known_name {
    const char *pattern, *remedy;
} known_name;

/* Headers of which more is to be said than where their like is. */
static const known_name headers[] = {
    {"cmath", "sqrtf, expf and their like need no header; INFINITY, NAN and cuda::std::sqrt are in "
              "<cuda/std/cmath>"},
    {"math.h",
     "sqrtf, expf and their like need no header; INFINITY and NAN are in <cuda/std/cmath>"},
    {"cfloat",
     "#include <cuda/std/limits>, which has cuda::std::numeric_limits<float>::max() for FLT_MAX"},
    {"float.h",
     "#include <cuda/std/limits>, which has cuda::std::numeric_limits<float>::max() for FLT_MAX"},
    {"cstdio", "printf needs no header here: leave it out"},
    {"stdio.h", "printf needs no header here: leave it out"},
    {"cassert", "assert needs no header here: leave it out"},
    {"assert.h", "assert needs no header here: leave it out"},
    {"cstring", "memcpy and memset need no header here: leave it out"},
    {"string.h", "memcpy and memset need no header here: leave it out"},
    {"cstdlib", "malloc and free need no header here: leave it out"},
    {"stdlib.h", "malloc and free need no header here: leave it out"},
    {"ctime", "clock needs no header here: leave it out"},
    {"time.h", "clock needs no header here: leave it out"},
    {"algorithm", "min and max of numbers need no header here: leave it out"},
    {"cuda.h", "the driver's interface is the host's: a kernel needs no part of it"},
    {"helper_*.h",
     "it is of the CUDA samples, not of the Toolkit: copy it into the script's folder"},
};

static const char host_only[] =
    "it is the host's, and NVRTC compiles for the device alone: put what needs it into "
    "another file, or between #ifndef __CUDACC_RTC__ and #endif";

/* Headers with an ending that belong to the host's system. */
static const char *const host_headers[] = {
    "complex.h",   "errno.h",   "fcntl.h",   "fenv.h",   "getopt.h",  "inttypes.h", "locale.h",
    "memory.h",    "omp.h",     "pthread.h", "setjmp.h", "signal.h",  "sched.h",    "stdarg.h",
    "tgmath.h",    "threads.h", "unistd.h",  "wchar.h",  "windows.h", "malloc.h",   "sys/*",
    "immintrin.h", "mpi.h",     "bits/*",    "dirent.h", "ctype.h"};

static const char *const cstdint = "#include <cuda/std/cstdint>";
static const char *const climits = "#include <cuda/std/climits>";
static const char *const limits =
    "#include <cuda/std/limits>, for cuda::std::numeric_limits<float>::max(), epsilon() "
    "and their like";
static const char *const constants = "#include <math_constants.h>, for CUDART_PI and its like";

/* Names that need a header which NVRTC does not include by itself, or that are the host's. */
static const known_name names[] = {
    {"INFINITY", "#include <cuda/std/cmath>, or write __int_as_float(0x7f800000)"},
    {"NAN", "#include <cuda/std/cmath>, or write __int_as_float(0x7fc00000)"},
    {"HUGE_VAL*", "#include <math_constants.h>, for CUDART_INF and CUDART_INF_F"},
    {"int[0-9]*_t", cstdint},
    {"uint[0-9]*_t", cstdint},
    {"*int_fast[0-9]*_t", cstdint},
    {"*int_least[0-9]*_t", cstdint},
    {"*intptr_t", cstdint},
    {"*intmax_t", cstdint},
    {"*INT[0-9]*_M??", cstdint},
    {"SIZE_MAX", cstdint},
    {"PTRDIFF_M??", cstdint},
    {"CHAR_BIT", climits},
    {"*CHAR_M??", climits},
    {"*SHRT_M??", climits},
    {"INT_M??", climits},
    {"UINT_MAX", climits},
    {"*LONG_M??", climits},
    {"FLT_*", limits},
    {"DBL_*", limits},
    {"numeric_limits", "#include <cuda/std/limits>, for cuda::std::numeric_limits"},
    {"M_*", constants},
    {"CUDART_*", "#include <math_constants.h>"},
    {"half", "#include <cuda_fp16.h>"},
    {"half2", "#include <cuda_fp16.h>"},
    {"__half*", "#include <cuda_fp16.h>"},
    {"__float2half*", "#include <cuda_fp16.h>"},
    {"__hadd*", "#include <cuda_fp16.h>"},
    {"*nv_bfloat16*", "#include <cuda_bf16.h>"},
    {"__float2bfloat16*", "#include <cuda_bf16.h>"},
    {"__nv_fp8*", "#include <cuda_fp8.h>"},
    {"__nv_fp4*", "#include <cuda_fp4.h>"},
    {"cu*Complex", "#include <cuComplex.h>"},
    {"curand*", "#include <curand_kernel.h>"},
    {"__pipeline_*", "#include <cuda_pipeline.h>"},
    {"cooperative_groups", "#include <cooperative_groups.h>"},
    {"nvcuda", "#include <mma.h>"},
    {"uint", "write unsigned int"},
    {"uchar", "write unsigned char"},
    {"ushort", "write unsigned short"},
    {"ulong", "write unsigned long"},
    {"exit", "a kernel ends by return, or with an error by __trap()"},
    {"abort", "a kernel ends with an error by __trap()"},
    {"rand", "random numbers are in <curand_kernel.h>"},
    {"cudaMalloc*",
     "it is the host's: a kernel calls no function of the runtime that allocates or copies"},
    {"cudaMemcpy*",
     "it is the host's: a kernel calls no function of the runtime that allocates or copies"},
};

static const char *find_name(const known_name *known, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(known[i].pattern, name, 0) == 0)
            return known[i].remedy;
    return NULL;
}

/* Copies what stands between `before` and the next quote; false where it does not. */
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

/* The device's own version of a header of the standard library: of <limits.h> that is
 * <cuda/std/climits>. */
static bool tell_own_header(const char *include_dir, const char *header, char text[REMEDY_BYTES])
{
    char name[WORD_BYTES + 16];
    size_t stem = strlen(header);
    const bool is_of_c = stem > 2 && strcmp(header + stem - 2, ".h") == 0;
    snprintf(name, sizeof name, "cuda/std/%s%.*s", is_of_c ? "c" : "",
             (int)(is_of_c ? stem - 2 : stem), header);
    if (strchr(header, '/') || !is_in_toolkit(include_dir, name))
        return false;
    snprintf(text, REMEDY_BYTES, "NVRTC has no header of the host's: #include <%s>%s", name,
             is_of_c ? "" : ", whose names are in cuda::std");
    return true;
}

static bool is_of_host(const char *header)
{
    for (size_t i = 0; i < sizeof host_headers / sizeof *host_headers; i++)
        if (fnmatch(host_headers[i], header, 0) == 0)
            return true;
    /* The standard library's have no ending. */
    return !strchr(header, '.') && !strchr(header, '/');
}

static bool tell_header(const char *header, const char *include_dir, char text[REMEDY_BYTES])
{
    const char *known = find_name(headers, sizeof headers / sizeof *headers, header);
    if (known)
        snprintf(text, REMEDY_BYTES, "%s", known);
    else if (tell_own_header(include_dir, header, text))
        return true;
    else if (is_of_host(header))
        snprintf(text, REMEDY_BYTES, "%s", host_only);
    else
        snprintf(
            text, REMEDY_BYTES,
            "no file of that name is in the script's folder, among the tool's own or %s; -I DIR "
            "names a folder that has it",
            include_dir[0] ? "in the CUDA Toolkit"
                           : "elsewhere: there is no CUDA Toolkit with headers here");
    return true;
}

/* Names of namespace std, which is not the device's. */
static bool tell_member(const char *name, char text[REMEDY_BYTES])
{
    const char *known = find_name(names, sizeof names / sizeof *names, name);
    snprintf(text, REMEDY_BYTES, "the device's is cuda::std::%s%s%s", name,
             known ? ": " : ", of a header <cuda/std/...>", known ? known : "");
    return true;
}

static bool tell_host_code(const char *line, const char *include_dir, char text[REMEDY_BYTES])
{
    const bool in_toolkit = include_dir[0] && strstr(line, "/include/");
    snprintf(
        text, REMEDY_BYTES, "%s",
        in_toolkit
            ? "this header is the host's, too: include the parts that run on the device, such as "
              "<cub/block/block_reduce.cuh> in place of <cub/cub.cuh>"
            : "NVRTC compiles for the device alone: mark it __device__, or put it between #ifndef "
              "__CUDACC_RTC__ and #endif");
    return true;
}

static bool tell(const char *line, const char *include_dir, char text[REMEDY_BYTES])
{
    char word[WORD_BYTES];
    if (quoted_after(line, "cannot open source file \"", word))
        return tell_header(word, include_dir, text);
    if (quoted_after(line, "namespace \"std\" has no member \"", word))
        return tell_member(word, text);
    if (strstr(line, "not allowed in JIT mode"))
        return tell_host_code(line, include_dir, text);
    const char *known = NULL;
    if (quoted_after(line, "identifier \"", word) && strstr(line, "is undefined"))
        known = find_name(names, sizeof names / sizeof *names, word);
    if (strstr(line, "name followed by \"::\" must be a class or namespace name"))
        known =
            "no header that is included has that namespace: cuda::std comes with <cuda/std/...>, "
            "cooperative_groups with <cooperative_groups.h>, and std is the host's";
    snprintf(text, REMEDY_BYTES, "%s", known ? known : "");
    return known;
}

/* The beginning of the line of the first error; NULL: there is none. */
static const char *first_error(const char *log)
{
    const char *at = strstr(log, "error: ");
    while (at && at > log && at[-1] != '\n')
        at--;
    return at;
}

static bool find_remedy(const char *log, const char *include_dir, char text[REMEDY_BYTES])
{
    text[0] = '\0';
    const char *at = first_error(log);
    char *line = at ? strndup(at, strcspn(at, "\n")) : NULL;
    bool known = line && tell(line, include_dir, text);
    free(line);
    return known;
}

void compile_log_add_remedy(char **log, const char *include_dir)
{
    char text[REMEDY_BYTES];
    if (!find_remedy(*log, include_dir, text))
        return;
    const char *at = first_error(*log);
    const size_t end = (size_t)(at - *log) + strcspn(at, "\n"), size = strlen(*log),
                 more = strlen(text) + 2;
    char *longer = malloc(size + more + 1);
    if (!longer)
        return;
    memcpy(longer, *log, end);
    memcpy(longer + end, "; ", 2);
    memcpy(longer + end + 2, text, more - 2);
    memcpy(longer + end + more, *log + end, size - end + 1);
    free(*log);
    *log = longer;
}
