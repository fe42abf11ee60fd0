/* Plain data that says what to run: buffers, launches, arguments.
 *
 * A plan is what remains of a pattern once every expression is evaluated for one problem and one
 * configuration: no Lua, no pointers into a device, nothing that only one process understands.
 * device/plan_pack.h packs it and unpacks it. */
#ifndef AUTOTUNE_DEVICE_PLAN_H
#define AUTOTUNE_DEVICE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/value.h"
#include "device/ceiling.h"
#include "device/outcome.h"
#include "device/tolerance.h"
#include "device/transfer.h"
#include "device/view.h"

/* More elements than any device holds; products with an element's size still fit 64 bits. */
#define PLAN_MAX_ELEMENTS (UINT64_C(1) << 48)

enum {
    PLAN_MAX_BUFFERS = 256,
    PLAN_MAX_LAUNCHES = 32, /* that differ; a group of them runs in rounds */
    PLAN_MAX_ROUNDS = 1 << 20,
    PLAN_MAX_ARGUMENTS = 1024,     /* of all launches together */
    PLAN_MAX_STRUCT_BYTES = 32768, /* of all arguments that are larger than 8 bytes */
    PLAN_MAX_ADDRESSES = 512,      /* of buffers, within them */
    PLAN_MAX_CLUSTER = 16,         /* blocks along a side; the chip has a limit for all of them */
    PLAN_MAX_CONSTANTS = 4,
    PLAN_MAX_VIEWS = 8,   /* of all launches together */
    PLAN_MAX_VALUES = 32, /* a longer list is data: FILL_FILE */
    PLAN_NAME_BYTES = 64,
    PLAN_ENTRIES_BYTES = 4096 /* of the names of all kernels, with a byte after each */
};

typedef enum buffer_role {
    BUFFER_INPUT,  /* filled, must not change */
    BUFFER_OUTPUT, /* poisoned before each check, every element compared with the reference */
    BUFFER_INOUT,  /* filled, restored before every launch, compared */
    BUFFER_SCRATCH /* contents free, not compared */
} buffer_role;

typedef enum buffer_fill {
    FILL_UNIFORM, /* floats: uniform in [-1, 1), all mantissa bits random; integers: random bits */
    FILL_BITS,    /* random bits whatever the type (floats may be NaN: for pure data movement) */
    FILL_INDEX,   /* element i holds i, converted to the type */
    FILL_MODULO,  /* element i holds a random integer in [0, fill_limit): index buffers */
    FILL_VALUES,  /* element i holds values[i % value_count], converted to the type */
    FILL_PERMUTATION, /* the integers in [0, count), each once, in random order */
    FILL_SORTED,      /* random integers in [0, fill_limit), ascending; count * fill_limit < 2^63 */
    FILL_LOCAL,  /* as FILL_MODULO, but of each `fill_block` neighbours all values lie in one window
                    of fill_block integers: the windows follow one another and start again at 0 */
    FILL_SKEWED, /* random integers in [0, fill_limit), v about as often as 1 / (v + 1) says
                    (Zipf) */
    FILL_OFFSETS, /* ascending from 0 to fill_limit, which is the last: rows of random lengths,
                     twice the mean at most; count > 1, count * fill_limit < 2^63 */
    FILL_FILE,    /* the first elements of a file, or of a long list (base/data_file.h) */
    FILL_COUNT
} buffer_fill;

/* A file's contents, by their hash. */
typedef struct data_key {
    unsigned char bytes[DATA_KEY_BYTES];
} data_key;

typedef struct buffer_plan {
    char name[PLAN_NAME_BYTES];
    buffer_role role;
    buffer_fill fill;
    dtype type;
    uint32_t record; /* elements that are kept together where results are compared as a multiset of
                        records; 0: they are compared in their order */
    tolerance tolerance; /* of what is compared with the reference; exact for all others */
    bool repeats;   /* two launches must leave the same bits in it; false of what is not compared */
    uint64_t count; /* elements */
    uint64_t fill_limit; /* of the random integers: exclusive upper bound; FILL_OFFSETS: the last */
    uint64_t fill_block; /* FILL_LOCAL */
    uint32_t value_count; /* FILL_VALUES: 1 or more */
    double values[PLAN_MAX_VALUES];
    data_key data;     /* FILL_FILE */
    data_key expected; /* of what is compared, where the oracle is a file */
    uint32_t rank;     /* of `shape`; 0: report a bare index */
    uint64_t shape[4]; /* row-major, for reporting the coordinates of a wrong element */
} buffer_plan;

