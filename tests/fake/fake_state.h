/* The state that the files of the fake driver share; no other file includes this.
 *
 * fake_cuda.c has devices and the context, fake_memory.c memory, fake_launch.c modules and
 * launches, fake_graph.c what is captured, and events. */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

#include "fake_calls.h"
#include "fake_cuda.h"
#include "fake_stream.h"

enum {
    MAX_ALLOCATIONS = 4096,
    MAX_ARGUMENTS = 5,
    LAUNCH_NS = 2000, /* a kernel that does not say what it takes */
    SHARED_MOST = 232448
};

/* A captured launch (function) or copy. */
typedef struct fake_node {
    CUfunction function;
    uint64_t arguments[MAX_ARGUMENTS];
    uint64_t threads;
    CUdeviceptr to, from;
    size_t size_bytes;
} fake_node;

/* The driver's own state: one process, one context. */
typedef struct fake_driver {
    bool initialised, context;
    CUresult sticky;
    bool hanging;
    uint64_t now_ns;
    uint64_t percent; /* of a kernel's time that this device takes */
    int modules;
    CUmodule first_module;
    size_t allocated_bytes, allocations;
    const unsigned char *starts[MAX_ALLOCATIONS];
    size_t sizes[MAX_ALLOCATIONS];
    const volatile uint32_t *gate;
    uint32_t ticket;
    CUgraph capturing;                  /* NULL: launches happen */
    CUdeviceptr copied_to, copied_from; /* by what ran last, */
    size_t copied_bytes;                /* unless 0: memory was changed otherwise */
} fake_driver;
extern fake_driver fake;

long fake_setting(const char *name, long fallback);
void fake_wait_us(long us);

/* Adds to the file that `setting` names, from whatever process. */
void fake_note(const char *setting, const char *text);

/* A sample was timed. */
void fake_count_time(void);

/* Every call of a context does this first. */
CUresult fake_enter(void);

/* Does memory of a module's variables lie there? */
bool fake_is_variable(CUdeviceptr start, size_t size_bytes);

/* A kernel of the first stream, which is done at once. */
void fake_run_now(CUfunction f, const fake_launch *l);

/* A copy within the device. */
void fake_copy_within(CUdeviceptr to, CUdeviceptr from, size_t size_bytes);

/* Adds to the graph that is being captured. */
CUresult fake_capture(fake_node n);

#endif
