/* Interrupts as a question: SIGINT, SIGTERM and SIGHUP are held back and asked for.
 *
 * Outside of a hold they end the process at once (main.c says how). A run that has measurements to
 * keep holds them, asks, and lets go once it was interrupted, so that the next one ends it
 * whatever it is at. No handler of its own and no global state: held signals wait in the kernel
 * (process/process.c unblocks them in workers). */
#ifndef AUTOTUNE_PROCESS_INTERRUPT_H
#define AUTOTUNE_PROCESS_INTERRUPT_H

#include <stdbool.h>

/* Holds the signals back from now on. */
void interrupt_hold(void);

/* Lets the signals do what they do by default, or by their handlers; one that waits does it now. */
void interrupt_release(void);

/* The signal that came since the last call, or 0. Never blocks. */
int interrupt_take(void);

/* Does a held signal wait to be taken? */
bool interrupt_waits(void);

#endif