typedef struct argument_plan {
    uint64_t bits; /* a scalar: its bytes, little-endian; a struct: its offset in `structs`; a
                      view: its index */
    uint16_t
        size_bytes; /* 8 for a buffer, 1 to 8 for a scalar or a small struct, more for another */
    bool is_buffer, is_view;
    uint8_t buffer; /* is_buffer: index of the buffer */
} argument_plan;

typedef struct kernel_launch {
    uint32_t entry; /* of the kernel: where its name begins in the plan's `entries` */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks; all 1: none */
    uint32_t dynamic_shared_bytes;
    bool balanced;    /* several blocks of a cluster may share a multiprocessor; false without
                         clusters */
    bool cooperative; /* all blocks are resident at once: they may wait for each other */
    uint32_t group;   /* launches that run in rounds: 1 + the place of the first of them; 0: it runs
                         once */
    uint32_t rounds;  /* how often its group runs: 2 or more; 0: it is in none */
    uint32_t first_argument, argument_count;
} kernel_launch;

/* Eight bytes of the structs that hold a buffer's address. */
typedef struct address_plan {
    uint16_t at; /* in `structs`; 0 there */
    uint8_t buffer;
} address_plan;

/* A variable of the kernels' module that gets a buffer's contents before the launches. */
typedef struct constant_plan {
    char name[PLAN_NAME_BYTES]; /* extern "C" name of a __constant__ (or __device__) array */
    uint32_t buffer;
    bool is_result; /* the buffer gets the variable's contents after the launches */
} constant_plan;

/* Only the first `count` elements of a buffer that is compared are results: 1 or more. */
typedef struct compared_plan {
    uint32_t buffer;
    uint64_t count;
} compared_plan;

/* The launches of a variant: kernels of one module, one after the other. In a group the first runs
 * again after the last, until its rounds are over. Launches of a group lie side by side and have
 * the same rounds. What the counts leave out of the last four arrays is undefined.
 *
 * With a transfer the kernels, of which there may be none, are launched once a chunk. Each then has
 * two more arguments of 8 bytes: the chunk's first byte in the buffers, and its number of bytes. */
typedef struct launch_plan {
    uint32_t launch_count; /* 1 or more; with a transfer also 0 */
    kernel_launch launches[PLAN_MAX_LAUNCHES];
    /* The names of the kernels as C++ has them ("scale", "ns::scale<64, float>"), each once, in the
     * order of the launches that first use them, with a NUL after each. */
    char entries[PLAN_ENTRIES_BYTES];
    uint32_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
    uint32_t view_count;
    view_plan views[PLAN_MAX_VIEWS]; /* tensor maps, textures and surfaces among the arguments */
    transfer_plan transfer;          /* all zero: none */
    uint32_t argument_count;         /* of all launches */
    uint32_t struct_bytes, address_count, compared_count;
    argument_plan arguments[PLAN_MAX_ARGUMENTS];
    unsigned char
        structs[PLAN_MAX_STRUCT_BYTES]; /* values of arguments; each at a multiple of 16 */
    address_plan addresses[PLAN_MAX_ADDRESSES];
    compared_plan compared[PLAN_MAX_BUFFERS]; /* a buffer at most once */
} launch_plan;

/* Makes it a plan of nothing. */
void plan_clear(launch_plan *plan);

/* One problem: the buffers, how outputs compare, and what a perfect kernel must move. */
typedef struct problem_plan {
    uint32_t buffer_count;
    oracle_kind oracle;     /* what says which results are right */
    uint64_t traffic_bytes; /* GB/s = traffic_bytes / time_ns; this and the next two 0: not given */
    uint64_t flops, items;  /* work of a launch */
    ceiling_kind ceiling;   /* as the script names it; plan_ceiling() resolves CEILING_DEFAULT */
    uint64_t seed;          /* of the fills */
    transfer_task transfer; /* what variants move between host and device; all zero: nothing */
    buffer_plan buffers[PLAN_MAX_BUFFERS]; /* undefined from buffer_count on */
} problem_plan;

/* The ceiling of the problem: the one that the script names, or by the work that it states. For
 * traffic that is a copy of as many bytes; a read or a write where inputs and outputs differ
 * sixteenfold; a pinned copy each way where variants transfer. For flops without traffic it is the
 * FP32 rate, or FP64 where a result is double. For items alone there is none. */
