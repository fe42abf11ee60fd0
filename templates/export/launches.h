% local text = require "lib.c_header"
/* Declares the functions of the file with the kernels of ${p.name}. */
#ifndef AUTOTUNE_WITHOUT_CUDA
#include <cuda_runtime_api.h>
#endif

% include "export/header.h"

#ifndef AUTOTUNE_LAUNCHES_${p.name}_h
#define AUTOTUNE_LAUNCHES_${p.name}_h

% include "export/both.h"

#ifndef AUTOTUNE_PLAN_DEFINED
#define AUTOTUNE_PLAN_DEFINED
#define AUTOTUNE_HOST AUTOTUNE_UNUSED static inline

/* An argument of a kernel: the address of a buffer (given by its index in the pattern), or a value.
 * A value of more than 8 bytes is in the plan's `structs`, and `bits` is its offset there. */
typedef struct autotune_argument {
    int buffer; /* -1 if it is a value */
    unsigned size_bytes;
    uint64_t bits;
} autotune_argument;

typedef struct autotune_launch {
    int entry; /* index of the kernel in its source */
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* in blocks; all 1 if there are no clusters */
    unsigned shared_bytes; /* dynamic shared memory */
    bool balanced; /* several blocks of a cluster may share a multiprocessor */
    bool cooperative;
    int group; /* number of the group of launches that are repeated together; 0: this launch runs once */
    unsigned rounds; /* rounds of the group */
    int first_argument, argument_count;
} autotune_launch;

/* The launches of a configuration for a problem. */
typedef struct autotune_plan {
    autotune_rule rule; /* rule that gave the configuration */
    int kernel; /* source that has its kernels; -1 if none has */
    int launch_count;
    autotune_launch launches[32];
    int argument_count; /* arguments of all launches */
    autotune_argument arguments[128];
    unsigned struct_bytes;
    unsigned char structs[256];
    int buffer_count;
    uint64_t buffer_bytes[16]; /* required size of each buffer, in the order of the pattern */
} autotune_plan;

typedef struct autotune_value {
    uint64_t bits;
    unsigned size_bytes;
} autotune_value;

AUTOTUNE_HOST int64_t autotune_whole(double x, int *failed)
{
    if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0) || (double)(int64_t)x != x) {
        *failed = 1;
        return 0;
    }
    return (int64_t)x;
}

AUTOTUNE_HOST int64_t autotune_within(int64_t n, int64_t least, int64_t most, int *failed)
{
    if (n >= least && n <= most)
        return n;
    *failed = 1;
    return least;
}

AUTOTUNE_HOST autotune_value autotune_whole_value(int64_t n, unsigned size_bytes)
{
    autotune_value v = {0, size_bytes};
    memcpy(&v.bits, &n, size_bytes);
    return v;
}

AUTOTUNE_HOST autotune_value autotune_truth_value(bool truth)
{
    autotune_value v = {truth ? 1u : 0u, 1};
    return v;
}

AUTOTUNE_HOST autotune_value autotune_double_value(double x, int *failed)
{
    autotune_value v = {0, 8};
    if (!(x - x == 0))
        *failed = 1;
    memcpy(&v.bits, &x, sizeof x);
    return v;
}

AUTOTUNE_HOST autotune_value autotune_float_value(double x, int *failed)
{
    autotune_value v = {0, 4};
    float narrow = (float)x;
    if (!(narrow - narrow == 0))
        *failed = 1;
    memcpy(&v.bits, &narrow, sizeof narrow);
    return v;
}

/* Returns the nearest number with this many bits of mantissa; of two nearest numbers, the even one
   (IEEE 754). */
AUTOTUNE_HOST autotune_value
autotune_short_value(double x, int mantissa_bits, int bias, int *failed)
{
    autotune_value v = {0, 2};
    uint64_t bits = 0, whole, rest, half;
    uint64_t infinity = (uint64_t)(2 * bias + 1) << mantissa_bits;
    int exponent, shift = 52 - mantissa_bits;
    memcpy(&bits, &x, sizeof bits);
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    whole = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (exponent < 1 - bias)
        shift += 1 - bias - exponent;
    if (shift < 60) {
        rest = whole & ((UINT64_C(1) << shift) - 1);
        half = UINT64_C(1) << (shift - 1);
        whole >>= shift;
        whole += rest > half || (rest == half && (whole & 1)) ? 1 : 0;
        v.bits = exponent < 1 - bias
                     ? whole
                     : whole + ((uint64_t)(exponent + bias - 1) << mantissa_bits);
    }
    if (v.bits >= infinity)
        *failed = 1;
    v.bits = (v.bits & 0x7fff) | (bits >> 48 & 0x8000);
    return v;
}

AUTOTUNE_HOST autotune_value autotune_half_value(double x, int *failed)
{
    return autotune_short_value(x, 10, 15, failed);
}

AUTOTUNE_HOST autotune_value autotune_bfloat16_value(double x, int *failed)
{
    return autotune_short_value(x, 7, 127, failed);
}

