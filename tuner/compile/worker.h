/* The compile worker: what runs in each process of the pool.
 *
 * Requests arrive over the socket and are answered in order (compile/wire.h). Only this process
 * opens NVRTC: its memory limit and its process boundary contain whatever a source does to the
 * compiler. */
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

/* Its settings are a compile_worker_config. It ends when the tuner closes the socket. */
extern const worker_program compile_worker_program;
void compile_worker_put_config(pack *p, const compile_worker_config *config);

/* Confines this process before it reads its first source: it may read the Toolkit's headers, and
 * read and write the compile cache (NULL: none), and open nothing else; it may run no program and
 * make no socket. Restrictions that the kernel does not support are left out
 * (process/confine.h). */
void compile_worker_confine(const char *include_dir, const char *cache_dir);

#endif
