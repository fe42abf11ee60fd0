/* Packs plans (device/plan.h). Keys contain packed plans, so the order of fields is fixed. */
#include <string.h>

#include "device/plan.h"

/* The three sides of a grid, block or cluster. */
#define SIDES(member)                                                                              \
    PACK_FIELD(kernel_launch, member[0]), PACK_FIELD(kernel_launch, member[1]),                    \
        PACK_FIELD(kernel_launch, member[2])

/* A packed buffer is its head, shape, fill, values, file, and comparison, in this order. */
static const pack_field head_fields[] = {
    PACK_FIELD(buffer_plan, name),  PACK_FIELD(buffer_plan, role),
    PACK_FIELD(buffer_plan, fill),  PACK_FIELD(buffer_plan, type),
    PACK_FIELD(buffer_plan, count), PACK_FIELD(buffer_plan, fill_limit),
    PACK_FIELD(buffer_plan, rank),
};

static const pack_field fill_fields[] = {
    PACK_FIELD(buffer_plan, fill_block),
    PACK_FIELD(buffer_plan, value_count),
};

static const pack_field comparison_fields[] = {
    PACK_FIELD(buffer_plan, tolerance.kind),
    PACK_FIELD(buffer_plan, tolerance.limit),
    PACK_FIELD(buffer_plan, tolerance.mismatches),
    PACK_FIELD(buffer_plan, repeats),
    PACK_FIELD(buffer_plan, record),
};

static const pack_field problem_fields[] = {
    PACK_FIELD(problem_plan, oracle),        PACK_FIELD(problem_plan, ceiling),
    PACK_FIELD(problem_plan, traffic_bytes), PACK_FIELD(problem_plan, flops),
    PACK_FIELD(problem_plan, items),         PACK_FIELD(problem_plan, seed),
};

static const pack_field launch_fields[] = {
    SIDES(grid),
    SIDES(block),
    SIDES(cluster),
    PACK_FIELD(kernel_launch, cooperative),
    PACK_FIELD(kernel_launch, balanced),
    PACK_FIELD(kernel_launch, group),
    PACK_FIELD(kernel_launch, rounds),
    PACK_FIELD(kernel_launch, dynamic_shared_bytes),
    PACK_FIELD(kernel_launch, argument_count),
};

static const pack_field constant_fields[] = {
    PACK_FIELD(constant_plan, name),
    PACK_FIELD(constant_plan, buffer),
    PACK_FIELD(constant_plan, is_result),
};

static const pack_field compared_fields[] = {
    PACK_FIELD(compared_plan, buffer),
    PACK_FIELD(compared_plan, count),
};

/* The direction is packed first, because no task follows if there is no transfer. */
static const pack_field task_fields[] = {
    PACK_FIELD(transfer_task, from),
    PACK_FIELD(transfer_task, to),
    PACK_FIELD(transfer_task, pieces),
    PACK_FIELD(transfer_task, pitch_bytes),
};

static const pack_field transfer_fields[] = {
    PACK_FIELD(transfer_plan, memory),
    PACK_FIELD(transfer_plan, staging),
    PACK_FIELD(transfer_plan, chunk_bytes),
    PACK_FIELD(transfer_plan, streams),
};

/* Reads an enumeration or a count. Returns false if it is not below `limit`. */
static bool get_below(pack *m, uint32_t limit, uint32_t *out)
{
    *out = pack_get_u32(m);
    return !m->failed && *out < limit;
}

static bool has_limit(buffer_fill fill)
{
    return fill == FILL_MODULO || fill == FILL_SORTED || fill == FILL_LOCAL ||
           fill == FILL_SKEWED || fill == FILL_OFFSETS;
}

static void put_buffer(pack *m, const buffer_plan *b)
{
    pack_put_fields(m, b, PACK_FIELDS(head_fields));
    for (uint32_t i = 0; i < b->rank; i++)
        pack_put_u64(m, b->shape[i]);
    pack_put_fields(m, b, PACK_FIELDS(fill_fields));
    for (uint32_t i = 0; i < b->value_count; i++)
        pack_put_f64(m, b->values[i]);
    pack_put_bytes(m, b->data.bytes, b->fill == FILL_FILE ? sizeof b->data.bytes : 0);
    pack_put_fields(m, b, PACK_FIELDS(comparison_fields));
}

