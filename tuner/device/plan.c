#include "device/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"

/* Each buffer of a problem draws from a stream of its own. */
uint64_t plan_buffer_seed(uint64_t seed, uint32_t i)
{
    rng r = rng_seeded(seed + i);
    return rng_next(&r);
}

void plan_name_element(const buffer_plan *plan, uint64_t index, char *out, size_t size_bytes)
{
    uint64_t at[4] = {index};
    uint32_t rank = plan->rank > 0 ? plan->rank : 1;
    for (uint32_t i = plan->rank; i-- > 1;) {
        uint64_t extent = plan->shape[i] > 0 ? plan->shape[i] : 1;
        at[i] = index % extent;
        index /= extent;
        at[i - 1] = index;
    }
    snprintf(out, size_bytes, "%s", plan->name);
    for (uint32_t i = 0; i < rank; i++)
        text_add(out, size_bytes, "[%" PRIu64 "]", at[i]);
}

uint64_t plan_buffer_bytes(const buffer_plan *plan)
{
    return plan->count * dtype_get(plan->type)->size_bytes;
}

uint64_t plan_problem_bytes(const problem_plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        bytes +=
            plan_buffer_bytes(&plan->buffers[i]); /* PLAN_MAX_ELEMENTS keeps that within 64 bits */
    return bytes;
}

bool plan_is_compared(const buffer_plan *plan)
{
    return plan->role == BUFFER_OUTPUT || plan->role == BUFFER_INOUT;
}

uint64_t plan_work(const problem_plan *plan, work_unit unit)
{
    return unit == WORK_BYTES   ? plan->traffic_bytes
           : unit == WORK_FLOPS ? plan->flops
                                : plan->items;
}

enum { ONE_SIDED = 16 }; /* one side moves that many times what the other does */

static ceiling_kind traffic_ceiling(const problem_plan *plan)
{
    uint64_t in = 0, out = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        uint64_t size = plan_buffer_bytes(&plan->buffers[i]);
        buffer_role role = plan->buffers[i].role;
        in += role == BUFFER_INPUT || role == BUFFER_INOUT ? size : 0;
        out += role == BUFFER_OUTPUT || role == BUFFER_INOUT ? size : 0;
    }
    return out < in / ONE_SIDED   ? CEILING_READ
           : in < out / ONE_SIDED ? CEILING_WRITE
                                  : CEILING_COPY;
}

ceiling_kind plan_ceiling(const problem_plan *plan)
{
    if (plan->ceiling != CEILING_DEFAULT)
        return plan->ceiling;
    if (plan->traffic_bytes > 0 && plan->transfer.direction)
        return CEILING_PINNED;
    if (plan->traffic_bytes > 0)
        return traffic_ceiling(plan);
    if (plan->flops == 0)
        return CEILING_NONE;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]) && plan->buffers[i].type == DTYPE_DOUBLE)
            return CEILING_FP64;
    return CEILING_FP32;
}

/* Names of buffers and variables are bytes of a struct: terminated, and short enough. */
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

static bool has_limit(buffer_fill fill)
{
    return fill == FILL_MODULO || fill == FILL_SORTED || fill == FILL_LOCAL ||
           fill == FILL_SKEWED || fill == FILL_OFFSETS;
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
    pack_put_u64(m, b->fill_block);
    pack_put_u32(m, b->value_count);
    for (uint32_t i = 0; i < b->value_count; i++)
        pack_put_f64(m, b->values[i]);
    pack_put_bytes(m, b->data.bytes, b->fill == FILL_FILE ? sizeof b->data.bytes : 0);
    pack_put_u32(m, b->tolerance.kind);
    pack_put_f64(m, b->tolerance.limit);
    pack_put_f64(m, b->tolerance.mismatches);
}

