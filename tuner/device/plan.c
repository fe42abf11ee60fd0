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

static bool has_limit(buffer_fill fill)
{
    return fill == FILL_MODULO || fill == FILL_SORTED || fill == FILL_LOCAL ||
           fill == FILL_SKEWED || fill == FILL_OFFSETS;
}

/* What only some fills have comes last: journals have keys of plans that knew no others. */
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
    if (b->fill == FILL_LOCAL)
        pack_put_u64(m, b->fill_block);
    if (b->fill == FILL_VALUES) {
        pack_put_u32(m, b->value_count);
        for (uint32_t i = 0; i < b->value_count; i++)
            pack_put_f64(m, b->values[i]);
    }
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
    if (b->fill == FILL_LOCAL)
        b->fill_block = pack_get_u64(m);
    if (b->fill == FILL_LOCAL && b->fill_block == 0)
        return false;
    if (b->fill != FILL_VALUES)
        return true;
    if (!get_below(m, PLAN_MAX_VALUES + 1, &b->value_count) || b->value_count == 0)
        return false;
    for (uint32_t i = 0; i < b->value_count; i++)
        b->values[i] = pack_get_f64(m);
    return true;
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
    return b->count > 0 && b->count <= PLAN_MAX_ELEMENTS && get_fill(m, b);
}

/* The first buffer whose contents are compared; NULL: none is. */
static const buffer_plan *first_compared(const problem_plan *plan)
{
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]))
            return &plan->buffers[i];
    return NULL;
}

/* What one number says of all that is compared; `several` where that takes more. */
static const double several = -1;

static double common_tolerance(const problem_plan *plan)
{
    const buffer_plan *first = first_compared(plan);
    if (!first)
        return 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan_is_compared(&plan->buffers[i]) &&
            !tolerance_equal(plan->buffers[i].tolerance, first->tolerance))
            return several;
    bool plain = first->tolerance.kind <= TOLERANCE_SCALED && first->tolerance.mismatches == 0;
    return plain ? first->tolerance.limit : several;
}

/* Beside a tolerance's kind. */
enum { HAS_MISMATCHES = 256 };

/* One number for all where that will do, as journals' keys have it. */
static void put_tolerances(pack *m, const problem_plan *plan)
{
    double common = common_tolerance(plan);
    pack_put_f64(m, common);
    for (uint32_t i = 0; common == several && i < plan->buffer_count; i++) {
        const tolerance *t = &plan->buffers[i].tolerance;
        pack_put_u32(m, t->kind | (t->mismatches > 0 ? HAS_MISMATCHES : 0));
        pack_put_f64(m, t->limit);
        if (t->mismatches > 0)
            pack_put_f64(m, t->mismatches);
    }
}

static bool get_tolerances(pack *m, problem_plan *out)
{
    double common = pack_get_f64(m);
    bool valid = isfinite(common) && (common >= 0 || common == several);
    for (uint32_t i = 0; valid && i < out->buffer_count; i++) {
        buffer_plan *b = &out->buffers[i];
        if (common != several) {
            b->tolerance = plan_is_compared(b) ? tolerance_of(common) : tolerance_of(0);
            continue;
        }
        uint32_t kind;
        kind = pack_get_u32(m);
        b->tolerance = (tolerance){.kind = (tolerance_kind)(kind & ~(uint32_t)HAS_MISMATCHES),
                                   .limit = pack_get_f64(m)};
        if (kind & HAS_MISMATCHES)
            b->tolerance.mismatches = pack_get_f64(m);
        valid = !m->failed && tolerance_is_valid(b->tolerance) &&
                (b->tolerance.mismatches > 0) == ((kind & HAS_MISMATCHES) != 0);
    }
    return valid;
}

bool plan_transfers(const launch_plan *plan)
{
    return plan->transfer.task.direction != TRANSFER_NONE;
}

/* What is said of a problem beyond its traffic is bits above the first and what follows: journals
 * have keys of plans that knew no more. */
