/* Plans: the buffers of a problem, and the launches, arguments and transfers of a variant.
 *
 * A plan is a pattern after all its expressions are evaluated for one problem and one
 * configuration. It is plain data, without Lua values and device pointers, and can be packed for
 * another process. */
#ifndef AUTOTUNE_DEVICE_PLAN_H
#define AUTOTUNE_DEVICE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/pack.h"
#include "base/value.h"
#include "device/ceiling.h"
#include "device/outcome.h"
#include "device/view.h"

/* Limit of a buffer's elements. Its product with an element's size fits into 64 bits. */
#define PLAN_MAX_ELEMENTS (UINT64_C(1) << 48)

enum {
    PLAN_MAX_BUFFERS = 256,
    PLAN_MAX_LAUNCHES = 32, /* launches of a plan; a launch in a group counts once */
    PLAN_MAX_ROUNDS = 1 << 20,
    PLAN_MAX_ARGUMENTS = 1024,     /* arguments of all launches */
    PLAN_MAX_STRUCT_BYTES = 32768, /* bytes of all arguments larger than 8 bytes */
    PLAN_MAX_ADDRESSES = 512,      /* buffer addresses within those arguments */
    PLAN_MAX_CLUSTER = 16,         /* blocks along a side; the chip also limits their product */
    PLAN_MAX_CONSTANTS = 4,
    PLAN_MAX_VIEWS = 8,   /* views of all launches */
    PLAN_MAX_VALUES = 32, /* numbers of a fill in the plan; longer lists use FILL_FILE */
    PLAN_NAME_BYTES = 64,
    PLAN_ENTRIES_BYTES = 4096 /* bytes of the names of all kernels, with a NUL after each */
};

/* ---- tolerances ----
 * How far an element that a kernel wrote may be from the expected element. device/tolerance.c
 * decides on the host, templates/device_support.cu on a GPU; tests/unit/sim/test_support.c compares
 * both. */

/* All kinds but TOLERANCE_EXACT accept NaN for NaN and an infinity for the same infinity, and treat
 * zeros of either sign as equal. */
typedef enum tolerance_kind {
    TOLERANCE_EXACT,    /* equal bits */
    TOLERANCE_SCALED,   /* error up to limit * element_magnitude() of the expected elements */
    TOLERANCE_RELATIVE, /* error up to limit * the magnitude of the expected element */
    TOLERANCE_ABSOLUTE, /* error up to `limit` */
    TOLERANCE_ULPS,     /* at most `limit` representable values away */
    TOLERANCE_KINDS
} tolerance_kind;

typedef struct tolerance {
    tolerance_kind kind;
    double limit;      /* 0 for TOLERANCE_EXACT */
    double mismatches; /* number of elements that may be further away; below 1, their share */
} tolerance;

/* Returns the tolerance for a plain number in a script: exact for 0, otherwise TOLERANCE_SCALED. */
tolerance tolerance_of(double limit);

/* Returns a tolerance of the error of about sixty roundings. For integers it is exact. */
tolerance tolerance_of_rounding(dtype type);

/* Returns whether the limit suits the kind, and `mismatches` is a share or a whole number. */
bool tolerance_is_valid(tolerance t);

/* Returns whether all elements must have equal bits. */
bool tolerance_is_exact(tolerance t);

/* Returns how many of `count` elements may be further away. A share is rounded down. */
uint64_t tolerance_mismatches(tolerance t, uint64_t count);

/* Writes the allowed distance: "within 4 ULPs", "within 1e-05 of its magnitude". */
enum { TOLERANCE_TEXT_BYTES = 64 };
void tolerance_format(tolerance t, char text[TOLERANCE_TEXT_BYTES]);

/* Returns whether `found` is close enough to `expected`. `magnitude` is element_magnitude() of all
 * expected elements; only TOLERANCE_SCALED uses it. */
bool tolerance_accepts(tolerance t, double magnitude, dtype type, const void *found,
                       const void *expected);

/* Writes an element with all its digits. A byte also gets hexadecimal digits, a NaN its bits. */
enum { ELEMENT_TEXT_BYTES = 48 };
void element_format(dtype type, const void *element, char text[ELEMENT_TEXT_BYTES]);

/* Returns the largest finite magnitude of the elements, 0 if no element is finite. */
double element_magnitude(dtype type, const void *elements, uint64_t count);

/* ---- transfers ----
 * A transfer task is the same for all variants of a problem: copy one buffer to another, where one
 * or both of the buffers are on the host. A transfer plan is how a variant performs the task. */

enum { TRANSFER_MAX_STREAMS = 16 };

/* The limit of a transfer in bytes, more than any host has. */
#define TRANSFER_MAX_BYTES (UINT64_C(1) << 48)