/* Reads the hash of a file's contents. If `wanted` is false, the hash must be absent. */
static bool get_key(pack *m, bool wanted, data_key *out)
{
    size_t size_bytes;
    const void *bytes = pack_get_bytes(m, &size_bytes);
    if (size_bytes != (wanted ? sizeof out->bytes : 0))
        return false;
    memcpy(out->bytes, bytes, size_bytes);
    return true;
}

static bool get_fill(pack *m, buffer_plan *b)
{
    if (has_limit(b->fill) && b->fill_limit == 0)
        return false;
    if ((b->fill == FILL_SORTED || b->fill == FILL_OFFSETS) &&
        b->fill_limit > (uint64_t)INT64_MAX / b->count)
        return false;
    if (b->fill == FILL_OFFSETS && b->count < 2)
        return false;
    pack_get_fields(m, b, PACK_FIELDS(fill_fields));
    if (b->value_count > PLAN_MAX_VALUES || (b->fill == FILL_LOCAL) != (b->fill_block > 0) ||
        (b->fill == FILL_VALUES) != (b->value_count > 0))
        return false;
    for (uint32_t i = 0; i < b->value_count; i++)
        b->values[i] = pack_get_f64(m);
    return get_key(m, b->fill == FILL_FILE, &b->data);
}

static bool get_buffer(pack *m, buffer_plan *b)
{
    pack_get_fields(m, b, PACK_FIELDS(head_fields));
    if (m->failed || !*b->name || b->role > BUFFER_SCRATCH || b->fill >= FILL_COUNT ||
        b->type >= DTYPE_COUNT || b->rank > 4)
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        b->shape[i] = pack_get_u64(m);
    if (b->count == 0 || b->count > PLAN_MAX_ELEMENTS || !get_fill(m, b))
        return false;
    pack_get_fields(m, b, PACK_FIELDS(comparison_fields));
    return tolerance_is_valid(b->tolerance);
}

static bool get_task(pack *m, uint32_t direction, uint32_t buffer_count, transfer_task *t)
{
    t->direction = (transfer_direction)direction;
    pack_get_fields(m, t, PACK_FIELDS(task_fields));
    return !m->failed && t->from < buffer_count && t->to < buffer_count && t->from != t->to &&
           t->pieces > 0 && t->pitch_bytes > 0 && t->pitch_bytes <= TRANSFER_MAX_BYTES / t->pieces;
}

void plan_put_problem(pack *m, const problem_plan *plan)
{
    pack_put_u32(m, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        put_buffer(m, &plan->buffers[i]);
    pack_put_fields(m, plan, PACK_FIELDS(problem_fields));
    for (uint32_t i = 0; plan->oracle == ORACLE_FILE && i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]))
            pack_put_bytes(m, plan->buffers[i].expected.bytes, DATA_KEY_BYTES);
    pack_put_u32(m, plan->transfer.direction);
    if (plan->transfer.direction)
        pack_put_fields(m, &plan->transfer, PACK_FIELDS(task_fields));
}

static bool get_problem(pack *m, problem_plan *out)
{
    uint32_t direction;
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->buffer_count))
        return false;
    for (uint32_t i = 0; i < out->buffer_count; i++)
        if (!get_buffer(m, &out->buffers[i]))
            return false;
    pack_get_fields(m, out, PACK_FIELDS(problem_fields));
    if (out->oracle >= ORACLE_KINDS || out->ceiling >= CEILING_KINDS)
        return false;
    for (uint32_t i = 0; out->oracle == ORACLE_FILE && i < out->buffer_count; i++)
        if (plan_is_compared(&out->buffers[i]) && !get_key(m, true, &out->buffers[i].expected))
            return false;
    if (!get_below(m, TRANSFER_DIRECTIONS, &direction))
        return false;
    return !direction || get_task(m, direction, out->buffer_count, &out->transfer);
}

bool plan_get_problem(pack *m, problem_plan *out)
{
    memset(out, 0, sizeof *out);
    m->failed = !get_problem(m, out) || m->failed;
    return !m->failed;
}

