/* Finds processes that a test has started, in /proc. Tests kill or stop these processes. */
#ifndef AUTOTUNE_CHILDREN_H
#define AUTOTUNE_CHILDREN_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns the parent of a process (the fourth field of its stat file), or 0 if the process has
 * ended. */
static inline pid_t children_parent(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    int parent = 0;
    const char *rest = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (!rest || sscanf(rest, ") %*c %d", &parent) != 1)
        parent = 0;
    fclose(f);
    return (pid_t)parent;
}

/* Returns child number `which` of this process, or 0 if there is no such child. */
static inline pid_t children_find(unsigned which)
{
    pid_t children[64];
    unsigned count = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d)) && count < 64;) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && children_parent(pid) == getpid())
            children[count++] = pid;
    }
    if (d)
        closedir(d);
    return count ? children[which % count] : 0;
}

#endif
