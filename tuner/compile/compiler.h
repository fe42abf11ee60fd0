/* The compiler in a compile worker: calls NVRTC for a request, calls it again with other options
 * after some errors, and keeps the results in the cache on disk. The image of a group
 * (compile/group.h) is cached once for all members. */
#ifndef AUTOTUNE_COMPILE_COMPILER_H
#define AUTOTUNE_COMPILE_COMPILER_H

#include "compile/cache.h"
#include "compile/compile.h"
#include "compile/nvrtc.h"
#include "process/message.h"

typedef struct compiler {
    nvrtc_library nvrtc;
    compile_cache cache;
    bool cache_reads, cache_writes;
    char identity[128];      /* identity of the compiler, for cache keys */
    char with_toolkit[192];  /* identity with a hash of the Toolkit's headers; "" until needed */
    char with_specific[224]; /* one of these identities for a specific architecture (sm_90a) */
    int fd;                  /* socket to the tuner */
    preambles preambles;
    /* Last source name that needed declarations that --minimal leaves out. The next variant of the
     * same template will need them, too. */
    char full_name[256];
    /* Last source name whose sources could not be compiled as a group. */
    char ungroupable_name[256];
    /* Key of the last group image stored or fetched; the next variant may be in this image. */
    compile_key image_key;
    unsigned char *image;
    size_t image_bytes;
} compiler;

/* Opens the cache. If that fails, the worker continues without a cache and warns the tuner. */
void compiler_open_cache(compiler *c, const char *dir, uint64_t limit_bytes);

/* Sends the tuner a warning. */
void compiler_warn(const compiler *c, const char *text);

/* Returns the identity of the compiler for this request, for cache keys. */
const char *compiler_identity(compiler *c, const compile_request *r);

/* The options for one call of NVRTC. */
typedef struct compile_way {
    bool minimal, include;
    bool resources;          /* ask ptxas to report the resources */
    bool specific;           /* use the specific architecture (sm_90a) with more instructions */
    const char *precompiled; /* option that reads or writes precompiled headers; may be NULL */
} compile_way;

/* Returns true if the source contains instructions that only the specific architecture has. */
bool compiler_needs_specific(const char *source);

/* Calls NVRTC once for a request. */
void compiler_run(const compiler *c, const compile_request *r, compile_way way, nvrtc_output *out);

/* Computes the maximum resources of kernels. `symbols` has their names in the code, one per line.
 * Returns AT_NOT_FOUND if the log lacks a kernel. */
at_status compiler_read_resources(const char *symbols, const nvrtc_output *o, kernel_resources *out,
                                  at_error *error);

/* Compiles a request. The pointers in *out are views of *o or of the error's message; the caller
 * frees *o (nvrtc_output_deinit). */
void compiler_compile(compiler *c, const compile_request *r, nvrtc_output *o, compile_result *out,
                      at_error *error);

/* Writes the cached result of a request to *reply. Returns false if the cache lacks it. */
bool compiler_fetch(compiler *c, compile_key key, uint64_t id, message *reply);

/* Stores a result, unless the compiler crashed. */
void compiler_store(compiler *c, compile_key key, const compile_result *r);

#endif
