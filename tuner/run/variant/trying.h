/* Devices try what is compiled: they are fed and heard, and what one had in hand goes to the others
 * when it is lost. Part of the pipeline; no other file includes this. */
#ifndef AUTOTUNE_RUN_VARIANT_TRYING_H
#define AUTOTUNE_RUN_VARIANT_TRYING_H

#include "run/variant/course.h"

enum { TRYING_QUEUE = 4 }; /* requests in flight: the device never waits for the tuner */

/* Takes every event of a device that is there, and feeds it. AT_NOT_FOUND: no more. AT_DEVICE or
 * AT_NO_DEVICE: the last one is lost for good. */
at_status trying_drain(pipeline *p, size_t from, bool *moved, at_error *error);

#endif
