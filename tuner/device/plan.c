#include "device/plan.h"

#include <math.h>
#include <string.h>

uint64_t plan_buffer_bytes(const buffer_plan *plan)
{
    return plan->count * dtype_get(plan->type)->size_bytes;
}

/* Entry and buffer names are bytes of a struct: terminated, and short enough. */
static bool get_name(pack *m, char name[PLAN_NAME_BYTES])
{
    const char *text = pack_get_string(m);
    size_t length = strlen(text);
    if (length == 0 || length >= PLAN_NAME_BYTES)
        return false;
    memcpy(name, text, length + 1);
    return true;
}

/* A value of an enumeration or a count, below `limit`. */
static bool get_below(pack *m, uint32_t limit, uint32_t *out)
{
    *out = pack_get_u32(m);
    return !m->failed && *out < limit;
}

static at_status corrupt(pack *m, const char *what, at_error *error)
{
    m->failed = true;
    return error_set(error, AT_WORKER, "a worker message holds a %s plan that makes no sense",
                     what);
}

static void put_buffer(pack *m, const buffer_plan *b)
{
    pack_put_string(m, b->name);
    pack_put_u32(m, b->role);
    pack_put_u32(m, b->fill);
    pack_put_u32(m, b->type);
    pack_put_u64(m, b->count);
    pack_put_u64(m, b->fill_limit);
    pack_put_u32(m, b->rank);
    for (uint32_t i = 0; i < b->rank; i++)
        pack_put_u64(m, b->shape[i]);
}

static bool get_buffer(pack *m, buffer_plan *b)
{
    uint32_t role, fill, type;
    if (!get_name(m, b->name) || !get_below(m, BUFFER_SCRATCH + 1, &role) ||
        !get_below(m, FILL_MODULO + 1, &fill) || !get_below(m, DTYPE_COUNT, &type))
        return false;
    b->role = (buffer_role)role;
    b->fill = (buffer_fill)fill;
    b->type = (dtype)type;
    b->count = pack_get_u64(m);
    b->fill_limit = pack_get_u64(m);
    if (!get_below(m, 5, &b->rank))
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        b->shape[i] = pack_get_u64(m);
    return b->count > 0 && b->count <= PLAN_MAX_ELEMENTS &&
           (b->fill != FILL_MODULO || b->fill_limit > 0);
}

void plan_put_problem(pack *m, const problem_plan *plan)
{
    pack_put_u32(m, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        put_buffer(m, &plan->buffers[i]);
    pack_put_f64(m, plan->tolerance);
    pack_put_u32(m, plan->deterministic);
    pack_put_u64(m, plan->traffic_bytes);
    pack_put_u64(m, plan->seed);
}

at_status plan_get_problem(pack *m, problem_plan *out, at_error *error)
{
    memset(out, 0, sizeof *out);
    uint32_t deterministic;
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->buffer_count))
        return corrupt(m, "problem", error);
    for (uint32_t i = 0; i < out->buffer_count; i++)
        if (!get_buffer(m, &out->buffers[i]))
            return corrupt(m, "problem", error);
    out->tolerance = pack_get_f64(m);
    bool is_boolean = get_below(m, 2, &deterministic);
    out->deterministic = deterministic == 1;
    out->traffic_bytes = pack_get_u64(m);
    out->seed = pack_get_u64(m);
    if (m->failed || !is_boolean || !isfinite(out->tolerance) || out->tolerance < 0)
        return corrupt(m, "problem", error);
    return AT_OK;
}

static void put_argument(pack *m, const argument_plan *a)
{
    pack_put_u32(m, a->is_buffer);
    pack_put_u32(m, a->buffer);
    pack_put_u32(m, a->size_bytes);
    pack_put_u64(m, a->bits);
}

static bool get_argument(pack *m, argument_plan *a)
{
    uint32_t is_buffer;
    if (!get_below(m, 2, &is_buffer) || !get_below(m, PLAN_MAX_BUFFERS, &a->buffer) ||
        !get_below(m, 9, &a->size_bytes))
        return false;
    a->is_buffer = is_buffer == 1;
    a->bits = pack_get_u64(m);
    uint32_t size = a->size_bytes;
    return size == 8 || (!a->is_buffer && (size == 1 || size == 2 || size == 4));
}

static bool get_shape(pack *m, uint32_t shape[3])
{
    for (int i = 0; i < 3; i++)
        shape[i] = pack_get_u32(m);
    return !m->failed && shape[0] > 0 && shape[1] > 0 && shape[2] > 0;
}

void plan_put_launch(pack *m, const launch_plan *plan)
{
    pack_put_string(m, plan->entry);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, plan->grid[i]);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, plan->block[i]);
    pack_put_u32(m, plan->dynamic_shared_bytes);
    pack_put_u32(m, plan->argument_count);
    for (uint32_t i = 0; i < plan->argument_count; i++)
        put_argument(m, &plan->arguments[i]);
}

at_status plan_get_launch(pack *m, launch_plan *out, at_error *error)
{
    memset(out, 0, sizeof *out);
    if (!get_name(m, out->entry) || !get_shape(m, out->grid) || !get_shape(m, out->block))
        return corrupt(m, "launch", error);
    out->dynamic_shared_bytes = pack_get_u32(m);
    if (!get_below(m, PLAN_MAX_ARGUMENTS + 1, &out->argument_count))
        return corrupt(m, "launch", error);
    for (uint32_t i = 0; i < out->argument_count; i++)
        if (!get_argument(m, &out->arguments[i]))
            return corrupt(m, "launch", error);
    return m->failed ? corrupt(m, "launch", error) : AT_OK;
}
