/* Compile workers: CUDA source in, machine code and resources out.
 *
 * A pool of processes, each with NVRTC opened in it, compiles requests in the order submitted and
 * returns results as they finish. NVRTC holds a process-wide lock, so processes scale and threads
 * do not. A worker that dies, hangs or takes too much memory costs one variant and is replaced. */
#ifndef AUTOTUNE_COMPILE_COMPILE_H
#define AUTOTUNE_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/trace.h"
#include "device/arch.h"
#include "process/process.h"

typedef enum compile_outcome {
    COMPILE_OK,
    COMPILE_ERROR,   /* NVRTC rejected the source; the log says why */
    COMPILE_CRASHED, /* the worker died on it, or ran out of memory */
    COMPILE_TIMEOUT
} compile_outcome;

typedef struct compile_request {
    uint64_t id;        /* the caller's; comes back with the result */
    const char *source; /* CUDA C++ */
    const char *name;   /* file name for messages */
    const char *entry;  /* the kernel, as an expression of C++ ("ns::scale<64>"); of several, one
                           on a line, and the resources are the most that any needs */
    const char *arch;   /* "sm_90" */
    const char *const *options; /* extra NVRTC options */
    size_t option_count;
    const source_header *headers; /* files that the source includes and the Toolkit lacks */
    size_t header_count;          /* at most SOURCE_HEADERS_MAX */
    bool want_ptx;                /* PTX with line information too (a simulated device runs it) */
} compile_request;

typedef struct compile_result {
    uint64_t id;
    compile_outcome outcome;
    void *cubin; /* owned; NULL unless COMPILE_OK */
    size_t cubin_bytes;
    char *ptx; /* owned, NUL-terminated; NULL unless asked for */
    size_t ptx_bytes;
    kernel_resources resources;
    char *symbols;   /* owned; the entries' names in cubin and PTX, on a line each; NULL unless
                        COMPILE_OK */
    bool grouped;    /* the cubin has kernels of other requests, too */
    char *log;       /* owned, NUL-terminated: compiler messages */
    int64_t time_ns; /* in NVRTC; when from the cache, what it took then */
    bool cached;
} compile_result;

/* A host with further compile workers, and how many. */
typedef struct compile_host {
    const worker_host *host;
    size_t jobs;
} compile_host;

typedef struct compile_options {
    int jobs; /* worker processes; 0: as many as cores that this process may use */
    bool use_cache;
    const char *cache_dir;       /* NULL: $XDG_CACHE_HOME/autotune or ~/.cache/autotune */
    uint64_t cache_limit_bytes;  /* 0: 1 GiB; oldest entries go first */
    int timeout_s;               /* for one source; 0: 60 */
    uint64_t memory_limit_bytes; /* that a worker may map; 0: 8 GiB; sanitizer builds: none */
    const compile_host *hosts;   /* borrowed: more workers; NULL: none */
    size_t host_count;
    trace *trace; /* borrowed: a lane for each worker; NULL: none */
} compile_options;

typedef struct compile_pool compile_pool;

/* Starts the workers. AT_NO_TOOLCHAIN when NVRTC cannot be opened, naming what was tried. */
at_status compile_pool_new(const compile_options *options, compile_pool **out, at_error *error);

/* Kills the workers; only compile_pool_free() may follow, which then waits less. NULL is fine. */
void compile_pool_kill(const compile_pool *pool);

/* Kills the workers, drops what is queued. NULL is fine. */
void compile_pool_free(compile_pool *pool);

/* Queues a copy of the request; never blocks. AT_SCRIPT if a script may not pass one of the options
 * (compile/option.h). */
at_status compile_submit(compile_pool *pool, const compile_request *request, at_error *error);

/* Puts the latest request before all others that wait for a worker. */
void compile_hurry(compile_pool *pool);

/* Requests whose result has not been taken yet. */
size_t compile_pending(const compile_pool *pool);

/* How many requests keep every worker busy; and how many let each compile as many together as is
 * worth while. */
size_t compile_width(const compile_pool *pool);
size_t compile_group_width(const compile_pool *pool);

/* Adds what an event loop has to wait for before it calls compile_take() again: the workers'
 * sockets, and the longest time that the time limits allow. */
void compile_poll(const compile_pool *pool, poll_set *set);

/* Takes one finished result: feeds idle workers, enforces time limits, replaces the dead. Waits up
 * to `timeout_ms` (< 0: until something finishes); AT_NOT_FOUND when none finished, none is pending
 * or a signal came. Every request is answered exactly once. The caller owns *out
 * (compile_result_deinit). */
at_status compile_take(compile_pool *pool, int timeout_ms, compile_result *out, at_error *error);

void compile_result_deinit(compile_result *r);

/* NVRTC's version ("13.0"), from the first worker; valid as long as the pool. */
const char *compile_nvrtc_version(const compile_pool *pool);

/* A warning for the user that stops nothing, such as a cache that cannot be written; NULL: none.
 * Valid as long as the pool. */
const char *compile_warning(const compile_pool *pool);

const char *compile_outcome_name(compile_outcome outcome); /* "ok", "compile_error", ... */

#endif
