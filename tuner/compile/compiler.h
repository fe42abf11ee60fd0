/* One compiler in a compile worker: NVRTC and the cache of its results.
 *
 * In: a request. Out: NVRTC's answer, as a result. Results are kept on disk by request; the image
 * of a group (compile/group.h) is kept once for all its members. */
#ifndef AUTOTUNE_COMPILE_COMPILER_H
#define AUTOTUNE_COMPILE_COMPILER_H

#include "compile/cache.h"
#include "compile/compile.h"
#include "compile/nvrtc.h"
#include "compile/preamble.h"
#include "process/message.h"

typedef struct compiler {
    nvrtc_library nvrtc;
    compile_cache cache;
    bool cache_reads, cache_writes;
    char identity[128];     /* of this compiler, for cache keys */
    char with_toolkit[192]; /* that and of the Toolkit's headers; "" until they are needed */
    char with_own[224];     /* either, of a source that was made for its very architecture */
    int fd;                 /* to the tuner */
    preambles preambles;
    /* The last source name whose sources needed what --minimal leaves out: the next variant of the
     * same template will need it too. */
    char full_name[256];
    /* The last one whose sources were all broken as a group. */
    char lone_name[256];
    /* The last image of a group that was stored or fetched, which the next variant may be in. */
    compile_key image_key;
    unsigned char *image;
    size_t image_bytes;
} compiler;

/* Opens the cache. If that fails the worker goes on without one, and the tuner gets a warning. */
void compiler_open_cache(compiler *c, const char *dir, uint64_t limit_bytes);

/* Sends the tuner a warning. */
void compiler_warn(const compiler *c, const char *text);

/* A text that identifies the compiler for this request, for cache keys. */
const char *compiler_identity(compiler *c, const compile_request *r);

/* The way in which a source is compiled. */
typedef struct compile_way {
    bool minimal, include;
    bool resources; /* ptxas tells them */
    bool own;       /* for the very architecture, sm_90a, which alone has some instructions */
    const char *precompiled; /* NVRTC's option that reads or writes headers; NULL: none */
} compile_way;

/* Does the source itself write instructions that only the very architecture has? */
bool compiler_needs_own(const char *source);

/* Runs NVRTC on a request as it is. */
void compiler_run(const compiler *c, const compile_request *r, compile_way way, nvrtc_output *out);

/* The most resources that any of the kernels needs. `symbols`: their names in the code, on a line
 * each. AT_NOT_FOUND if the log lacks one. */
at_status compiler_read_resources(const char *symbols, const nvrtc_output *o, kernel_resources *out,
                                  at_error *error);

/* Compiles one request. *out's pointers are views of *o, or of the error's message; the caller
 * frees *o (nvrtc_output_deinit). */
void compiler_compile(compiler *c, const compile_request *r, nvrtc_output *o, compile_result *out,
                      at_error *error);

/* Fetches the kept result of a request as the reply; false if there is none. */
bool compiler_fetch(compiler *c, compile_key key, uint64_t id, message *reply);

/* Stores a result, if it depends on the source alone. */
void compiler_store(compiler *c, compile_key key, const compile_result *r);

#endif
