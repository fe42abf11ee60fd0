/* The compile worker: what runs in each process of the pool.
 *
 * Requests come in over the socket and are answered in their order (compile/wire.h). NVRTC is
 * opened here and nowhere else. Whatever a source does to the compiler, the process and its memory
 * limit are the boundary. */
#ifndef AUTOTUNE_COMPILE_WORKER_H
#define AUTOTUNE_COMPILE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "process/process.h"

typedef struct compile_worker_config {
    bool use_cache;
    const char *cache_dir; /* NULL: the default */
    uint64_t cache_limit_bytes;
    uint64_t memory_limit_bytes; /* 0: none */
} compile_worker_config;

/* Its settings are a compile_worker_config; it ends when the tuner closes the socket. */
extern const worker_program compile_worker_program;
void compile_worker_put_config(pack *p, const compile_worker_config *config);

/* Confines this process as a worker is before it reads its first source: it may open the Toolkit's
 * headers to read and the compile cache (NULL: none) to read and write, nothing else; it may run no
 * program and make no socket. Where the kernel cannot, that much is missing (process/confine.h). */
void compile_worker_confine(const char *include_dir, const char *cache_dir);

#endif
