/* Confines a worker by the kernel: the files that it may open, and whether it may run programs and
 * use the network.
 *
 * Landlock restricts files (from version 4 on also TCP, from version 6 on signals and abstract
 * sockets); seccomp restricts execution and sockets. Both need no privilege, cannot be undone, and
 * are inherited by children. If the kernel lacks one of them, the other still works: the functions
 * return whether the confinement is in force, and `autotune --version` shows it.
 * AUTOTUNE_CONFINE=off switches both off. */
#ifndef AUTOTUNE_PROCESS_CONFINE_H
#define AUTOTUNE_PROCESS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum confine_access { CONFINE_READ, CONFINE_WRITE } confine_access;

/* A folder with all below it. CONFINE_WRITE also allows creating, writing and removing files. */
typedef struct confine_folder {
    const char *path; /* if this folder does not exist, the entry is ignored */
    confine_access access;
} confine_folder;

/* Allows this process to open only files below these folders from now on. Open files stay open.
 * Returns false if the kernel lacks Landlock or refuses, or if confinement is switched off. */
bool confine_files(const confine_folder *folders, size_t count);

typedef enum confine_calls {
    CONFINE_EXECUTION, /* forbids to run programs, trace processes, load kernel modules ... */
    CONFINE_SOCKETS    /* forbids all that CONFINE_EXECUTION forbids, and new sockets */
} confine_calls;

/* Makes these system calls fail with EPERM from now on. Returns false if the kernel lacks seccomp
 * or refuses, or if confinement is switched off. */
bool confine_system_calls(confine_calls what);

typedef struct confinement {
    bool off;             /* switched off by $AUTOTUNE_CONFINE */
    int landlock_version; /* 0 if the kernel has no Landlock */
    bool seccomp;
} confinement;

/* Returns which confinement this kernel offers. Does not confine the process. */
confinement confine_available(void);

#endif