ceiling_kind plan_ceiling(const problem_plan *plan);

/* The work of a launch in a unit; 0: not given. */
uint64_t plan_work(const problem_plan *plan, work_unit unit);

/* Are the buffer's contents compared with the reference's? */
bool plan_is_compared(const buffer_plan *plan);

/* The seed of the contents of buffer `i`; `seed` is the problem's. */
uint64_t plan_buffer_seed(uint64_t seed, uint32_t i);

/* Names an element in messages, one past the end too: "dst[12][5]". */
void plan_name_element(const buffer_plan *plan, uint64_t index, char *out, size_t size_bytes);

/* Bytes that a buffer holds, and all of a problem's. */
uint64_t plan_buffer_bytes(const buffer_plan *plan);
uint64_t plan_problem_bytes(const problem_plan *plan);

/* Threads of a block, blocks of a cluster (1: there are none), blocks of the grid. */
uint64_t plan_block_threads(const kernel_launch *launch);
uint64_t plan_cluster_blocks(const kernel_launch *launch);
uint64_t plan_grid_blocks(const kernel_launch *launch);

/* Most dynamic shared memory, and most threads of a block, of any launch. */
uint32_t plan_most_shared_bytes(const launch_plan *plan);
uint32_t plan_most_threads(const launch_plan *plan);

/* A walk over the launches in the order in which they run. It begins where all is zero. */
typedef struct launch_walk {
    uint32_t next, round;
    uint32_t place; /* of the launch that plan_walk() came to */
} launch_walk;

/* Goes to the next launch; false: there is none. */
bool plan_walk(const launch_plan *plan, launch_walk *walk);

/* How often the launch at a place runs: 1 or more. */
uint32_t plan_rounds(const launch_plan *plan, uint32_t place);

/* How many launches run. */
uint64_t plan_launches_run(const launch_plan *plan);

/* Does the plan move data between host and device? */
bool plan_transfers(const launch_plan *plan);

/* How many elements of buffer `i` the variant's results have. */
uint64_t plan_compared(const problem_plan *problem, const launch_plan *launch, uint32_t i);

/* Does the plan name only buffers that there are? AT_FORMAT if not. */
at_status plan_fits(const launch_plan *plan, uint32_t buffer_count, at_error *error);

/* The name of a launch's kernel: a view of the plan. "": the plan launches none. */
const char *plan_entry(const launch_plan *plan, uint32_t launch);

/* Names the kernel of a launch, whose place is below launch_count. False: there is no room for the
 * name, which is not empty and one line. */
bool plan_set_entry(launch_plan *plan, uint32_t launch, const char *name);

/* The names of the plan's kernels on a line each: those that a compile request asks for. */
void plan_entries(const launch_plan *plan, char text[PLAN_ENTRIES_BYTES]);

/* Which of those lines is that of a launch's kernel. */
uint32_t plan_entry_place(const launch_plan *plan, uint32_t launch);

/* The name of that kernel in machine code: a copy, which the caller frees; NULL: no memory.
 * `symbols` are such names of the plan's kernels, one on each of those lines; NULL or "": the
 * kernels have C linkage, and are called there as in the source. */
char *plan_symbol(const launch_plan *plan, uint32_t launch, const char *symbols);

/* Do two plans launch the same kernels, in this sense? */
bool plan_same_entries(const launch_plan *a, const launch_plan *b);

/* Is the argument a struct? Its bytes are among the plan's structs. */
static inline bool plan_is_struct(const argument_plan *a)
{
    return !a->is_buffer && !a->is_view && a->size_bytes > 8;
}

/* The value of an argument that is neither a buffer nor a view: size_bytes of it. */
const void *plan_argument_value(const launch_plan *plan, const argument_plan *argument);

/* The first buffer that the plan reaches through a CUDA array and otherwise, too; PLAN_MAX_BUFFERS:
 * none. */
uint32_t plan_torn_buffer(const launch_plan *plan);

/* The address of buffer `i` on the device. */
typedef uint64_t plan_address_of(const void *context, uint32_t buffer);

/* Copies the structs with the buffers' addresses in them. */
void plan_copy_structs(const launch_plan *plan, plan_address_of *address_of, const void *context,
                       unsigned char out[PLAN_MAX_STRUCT_BYTES]);

/* plan_argument_value(), of such a copy. */
const void *plan_argument_in(const argument_plan *argument, const unsigned char *structs);

#endif
