/* Interrupts as a question: SIGINT, SIGTERM and SIGHUP are held back, and the program asks for
 * them. So are the signals by which others ask a program to end, or remind it of a limit (SIGUSR1
 * and SIGUSR2 of batch systems, SIGALRM of a timer that it inherited, SIGXCPU ...): by default they
 * would end it without a word.
 *
 * When nothing holds them they end the process at once (main.c says how). A run that has
 * measurements to keep holds them and asks; once it was interrupted it releases those of people, so
 * that the next one ends the process whatever it is doing. No handler and no global state: held
 * signals wait in the kernel (process/process.c unblocks them in workers). A signal that was
 * ignored when the program began stays ignored (nohup), but for SIGINT and SIGTERM: shells ignore
 * SIGINT for what a script starts in the background. */
#ifndef AUTOTUNE_PROCESS_INTERRUPT_H
#define AUTOTUNE_PROCESS_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything else: whichever signals the parent held back or ignored, they now call `end`, as
 * said above, and the ends of child processes are seen. */
void interrupt_begin(void (*end)(int signal_number));

/* Holds the signals back from now on. */
void interrupt_hold(void);

/* Releases SIGINT, SIGTERM and SIGHUP: they act by default or by their handlers, and one that waits
 * acts now. */
void interrupt_release(void);

/* The signal that came since the last call, or 0. Never blocks. */
int interrupt_take(void);

/* Does a held signal wait to be taken? */
bool interrupt_waits(void);

/* The signals of people, and the others that interrupt, for a process that becomes another program.
 * *count is their number. */
const int *interrupt_signals(size_t *count);

#endif