/* The hash of a file's contents, or that there is none. */
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
    b->fill_block = pack_get_u64(m);
    if (!get_below(m, PLAN_MAX_VALUES + 1, &b->value_count) ||
        (b->fill == FILL_LOCAL) != (b->fill_block > 0) ||
        (b->fill == FILL_VALUES) != (b->value_count > 0))
        return false;
    for (uint32_t i = 0; i < b->value_count; i++)
        b->values[i] = pack_get_f64(m);
    return get_key(m, b->fill == FILL_FILE, &b->data);
}

static bool get_buffer(pack *m, buffer_plan *b)
{
    uint32_t role, fill, type;
    if (!get_name(m, b->name) || !get_below(m, BUFFER_SCRATCH + 1, &role) ||
        !get_below(m, FILL_COUNT, &fill) || !get_below(m, DTYPE_COUNT, &type))
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
    if (b->count == 0 || b->count > PLAN_MAX_ELEMENTS || !get_fill(m, b))
        return false;
    b->tolerance.kind = (tolerance_kind)pack_get_u32(m);
    b->tolerance.limit = pack_get_f64(m);
    b->tolerance.mismatches = pack_get_f64(m);
    return !m->failed && tolerance_is_valid(b->tolerance);
}

bool plan_transfers(const launch_plan *plan)
{
    return plan->transfer.task.direction != TRANSFER_NONE;
}

void plan_put_problem(pack *m, const problem_plan *plan)
{
    pack_put_u32(m, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        put_buffer(m, &plan->buffers[i]);
    pack_put_u32(m, plan->oracle);
    pack_put_u32(m, plan->deterministic);
    pack_put_u32(m, plan->ceiling);
    pack_put_u64(m, plan->traffic_bytes);
    pack_put_u64(m, plan->flops);
    pack_put_u64(m, plan->items);
    pack_put_u64(m, plan->seed);
    for (uint32_t i = 0; plan->oracle == ORACLE_FILE && i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]))
            pack_put_bytes(m, plan->buffers[i].expected.bytes, DATA_KEY_BYTES);
    pack_put_u32(m, plan->transfer.direction);
    if (plan->transfer.direction)
        transfer_put_task(m, &plan->transfer);
}

static bool get_problem(pack *m, problem_plan *out)
{
    uint32_t oracle, deterministic, ceiling, direction;
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->buffer_count))
        return false;
    for (uint32_t i = 0; i < out->buffer_count; i++)
        if (!get_buffer(m, &out->buffers[i]))
            return false;
    if (!get_below(m, ORACLE_KINDS, &oracle) || !get_below(m, 2, &deterministic) ||
        !get_below(m, CEILING_KINDS, &ceiling))
        return false;
    out->oracle = (oracle_kind)oracle;
    out->deterministic = deterministic;
    out->ceiling = (ceiling_kind)ceiling;
    out->traffic_bytes = pack_get_u64(m);
    out->flops = pack_get_u64(m);
    out->items = pack_get_u64(m);
    out->seed = pack_get_u64(m);
    for (uint32_t i = 0; out->oracle == ORACLE_FILE && i < out->buffer_count; i++)
        if (plan_is_compared(&out->buffers[i]) && !get_key(m, true, &out->buffers[i].expected))
            return false;
    if (!get_below(m, TRANSFER_DIRECTIONS, &direction))
        return false;
    return !direction ||
           transfer_get_task(m, (transfer_direction)direction, out->buffer_count, &out->transfer);
}

bool plan_get_problem(pack *m, problem_plan *out)
{
    memset(out, 0, sizeof *out);
    m->failed = !get_problem(m, out) || m->failed;
    return !m->failed;
}

/* Does the plan reach the buffer otherwise than by that array? */
static bool is_torn(const launch_plan *plan, const view_plan *array)
{
    bool torn = false;
    for (uint32_t i = 0; i < plan->argument_count; i++)
        torn = torn || (plan->arguments[i].is_buffer && plan->arguments[i].buffer == array->buffer);
    for (uint32_t i = 0; i < plan->address_count; i++)
        torn = torn || plan->addresses[i].buffer == array->buffer;
    for (uint32_t i = 0; i < plan->constant_count; i++)
        torn = torn || plan->constants[i].buffer == array->buffer;
    for (uint32_t i = 0; i < plan->view_count; i++)
        torn = torn ||
               (plan->views[i].buffer == array->buffer && !view_same_array(&plan->views[i], array));
    return torn;
}

