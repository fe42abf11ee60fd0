/* Interrupts as a question: SIGINT, SIGTERM and SIGHUP are held back, and the program asks for them.
 *
 * When nothing holds them they end the process at once (main.c says how). A run that has measurements to
 * keep holds them and asks; once it was interrupted it releases them, so that the next one ends the process
 * whatever it is doing. No handler and no global state: held signals wait in the kernel (process/process.c
 * unblocks them in workers). */
#ifndef AUTOTUNE_PROCESS_INTERRUPT_H
#define AUTOTUNE_PROCESS_INTERRUPT_H

#include <stdbool.h>

/* Holds the signals back from now on. */
void interrupt_hold(void);

/* Releases the signals: they act by default or by their handlers, and one that waits acts now. */
void interrupt_release(void);

/* The signal that came since the last call, or 0. Never blocks. */
int interrupt_take(void);

/* Does a held signal wait to be taken? */
bool interrupt_waits(void);

#endif