enum { IS_VALUE, IS_BUFFER, IS_VIEW };

static void put_argument(pack *m, const argument_plan *a)
{
    pack_put_u32(m, a->is_buffer ? IS_BUFFER : a->is_view ? IS_VIEW : IS_VALUE);
    pack_put_u32(m, a->buffer);
    pack_put_u32(m, a->size_bytes);
    pack_put_u64(m, a->bits);
}

static bool get_argument(pack *m, const launch_plan *plan, argument_plan *a)
{
    uint32_t is, buffer, size;
    if (!get_below(m, IS_VIEW + 1, &is) || !get_below(m, PLAN_MAX_BUFFERS, &buffer) ||
        !get_below(m, PLAN_MAX_STRUCT_BYTES + 1, &size))
        return false;
    a->bits = pack_get_u64(m);
    a->size_bytes = (uint16_t)size;
    a->is_buffer = is == IS_BUFFER;
    a->is_view = is == IS_VIEW;
    a->buffer = (uint8_t)buffer;
    if (a->is_view)
        return a->bits < plan->view_count && size == view_bytes(plan->views[a->bits].kind);
    if (plan_is_struct(a))
        return a->bits <= plan->struct_bytes && size <= plan->struct_bytes - a->bits;
    return a->is_buffer ? size == 8 : size > 0;
}

static void put_launch(pack *m, const launch_plan *plan, const kernel_launch *launch)
{
    pack_put_string(m, plan->entries + launch->entry);
    pack_put_fields(m, launch, PACK_FIELDS(launch_fields));
    for (uint32_t i = 0; i < launch->argument_count; i++)
        put_argument(m, &plan->arguments[launch->first_argument + i]);
}

/* Checks the sides of grid, block and cluster. A cluster side of 0 becomes 1. */
static bool are_sides_good(kernel_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i] || launch->cluster[i] > PLAN_MAX_CLUSTER)
            return false;
        launch->cluster[i] = launch->cluster[i] ? launch->cluster[i] : 1;
    }
    return true;
}

/* Returns whether launch `i` is in no group, continues a group, or begins a group. */
static bool is_grouped_well(const launch_plan *plan, uint32_t i)
{
    const kernel_launch *launch = &plan->launches[i];
    if (launch->group == 0)
        return launch->rounds == 0;
    if (launch->rounds < 2 || launch->rounds > PLAN_MAX_ROUNDS)
        return false;
    return launch->group == i + 1 ||
           (i > 0 && launch->group == launch[-1].group && launch->rounds == launch[-1].rounds);
}

static bool get_launch(pack *m, launch_plan *plan, uint32_t number)
{
    kernel_launch *launch = &plan->launches[number];
    if (!plan_set_entry(plan, number, pack_get_string(m)))
        return false;
    pack_get_fields(m, launch, PACK_FIELDS(launch_fields));
    launch->first_argument = plan->argument_count;
    if (!are_sides_good(launch) ||
        launch->argument_count > PLAN_MAX_ARGUMENTS - plan->argument_count)
        return false;
    for (uint32_t i = 0; i < launch->argument_count; i++)
        if (!get_argument(m, plan, &plan->arguments[plan->argument_count++]))
            return false;
    return !(launch->balanced && plan_cluster_blocks(launch) == 1) && is_grouped_well(plan, number);
}

void plan_put_launch(pack *m, const launch_plan *plan)
{
    pack_put_bytes(m, plan->structs, plan->struct_bytes);
    pack_put_u32(m, plan->address_count);
    for (uint32_t i = 0; i < plan->address_count; i++) {
        pack_put_u32(m, plan->addresses[i].at);
        pack_put_u32(m, plan->addresses[i].buffer);
    }
    pack_put_u32(m, plan->constant_count);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        pack_put_fields(m, &plan->constants[i], PACK_FIELDS(constant_fields));
    pack_put_u32(m, plan->compared_count);
    for (uint32_t i = 0; i < plan->compared_count; i++)
        pack_put_fields(m, &plan->compared[i], PACK_FIELDS(compared_fields));
    pack_put_u32(m, plan->view_count);
    for (uint32_t i = 0; i < plan->view_count; i++)
        view_put(m, &plan->views[i]);
    pack_put_u32(m, plan->launch_count);
    for (uint32_t i = 0; i < plan->launch_count; i++)
        put_launch(m, plan, &plan->launches[i]);
    pack_put_u32(m, plan_transfers(plan));
    if (plan_transfers(plan)) {
        pack_put_u32(m, plan->transfer.task.direction);
        pack_put_fields(m, &plan->transfer.task, PACK_FIELDS(task_fields));
        pack_put_fields(m, &plan->transfer, PACK_FIELDS(transfer_fields));
    }
}

