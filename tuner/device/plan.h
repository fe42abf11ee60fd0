/* Plain data that says what to run: buffers, launches, arguments.
 *
 * A plan is what remains of a pattern once every expression is evaluated for one problem and one
 * configuration: no Lua, no pointers into a device, nothing that only one process understands.
 * device/plan.c packs it and unpacks it. */
#ifndef AUTOTUNE_DEVICE_PLAN_H
#define AUTOTUNE_DEVICE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pack.h"
#include "base/value.h"

/* More elements than any device holds; products with an element's size still fit 64 bits. */
#define PLAN_MAX_ELEMENTS (UINT64_C(1) << 48)

enum { PLAN_MAX_BUFFERS = 16, PLAN_MAX_ARGUMENTS = 32, PLAN_NAME_BYTES = 64 };

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
    FILL_MODULO   /* element i holds random integer in [0, fill_limit): index buffers */
} buffer_fill;

typedef struct buffer_plan {
    char name[PLAN_NAME_BYTES];
    buffer_role role;
    buffer_fill fill;
    dtype type;
    uint64_t count;      /* elements */
    uint64_t fill_limit; /* FILL_MODULO: exclusive upper bound */
    uint32_t rank;       /* of `shape`; 0: report a bare index */
    uint64_t shape[4];   /* row-major, for reporting the coordinates of a wrong element */
} buffer_plan;

typedef struct argument_plan {
    bool is_buffer;
    uint32_t buffer;     /* is_buffer: index of the buffer */
    uint32_t size_bytes; /* otherwise: 4 or 8 (or 1, 2) */
    uint64_t bits;       /* otherwise: the scalar's bytes, little-endian */
} argument_plan;

typedef struct launch_plan {
    char entry[PLAN_NAME_BYTES];  /* extern "C" name of the kernel */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t argument_count;
    argument_plan arguments[PLAN_MAX_ARGUMENTS];
} launch_plan;

/* One problem: the buffers, how outputs compare, and what a perfect kernel must move. */
typedef struct problem_plan {
    uint32_t buffer_count;
    buffer_plan buffers[PLAN_MAX_BUFFERS];
    double tolerance;      /* 0: bit for bit; else relative to the expected output's largest magnitude */
    bool deterministic;    /* two launches must agree bit for bit */
    uint64_t traffic_bytes; /* GB/s = traffic_bytes / time_ns */
    uint64_t seed;         /* of the fills */
} problem_plan;

/* Bytes that a buffer holds. */
uint64_t plan_buffer_bytes(const buffer_plan *plan);

 /* process/message.h */

/* Append a plan to a pack, and take it off again. Everything that is read is checked (counts,
 * enumerations, names, sizes), so that a plan from a corrupt message is AT_WORKER, not a plan. */
void plan_put_problem(pack *m, const problem_plan *plan);
at_status plan_get_problem(pack *m, problem_plan *out, at_error *error);
void plan_put_launch(pack *m, const launch_plan *plan);
at_status plan_get_launch(pack *m, launch_plan *out, at_error *error);

#endif