enum { FACT_DETERMINISTIC = 1, FACT_WORK = 2, CEILING_SHIFT = 2, DIRECTION_SHIFT = 8 };

void plan_put_problem(pack *m, const problem_plan *plan)
{
    pack_put_u32(m, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        put_buffer(m, &plan->buffers[i]);
    put_tolerances(m, plan);
    bool has_work = plan->flops > 0 || plan->items > 0;
    pack_put_u32(m, (plan->deterministic ? FACT_DETERMINISTIC : 0) | (has_work ? FACT_WORK : 0) |
                        (uint32_t)plan->ceiling << CEILING_SHIFT |
                        (uint32_t)plan->transfer.direction << DIRECTION_SHIFT);
    pack_put_u64(m, plan->traffic_bytes);
    pack_put_u64(m, plan->seed);
    if (has_work) {
        pack_put_u64(m, plan->flops);
        pack_put_u64(m, plan->items);
    }
    if (plan->transfer.direction)
        transfer_put_task(m, &plan->transfer);
}

static bool get_problem(pack *m, problem_plan *out)
{
    uint32_t facts;
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->buffer_count))
        return false;
    for (uint32_t i = 0; i < out->buffer_count; i++)
        if (!get_buffer(m, &out->buffers[i]))
            return false;
    bool is_tolerance = get_tolerances(m, out);
    bool known = get_below(m, TRANSFER_DIRECTIONS << DIRECTION_SHIFT, &facts),
         has_work = facts & FACT_WORK;
    uint32_t direction = facts >> DIRECTION_SHIFT,
             ceiling = facts % (1u << DIRECTION_SHIFT) >> CEILING_SHIFT;
    known = known && ceiling < CEILING_KINDS;
    out->deterministic = facts & FACT_DETERMINISTIC;
    out->ceiling = known ? (ceiling_kind)ceiling : CEILING_DEFAULT;
    out->traffic_bytes = pack_get_u64(m);
    out->seed = pack_get_u64(m);
    if (has_work) {
        out->flops = pack_get_u64(m);
        out->items = pack_get_u64(m);
    }
    if (known && direction)
        known =
            transfer_get_task(m, (transfer_direction)direction, out->buffer_count, &out->transfer);
    return known && is_tolerance && (!has_work || out->flops > 0 || out->items > 0);
}

bool plan_get_problem(pack *m, problem_plan *out)
{
    memset(out, 0, sizeof *out);
    m->failed = !get_problem(m, out) || m->failed;
    return !m->failed;
}

static bool is_struct(const argument_plan *a)
{
    return !a->is_buffer && !a->is_view && a->size_bytes > 8;
}

const void *plan_argument_value(const launch_plan *plan, const argument_plan *argument)
{
    return is_struct(argument) ? plan->structs + argument->bits : (const void *)&argument->bits;
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
            return error_set(
                error, AT_FORMAT, "argument %" PRIu32 " of %s names buffer %u, there are %" PRIu32,
                i + 1, plan->launches[0].entry, plan->arguments[i].buffer, buffer_count);
    for (uint32_t i = 0; i < plan->view_count; i++)
        if (plan->views[i].buffer >= buffer_count)
            return error_set(error, AT_FORMAT,
                             "view %" PRIu32 " of %s is of buffer %" PRIu32 ", there are %" PRIu32,
                             i + 1, plan->launches[0].entry, plan->views[i].buffer, buffer_count);
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

void plan_entries(const launch_plan *plan, char text[PLAN_ENTRIES_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < plan->launch_count; i++)
        used += (size_t)snprintf(text + used, PLAN_ENTRIES_BYTES - used, "%s%s", i ? " " : "",
                                 plan->launches[i].entry);
}

/* What an argument is, as it is packed. */
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
    pack_put_string(m, launch->entry);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, launch->grid[i]);
    for (int i = 0; i < 3; i++)
        pack_put_u32(m, launch->block[i]);
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

