/* The tables that the library within a program writes, and the tuner reads when the program has
 * ended: plain data of fixed size in a file that both map, so that a program that crashes, is
 * killed or leaves by _exit() has written all that it did until then.
 *
 * Each process of a program has a folder of its own in the folder of the capture. In it are this
 * file, `table`, and for the launch at place i of `launches` the files "<i>-<k>-before" and
 * "<i>-<k>-after" (contents of its allocation k; no "after" where the launch left it alone) and
 * "<i>-module" (the image that its module was loaded from). */
#ifndef AUTOTUNE_CAPTURE_LAYOUT_H
#define AUTOTUNE_CAPTURE_LAYOUT_H

#include <stdint.h>

/* Changes with every change to what follows. */
#define CAPTURE_MAGIC UINT64_C(0x3330747061637461)

/* The file of a process, in its folder. */
#define CAPTURE_TABLE "table"

enum {
    CAPTURE_MOST_ROWS = 1 << 14,
    CAPTURE_NAMES_BYTES = 8 << 20,
    CAPTURE_MOST_LAUNCHES = 16,
    CAPTURE_MOST_ARGUMENTS = 1024,
    CAPTURE_PARAMETER_BYTES = 32768, /* what CUDA passes at most is 32,764 */
    CAPTURE_MOST_POINTERS = 512,
    CAPTURE_MOST_ALLOCATIONS = 256,
    CAPTURE_MOST_VARIABLES = 64,
    CAPTURE_NAME_BYTES = 256,
    CAPTURE_TROUBLE_BYTES = 512
};

/* Flags of a row. */
enum {
    CAPTURE_COOPERATIVE = 1,
    CAPTURE_RECORDED = 2 /* into a graph: it did not run when it was launched */
};

/* Launches that agree in all that is here but the figures. */
typedef struct capture_row {
    uint32_t name; /* where it begins among the names; as the compiler mangled it */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared_bytes;
    uint32_t flags;
    uint64_t count;               /* launches that the driver took, */
    uint64_t refused;             /* and that it did not */
    uint64_t timed;               /* launches whose time is known, */
    uint64_t time_ns, fastest_ns; /* the time of all of them, and the least */
} capture_row;

typedef struct capture_argument {
    uint32_t offset, size_bytes; /* in the parameters */
} capture_argument;

/* Eight bytes of the parameters that are an address within an allocation, or its end. */
typedef struct capture_pointer {
    uint32_t offset; /* in the parameters */
    uint32_t allocation;
    uint64_t allocation_offset;
} capture_pointer;

/* The knowledge of an allocation's contents; each state includes those before it. */
enum { CAPTURE_UNREAD, CAPTURE_BEFORE, CAPTURE_UNCHANGED, CAPTURE_CHANGED };

typedef struct capture_allocation {
    uint64_t address, size_bytes;
    uint32_t is_host; /* pinned memory of the host */
    uint32_t state;
} capture_allocation;

/* A variable of the kernel's module, whose contents before the launch are in the file
 * "<i>-variable-<k>". */
typedef struct capture_variable {
    char name[CAPTURE_NAME_BYTES]; /* as the compiler mangled it */
    uint64_t address, size_bytes;
} capture_variable;

/* How far a launch was captured. */
enum { CAPTURE_NOTHING, CAPTURE_ARGUMENTS, CAPTURE_INPUTS, CAPTURE_DONE };

typedef struct capture_launch {
    uint32_t state;
    uint32_t row;
    uint64_t number; /* which launch of the kernels that were chosen: 1 is the first */
    uint32_t argument_count, parameter_bytes, pointer_count, allocation_count, variable_count;
    uint32_t variables_unread; /* that the module has, too */
    capture_argument arguments[CAPTURE_MOST_ARGUMENTS];
    unsigned char parameters[CAPTURE_PARAMETER_BYTES];
    capture_pointer pointers[CAPTURE_MOST_POINTERS];
    capture_allocation allocations[CAPTURE_MOST_ALLOCATIONS];
    capture_variable variables[CAPTURE_MOST_VARIABLES];
    char device[128]; /* as the driver names it */
    int32_t major, minor;
    uint64_t module_bytes;               /* of the image; 0: it was not seen when it was loaded */
    char trouble[CAPTURE_TROUBLE_BYTES]; /* why it was captured no further */
} capture_launch;

typedef struct capture_table {
    uint64_t magic;
    uint32_t row_count, names_bytes, launch_count;
    uint64_t dropped; /* launches for which there was no row left */
    uint64_t graph_launches;
    uint64_t matched;                    /* launches of kernels that were chosen, */
    uint64_t matched_recorded;           /* and how many of these went into a graph */
    char program[4096];                  /* the file that runs */
    char trouble[CAPTURE_TROUBLE_BYTES]; /* why there is no more */
    capture_row rows[CAPTURE_MOST_ROWS];
    capture_launch launches[CAPTURE_MOST_LAUNCHES];
    char names[CAPTURE_NAMES_BYTES];
} capture_table;

/* The library is told these through the environment. */
#define CAPTURE_DIR "AUTOTUNE_CAPTURE_DIR"       /* folder of the capture */
#define CAPTURE_KERNEL "AUTOTUNE_CAPTURE_KERNEL" /* which kernels are chosen; unset: none */
#define CAPTURE_NTH "AUTOTUNE_CAPTURE_NTH"       /* which of their launches, 1 the first */
#define CAPTURE_SHAPES "AUTOTUNE_CAPTURE_SHAPES" /* of how many different grids and blocks */
#define CAPTURE_LIMIT "AUTOTUNE_CAPTURE_LIMIT"   /* bytes of a launch's allocations */
#define CAPTURE_TIME "AUTOTUNE_CAPTURE_TIME"     /* 1: launches are timed */
#define CAPTURE_CUPTI "AUTOTUNE_CAPTURE_CUPTI"   /* path of CUPTI's library */

#endif
