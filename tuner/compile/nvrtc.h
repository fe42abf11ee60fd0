/* NVRTC, opened at run time: CUDA source in, cubin, PTX and log out. Also precompiled headers. Only
 * compile workers use NVRTC: it is large, may crash on a source, and serialises its callers. (The
 * header of the CUDA Toolkit is also called nvrtc.h.) */
#ifndef AUTOTUNE_COMPILE_NVRTC_H
#define AUTOTUNE_COMPILE_NVRTC_H

#include <nvrtc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "compile/compile.h"

typedef struct nvrtc_library {
    void *handle;
    char version[32];              /* "13.0" */
    char path[1024];               /* path of the opened file, resolved */
    char include_dir[1024];        /* folder of its CUDA headers; "" if not found */
    char include_options[2][1100]; /* options for this folder and for the C++ libraries (CCCL) of
                                      CUDA 13 */
    size_t include_option_count;   /* 0 if the headers were not found */
    uint64_t file_bytes; /* size of the file, which distinguishes builds of the same version */
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

/* Opens the first NVRTC found. If $AUTOTUNE_NVRTC is set, tries only that path; otherwise the
 * loader's path, the Toolkit that autotune was built with, /usr/local/cuda, $CUDA_HOME and
 * $CUDA_PATH. Returns AT_NO_TOOLCHAIN with all paths tried and a remedy. The library stays open. */
at_status nvrtc_library_open(nvrtc_library *out, at_error *error);

typedef struct nvrtc_output {
    nvrtcResult code; /* result of the compilation, or of a later call that failed */
    char *log;        /* owned, NUL-terminated; NULL if there was no memory */
    char *symbols; /* owned; names of the kernels in the code, one per line; NULL unless compiled */
    void *cubin;   /* owned; NULL unless compiled */
    size_t cubin_bytes;
    char *ptx;        /* owned, NUL-terminated; NULL unless requested and compiled */
    size_t ptx_bytes; /* without the NUL */
    int64_t time_ns;  /* time in NVRTC, in ns */
} nvrtc_output;

/* Compiles `source`, which messages call `name`. `entries` are the kernels, one per line: C++
 * expressions ("ns::scale<64, float>"), which are instantiated, or mangled names ("_Z5scalePf").
 * `headers` (at most SOURCE_HEADERS_MAX) take precedence over files. An error in the source is a
 * result, so failures are in out->code. The caller calls nvrtc_output_deinit(). */
void nvrtc_library_compile(const nvrtc_library *n, const char *source, const char *name,
                           const char *entries, const source_header *headers, size_t header_count,
                           const char *const *options, size_t option_count, int want_ptx,
                           nvrtc_output *out);

/* Frees the memory of an output. */
void nvrtc_output_deinit(nvrtc_output *o);

/* ---- precompiled headers ----
 *
 * NVRTC takes a second or more for each source with CUB, cuda::std or cooperative groups. Sources
 * that begin with the same #include lines share the work: the first is compiled normally, for the
 * second NVRTC writes a file with its state after these lines, and for later sources NVRTC reads
 * that file. The code is the same except for names of module variables that contain a hash of
 * source and options.
 *
 * The file belongs to the process that wrote it. It is in the folder of the compile cache and is
 * deleted once it is open, so that nothing remains after the process. It has over a hundred
 * megabytes. If the folder lacks room for one file per core, nothing is precompiled. */

enum { PREAMBLES_KEPT = 4 };

typedef struct preamble {
    uint64_t key; /* hash of the #include lines, the architecture and the options; 0 if unused */
    int fd;       /* file with the precompiled headers; -1 if there is none yet */
    int failures; /* consecutive failures to write `fd` or to compile with it */
} preamble;

/* The precompiled headers of a worker. If zeroed, or without a folder, nothing is precompiled. */
typedef struct preambles {
    char folder[512]; /* folder of the files; "" without precompiling */
    preamble kept[PREAMBLES_KEPT];
    size_t next; /* index for the next new key */
} preambles;

/* Starts precompiling if the folder of the compile cache, `folder`, has enough room. NVRTC then
 * writes to this folder by $TMPDIR, which the process must not use for anything else. */
void preambles_open(preambles *p, const char *folder);

/* The way in which one source is compiled. */
typedef struct preamble_use {
    preamble *of;     /* the preamble to use; NULL to compile the source as it is */
    char *source;     /* owned; the source with its first #include lines at the top */
    char option[600]; /* option for NVRTC */
    char path[560];   /* file that NVRTC writes; "" if NVRTC reads a file */
} preamble_use;

/* Decides how a request is compiled. After the compilation the caller calls preambles_end(). */
void preambles_begin(preambles *p, const compile_request *r, preamble_use *out);

/* Ends a use. `compiled` is true if NVRTC produced code. */
void preambles_end(preamble_use *use, bool compiled);

#endif
