/* Captured launches: launches of the user's program, with arguments and memory, in a folder that
 * `autotune capture` wrote. The folder has capture.json (schemas/capture.json) and files of raw
 * bytes.
 *
 * This header has functions that read, simulate and make captured launches. inject/ has the library
 * that is loaded into the user's program. */
#ifndef AUTOTUNE_CAPTURE_CAPTURE_H
#define AUTOTUNE_CAPTURE_CAPTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/outcome.h"

/* The name of the file in the folder, and its schema. */
#define CAPTURE_FILE "capture.json"
#define CAPTURE_SCHEMA "autotune-capture"
enum { CAPTURE_VERSION = 1 };

typedef struct captured_argument {
    uint32_t offset, size_bytes; /* position in the parameters */
} captured_argument;

typedef struct captured_pointer {
    uint32_t offset; /* position of its eight bytes in the parameters */
    uint32_t allocation;
    uint64_t allocation_offset; /* offset of the address in the allocation, at most its size */
} captured_pointer;

typedef struct captured_allocation {
    uint64_t address, size_bytes;
    char *before; /* path of a file with the contents before the launch, of size_bytes; owned */
    char *after;  /* path of the contents after the launch; NULL if unchanged; owned */
} captured_allocation;

typedef struct captured_variable {
    char *name; /* mangled name; owned */
    uint64_t size_bytes;
    char *before; /* path of a file with the contents before the launch; owned */
} captured_variable;

/* A launch that was captured completely. */
typedef struct captured_launch {
    char *path;             /* path of capture.json, for messages; owned */
    char *kernel, *mangled; /* owned */
    char arch[16];
    uint32_t grid[3], block[3], cluster[3]; /* cluster: all 1 without clusters */
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    uint64_t count; /* number of launches of the same kernel, grid and block */
    size_t argument_count, pointer_count, allocation_count, variable_count;
    captured_argument *arguments;     /* owned */
    captured_pointer *pointers;       /* owned */
    captured_allocation *allocations; /* owned */
    captured_variable *variables;     /* owned */
    bool variables_unread;            /* the module has more variables, which could not be read */
    unsigned char *parameters;        /* owned */
    size_t parameter_bytes;
    char *module; /* path of the kernel's image; NULL if unknown; owned */
} captured_launch;

/* Reads a launch. `name` is the folder, or "DIR:2" for its second launch. After AT_OK the caller
 * calls captured_deinit(). AT_NOT_FOUND if the capture or the launch does not exist; AT_USAGE if
 * there are several launches and no number; AT_FORMAT if the file is damaged or the launch is
 * incomplete. */
at_status captured_read(const char *name, captured_launch *out, at_error *error);
void captured_deinit(captured_launch *c);

/* Counts the launches of the folder, complete or not. Errors as captured_read(). */
at_status captured_count(const char *dir, size_t *count, at_error *error);

/* How the memory after a simulated run differs from the memory after the program's launch. The
 * members from `allocation` on are of the first word beyond RELAUNCH_ULPS or, if there is none, of
 * the first word that differs. */
typedef struct relaunch_difference {
    uint64_t words;  /* number of 4-byte words that differ */
    uint64_t beyond; /* words among these that differ by more than RELAUNCH_ULPS as floats */
    uint32_t allocation;
    uint64_t offset; /* position in the allocation, in bytes */
    uint32_t expected, found;
} relaunch_difference;

/* Approximate instructions round differently on each chip: floats that differ by this many units in
 * the last place are equal. */
enum { RELAUNCH_ULPS = 8, RELAUNCH_FAULT_BYTES = 1536 };

typedef struct relaunch_result {
    uint64_t blocks, blocks_run;      /* blocks of the grid, and how many of them ran */
    uint64_t bytes_written;           /* bytes that differ from their value before the launch */
    char fault[RELAUNCH_FAULT_BYTES]; /* the fault, or why the launch cannot be judged; or "" */
    device_fault at;                  /* facts of the fault */
    bool undecided;                   /* `fault` says why the launch cannot be judged */
    relaunch_difference difference;   /* valid without a fault */
    bool variables_unread;            /* the kernel's module has variables with unknown contents */
    bool has_atomics;                 /* the kernel has atomics on global memory */
    bool holds_addresses;             /* the launch's memory holds addresses */
    bool compared;                    /* false if results depend on blocks that did not run */
} relaunch_result;

/* Runs the launch on the simulated device: compiles the module's PTX, uses the program's own data
 * and detects every fault. Runs the blocks in order, and again in an adverse order. `most_work`
 * bounds the work, in the unit of sim/machine/run.h; if it is too small for the grid, only some
 * blocks run, among them the first and the last.
 *
 * Each allocation is far from all others, so that an access outside it is found; if the memory
 * holds addresses, allocations keep their own addresses. Variables of the module have their
 * captured contents, otherwise those of the PTX. AT_NO_DEVICE if there is no PTX or it cannot be
 * simulated; AT_IO, AT_FORMAT, AT_DEVICE (no memory). */
at_status relaunch_run(const captured_launch *c, uint64_t most_work, relaunch_result *out,
                       at_error *error);

typedef struct program_request {
    char *const *arguments; /* name and arguments of the program; ends with NULL */
    const char *dir;        /* absolute path: the program may change its folder */
    const char *kernel;     /* part of the names of kernels to capture; NULL captures none */
    uint64_t nth, shapes, limit_bytes;
    bool timed;
    const char *cupti;     /* path of CUPTI's library; NULL if the loader finds it */
    bool output_to_stderr; /* the program's stdout goes to stderr */
} program_request;

/* Runs a program with the library that records its launches, and waits for its end. `*ended` is the
 * status of waitpid(). Leaves interrupts from the terminal to the program. AT_NOT_FOUND if the
 * program or the library does not exist; AT_IO. */
at_status capture_program(const program_request *what, int *ended, at_error *error);

/* Reads the tables (capture/layout.h) of all processes in the folder, and removes them.
 * schemas/capture.json describes `*out`, which the caller frees; its members are "launches" (sorted
 * by time, or by count if no launch was timed), "graph_launches", "dropped", "matched",
 * "matched_recorded", "processes", "trouble" (texts) and "captured". AT_IO, AT_FORMAT. */
at_status capture_read_tables(const char *dir, json_t **out, at_error *error);

#endif