AUTOTUNE_HOST unsigned autotune_cluster_blocks(const autotune_launch *launch)
{
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

AUTOTUNE_HOST autotune_launch *autotune_launch_new(autotune_plan *plan, int entry)
{
    autotune_launch *launch = &plan->launches[plan->launch_count++];
    int i;
    memset(launch, 0, sizeof *launch);
    launch->entry = entry;
    launch->first_argument = plan->argument_count;
    for (i = 0; i < 3; i++)
        launch->grid[i] = launch->block[i] = launch->cluster[i] = 1;
    return launch;
}

AUTOTUNE_HOST autotune_argument *autotune_add_argument(autotune_plan *plan, unsigned size_bytes)
{
    autotune_argument *argument = &plan->arguments[plan->argument_count++];
    plan->launches[plan->launch_count - 1].argument_count++;
    argument->buffer = -1;
    argument->size_bytes = size_bytes;
    argument->bits = 0;
    return argument;
}

AUTOTUNE_HOST void autotune_add_buffer(autotune_plan *plan, int buffer)
{
    autotune_add_argument(plan, 8)->buffer = buffer;
}

AUTOTUNE_HOST void autotune_add_value(autotune_plan *plan, autotune_value value)
{
    autotune_add_argument(plan, value.size_bytes)->bits = value.bits;
}

/* Members lie as in C: each at a multiple of its size, and the struct's size is a multiple of the
   largest member. */
AUTOTUNE_HOST void
autotune_add_struct(autotune_plan *plan, const autotune_value *members, int count, int *failed)
{
    unsigned char bytes[256] = {0};
    unsigned size = 0, alignment = 1, start = (plan->struct_bytes + 15) / 16 * 16;
    autotune_argument *argument;
    int i;
    for (i = 0; i < count && size <= 240; i++) {
        unsigned n = members[i].size_bytes;
        size = (size + n - 1) / n * n;
        memcpy(bytes + size, &members[i].bits, n);
        size += n;
        alignment = n > alignment ? n : alignment;
    }
    size = (size + alignment - 1) / alignment * alignment;
    argument = autotune_add_argument(plan, size);
    if (size <= 8) {
        memcpy(&argument->bits, bytes, size);
    } else if (i < count || start + size > sizeof plan->structs) {
        *failed = 1;
    } else {
        argument->bits = start;
        memcpy(plan->structs + start, bytes, size);
        plan->struct_bytes = start + size;
    }
}

AUTOTUNE_HOST void autotune_add_size(autotune_plan *plan, int64_t count, int64_t element_bytes)
{
    plan->buffer_bytes[plan->buffer_count++] = (uint64_t)count * (uint64_t)element_bytes;
}

AUTOTUNE_HOST void autotune_launch_checked(const autotune_launch *launch, int *failed)
{
    int i;
    if (launch->block[0] * launch->block[1] * launch->block[2] > 1024)
        *failed = 1;
    for (i = 0; i < 3; i++)
        if (launch->grid[i] % launch->cluster[i] != 0)
            *failed = 1;
}

/* Moves to the launch after launch *place in round *round of its group. Returns false after the last
 * launch. Start with *place = -1 and *round = 0. */
AUTOTUNE_HOST bool autotune_launch_next(const autotune_plan *plan, int *place, unsigned *round)
{
    int now = *place, first = now;
    *place = now + 1;
    if (now < 0 || plan->launches[now].group == 0 ||
        (now + 1 < plan->launch_count && plan->launches[now + 1].group == plan->launches[now].group))
        return *place < plan->launch_count;
    ++*round;
    if (*round < plan->launches[now].rounds) {
        while (first > 0 && plan->launches[first - 1].group == plan->launches[now].group)
            first--;
        *place = first;
    } else {
        *round = 0;
    }
    return *place < plan->launch_count;
}
#endif


/* Plans the launches of a configuration on this device, for this problem. Returns false if the
 * pattern's expressions fail or give an invalid launch. */
AUTOTUNE_HOST bool autotune_${p.name}_evaluate(
    const autotune_device *device, const autotune_${p.name}_problem *problem,
    const autotune_${p.name}_config *config, autotune_plan *plan)
{
    int broken = 0;
    int *failed = &broken;
    (void)failed;
    (void)device;
    (void)problem;
    (void)config;
    memset(plan, 0, sizeof *plan);
% if string.find(p.launch.statements, ", derived, failed)", 1, true) then
    ${text.empty_derived(p)}
% end
${p.launch.statements}
    return broken == 0 && plan->launch_count > 0;
}

#ifndef AUTOTUNE_WITHOUT_CUDA

/* Device addresses of the buffers. Buffer i needs room for plan.buffer_bytes[i] bytes. */
typedef struct autotune_${p.name}_buffers {
% for _, buffer in ipairs(p.launch.buffers) do
    ${buffer.is_input and "const " or ""}void *${buffer.identifier};
% end
% if #p.launch.buffers == 0 then
    char nothing;
% end
} autotune_${p.name}_buffers;

#ifdef __cplusplus
extern "C" {
#endif

/* Picks a configuration for a device (NULL: the current device) and a problem, evaluates its
 * launches, and allows its kernels the shared memory that they need on the current device. *choice
 * gets the choice; `choice` may be NULL. Returns cudaErrorNotSupported if the file has no kernel
 * for this problem and device. */
cudaError_t autotune_${p.name}_plan(const autotune_device *device,
                            const autotune_${p.name}_problem *problem,
                            autotune_${p.name}_choice *choice, autotune_plan *plan);

/* Queues the launches of a plan, and before them the copies that fill __constant__ data. With such
 * data, launches of one pattern must not overlap. Allocates nothing and waits for nothing. */
cudaError_t autotune_${p.name}_run(const autotune_plan *plan, const autotune_${p.name}_buffers *buffers,
                           cudaStream_t stream);

/* Plans and queues, on the current device. */
cudaError_t autotune_${p.name}_launch(const autotune_${p.name}_problem *problem,
                              const autotune_${p.name}_buffers *buffers, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif

% include "export/both_end.h"
#endif
