/* Streams and host memory of the fake driver, and the times of copies between host and device.
 *
 * Work on the first stream of a process ends at once. Work on any other stream waits until the
 * stream is synchronised: a program that reads a copy's destination, or overwrites its source,
 * before it synchronises gets wrong data. The time of work is known when the work is queued: the
 * work starts when its engine (copies to the device, copies to the host, kernels) is free and the
 * earlier work on the stream has ended.
 *
 * A copy takes 5 us, and 1 ns for 24 bytes (26 bytes from write-combined memory to the device). A
 * copy of pageable memory takes 20 us, and 1 ns for 6 bytes, and the host waits for it. Queuing
 * takes 1 us of the host's time. */
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

/* Must be called when device memory changes, except by a copy within the device. */
void fake_changed(void);

/* Returns whether this is the first stream of the process, on which work ends at once. */
bool fake_stream_is_first(CUstream stream);

/* Makes a stream. Returns NULL if memory is short. */
CUstream fake_stream_new(void);
void fake_stream_free(CUstream stream);

/* Queues work that takes `time_ns` and starts at `now_ns` or later. Returns false without
 * memory. */
bool fake_stream_queue(CUstream stream, const fake_work *work, fake_engine engine, uint64_t time_ns,
                       uint64_t now_ns);
/* Runs the queued work. Returns the time when it ends, or `now_ns` if that is later. */
uint64_t fake_stream_finish(CUstream stream, uint64_t now_ns);

/* Copies between host and device; the kind of host memory decides the time. Returns the time when
 * the host continues. */
uint64_t fake_copy(CUstream stream, void *to, const void *from, size_t size_bytes, bool up,
                   uint64_t now_ns);

/* Returns whether an address lies in pinned host memory. */
bool fake_is_pinned(const void *memory);

#endif