typedef enum transfer_direction {
    TRANSFER_NONE,      /* no transfer: the kernels work on device memory */
    TRANSFER_TO_DEVICE, /* `from` is on the host */
    TRANSFER_TO_HOST,   /* `to` is on the host */
    TRANSFER_BOTH,      /* both are on the host */
    TRANSFER_DIRECTIONS
} transfer_direction;

typedef enum host_memory {
    HOST_PAGEABLE,       /* memory from malloc, with its pages touched */
    HOST_PINNED,         /* page-locked by the driver */
    HOST_WRITE_COMBINED, /* page-locked, not cached by the host, which reads it slowly */
    HOST_MAPPED,         /* page-locked and mapped into the device's address space */
    HOST_MEMORIES
} host_memory;

/* The kind of staging buffer through which the host copies each chunk. */
typedef enum host_staging {
    STAGING_NONE,
    STAGING_PINNED,
    STAGING_WRITE_COMBINED,
    STAGING_COUNT
} host_staging;

typedef struct transfer_task {
    transfer_direction direction;
    uint32_t from, to;    /* buffers of the problem, of equal size */
    uint64_t pieces;      /* number of equal pieces of the data on the host; 1 if contiguous */
    uint64_t pitch_bytes; /* from the start of a piece on the host to the start of the next */
} transfer_task;

typedef struct transfer_plan {
    transfer_task task;
    host_memory memory;
    host_staging staging;
    uint64_t chunk_bytes; /* size of a chunk; 0 for all data at once */
    uint32_t streams;     /* the chunks use the streams in turn; 1 or more */
    /* The plan measures the ceiling of the link: it copies in both directions at once and
     * overwrites no input. Not packed. */
    bool is_ceiling;
} transfer_plan;

/* Return whether `from`, or `to`, is on the host. */
bool transfer_from_host(const transfer_task *task);
bool transfer_to_host(const transfer_task *task);

/* Return the names that scripts use, in the order of the enumerations (without TRANSFER_NONE). */
const char *const *transfer_direction_names(size_t *count);
const char *const *host_memory_names(size_t *count);
const char *const *host_staging_names(size_t *count);

/* ---- buffers ---- */

typedef enum buffer_role {
    BUFFER_INPUT,  /* filled; a kernel must not change it */
    BUFFER_OUTPUT, /* poisoned before each check; every element is compared with the reference */
    BUFFER_INOUT,  /* filled and restored before every launch; compared */
    BUFFER_SCRATCH /* arbitrary contents; not compared */
} buffer_role;

typedef enum buffer_fill {
    FILL_UNIFORM, /* floats: uniform in [-1, 1), with random mantissa bits; integers: random bits */
    FILL_BITS,    /* random bits; floats may be NaN, so only for kernels that copy */
    FILL_INDEX,   /* element i holds i, converted to the type */
    FILL_MODULO,  /* random integers in [0, fill_limit), for index buffers */
    FILL_VALUES,  /* element i holds values[i % value_count], converted to the type */
    FILL_PERMUTATION, /* the integers in [0, count), each once, in random order */
    FILL_SORTED,      /* random integers in [0, fill_limit), ascending; count * fill_limit < 2^63 */
    FILL_LOCAL,       /* as FILL_MODULO, but each block of `fill_block` elements has a window of
                         fill_block integers; the windows follow each other, from 0 */
    FILL_SKEWED,      /* as FILL_MODULO, but v occurs 1 / (v + 1) times as often as 0 (Zipf) */
    FILL_OFFSETS, /* ascending from 0 to fill_limit, the last element: offsets of rows with random
                     lengths up to twice the mean; count > 1, count * fill_limit < 2^63 */
    FILL_FILE,    /* the first elements of a file, or of a long list (base/data_file.h) */
    FILL_COUNT
} buffer_fill;

typedef struct data_key {
    unsigned char bytes[DATA_KEY_BYTES];
} data_key;

typedef struct buffer_plan {
    char name[PLAN_NAME_BYTES];
    buffer_role role;
    buffer_fill fill;
    dtype type;
    uint32_t record;     /* elements of a record if results are compared as a multiset of records; 0
                            if they are compared in order */
    tolerance tolerance; /* exact for buffers that are not compared */
    bool repeats;        /* all launches must write the same bits; false if not compared */
    uint64_t count;      /* number of elements */
    uint64_t fill_limit; /* upper bound of random integers, exclusive; FILL_OFFSETS: inclusive */
    uint64_t fill_block; /* for FILL_LOCAL only */
    uint32_t value_count; /* for FILL_VALUES, 1 or more */
    double values[PLAN_MAX_VALUES];
    data_key data;     /* for FILL_FILE only */
    data_key expected; /* expected contents, if the oracle is a file */
    uint32_t rank;     /* dimensions of `shape`; 0 if messages give a plain index */
    uint64_t shape[4]; /* row-major, for reporting the coordinates of a wrong element */
} buffer_plan;

