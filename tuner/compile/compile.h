/* Compile workers: CUDA source in, machine code and resources out.
 *
 * A pool of processes, each with its own NVRTC, compiles requests in the order of submission and
 * returns results as they finish. NVRTC has a process-wide lock, so processes scale and threads do
 * not. A worker that dies, hangs or needs too much memory costs one variant and is replaced. */
#ifndef AUTOTUNE_COMPILE_COMPILE_H
#define AUTOTUNE_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "device/arch.h"
#include "process/process.h"

typedef enum compile_outcome {
    COMPILE_OK,
    COMPILE_ERROR,   /* NVRTC rejected the source; the log has the reason */
    COMPILE_CRASHED, /* the worker died or ran out of memory */
    COMPILE_TIMEOUT
} compile_outcome;

typedef struct compile_request {
    uint64_t id;        /* chosen by the caller; copied to the result */
    const char *source; /* CUDA C++ */
    const char *name;   /* file name for messages */
    const char *entry;  /* kernels as C++ expressions ("ns::scale<64>"), one per line; the resources
                         * of the result are the maximum */
    const char *arch;   /* "sm_90" */
    const char *const *options; /* extra NVRTC options */
    size_t option_count;
    const source_header *headers; /* files that the source includes and the Toolkit lacks */
    size_t header_count;          /* at most SOURCE_HEADERS_MAX */
    bool want_ptx; /* also return PTX with line information, which a simulated device runs */
    /* with want_ptx: do not call ptxas, which halves the time. Then no errors of ptxas are found,
     * and the result has no machine code, no resources and no notes of machine code in the PTX. */
    bool ptx_alone;
} compile_request;

typedef struct compile_result {
    uint64_t id;
    compile_outcome outcome;
    void *cubin; /* owned; NULL unless COMPILE_OK, and with ptx_alone */
    size_t cubin_bytes;
    char *ptx; /* owned, NUL-terminated; NULL without want_ptx */
    size_t ptx_bytes;
    kernel_resources resources;
    char *symbols;   /* owned; names of the entries in cubin and PTX, one per line; NULL unless
                        COMPILE_OK */
    bool grouped;    /* the cubin also contains kernels of other requests */
    char *log;       /* owned, NUL-terminated: compiler messages */
    int64_t time_ns; /* time in NVRTC when the result was made, in ns */
    bool cached;
} compile_result;

typedef struct compile_host {
    const worker_host *host;
    size_t jobs; /* number of workers */
} compile_host;

typedef struct compile_options {
    int jobs; /* worker processes on this host; 0 means one per usable core */
    bool use_cache;
    const char *cache_dir;       /* NULL means $XDG_CACHE_HOME/autotune or ~/.cache/autotune */
    uint64_t cache_limit_bytes;  /* 0 means 1 GiB; the oldest entries are removed first */
    int timeout_s;               /* limit for one source, in s; 0 means 60 */
    uint64_t memory_limit_bytes; /* memory that a worker may map; 0 means 8 GiB; unlimited in
                                    sanitizer builds */
    const compile_host *hosts;   /* borrowed; further workers; may be NULL */
    size_t host_count;
} compile_options;

typedef struct compile_pool compile_pool;

/* Starts the workers. Returns AT_NO_TOOLCHAIN, with the list of paths tried, if NVRTC cannot be
 * opened. The caller calls compile_pool_free(). */
at_status compile_pool_new(const compile_options *options, compile_pool **out, at_error *error);

/* Kills the workers. Only compile_pool_free() may follow, and waits less. `pool` may be NULL. */
void compile_pool_kill(const compile_pool *pool);

/* Kills the workers, drops all requests and frees the pool. `pool` may be NULL. */
void compile_pool_free(compile_pool *pool);

/* Queues a copy of the request and returns at once. Returns AT_SCRIPT for a refused option. */
at_status compile_submit(compile_pool *pool, const compile_request *request, at_error *error);

/* Moves the latest request to the front of the queue. */
void compile_prioritise(compile_pool *pool);

/* Returns the number of requests whose result has not been taken. */
size_t compile_pending(const compile_pool *pool);

/* Returns the number of requests that keep all workers busy. */
size_t compile_width(const compile_pool *pool);
/* Returns the number of requests that let each worker compile full groups. */
size_t compile_group_width(const compile_pool *pool);

/* Adds the workers' sockets and next deadline to the set. Call compile_take() after the wait. */
void compile_poll(const compile_pool *pool, poll_set *set);

/* Takes a finished result. Also feeds idle workers, enforces time limits and replaces dead workers.
 * Waits up to `timeout_ms` (< 0 means unlimited). Returns AT_NOT_FOUND if no result comes in
 * time, no request is pending or a signal came. Every request gets exactly one result. The caller
 * owns *out (compile_result_deinit). */
at_status compile_take(compile_pool *pool, int timeout_ms, compile_result *out, at_error *error);

/* Frees the memory of a result. */
void compile_result_deinit(compile_result *r);

/* Returns the NVRTC version ("13.0"), valid as long as the pool. */
const char *compile_nvrtc_version(const compile_pool *pool);

/* Returns a warning for the user, such as an unwritable cache, or NULL. Owned by the pool. */
const char *compile_warning(const compile_pool *pool);

const char *compile_outcome_name(compile_outcome outcome); /* Returns "ok", "compile_error" ... */

#endif
