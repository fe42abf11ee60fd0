/* Interrupts as a question: SIGINT, SIGTERM and SIGHUP are held back and asked for.
 *
 * A run that is interrupted ends with what it has; nothing may stop it in the middle of a write.
 * The signals stay blocked in this process for good (process/process.c unblocks them in workers), so that no
 * handler and no global state is needed. */
#ifndef AUTOTUNE_BASE_INTERRUPT_H
#define AUTOTUNE_BASE_INTERRUPT_H

#include <stdbool.h>

/* Holds the signals back from now on. */
void interrupt_hold(void);

/* The signal that came since the last call, or 0. Never blocks. */
int interrupt_take(void);

#endif
