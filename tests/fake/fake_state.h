/* State that the files of the fake driver share. fake_cuda.c has devices and the context,
 * fake_memory.c memory, fake_launch.c modules and launches, fake_graph.c graphs and events. No
 * other file includes this header. */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

#include "fake_calls.h"
#include "fake_cuda.h"
#include "fake_stream.h"

enum {
    MAX_ALLOCATIONS = 4096,
    MAX_ARGUMENTS = 5,
    LAUNCH_NS = 2000, /* time of a kernel without a time in its name */
    SHARED_MOST = 232448
};

/* A captured copy, or a captured launch if `function` is set. */
typedef struct fake_node {
    CUfunction function;
    uint64_t arguments[MAX_ARGUMENTS];
    uint64_t threads;
    CUdeviceptr to, from;
    size_t size_bytes;
} fake_node;

/* The driver's state: one process, one context. */
typedef struct fake_driver {
    bool initialised, context;
    CUresult sticky;
    bool hanging;
    uint64_t now_ns;
    uint64_t percent; /* this device's time in percent of a kernel's time */
    int modules;
    CUmodule first_module;
    size_t allocated_bytes, allocations;
    const unsigned char *starts[MAX_ALLOCATIONS];
    size_t sizes[MAX_ALLOCATIONS];
    const volatile uint32_t *gate;
    uint32_t ticket;
    CUgraph capturing;                  /* the graph that is being captured, or NULL */
    CUdeviceptr copied_to, copied_from; /* addresses of the last copy within the device */
    size_t copied_bytes; /* size of the last copy in bytes; 0 after a change of memory */
} fake_driver;
extern fake_driver fake;

long fake_setting(const char *name, long fallback);
void fake_wait_us(long us);

/* Appends `text` to the file that the variable `setting` names. Processes may share the file. */
void fake_note(const char *setting, const char *text);

void fake_count_time(void);

/* Makes the checks with which every call of a context begins. */
CUresult fake_enter(void);

/* Returns whether the range lies in a variable of a module. */
bool fake_is_variable(CUdeviceptr start, size_t size_bytes);

/* Runs a kernel on the first stream at once. */
void fake_run_now(CUfunction f, const fake_launch *l);

void fake_copy_within(CUdeviceptr to, CUdeviceptr from, size_t size_bytes);

/* Adds a node to the graph that is being captured. */
CUresult fake_capture(fake_node n);

#endif