uint32_t plan_torn_buffer(const launch_plan *plan)
{
    for (uint32_t i = 0; i < plan->view_count; i++)
        if (plan->views[i].in_array && is_torn(plan, &plan->views[i]))
            return plan->views[i].buffer;
    return PLAN_MAX_BUFFERS;
}

static bool is_struct(const argument_plan *a)
{
    return !a->is_buffer && !a->is_view && a->size_bytes > 8;
}

const void *plan_argument_in(const argument_plan *argument, const unsigned char *structs)
{
    return is_struct(argument) ? structs + argument->bits : (const void *)&argument->bits;
}

const void *plan_argument_value(const launch_plan *plan, const argument_plan *argument)
{
    return plan_argument_in(argument, plan->structs);
}

void plan_copy_structs(const launch_plan *plan, plan_address_of *address_of, const void *context,
                       unsigned char out[PLAN_MAX_STRUCT_BYTES])
{
    memcpy(out, plan->structs, plan->struct_bytes);
    for (uint32_t i = 0; i < plan->address_count; i++) {
        const uint64_t address = address_of(context, plan->addresses[i].buffer);
        memcpy(out + plan->addresses[i].at, &address, sizeof address);
    }
}

uint64_t plan_block_threads(const kernel_launch *launch)
{
    return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

uint64_t plan_cluster_blocks(const kernel_launch *launch)
{
    return (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

uint64_t plan_grid_blocks(const kernel_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

uint32_t plan_most_shared_bytes(const launch_plan *plan)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        if (plan->launches[i].dynamic_shared_bytes > most)
            most = plan->launches[i].dynamic_shared_bytes;
    return most;
}

uint32_t plan_most_threads(const launch_plan *plan)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        if (plan_block_threads(&plan->launches[i]) > most)
            most = plan_block_threads(&plan->launches[i]);
    return (uint32_t)most;
}

static bool ends_group(const launch_plan *plan, uint32_t place)
{
    return place + 1 == plan->launch_count ||
           plan->launches[place + 1].group != plan->launches[place].group;
}

bool plan_walk(const launch_plan *plan, launch_walk *walk)
{
    if (walk->next >= plan->launch_count)
        return false;
    walk->place = walk->next++;
    const kernel_launch *launch = &plan->launches[walk->place];
    if (launch->group == 0 || !ends_group(plan, walk->place))
        return true;
    walk->round++;
    if (walk->round < launch->rounds)
        walk->next = launch->group - 1;
    else
        walk->round = 0;
    return true;
}

uint32_t plan_rounds(const launch_plan *plan, uint32_t place)
{
    return plan->launches[place].group ? plan->launches[place].rounds : 1;
}

uint64_t plan_launches_run(const launch_plan *plan)
{
    uint64_t run = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        run += plan_rounds(plan, i);
    return run;
}

uint64_t plan_compared(const problem_plan *problem, const launch_plan *launch, uint32_t i)
{
    for (uint32_t k = 0; k < launch->compared_count; k++)
        if (launch->compared[k].buffer == i)
            return launch->compared[k].count;
    return problem->buffers[i].count;
}

at_status plan_fits(const launch_plan *plan, uint32_t buffer_count, at_error *error)
{
    const transfer_task *task = &plan->transfer.task;
    if (plan_transfers(plan) && (task->from >= buffer_count || task->to >= buffer_count))
        return error_set(error, AT_FORMAT,
                         "the transfer names buffers %" PRIu32 " and %" PRIu32
                         ", there are %" PRIu32,
                         task->from, task->to, buffer_count);
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (plan->arguments[i].is_buffer && plan->arguments[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "argument %" PRIu32 " of %s names buffer %u, there are %" PRIu32,
                             i + 1, plan_entry(plan, 0), plan->arguments[i].buffer, buffer_count);
    for (uint32_t i = 0; i < plan->address_count; i++)
        if (plan->addresses[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "a struct among the arguments of %s names buffer %u, there are "
                             "%" PRIu32,
                             plan_entry(plan, 0), plan->addresses[i].buffer, buffer_count);
    for (uint32_t i = 0; i < plan->view_count; i++)
        if (plan->views[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "view %" PRIu32 " of %s is of buffer %" PRIu32 ", there are %" PRIu32,
                             i + 1, plan_entry(plan, 0), plan->views[i].buffer, buffer_count);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        if (plan->constants[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "constant %s names buffer %" PRIu32 ", there are %" PRIu32,
                             plan->constants[i].name, plan->constants[i].buffer, buffer_count);
    for (uint32_t i = 0; i < plan->compared_count; i++)
        if (plan->compared[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "what is compared names buffer %" PRIu32 ", there are %" PRIu32,
                             plan->compared[i].buffer, buffer_count);
    return AT_OK;
}

const char *plan_entry(const launch_plan *plan, uint32_t launch)
{
    return plan->launch_count > 0 ? plan->entries + plan->launches[launch].entry : "";
}

/* The bytes in use: those up to an empty name. */
static uint32_t entries_used(const launch_plan *plan)
{
    uint32_t used = 0;
    while (used < PLAN_ENTRIES_BYTES && plan->entries[used])
        used += (uint32_t)strlen(plan->entries + used) + 1;
    return used;
}

bool plan_set_entry(launch_plan *plan, uint32_t launch, const char *name)
{
    const uint32_t used = entries_used(plan);
    const size_t room = strlen(name) + 1;
    uint32_t at = 0;
    while (at < used && strcmp(plan->entries + at, name) != 0)
        at += (uint32_t)strlen(plan->entries + at) + 1;
    plan->launches[launch].entry = at;
    if (at < used)
        return true;
    /* An empty name stays after the last. */
    if (room == 1 || room >= PLAN_ENTRIES_BYTES - used || strchr(name, '\n'))
        return false;
    memcpy(plan->entries + used, name, room);
    return true;
}

void plan_entries(const launch_plan *plan, char text[PLAN_ENTRIES_BYTES])
{
    const uint32_t used = entries_used(plan);
    for (uint32_t i = 0; i < used; i++)
        text[i] = plan->entries[i] ? plan->entries[i] : '\n';
    text[used > 0 ? used - 1 : 0] = '\0';
}

uint32_t plan_entry_place(const launch_plan *plan, uint32_t launch)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < plan->launches[launch].entry; i++)
        place += plan->entries[i] == '\0';
    return place;
}

char *plan_symbol(const launch_plan *plan, uint32_t launch, const char *symbols)
{
    size_t length;
    const char *symbol = text_line(symbols ? symbols : "", plan_entry_place(plan, launch), &length);
    return length ? strndup(symbol, length) : strdup(plan_entry(plan, launch));
}

bool plan_same_entries(const launch_plan *a, const launch_plan *b)
{
    return memcmp(a->entries, b->entries, sizeof a->entries) == 0;
}

/* The kind of an argument, as it is packed. */
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
    if (is_struct(a))
        return a->bits <= plan->struct_bytes && size <= plan->struct_bytes - a->bits;
    return a->is_buffer ? size == 8 : size > 0;
}

static void put_launch(pack *m, const launch_plan *plan, const kernel_launch *launch)
{
    pack_put_string(m, plan->entries + launch->entry);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, launch->grid[i]);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, launch->block[i]);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, launch->cluster[i]);
    pack_put_u32(m, launch->cooperative);
    pack_put_u32(m, launch->balanced);
    pack_put_u32(m, launch->group);
    pack_put_u32(m, launch->rounds);
    pack_put_u32(m, launch->dynamic_shared_bytes);
    pack_put_u32(m, launch->argument_count);
    for (uint32_t i = 0; i < launch->argument_count; i++)
        put_argument(m, &plan->arguments[launch->first_argument + i]);
}

static bool get_shape(pack *m, uint32_t shape[3])
{
    for (int i = 0; i < 3; i++)
        shape[i] = pack_get_u32(m);
    return !m->failed && shape[0] > 0 && shape[1] > 0 && shape[2] > 0;
}

/* 0 blocks along a side are none, as is 1. */
static bool get_cluster(pack *m, uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++) {
        if (!get_below(m, PLAN_MAX_CLUSTER + 1, &cluster[i]))
            return false;
        cluster[i] = cluster[i] ? cluster[i] : 1;
    }
    return true;
}