static bool get_launch(pack *m, launch_plan *plan, kernel_launch *launch)
{
    if (!get_name(m, launch->entry) || !get_shape(m, launch->grid) || !get_shape(m, launch->block))
        return false;
    launch->dynamic_shared_bytes = pack_get_u32(m);
    launch->first_argument = plan->argument_count;
    if (!get_below(m, PLAN_MAX_ARGUMENTS + 1 - plan->argument_count, &launch->argument_count))
        return false;
    for (uint32_t i = 0; i < launch->argument_count; i++)
        if (!get_argument(m, plan, &plan->arguments[plan->argument_count++]))
            return false;
    for (int i = 0; i < 3; i++)
        launch->cluster[i] = 1;
    return !m->failed;
}

/* One kernel, as the first version had it: keys of its journals hold. */
static bool is_plain(const launch_plan *plan)
{
    return plan->launch_count == 1 && !plan_transfers(plan) && plan->struct_bytes == 0 &&
           plan->constant_count == 0 && plan->view_count == 0 && plan->compared_count == 0 &&
           plan->launches[0].group == 0 && !plan->launches[0].cooperative &&
           plan_cluster_blocks(&plan->launches[0]) <= 1;
}

/* Beside the number of launches. */
enum { HAS_TRANSFER = 256, HAS_VIEWS = 512, HAS_COMPARED = 1024 };

/* Of a launch: a number from 0 to 7. */
enum { IS_COOPERATIVE = 1, IS_BALANCED = 2, IN_GROUP = 4, LAUNCH_FLAGS = 8 };

static void put_attributes(pack *m, const kernel_launch *launch)
{
    pack_put_u32(m, (launch->cooperative ? IS_COOPERATIVE : 0) |
                        (launch->balanced ? IS_BALANCED : 0) | (launch->group ? IN_GROUP : 0));
    for (int k = 0; k < 3; k++)
        pack_put_u32(m, launch->cluster[k]);
    if (launch->group) {
        pack_put_u32(m, launch->group);
        pack_put_u32(m, launch->rounds);
    }
}

/* Is launch `i`, whose group was read, one of the group before it or the first of its own? */
static bool is_in_group(const launch_plan *plan, uint32_t i)
{
    const kernel_launch *launch = &plan->launches[i];
    if (launch->rounds < 2 || launch->rounds > PLAN_MAX_ROUNDS)
        return false;
    if (launch->group == i + 1)
        return true;
    return i > 0 && launch->group == launch[-1].group && launch->rounds == launch[-1].rounds;
}

static bool get_attributes(pack *m, launch_plan *plan, uint32_t i)
{
    kernel_launch *launch = &plan->launches[i];
    uint32_t flags;
    if (!get_below(m, LAUNCH_FLAGS, &flags) || !get_shape(m, launch->cluster))
        return false;
    launch->cooperative = flags & IS_COOPERATIVE;
    launch->balanced = flags & IS_BALANCED;
    for (int k = 0; k < 3; k++)
        if (launch->cluster[k] > PLAN_MAX_CLUSTER)
            return false;
    if (launch->balanced && plan_cluster_blocks(launch) == 1)
        return false;
    if (flags & IN_GROUP) {
        launch->group = pack_get_u32(m);
        launch->rounds = pack_get_u32(m);
    }
    return !m->failed && (!(flags & IN_GROUP) || is_in_group(plan, i));
}

static void put_compared(pack *m, const launch_plan *plan)
{
    pack_put_u32(m, plan->compared_count);
    for (uint32_t i = 0; i < plan->compared_count; i++) {
        pack_put_u32(m, plan->compared[i].buffer);
        pack_put_u64(m, plan->compared[i].count);
    }
}

