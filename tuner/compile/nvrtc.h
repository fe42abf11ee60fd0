/* NVRTC, opened at run time and called: CUDA source in, cubin, PTX and log out.
 *
 * Only compile workers compile with it: the library is large, is not trusted to survive what it is
 * given, and serialises its callers. (The CUDA Toolkit's own header is called nvrtc.h.) */
#ifndef AUTOTUNE_COMPILE_NVRTC_H
#define AUTOTUNE_COMPILE_NVRTC_H

#include <nvrtc.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

typedef struct nvrtc_library {
    void *handle;
    char version[32];              /* "13.0" */
    char path[1024];               /* of the file that was opened, resolved */
    char include_dir[1024];        /* of the CUDA headers that belong to it; "" when not found */
    char include_options[2][1100]; /* with which it finds them, and the C++ libraries (CCCL) of CUDA
                                      13 */
    size_t include_option_count;   /* 0 when the headers were not found */
    uint64_t file_bytes;           /* distinguishes builds of one version */
    __typeof__(nvrtcVersion) *get_version;
    __typeof__(nvrtcGetErrorString) *get_error_string;
    __typeof__(nvrtcCreateProgram) *create_program;
    __typeof__(nvrtcDestroyProgram) *destroy_program;
    __typeof__(nvrtcAddNameExpression) *add_name_expression;
    __typeof__(nvrtcGetLoweredName) *get_lowered_name;
    __typeof__(nvrtcCompileProgram) *compile_program;
    __typeof__(nvrtcGetProgramLogSize) *get_log_size;
    __typeof__(nvrtcGetProgramLog) *get_log;
    __typeof__(nvrtcGetCUBINSize) *get_cubin_size;
    __typeof__(nvrtcGetCUBIN) *get_cubin;
    __typeof__(nvrtcGetPTXSize) *get_ptx_size;
    __typeof__(nvrtcGetPTX) *get_ptx;
} nvrtc_library;

/* Opens the first NVRTC found: $AUTOTUNE_NVRTC alone when it is set; else by the loader's own path,
 * in the Toolkit that autotune was built with, in /usr/local/cuda, $CUDA_HOME and $CUDA_PATH.
 * AT_NO_TOOLCHAIN lists every path tried and says what to do. It stays open until the process
 * ends. */
at_status nvrtc_library_open(nvrtc_library *out, at_error *error);

typedef struct nvrtc_output {
    nvrtcResult code; /* of the compilation, or of the call that failed after it */
    char *log;        /* owned (free), NUL-terminated; NULL when memory ran out */
    char *symbols;    /* owned: what the kernels are called in the code, on a line each; NULL unless
                         compiled */
    void *cubin;      /* owned; NULL unless compiled */
    size_t cubin_bytes;
    char *ptx;        /* owned, NUL-terminated; NULL unless asked for and compiled */
    size_t ptx_bytes; /* without the NUL */
    int64_t time_ns;  /* in NVRTC */
} nvrtc_output;

/* Compiles `source`, which messages call `name`. `entries` are the kernels that are wanted, on a
 * line each: expressions of C++ ("ns::scale<64, float>"), which are instantiated, or names as they
 * are in machine code ("_Z5scalePf"). `headers` (at most SOURCE_HEADERS_MAX) take precedence over
 * files. Failures are in out->code and not in an at_status, because a source that
 * does not compile is a result. */
void nvrtc_library_compile(const nvrtc_library *n, const char *source, const char *name,
                           const char *entries, const source_header *headers, size_t header_count,
                           const char *const *options, size_t option_count, int want_ptx,
                           nvrtc_output *out);

void nvrtc_output_deinit(nvrtc_output *o);

#endif
