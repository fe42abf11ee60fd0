/* Blocks interrupting signals, so that the program can poll for them: SIGINT, SIGTERM, SIGHUP, and
 * signals by which other programs ask for an end or announce a limit (SIGUSR1 and SIGUSR2 of batch
 * systems, SIGALRM of an inherited timer, SIGXCPU ...). By default such a signal ends the process
 * without a message.
 *
 * While the signals are not blocked, the handler of main.c ends the process at once. A run with
 * measurements to keep blocks and polls the signals. After the first interrupt it unblocks SIGINT,
 * SIGTERM and SIGHUP, so that the next interrupt ends the process immediately. This module has no
 * handler and no state: blocked signals are pending in the kernel (process/process.c unblocks them
 * in workers). A signal that was ignored when the program started stays ignored (nohup), except
 * SIGINT and SIGTERM, because shells ignore SIGINT in background jobs of scripts. */
#ifndef AUTOTUNE_PROCESS_INTERRUPT_H
#define AUTOTUNE_PROCESS_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>

/* Makes `end` the handler of all interrupting signals and unblocks all signals, whatever the parent
 * process did. Also resets SIGCHLD, so that waitpid() works. Call it first in main(). */
void interrupt_begin(void (*end)(int signal_number));

/* Blocks the interrupting signals. */
void interrupt_hold(void);

/* Unblocks SIGINT, SIGTERM and SIGHUP. A pending signal is delivered at once. */
void interrupt_release(void);

/* Returns the number of a pending signal and removes it, or returns 0. Never blocks. */
int interrupt_take(void);

/* Returns true if a signal is pending. */
bool interrupt_is_pending(void);

/* Returns all interrupting signals, for a process that executes another program. SIGINT, SIGTERM
 * and SIGHUP come first. *count receives their number. */
const int *interrupt_signals(size_t *count);

#endif
