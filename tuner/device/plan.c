#include "device/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"

uint64_t plan_buffer_seed(uint64_t seed, uint32_t i)
{
    rng r = rng_seeded(seed + i);
    return rng_next(&r);
}

void plan_clear(launch_plan *plan)
{
    memset(plan, 0, offsetof(launch_plan, arguments));
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
        bytes += plan_buffer_bytes(&plan->buffers[i]);
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

/* If inputs have ONE_SIDED times the bytes of outputs, or the reverse, only the larger counts. */
enum { ONE_SIDED = 16 };

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

bool plan_transfers(const launch_plan *plan)
{
    return plan->transfer.task.direction != TRANSFER_NONE;
}

/* Returns whether the plan uses the buffer of `array` except through that CUDA array. */
static bool has_other_use(const launch_plan *plan, const view_plan *array)
{
    bool used = false;
    for (uint32_t i = 0; i < plan->argument_count; i++)
        used = used || (plan->arguments[i].is_buffer && plan->arguments[i].buffer == array->buffer);
    for (uint32_t i = 0; i < plan->address_count; i++)
        used = used || plan->addresses[i].buffer == array->buffer;
    for (uint32_t i = 0; i < plan->constant_count; i++)
        used = used || plan->constants[i].buffer == array->buffer;
    for (uint32_t i = 0; i < plan->view_count; i++)
        used = used ||
               (plan->views[i].buffer == array->buffer && !view_same_array(&plan->views[i], array));
    return used;
}

uint32_t plan_conflicting_buffer(const launch_plan *plan)
{
    for (uint32_t i = 0; i < plan->view_count; i++)
        if (plan->views[i].in_array && has_other_use(plan, &plan->views[i]))
            return plan->views[i].buffer;
    return PLAN_MAX_BUFFERS;
}

const void *plan_argument_in(const argument_plan *argument, const unsigned char *structs)
{
    return plan_is_struct(argument) ? structs + argument->bits : (const void *)&argument->bits;
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

uint64_t plan_total_launches(const launch_plan *plan)
{
    uint64_t run = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        run += plan_rounds(plan, i);
    return run;
}

uint64_t plan_result_count(const problem_plan *problem, const launch_plan *launch, uint32_t i)
{
    for (uint32_t k = 0; k < launch->compared_count; k++)
        if (launch->compared[k].buffer == i)
            return launch->compared[k].count;
    return problem->buffers[i].count;
}

static void need_buffer(uint32_t buffer, uint32_t *needed)
{
    if (buffer >= *needed)
        *needed = buffer + 1;
}

at_status plan_check_buffers(const launch_plan *plan, uint32_t buffer_count, at_error *error)
{
    uint32_t needed = 0;
    if (plan_transfers(plan)) {
        need_buffer(plan->transfer.task.from, &needed);
        need_buffer(plan->transfer.task.to, &needed);
    }
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (plan->arguments[i].is_buffer)
            need_buffer(plan->arguments[i].buffer, &needed);
    for (uint32_t i = 0; i < plan->address_count; i++)
        need_buffer(plan->addresses[i].buffer, &needed);
    for (uint32_t i = 0; i < plan->view_count; i++)
        need_buffer(plan->views[i].buffer, &needed);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        need_buffer(plan->constants[i].buffer, &needed);
    for (uint32_t i = 0; i < plan->compared_count; i++)
        need_buffer(plan->compared[i].buffer, &needed);
    if (needed <= buffer_count)
        return AT_OK;
    return error_set(error, AT_FORMAT,
                     "the plan of %s names buffer %" PRIu32
                     ", but the number of buffers is %" PRIu32,
                     plan_entry(plan, 0), needed - 1, buffer_count);
}

const char *plan_entry(const launch_plan *plan, uint32_t launch)
{
    return plan->launch_count > 0 ? plan->entries + plan->launches[launch].entry : "";
}

/* Returns the number of used bytes of `entries`. An empty name follows the last name. */
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

bool transfer_from_host(const transfer_task *task)
{
    return task->direction == TRANSFER_TO_DEVICE || task->direction == TRANSFER_BOTH;
}

bool transfer_to_host(const transfer_task *task)
{
    return task->direction == TRANSFER_TO_HOST || task->direction == TRANSFER_BOTH;
}

const char *const *transfer_direction_names(size_t *count)
{
    static const char *const names[] = {"to_device", "to_host", "both"};
    *count = sizeof names / sizeof *names;
    return names;
}

const char *const *host_memory_names(size_t *count)
{
    static const char *const names[] = {"pageable", "pinned", "write_combined", "mapped"};
    *count = sizeof names / sizeof *names;
    return names;
}

const char *const *host_staging_names(size_t *count)
{
    static const char *const names[] = {"none", "pinned", "write_combined"};
    *count = sizeof names / sizeof *names;
    return names;
}
