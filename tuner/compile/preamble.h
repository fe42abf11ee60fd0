/* Precompiled headers: what variants of one source include of the Toolkit is read once.
 *
 * CUB, cuda::std and cooperative groups take NVRTC a second and more for each source. Those that
 * begin with the same #include lines are compiled after a heap that NVRTC wrote, once they come the
 * second time: the first compiles as it is, the second writes the heap, the others read it. The
 * code is the same but for names of module variables that hold a hash of source and options.
 *
 * The heap belongs to the process that wrote it: a file in the compile cache, deleted as
 * soon as it is open, so that nothing is left of it. It has a hundred megabytes and more: where the
 * folder has no room for one of each core, nothing is precompiled. */
#ifndef AUTOTUNE_COMPILE_PREAMBLE_H
#define AUTOTUNE_COMPILE_PREAMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/compile.h"

/* The heaps of a worker. Zeroed and without a folder it precompiles nothing. */
enum { PREAMBLES_KEPT = 4 };

typedef struct preamble {
    uint64_t key; /* of the #include lines, the architecture and the options; 0: none */
    int fd;       /* of the heap; -1: there is none yet */
    int failures; /* to write it, or to compile with it */
} preamble;

typedef struct preambles {
    char folder[512]; /* "": none */
    preamble kept[PREAMBLES_KEPT];
    size_t next; /* to be given to the next key */
} preambles;

/* Precompiles from now on, if the folder, the compile cache's, has the room. The process is not to
 * use $TMPDIR for anything else. */
void preambles_open(preambles *p, const char *folder);

/* The way in which a source is compiled. */
typedef struct preamble_use {
    preamble *of;     /* NULL: as it is */
    char *source;     /* owned: with its first #include lines ahead of all else */
    char option[600]; /* that NVRTC gets */
    char path[560];   /* of the heap that it writes; "": it reads one */
} preamble_use;

/* Says how a request is to be compiled. After the compilation the caller calls preambles_end(). */
void preambles_begin(preambles *p, const compile_request *r, preamble_use *out);

/* `compiled`: NVRTC made code. */
void preambles_end(preamble_use *use, bool compiled);

#endif
