/* Confinement of a worker by the kernel: which files it may open, whether it may run programs and
 * use the network.
 *
 * Landlock restricts files (and, from its version 4 on, TCP; from 6 on, signals and abstract
 * sockets); seccomp restricts execution and sockets. Both need no privilege, cannot be undone, and
 * are inherited by children. If the kernel lacks one of them, the other still holds: the functions
 * return what is in force, and `autotune --version` shows it. With AUTOTUNE_CONFINE=off neither is
 * used. */
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

/* Lets this process open only files below these folders from now on. False if the kernel has no
 * Landlock or refuses, or if it is switched off. Files that are open stay open. */
bool confine_files(const confine_folder *folders, size_t count);

typedef enum confine_calls {
    CONFINE_EXECUTION, /* no other program, no tracing of processes, no kernel modules and the
                          like */
    CONFINE_SOCKETS    /* that, and no new sockets */
} confine_calls;

/* Makes those system calls fail with EPERM from now on. Its result is as above. */
bool confine_system_calls(confine_calls what);

typedef struct confinement {
    bool off;             /* by $AUTOTUNE_CONFINE */
    int landlock_version; /* 0: none */
    bool seccomp;
} confinement;

/* Tells what this kernel can do, without doing it. */
confinement confine_available(void);

#endif
