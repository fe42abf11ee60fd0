/* Streams and host memory of the fake driver, and what copies between host and device take.
 *
 * Work on the first stream of a process happens at once. What is queued on another waits until
 * somebody synchronises it: a program that reads what a copy brings, or writes over what it takes,
 * before then gets it wrong here. Its time is told beforehand: the engine of its kind (copies to
 * the device, copies to the host, kernels) is free, and what came before on the stream is done.
 *
 * A copy takes 5 us and 1 ns for 24 bytes, to the device from write-combined memory for 26;
 * pageable memory 20 us and 1 ns for 6 bytes, while which the host waits. The host takes 1 us to
 * queue it. */
#ifndef FAKE_STREAM_H
#define FAKE_STREAM_H

#include "fake_cuda.h"

typedef enum fake_engine { ENGINE_UP, ENGINE_DOWN, ENGINE_KERNELS, ENGINE_COUNT } fake_engine;

enum { FAKE_QUEUED_ARGUMENTS = 8 };

/* What is queued: a kernel, or a copy. */
typedef struct fake_work {
    struct fake_work *next;
    CUfunction function; /* NULL: a copy */
    uint64_t arguments[FAKE_QUEUED_ARGUMENTS];
    uint64_t threads;
    void *to;
    const void *from;
    size_t size_bytes;
} fake_work;

/* Runs a kernel; in fake_launch.c. */
void fake_run(CUfunction function, const fake_launch *launch);

/* Memory of the device is about to be written other than by a copy within it. */
void fake_changed(void);

/* Is work on the stream done at once? */
bool fake_stream_is_first(CUstream stream);

/* Makes a stream; NULL: no memory. */
CUstream fake_stream_new(void);
void fake_stream_free(CUstream stream);

/* Queues work that takes so long, from `now_ns` on. False: no memory. */
bool fake_stream_queue(CUstream stream, const fake_work *work, fake_engine engine, uint64_t time_ns,
                       uint64_t now_ns);
/* Does what is queued; returns when that is through, `now_ns` or later. */
uint64_t fake_stream_finish(CUstream stream, uint64_t now_ns);

/* A copy between host and device; the host's memory decides what it takes. Returns the time when
 * the host goes on. */
uint64_t fake_copy(CUstream stream, void *to, const void *from, size_t size_bytes, bool up,
                   uint64_t now_ns);

/* Does an address lie in pinned memory of the host? */
bool fake_is_pinned(const void *memory);

#endif
