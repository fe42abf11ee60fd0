/* The program of the device worker's process. It opens the device, answers requests from the socket
 * (bench/wire.h), and sends a note before each step that may hang. It ends when the socket closes,
 * or after an answer that reports a lost context. */
#ifndef AUTOTUNE_BENCH_WORKER_H
#define AUTOTUNE_BENCH_WORKER_H

#include "bench/client.h"
#include "process/process.h"

/* The device worker for a GPU or a simulated device. Its settings are device_worker_options. */
extern const worker_program device_worker_program;
/* The same program under another name, for a simulated device that proves variants beside a GPU. */
extern const worker_program device_proof_program;
/* Packs the options as settings for both programs. */
void device_worker_put_options(pack *p, const device_worker_options *options);

/* Confines this process after its device is open: no program, and if `in_process` (a simulated
 * device without a driver) no file and no socket (process/confine.h). */
void device_worker_confine(bool in_process);

/* Answers with the devices of the kind in its settings (a string; "" means all kinds) and ends. */
extern const worker_program device_list_program;

#endif