static bool get_transfer(pack *m, transfer_plan *t)
{
    uint32_t direction;
    if (!get_below(m, TRANSFER_DIRECTIONS, &direction) || direction == TRANSFER_NONE ||
        !get_task(m, direction, PLAN_MAX_BUFFERS, &t->task))
        return false;
    pack_get_fields(m, t, PACK_FIELDS(transfer_fields));
    return !m->failed && t->memory < HOST_MEMORIES && t->staging < STAGING_COUNT &&
           t->chunk_bytes <= TRANSFER_MAX_BYTES && t->streams > 0 &&
           t->streams <= TRANSFER_MAX_STREAMS &&
           (t->memory != HOST_MAPPED || t->staging == STAGING_NONE);
}

static bool get_address(pack *m, const launch_plan *plan, address_plan *out)
{
    uint32_t at, buffer;
    if (!get_below(m, PLAN_MAX_STRUCT_BYTES, &at) || !get_below(m, PLAN_MAX_BUFFERS, &buffer) ||
        at + 8 > plan->struct_bytes)
        return false;
    *out = (address_plan){(uint16_t)at, (uint8_t)buffer};
    return true;
}

static bool get_plan(pack *m, launch_plan *out)
{
    uint32_t transfers;
    size_t struct_bytes;
    const void *structs = pack_get_bytes(m, &struct_bytes);
    if (struct_bytes > PLAN_MAX_STRUCT_BYTES)
        return false;
    if (struct_bytes)
        memcpy(out->structs, structs, struct_bytes);
    out->struct_bytes = (uint32_t)struct_bytes;
    if (!get_below(m, PLAN_MAX_ADDRESSES + 1, &out->address_count))
        return false;
    for (uint32_t i = 0; i < out->address_count; i++)
        if (!get_address(m, out, &out->addresses[i]))
            return false;
    if (!get_below(m, PLAN_MAX_CONSTANTS + 1, &out->constant_count))
        return false;
    for (uint32_t i = 0; i < out->constant_count; i++) {
        pack_get_fields(m, &out->constants[i], PACK_FIELDS(constant_fields));
        if (!*out->constants[i].name || out->constants[i].buffer >= PLAN_MAX_BUFFERS)
            return false;
    }
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->compared_count))
        return false;
    for (uint32_t i = 0; i < out->compared_count; i++) {
        const compared_plan *c = &out->compared[i];
        pack_get_fields(m, &out->compared[i], PACK_FIELDS(compared_fields));
        if (c->buffer >= PLAN_MAX_BUFFERS || c->count == 0 || c->count > PLAN_MAX_ELEMENTS)
            return false;
    }
    if (!get_below(m, PLAN_MAX_VIEWS + 1, &out->view_count))
        return false;
    for (uint32_t i = 0; i < out->view_count; i++)
        if (!view_get(m, PLAN_MAX_BUFFERS, &out->views[i]))
            return false;
    if (!get_below(m, PLAN_MAX_LAUNCHES + 1, &out->launch_count))
        return false;
    for (uint32_t i = 0; i < out->launch_count; i++)
        if (!get_launch(m, out, i))
            return false;
    return get_below(m, 2, &transfers) && (!transfers || get_transfer(m, &out->transfer)) &&
           (transfers || out->launch_count > 0);
}

bool plan_get_launch(pack *m, launch_plan *out)
{
    memset(out, 0, sizeof *out);
    m->failed = !get_plan(m, out) || m->failed;
    return !m->failed;
}
