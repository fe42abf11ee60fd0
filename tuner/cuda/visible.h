/* Which GPUs the driver shows to this process.
 *
 * cuInit wakes up every GPU that it shows: on a host of four H200s it took 0.86 to 0.88 s, with one of them shown 0.18 to
 * 0.19 s. What uses one GPU asks for that one alone, by $CUDA_VISIBLE_DEVICES, before the driver starts. */
#ifndef AUTOTUNE_CUDA_VISIBLE_H
#define AUTOTUNE_CUDA_VISIBLE_H

#include <stddef.h>

/* How many GPUs the host has for all that its files tell; 0: they do not tell. */
size_t visible_present(void);

/* Sets $CUDA_VISIBLE_DEVICES so that GPU `ordinal`, of those that are shown now, is shown alone. Returns its ordinal from
 * then on: 0, or `ordinal` where nothing was changed, because there is nothing to leave out, or no such GPU of the
 * `present` ones, or it is not known how many there are (0): then the driver has to say so. Before the driver
 * is opened, and only in a process that is the GPU's worker: it changes the environment. */
int visible_show_alone(size_t present, int ordinal);

#endif