/* ---- launches ---- */

typedef struct argument_plan {
    uint64_t bits; /* bytes of a scalar or small struct, little-endian; offset of a larger struct in
                      `structs`; index of a view in `views` */
    uint16_t size_bytes; /* 8 for a buffer; up to 8 for a scalar or a small struct */
    bool is_buffer, is_view;
    uint8_t buffer; /* index of the buffer if is_buffer */
} argument_plan;

typedef struct kernel_launch {
    uint32_t entry; /* offset of the kernel's name in the plan's `entries` */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* sides in blocks; all 1 without clusters */
    uint32_t dynamic_shared_bytes;
    bool balanced;    /* several blocks of a cluster may share an SM; false without clusters */
    bool cooperative; /* all blocks are resident at once and may wait for each other */
    uint32_t group;   /* 1 + the index of the first launch of its group; 0 outside of groups */
    uint32_t rounds;  /* how often its group runs, 2 or more; 0 outside of groups */
    uint32_t first_argument, argument_count;
} kernel_launch;

/* An address in a struct argument: the 8 bytes that receive the address of a buffer. */
typedef struct address_plan {
    uint16_t at; /* offset in `structs`, whose bytes there are 0 */
    uint8_t buffer;
} address_plan;

/* A variable of the module that gets a buffer's contents before the launches. */
typedef struct constant_plan {
    char name[PLAN_NAME_BYTES]; /* extern "C" name of a __constant__ or __device__ array */
    uint32_t buffer;
    bool is_result; /* after the launches the variable is copied back to the buffer */
} constant_plan;

/* A buffer of which only the first `count` elements (1 or more) are results. */
typedef struct compared_plan {
    uint32_t buffer;
    uint64_t count;
} compared_plan;

/* The launches of a variant: kernels of one module, one after the other. The launches of a group
 * are adjacent and have the same `rounds`. The whole group runs `rounds` times. The last four
 * arrays are undefined beyond their counts.
 *
 * With a transfer, all launches (possibly 0) run once for each chunk. Each kernel then has two
 * further arguments of 8 bytes: the chunk's offset in the buffers, and its size in bytes. */
typedef struct launch_plan {
    uint32_t launch_count; /* 1 or more; 0 is allowed with a transfer */
    kernel_launch launches[PLAN_MAX_LAUNCHES];
    /* The different names of the kernels in C++ ("ns::scale<64, float>"), in the order of their
     * first launches, with a NUL after each. */
    char entries[PLAN_ENTRIES_BYTES];
    uint32_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
    uint32_t view_count;
    view_plan views[PLAN_MAX_VIEWS]; /* tensor maps, textures and surfaces among the arguments */
    transfer_plan transfer;          /* zeroed if there is no transfer */
    uint32_t argument_count;         /* arguments of all launches */
    uint32_t struct_bytes, address_count, compared_count;
    argument_plan arguments[PLAN_MAX_ARGUMENTS];
    unsigned char structs[PLAN_MAX_STRUCT_BYTES]; /* values, each aligned to 16 bytes */
    address_plan addresses[PLAN_MAX_ADDRESSES];
    compared_plan compared[PLAN_MAX_BUFFERS]; /* each buffer at most once */
} launch_plan;

/* Makes an empty plan. */
void plan_clear(launch_plan *plan);

/* A problem: its buffers, how results are compared, and the work of a launch. */
typedef struct problem_plan {
    uint32_t buffer_count;
    oracle_kind oracle;     /* source of the expected results */
    uint64_t traffic_bytes; /* for GB/s = traffic_bytes / time_ns; 0 if unknown */
    uint64_t flops, items;  /* work of all launches */
    ceiling_kind ceiling;   /* ceiling in the script; plan_ceiling() resolves CEILING_DEFAULT */
    uint64_t seed;          /* seed for filling the buffers */
    transfer_task transfer; /* zeroed if variants transfer nothing */
    buffer_plan buffers[PLAN_MAX_BUFFERS]; /* undefined from index buffer_count on */
} problem_plan;

/* Returns the script's ceiling, or a ceiling for the work that the script states. For traffic it is
 * a pinned copy if variants transfer, a read or a write if inputs and outputs differ by a factor of
 * 16, and otherwise a copy. For flops without traffic it is the FP32 rate, or the FP64 rate if a
 * result is double. For items it is CEILING_NONE. */
ceiling_kind plan_ceiling(const problem_plan *plan);

/* Returns the work of a launch in a unit, 0 if the script does not state it. */
uint64_t plan_work(const problem_plan *plan, work_unit unit);

/* Returns whether the buffer's contents are compared with the expected results. */
bool plan_is_compared(const buffer_plan *plan);