/* Is launch `i` alone, or one of the group before it, or the first of its own? */
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
    uint32_t cooperative, balanced;
    if (!plan_set_entry(plan, number, pack_get_string(m)) || !get_shape(m, launch->grid) ||
        !get_shape(m, launch->block) || !get_cluster(m, launch->cluster) ||
        !get_below(m, 2, &cooperative) || !get_below(m, 2, &balanced))
        return false;
    launch->cooperative = cooperative;
    launch->balanced = balanced;
    launch->group = pack_get_u32(m);
    launch->rounds = pack_get_u32(m);
    launch->dynamic_shared_bytes = pack_get_u32(m);
    launch->first_argument = plan->argument_count;
    if (!get_below(m, PLAN_MAX_ARGUMENTS + 1 - plan->argument_count, &launch->argument_count))
        return false;
    for (uint32_t i = 0; i < launch->argument_count; i++)
        if (!get_argument(m, plan, &plan->arguments[plan->argument_count++]))
            return false;
    return !(launch->balanced && plan_cluster_blocks(launch) == 1) && is_grouped_well(plan, number);
}

static bool get_compared(pack *m, compared_plan *c)
{
    if (!get_below(m, PLAN_MAX_BUFFERS, &c->buffer))
        return false;
    c->count = pack_get_u64(m);
    return c->count > 0 && c->count <= PLAN_MAX_ELEMENTS;
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
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        pack_put_string(m, plan->constants[i].name);
        pack_put_u32(m, plan->constants[i].buffer);
    }
    pack_put_u32(m, plan->compared_count);
    for (uint32_t i = 0; i < plan->compared_count; i++) {
        pack_put_u32(m, plan->compared[i].buffer);
        pack_put_u64(m, plan->compared[i].count);
    }
    pack_put_u32(m, plan->view_count);
    for (uint32_t i = 0; i < plan->view_count; i++)
        view_put(m, &plan->views[i]);
    pack_put_u32(m, plan->launch_count);
    for (uint32_t i = 0; i < plan->launch_count; i++)
        put_launch(m, plan, &plan->launches[i]);
    pack_put_u32(m, plan_transfers(plan));
    if (plan_transfers(plan))
        transfer_put_plan(m, &plan->transfer);
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
    for (uint32_t i = 0; i < out->constant_count; i++)
        if (!get_name(m, out->constants[i].name) ||
            !get_below(m, PLAN_MAX_BUFFERS, &out->constants[i].buffer))
            return false;
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->compared_count))
        return false;
    for (uint32_t i = 0; i < out->compared_count; i++)
        if (!get_compared(m, &out->compared[i]))
            return false;
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
    if (!get_below(m, 2, &transfers) ||
        (transfers && !transfer_get_plan(m, PLAN_MAX_BUFFERS, &out->transfer)))
        return false;
    return transfers || out->launch_count > 0;
}

bool plan_get_launch(pack *m, launch_plan *out)
{
    memset(out, 0, sizeof *out);
    m->failed = !get_plan(m, out) || m->failed;
    return !m->failed;
}
