/* The compile worker: the program of each process of the pool. It answers requests from the socket
 * in order (compile/wire.h). Only this process opens NVRTC: its memory limit and the process
 * boundary contain any damage that a source does to the compiler. */
#ifndef AUTOTUNE_COMPILE_WORKER_H
#define AUTOTUNE_COMPILE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "process/process.h"

typedef struct compile_worker_config {
    bool use_cache;
    const char *cache_dir; /* NULL means the default */
    uint64_t cache_limit_bytes;
    uint64_t memory_limit_bytes; /* 0 means unlimited */
} compile_worker_config;

/* The settings are a compile_worker_config. The worker ends when the tuner closes the socket. */
extern const worker_program compile_worker_program;
/* Packs the settings of this program. */
void compile_worker_put_config(pack *p, const compile_worker_config *config);

/* Confines this process before it reads the first source: it may read the Toolkit's headers, read
 * and write the compile cache (`cache_dir` may be NULL) and open nothing else, run no program and
 * make no socket. Restrictions that the kernel lacks are skipped (process/confine.h). */
void compile_worker_confine(const char *include_dir, const char *cache_dir);

#endif
