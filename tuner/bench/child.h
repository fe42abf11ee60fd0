/* The body of a device worker: opens the device, answers requests, measures.
 *
 * Runs in a process of its own (process/process.h). In: requests from the socket (bench/wire.h).
 * Out: answers, and a note before everything that may hang. Ends when the socket closes, or after
 * an answer that says that the context is gone. */
#ifndef AUTOTUNE_BENCH_CHILD_H
#define AUTOTUNE_BENCH_CHILD_H

#include "bench/client.h"
#include "process/process.h"

/* Its settings are device_worker_options. */
extern const worker_program device_child_program;
/* The same under another name, for a simulated device beside a GPU. */
extern const worker_program device_proof_program;
void device_child_put_options(pack *p, const device_worker_options *options);

/* Confines this process as a device worker is once its device is open (process/confine.h). A device
 * that is computed in the process leaves it no file to open, no socket and no program to run; a
 * driver leaves it all but programs. */
void device_child_confine(bool in_process);

/* Answers with the devices of the kind that its settings name (a string; "": all kinds) and
 * ends. */
extern const worker_program device_list_program;

#endif
