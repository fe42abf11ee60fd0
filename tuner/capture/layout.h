/* The tables that the injected library writes while the program runs, and the tuner reads
 * afterwards: plain data of fixed size in a mapped file, which survives if the program crashes, is
 * killed or calls _exit().
 *
 * Each process of the program has its own folder in the folder of the capture, with this table in
 * the file `table`. For launch number i of `launches` the folder has the files "<i>-<k>-before" and
 * "<i>-<k>-after" (contents of allocation k; no "after" if they are unchanged), "<i>-variable-<k>",
 * and "<i>-module" (the image from which its module was loaded). */
#ifndef AUTOTUNE_CAPTURE_LAYOUT_H
#define AUTOTUNE_CAPTURE_LAYOUT_H

#include <stdint.h>

/* This value must change whenever the structures below change. */
#define CAPTURE_MAGIC UINT64_C(0x3330747061637461)

#define CAPTURE_TABLE "table"

enum {
    CAPTURE_MOST_ROWS = 1 << 14,
    CAPTURE_NAMES_BYTES = 8 << 20,
    CAPTURE_MOST_LAUNCHES = 16,
    CAPTURE_MOST_ARGUMENTS = 1024,
    CAPTURE_PARAMETER_BYTES = 32768, /* CUDA passes at most 32,764 bytes of parameters */
    CAPTURE_MOST_POINTERS = 512,
    CAPTURE_MOST_ALLOCATIONS = 256,
    CAPTURE_MOST_VARIABLES = 64,
    CAPTURE_NAME_BYTES = 256,
    CAPTURE_TROUBLE_BYTES = 512
};

enum {
    CAPTURE_COOPERATIVE = 1,
    CAPTURE_RECORDED = 2 /* recorded into a graph: the kernel did not run at its launch */
};

/* Launches that differ only in counts and times. */
typedef struct capture_row {
    uint32_t name; /* start of the mangled name in `names` */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared_bytes;
    uint32_t flags;
    uint64_t count;               /* launches that the driver accepted */
    uint64_t refused;             /* launches that the driver refused */
    uint64_t timed;               /* number of launches with a known time */
    uint64_t time_ns, fastest_ns; /* sum of the known times, and the shortest */
} capture_row;

typedef struct capture_argument {
    uint32_t offset, size_bytes; /* position in the parameters */
} capture_argument;

/* Eight bytes of the parameters that are an address within an allocation, or its end. */
typedef struct capture_pointer {
    uint32_t offset; /* position in the parameters */
    uint32_t allocation;
    uint64_t allocation_offset;
} capture_pointer;

/* Which contents of an allocation were captured; each state includes the earlier states. */
enum { CAPTURE_UNREAD, CAPTURE_BEFORE, CAPTURE_UNCHANGED, CAPTURE_CHANGED };

typedef struct capture_allocation {
    uint64_t address, size_bytes;
    uint32_t is_host; /* the allocation is pinned host memory */
    uint32_t state;
} capture_allocation;

/* A variable of the kernel's module. Its contents before the launch are in "<i>-variable-<k>". */
typedef struct capture_variable {
    char name[CAPTURE_NAME_BYTES]; /* mangled name */
    uint64_t address, size_bytes;
} capture_variable;

/* How much of a launch was captured. */
enum { CAPTURE_NOTHING, CAPTURE_ARGUMENTS, CAPTURE_INPUTS, CAPTURE_DONE };

typedef struct capture_launch {
    uint32_t state;
    uint32_t row;
    uint64_t number; /* number of the launch among launches of chosen kernels, from 1 */
    uint32_t argument_count, parameter_bytes, pointer_count, allocation_count, variable_count;
    uint32_t variables_unread; /* number of further variables, which could not be read */
    capture_argument arguments[CAPTURE_MOST_ARGUMENTS];
    unsigned char parameters[CAPTURE_PARAMETER_BYTES];
    capture_pointer pointers[CAPTURE_MOST_POINTERS];
    capture_allocation allocations[CAPTURE_MOST_ALLOCATIONS];
    capture_variable variables[CAPTURE_MOST_VARIABLES];
    char device[128]; /* name of the GPU, as the driver reports it */
    int32_t major, minor;
    uint64_t module_bytes; /* size of the image; 0 if it was not seen when it was loaded */
    char trouble[CAPTURE_TROUBLE_BYTES]; /* reason why the launch was not captured completely */
} capture_launch;

typedef struct capture_table {
    uint64_t magic;
    uint32_t row_count, names_bytes, launch_count;
    uint64_t dropped; /* number of launches that found no free row */
    uint64_t graph_launches;
    uint64_t matched;                    /* launches of chosen kernels */
    uint64_t matched_recorded;           /* part of `matched` that was recorded into a graph */
    char program[4096];                  /* path of the program */
    char trouble[CAPTURE_TROUBLE_BYTES]; /* reason why launches are missing */
    capture_row rows[CAPTURE_MOST_ROWS];
    capture_launch launches[CAPTURE_MOST_LAUNCHES];
    char names[CAPTURE_NAMES_BYTES];
} capture_table;

/* Environment variables that configure the library. */
#define CAPTURE_DIR "AUTOTUNE_CAPTURE_DIR" /* folder of the capture */
/* part of the chosen kernels' names; no kernel is chosen if unset */
#define CAPTURE_KERNEL "AUTOTUNE_CAPTURE_KERNEL"
#define CAPTURE_NTH "AUTOTUNE_CAPTURE_NTH" /* number of the launch to capture, from 1 */
/* number of different grids and blocks to capture */
#define CAPTURE_SHAPES "AUTOTUNE_CAPTURE_SHAPES"
#define CAPTURE_LIMIT "AUTOTUNE_CAPTURE_LIMIT" /* most bytes of a launch's allocations */
#define CAPTURE_TIME "AUTOTUNE_CAPTURE_TIME"   /* 1 to time launches */
#define CAPTURE_CUPTI "AUTOTUNE_CAPTURE_CUPTI" /* path of CUPTI's library */

#endif