/* Returns the seed of buffer `i` of a problem with seed `seed`. */
uint64_t plan_buffer_seed(uint64_t seed, uint32_t i);

/* Writes the name of an element for messages: "dst[12][5]". `index` may be beyond the end. */
void plan_name_element(const buffer_plan *plan, uint64_t index, char *out, size_t size_bytes);

/* Return the size of a buffer, and of all buffers of a problem. */
uint64_t plan_buffer_bytes(const buffer_plan *plan);
uint64_t plan_problem_bytes(const problem_plan *plan);

/* Return the threads of a block, the blocks of a cluster (1 without clusters), of the grid. */
uint64_t plan_block_threads(const kernel_launch *launch);
uint64_t plan_cluster_blocks(const kernel_launch *launch);
uint64_t plan_grid_blocks(const kernel_launch *launch);

/* Return the largest dynamic shared memory, or the largest block, of all launches. */
uint32_t plan_most_shared_bytes(const launch_plan *plan);
uint32_t plan_most_threads(const launch_plan *plan);

/* A walk over the launches in the order in which they run; zeroed at the start. */
typedef struct launch_walk {
    uint32_t next, round;
    uint32_t place; /* index of the current launch */
} launch_walk;

/* Moves to the next launch. Returns false after the last. */
bool plan_walk(const launch_plan *plan, launch_walk *walk);

/* Returns how often launch `place` runs, 1 or more. */
uint32_t plan_rounds(const launch_plan *plan, uint32_t place);

/* Returns the number of launches that run, over all rounds. */
uint64_t plan_total_launches(const launch_plan *plan);

/* Returns whether the plan transfers data between host and device. */
bool plan_transfers(const launch_plan *plan);

/* Returns how many elements of buffer `i` are results of the variant. */
uint64_t plan_result_count(const problem_plan *problem, const launch_plan *launch, uint32_t i);

/* Checks that the plan names only existing buffers. AT_FORMAT. */
at_status plan_check_buffers(const launch_plan *plan, uint32_t buffer_count, at_error *error);

/* Returns the name of a launch's kernel, borrowed from the plan, or "" without a kernel. */
const char *plan_entry(const launch_plan *plan, uint32_t launch);

/* Sets the kernel name of a launch. Returns false if it is empty, has a newline or does not fit. */
bool plan_set_entry(launch_plan *plan, uint32_t launch, const char *name);

/* Writes the names of the kernels, one per line, for a compile request. */
void plan_entries(const launch_plan *plan, char text[PLAN_ENTRIES_BYTES]);

/* Returns the line number, from 0, of a launch's kernel in the text of plan_entries(). */
uint32_t plan_entry_place(const launch_plan *plan, uint32_t launch);

/* Returns the kernel's name in machine code; the caller frees it. Returns NULL if memory ran out.
 * `symbols` has the names in machine code in the order of plan_entries(), one per line. If
 * `symbols` is NULL or "", kernels have C linkage, and the names are the same as in C++. */
char *plan_symbol(const launch_plan *plan, uint32_t launch, const char *symbols);

/* Returns whether plan_entries() gives the same text for both plans. */
bool plan_same_entries(const launch_plan *a, const launch_plan *b);

/* Returns whether the argument is a struct, whose bytes are in `structs`. */
static inline bool plan_is_struct(const argument_plan *a)
{
    return !a->is_buffer && !a->is_view && a->size_bytes > 8;
}

/* Returns the value, of size_bytes, of an argument that is neither a buffer nor a view. */
const void *plan_argument_value(const launch_plan *plan, const argument_plan *argument);

/* Returns a buffer that the plan uses both through a CUDA array and in another way, which is not
 * allowed, or PLAN_MAX_BUFFERS. */
uint32_t plan_conflicting_buffer(const launch_plan *plan);

/* Returns the address of a buffer on the device. */
typedef uint64_t plan_address_of(const void *context, uint32_t buffer);

/* Copies the structs and writes the buffers' addresses into the copy. */
void plan_copy_structs(const launch_plan *plan, plan_address_of *address_of, const void *context,
                       unsigned char out[PLAN_MAX_STRUCT_BYTES]);

/* Returns the same as plan_argument_value(), from the copy that plan_copy_structs() made. */
const void *plan_argument_in(const argument_plan *argument, const unsigned char *structs);

/* ---- packing ----
 * Write a plan to a pack, for another process or for a hash, and read it. The functions that read
 * check everything (counts, enumerations, names, sizes). On a fault they return false, and the pack
 * has failed. */

void plan_put_problem(pack *m, const problem_plan *plan);
bool plan_get_problem(pack *m, problem_plan *out);
void plan_put_launch(pack *m, const launch_plan *plan);
bool plan_get_launch(pack *m, launch_plan *out);

#endif
