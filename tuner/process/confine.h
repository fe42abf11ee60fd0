/* Confinement of a worker by the kernel: which files it may open, whether it may run programs and
 * use the network.
 *
 * Landlock bounds files (and, from its version 4 on, TCP; from 6 on, signals and abstract sockets);
 * seccomp bounds execution and sockets. Neither needs a right, neither can be taken back, and both
 * pass to children. Where the kernel has one of them not, the rest still holds: what is in force is
 * returned, and `autotune --version` says it. $AUTOTUNE_CONFINE set to "off" leaves both out. */
#ifndef AUTOTUNE_PROCESS_CONFINE_H
#define AUTOTUNE_PROCESS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum confine_access { CONFINE_READ, CONFINE_WRITE } confine_access;

/* A folder and all below it: to read, or also to make, write and remove files there. */
typedef struct confine_folder {
    const char *path; /* one that is not there allows nothing */
    confine_access access;
} confine_folder;

/* From here on this process opens no file but below these folders. False when the kernel has no
 * Landlock, refuses, or it is switched off. What is open stays open. */
bool confine_files(const confine_folder *folders, size_t count);

typedef enum confine_calls {
    CONFINE_EXECUTION, /* no other program, no tracing of processes, no kernel modules and the like */
    CONFINE_SOCKETS    /* that, and no new sockets */
} confine_calls;

/* From here on those system calls fail with EPERM. False as above. */
bool confine_system_calls(confine_calls what);

typedef struct confinement {
    bool off;             /* by $AUTOTUNE_CONFINE */
    int landlock_version; /* 0: none */
    bool seccomp;
} confinement;

/* What this kernel can do, without doing it. */
confinement confine_available(void);

#endif
