/* How many threads or workers this process should run. */
#ifndef AUTOTUNE_BASE_CORES_H
#define AUTOTUNE_BASE_CORES_H

#include <stddef.h>

/* Cores that this process may run on, at least 1: a batch system or taskset may leave it some of
 * those online. */
size_t cores_usable(void);

#endif
