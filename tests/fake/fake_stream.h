/* Streams and host memory of the fake driver, and the times of copies between host and device.
 *
 * Work on the first stream of a process ends at once. Work on any other stream waits until the
 * stream is synchronised. A program gets wrong data if it uses the destination of a copy, or
 * overwrites the source, before it synchronises. The time of work is known when the work is queued.
 * Work starts when the earlier work on the stream has ended and its engine is free (copies to the
 * device, copies to the host, kernels).
 *
 * A copy takes 5 us, plus 1 ns for 24 bytes (26 bytes from write-combined memory to the device). A
 * copy of pageable memory takes 20 us, plus 1 ns for 6 bytes, and the host waits for its end.
 * Queuing takes 1 us of the host's time. */
#ifndef FAKE_STREAM_H
#define FAKE_STREAM_H

#include "fake_cuda.h"

typedef enum fake_engine { ENGINE_UP, ENGINE_DOWN, ENGINE_KERNELS, ENGINE_COUNT } fake_engine;

enum { FAKE_QUEUED_ARGUMENTS = 8 };

/* Queued work: a kernel or a copy. */
typedef struct fake_work {
    struct fake_work *next;
    CUfunction function; /* NULL for a copy */
    uint64_t arguments[FAKE_QUEUED_ARGUMENTS];
    uint64_t threads;
    void *to;
    const void *from;
    size_t size_bytes;
} fake_work;

/* Runs a kernel. Defined in fake_launch.c. */
void fake_run(CUfunction function, const fake_launch *launch);

/* Callers call this function when device memory changes, except by a copy within the device. */
void fake_changed(void);

/* Returns whether this is the first stream of the process, on which work ends at once. */
bool fake_stream_is_first(CUstream stream);

/* Makes a stream. Returns NULL if memory runs out. */
CUstream fake_stream_new(void);
void fake_stream_free(CUstream stream);

/* Queues work that takes `time_ns` and starts at `now_ns` or later. Returns false if memory runs
 * out. */
bool fake_stream_queue(CUstream stream, const fake_work *work, fake_engine engine, uint64_t time_ns,
                       uint64_t now_ns);
/* Runs the queued work. Returns the time of its end, or `now_ns` if that is later. */
uint64_t fake_stream_finish(CUstream stream, uint64_t now_ns);

/* Copies between host and device. The kind of host memory decides the time. Returns the time when
 * the host continues. */
uint64_t fake_copy(CUstream stream, void *to, const void *from, size_t size_bytes, bool up,
                   uint64_t now_ns);

/* Returns whether an address lies in pinned host memory. */
bool fake_is_pinned(const void *memory);

#endif
