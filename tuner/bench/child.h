/* The device worker: the program of its process. It opens the device and answers requests.
 *
 * Input are requests from the socket (bench/wire.h). Output are answers, and a note before
 * everything that may hang. The process ends when the socket closes, or after an answer that
 * reports a lost context. */
#ifndef AUTOTUNE_BENCH_CHILD_H
#define AUTOTUNE_BENCH_CHILD_H

#include "bench/client.h"
#include "process/process.h"

/* Its settings are device_worker_options. */
extern const worker_program device_child_program;
/* The same program under another name, for a simulated device that proves variants beside a GPU. */
extern const worker_program device_proof_program;
/* Packs the options as settings of these programs. */
void device_child_put_options(pack *p, const device_worker_options *options);

/* Confines this process after its device is open (process/confine.h). With a device that is
 * simulated in the process, the process may open no file and no socket and run no program; with a
 * driver it may run no program. */
void device_child_confine(bool in_process);

/* Answers with the devices of the kind in its settings (a string; "" means all kinds) and ends. */
extern const worker_program device_list_program;

#endif
