#define _GNU_SOURCE /* sched_getaffinity */
#include "base/cores.h"

#include <sched.h>
#include <unistd.h>

size_t cores_usable(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}