static bool get_compared(pack *m, launch_plan *out)
{
    if (!get_below(m, PLAN_MAX_BUFFERS + 1, &out->compared_count) || out->compared_count == 0)
        return false;
    for (uint32_t i = 0; i < out->compared_count; i++) {
        compared_plan *c = &out->compared[i];
        if (!get_below(m, PLAN_MAX_BUFFERS, &c->buffer))
            return false;
        c->count = pack_get_u64(m);
        if (c->count == 0 || c->count > PLAN_MAX_ELEMENTS)
            return false;
    }
    return true;
}

/* Where a plain plan has the name of its entry another has "", which is no name. */
void plan_put_launch(pack *m, const launch_plan *plan)
{
    if (is_plain(plan)) {
        put_launch(m, plan, &plan->launches[0]);
        return;
    }
    pack_put_string(m, "");
    pack_put_bytes(m, plan->structs, plan->struct_bytes);
    pack_put_u32(m, plan->constant_count);
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        pack_put_string(m, plan->constants[i].name);
        pack_put_u32(m, plan->constants[i].buffer);
    }
    pack_put_u32(m, plan->launch_count | (plan_transfers(plan) ? HAS_TRANSFER : 0) |
                        (plan->view_count > 0 ? HAS_VIEWS : 0) |
                        (plan->compared_count > 0 ? HAS_COMPARED : 0));
    if (plan->compared_count > 0)
        put_compared(m, plan);
    if (plan->view_count > 0)
        pack_put_u32(m, plan->view_count);
    for (uint32_t i = 0; i < plan->view_count; i++)
        view_put(m, &plan->views[i]);
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        put_launch(m, plan, &plan->launches[i]);
        put_attributes(m, &plan->launches[i]);
    }
    if (plan_transfers(plan))
        transfer_put_plan(m, &plan->transfer);
}

static bool get_many(pack *m, launch_plan *out)
{
    size_t struct_bytes;
    const void *structs = pack_get_bytes(m, &struct_bytes);
    if (struct_bytes > PLAN_MAX_STRUCT_BYTES ||
        !get_below(m, PLAN_MAX_CONSTANTS + 1, &out->constant_count))
        return false;
    if (struct_bytes)
        memcpy(out->structs, structs, struct_bytes);
    out->struct_bytes = (uint32_t)struct_bytes;
    for (uint32_t i = 0; i < out->constant_count; i++)
        if (!get_name(m, out->constants[i].name) ||
            !get_below(m, PLAN_MAX_BUFFERS, &out->constants[i].buffer))
            return false;
    uint32_t count = pack_get_u32(m);
    bool transfers = count & HAS_TRANSFER, views = count & HAS_VIEWS;
    out->launch_count = count & ~(uint32_t)(HAS_TRANSFER | HAS_VIEWS | HAS_COMPARED);
    if ((count & HAS_COMPARED) && !get_compared(m, out))
        return false;
    if (views && (!get_below(m, PLAN_MAX_VIEWS + 1, &out->view_count) || out->view_count == 0))
        return false;
    for (uint32_t i = 0; i < out->view_count; i++)
        if (!view_get(m, PLAN_MAX_BUFFERS, &out->views[i]))
            return false;
    if (m->failed || out->launch_count > PLAN_MAX_LAUNCHES ||
        (out->launch_count == 0 && !transfers))
        return false;
    for (uint32_t i = 0; i < out->launch_count; i++)
        if (!get_launch(m, out, &out->launches[i]) || !get_attributes(m, out, i))
            return false;
    if (transfers && !transfer_get_plan(m, PLAN_MAX_BUFFERS, &out->transfer))
        return false;
    return !is_plain(out);
}

bool plan_get_launch(pack *m, launch_plan *out)
{
    memset(out, 0, sizeof *out);
    size_t start = m->position;
    bool plain = pack_get_string(m)[0] != '\0', sound;
    if (plain) {
        m->position = start;
        out->launch_count = 1;
        sound = get_launch(m, out, &out->launches[0]);
    } else {
        sound = get_many(m, out);
    }
    m->failed = !sound || m->failed;
    return !m->failed;
}
