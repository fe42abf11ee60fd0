/* Which GPUs the driver shows to this process.
 *
 * cuInit wakes up every GPU that it shows: on a host of four H200s it took 0.86 to 0.88 s, with one
 * of them shown 0.18 to 0.19 s. What uses one GPU asks for that one alone, by
 * $CUDA_VISIBLE_DEVICES, before the driver starts. */
#ifndef AUTOTUNE_CUDA_VISIBLE_H
#define AUTOTUNE_CUDA_VISIBLE_H

#include <stddef.h>

/* How many GPUs the host has for all that its files tell; 0: they do not tell. */
size_t visible_present(void);

/* Sets $CUDA_VISIBLE_DEVICES so that GPU `ordinal`, of those that are shown now, is shown alone.
 * Returns its ordinal from then on: 0, or `ordinal` where nothing is changed: when no other GPU is
 * shown, when none has that ordinal (the driver will say so), and when neither the variable nor
 * `present` (0: not known) tells which are shown. To be called before the driver is opened, and
 * only in the GPU's worker, because it changes the process's environment. */
int visible_show_alone(size_t present, int ordinal);

#endif
