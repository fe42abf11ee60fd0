#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/device.h"
#include "sim/machine/arguments.h"

enum { SAMPLE_BLOCKS = 16 };

/* Highest non-portable cluster size (CUDA C++ Programming Guide, "Thread Block Clusters"). */
enum { MOST_CLUSTER_BLOCKS = 16 };

void sim_kernel_unload(device *d, device_kernel *k)
{
    (void)d;
    if (!k)
        return;
    for (size_t i = 0; i < PLAN_MAX_LAUNCHES; i++)
        free(k->ran[i]);
    pack_deinit(&k->predicted);
    sim_kernel_deinit(&k->kernel);
    free(k);
}

static uint32_t static_shared_bytes(const device_kernel *k, uint32_t i)
{
    uint32_t own = k->kernel.programs[i]->static_shared_bytes;
    /* For an image of several kernels, the compiler reports only the largest size. */
    return k->kernel.program_count == 1 && k->image_shared_bytes > own ? k->image_shared_bytes
                                                                       : own;
}

at_status sim_kernel_load(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error)
{
    *out = NULL;
    char *entries[PLAN_MAX_LAUNCHES] = {NULL};
    device_kernel *k = memory_new(1, sizeof *k);
    at_status status = AT_OK;
    for (uint32_t i = 0; i < plan->launch_count && !status; i++) {
        entries[i] = plan_symbol(plan, i, image->symbols);
        status = entries[i] ? AT_OK : error_no_memory(error);
    }
    if (!status)
        status = sim_kernel_init(&k->kernel, image->bytes, image->size_bytes, "PTX",
                                 (const char *const *)entries, plan->launch_count, error);
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        if (!status)
            snprintf(k->kernel.programs[i]->entry, sizeof k->kernel.programs[i]->entry, "%s",
                     plan_entry(plan, i));
        free(entries[i]);
    }
    /* Unsupported PTX fails this variant, not the run. */
    status = status == AT_FORMAT ? AT_NO_DEVICE : status == AT_NOT_FOUND ? AT_COMPILE : status;
    for (uint32_t i = 0; !status && i < plan->launch_count; i++) {
        k->ran[i] = calloc(k->kernel.programs[i]->code_count + 1, sizeof *k->ran[i]);
        if (!k->ran[i])
            status = error_set(error, AT_NO_MEMORY, "no memory for kernel %s", plan_entry(plan, i));
    }
    d->work = 0;
    k->registers = image->registers;
    k->image_shared_bytes = image->static_shared_bytes;
    k->stack_bytes = image->stack_bytes;
    k->spill_bytes = image->spill_bytes;
    if (status) {
        if (error)
            error->status = status;
        sim_kernel_unload(d, k);
    } else {
        *out = k;
    }
    return status;
}

static const ptx_launch_limits *limits_of(const device_kernel *k, uint32_t i)
{
    return &k->kernel.module->functions[k->kernel.programs[i]->function].limits;
}

/* Returns the extents of a cluster in blocks: from the launch if its clusters have several blocks,
 * otherwise from the kernel's directives. The first extent is 0 without clusters. */
static const uint32_t *cluster_of(const kernel_launch *launch, const ptx_launch_limits *l)
{
    return plan_cluster_blocks(launch) > 1 ? launch->cluster : l->cluster;
}

const uint32_t *sim_device_cluster(const device_kernel *k, const launch_plan *plan, uint32_t i)
{
    static const uint32_t alone[3] = {1, 1, 1};
    const uint32_t *used = cluster_of(&plan->launches[i], limits_of(k, i));
    return used[0] > 0 ? used : alone;
}

static at_status check_cluster(const device *d, const char *entry, const kernel_launch *launch,
                               const ptx_launch_limits *l, at_error *error)
{
    enum { PORTABLE_BLOCKS = 8 };
    uint64_t asked = plan_cluster_blocks(launch);
    bool asks = asked > 1;
    const uint32_t *used = cluster_of(launch, l);
    if (asked > 0 && l->most_cluster_blocks > 0 && asked > l->most_cluster_blocks)
        return error_set(
            error, AT_USAGE,
            "%s is launched in clusters of %llu blocks; its launch bounds (.maxclusterrank) "
            "allow %u: raise the third argument of __launch_bounds__, or make the cluster smaller",
            entry, (unsigned long long)asked, l->most_cluster_blocks);
    if (asks && l->cluster[0] > 0 && memcmp(l->cluster, launch->cluster, sizeof l->cluster) != 0)
        return error_set(error, AT_USAGE,
                         "%s is launched in clusters of %u x %u x %u blocks; it requires "
                         "(.reqnctapercluster) %u x %u x %u: launch it with these, or change "
                         "__cluster_dims__",
                         entry, launch->cluster[0], launch->cluster[1], launch->cluster[2],
                         l->cluster[0], l->cluster[1], l->cluster[2]);
    if (l->explicit_cluster && used[0] == 0)
        return error_set(error, AT_USAGE,
                         "%s must be launched with clusters, and this launch has none: give it "
                         "cluster = { ... }",
                         entry);
    if (used[0] == 0)
        return AT_OK;
    if (d->properties.limits.major < 9)
        return error_set(error, AT_COMPILE,
                         "%s is launched in clusters, which the device %s does not support", entry,
                         d->properties.arch);
    const uint64_t most = asks ? MOST_CLUSTER_BLOCKS : PORTABLE_BLOCKS;
    if (used[0] > most || used[1] > most || used[2] > most ||
        (uint64_t)used[0] * used[1] * used[2] > most)
        return error_set(
            error, AT_COMPILE,
            "%s is launched in clusters of %u x %u x %u blocks; at most %llu blocks are possible",
            entry, used[0], used[1], used[2], (unsigned long long)most);
    for (int axis = 0; axis < 3; axis++)
        if (launch->grid[axis] % used[axis] != 0)
            return error_set(
                error, AT_USAGE,
                "%s is launched in clusters of %u x %u x %u blocks, which do not divide its "
                "grid of %u x %u x %u: round the grid up",
                entry, used[0], used[1], used[2], launch->grid[0], launch->grid[1],
                launch->grid[2]);
    return AT_OK;
}

/* Checks the limits that the kernel itself declares, as the driver does. */
static at_status check_limits(const device *d, const device_kernel *k, uint32_t i,
                              const kernel_launch *launch, at_error *error)
{
    const char *name = k->kernel.programs[i]->entry;
    const ptx_launch_limits *l = limits_of(k, i);
    uint64_t threads = plan_block_threads(launch);
    const uint32_t *block = l->required_block;
    if (l->max_threads > 0 && threads > l->max_threads)
        return error_set(error, AT_USAGE,
                         "%s is launched with blocks of %llu threads; its launch bounds (.maxntid) "
                         "allow %llu: raise __launch_bounds__, or make the block smaller",
                         name, (unsigned long long)threads, (unsigned long long)l->max_threads);
    if (block[0] > 0 && memcmp(block, launch->block, sizeof l->required_block) != 0)
        return error_set(
            error, AT_USAGE,
            "%s is launched with blocks of %u x %u x %u threads; it requires (.reqntid) "
            "%u x %u x %u: launch it with these, or change __block_size__",
            name, launch->block[0], launch->block[1], launch->block[2], block[0], block[1],
            block[2]);
    return check_cluster(d, name, launch, l, error);
}

/* Returns the number of blocks that the chip holds at a time, or 0 if a block does not fit. */
static uint64_t blocks_held(const device *d, const device_kernel *k, uint32_t i,
                            const kernel_launch *launch)
{
    occupancy fits =
        occupancy_compute(&d->properties.limits, (int)plan_block_threads(launch), (int)k->registers,
                          static_shared_bytes(k, i) + (size_t)launch->dynamic_shared_bytes);
    return (uint64_t)fits.blocks_per_sm * (uint64_t)d->properties.limits.sm_count;
}

static at_status check_resources(const device *d, const device_kernel *k, uint32_t i,
                                 const kernel_launch *launch, at_error *error)
{
    const arch_limits *limits = &d->properties.limits;
    const char *name = k->kernel.programs[i]->entry;
    uint64_t threads = plan_block_threads(launch);
    uint64_t shared = (uint64_t)static_shared_bytes(k, i) + launch->dynamic_shared_bytes;
    uint64_t held = blocks_held(d, k, i, launch), blocks = plan_grid_blocks(launch);
    if (threads < 1 || threads > (uint64_t)limits->max_threads_per_block)
        return error_set(error, AT_USAGE,
                         "%s asks for blocks of %llu threads; at most %d are possible", name,
                         (unsigned long long)threads, limits->max_threads_per_block);
    if (shared > limits->max_shared_per_block_bytes)
        return error_set(error, AT_USAGE,
                         "%s asks for %llu bytes of shared memory, more than the device gives a "
                         "block (%zu)",
                         name, (unsigned long long)shared, limits->max_shared_per_block_bytes);
    if (held == 0)
        return error_set(error, AT_USAGE,
                         "%s does not fit on an SM: %u registers a thread, %llu "
                         "threads, %llu bytes of shared memory",
                         name, k->registers, (unsigned long long)threads,
                         (unsigned long long)shared);
    if (launch->cooperative && blocks > held)
        return error_set(
            error, AT_USAGE,
            "the cooperative launch of %s has %llu blocks; the device holds %llu of them at a time",
            name, (unsigned long long)blocks, (unsigned long long)held);
    return check_limits(d, k, i, launch, error);
}

static uint64_t address_of(const void *buffers, uint32_t buffer)
{
    return ((device_buffer *const *)buffers)[buffer]->region.base;
}

/* Returns the texture or surface of a view. For a tensor map, returns a texture of rank 0. */
static sim_texture texture_of(const view_plan *v, device_buffer *const *buffers)
{
    static const sim_texture_mode modes[ADDRESS_COUNT] = {[ADDRESS_WRAP] = SIM_TEXTURE_WRAP,
                                                          [ADDRESS_CLAMP] = SIM_TEXTURE_CLAMP,
                                                          [ADDRESS_MIRROR] = SIM_TEXTURE_MIRROR,
                                                          [ADDRESS_BORDER] = SIM_TEXTURE_BORDER};
    if (v->kind == VIEW_TENSOR)
        return (sim_texture){0};
    const bool is_float = dtype_get(v->type)->is_float;
    const uint32_t rank = v->layered ? v->rank - 1 : v->rank;
    sim_texture t = {.base = buffers[v->buffer]->region.base,
                     .layers = v->layered ? (uint32_t)v->size[rank] : 0,
                     .layer_bytes = v->layered ? v->stride_bytes[rank - 1] : 0,
                     .rank = rank,
                     .in_array = v->in_array != 0,
                     .is_surface = v->kind == VIEW_SURFACE,
                     .channels = v->channels,
                     .bytes = (uint32_t)dtype_get(v->type)->size_bytes,
                     .is_float = is_float,
                     .is_signed =
                         v->type == DTYPE_INT8 || v->type == DTYPE_INT16 || v->type == DTYPE_INT32,
                     .as_float = v->as_float != 0,
                     .is_linear = v->filter == FILTER_LINEAR,
                     .is_normalised = v->normalised != 0,
                     .mode = modes[v->address]};
    for (uint32_t i = 0; i < 3; i++) {
        t.size[i] = i < rank ? (uint32_t)v->size[i] : 1;
        t.step_bytes[i] = i == 0 ? t.bytes * t.channels : i < rank ? v->stride_bytes[i - 1] : 0;
    }
    return t;
}

static ptx_type tensor_type(dtype type)
{
    static const ptx_type types[DTYPE_COUNT] = {
        [DTYPE_INT8] = PTX_B8,       [DTYPE_UINT8] = PTX_B8,   [DTYPE_INT16] = PTX_B8,
        [DTYPE_UINT16] = PTX_B8,     [DTYPE_INT32] = PTX_S32,  [DTYPE_UINT32] = PTX_U32,
        [DTYPE_INT64] = PTX_S64,     [DTYPE_UINT64] = PTX_U64, [DTYPE_HALF] = PTX_F16,
        [DTYPE_BFLOAT16] = PTX_BF16, [DTYPE_FLOAT] = PTX_F32,  [DTYPE_DOUBLE] = PTX_F64};
    return types[type];
}

static void make_view(const launch_plan *plan, uint64_t number, device_buffer *const *buffers,
                      uint8_t out[VIEW_TENSOR_BYTES])
{
    const view_plan *v = &plan->views[number];
    const uint64_t texture = SIM_TEXTURE_HANDLES + number;
    sim_tensor_map map = {.magic = SIM_TENSOR_MAGIC,
                          .base = buffers[v->buffer]->region.base,
                          .rank = (uint8_t)v->rank,
                          .element_bytes = (uint8_t)dtype_get(v->type)->size_bytes,
                          .swizzle = (uint8_t)v->swizzle,
                          .nan_outside = v->nan_outside != 0,
                          .type = (uint8_t)tensor_type(v->type)};
    _Static_assert((int)SIM_TENSOR_MAP_BYTES == (int)VIEW_TENSOR_BYTES,
                   "a tensor map is an argument");
    memset(out, 0, VIEW_TENSOR_BYTES);
    if (v->kind != VIEW_TENSOR) {
        memcpy(out, &texture, sizeof texture);
        return;
    }
    for (uint32_t i = 0; i < v->rank && i < SIM_TENSOR_RANK; i++) {
        map.size[i] = v->size[i];
        map.box[i] = (uint16_t)v->box[i];
        if (i + 1 < v->rank && i + 1 < SIM_TENSOR_RANK)
            map.stride_bytes[i] = v->stride_bytes[i];
    }
    memcpy(out, &map, sizeof map);
}

static at_status pack_arguments(const sim_program *p, const launch_plan *plan,
                                const kernel_launch *launch, device_buffer *const *buffers,
                                uint8_t *out, at_error *error)
{
    uint8_t view[VIEW_TENSOR_BYTES];
    unsigned char structs[PLAN_MAX_STRUCT_BYTES];
    plan_copy_structs(plan, address_of, buffers, structs);
    if (launch->argument_count != p->parameter_count)
        return error_set(error, AT_COMPILE, "%s takes %u arguments, but args in the script has %u",
                         p->entry, p->parameter_count, launch->argument_count);
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const argument_plan *a = &plan->arguments[launch->first_argument + i];
        if (a->is_view)
            make_view(plan, a->bits, buffers, view);
        const void *from = a->is_buffer ? (const void *)&buffers[a->buffer]->region.base
                           : a->is_view ? view
                                        : plan_argument_in(a, structs);
        if (a->size_bytes != p->parameter_sizes[i])
            return error_set(error, AT_COMPILE,
                             "argument %u of %s has %u bytes, but the kernel's parameter has %u",
                             i + 1, p->entry, a->size_bytes, p->parameter_sizes[i]);
        memcpy(out + p->parameter_offsets[i], from, a->size_bytes);
    }
    return AT_OK;
}

/* Adds all buffers of the problem and the kernel's variables to a memory. Buffers that are no
 * arguments are added because an earlier launch may have stored their addresses. */
static at_status gather_memory(const device_kernel *k, device_buffer *const *buffers,
                               sim_memory *out, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; i < PLAN_MAX_BUFFERS && buffers[i] && !status; i++)
        if (buffers[i]->region.size_bytes > 0 && !sim_memory_find(out, buffers[i]->region.base))
            status = sim_memory_add(out, &buffers[i]->region, error);
    return status ? status : sim_kernel_add_variables(&k->kernel, out, error);
}

/* Gives each buffer its address. A buffer that receives the contents of a variable gets the
 * variable's address. */
static at_status assign_addresses(const device_kernel *k, const launch_plan *plan,
                                  device_buffer *const *buffers, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; i < PLAN_MAX_BUFFERS && buffers[i]; i++)
        buffers[i]->region.base = buffers[i]->own_address;
    for (uint32_t i = 0; !status && i < plan->constant_count; i++) {
        const constant_plan *c = &plan->constants[i];
        device_buffer *b = buffers[c->buffer];
        if (c->is_result)
            status = sim_kernel_find_variable(&k->kernel, c->name, b->region.size_bytes,
                                              &b->region.base, error);
    }
    return status;
}

typedef struct prepared {
    sim_memory memory;
    uint8_t workspace[SIM_WORKSPACE_BYTES]; /* zeros at the start of a launch */
    uint8_t parameters[32768];
    sim_texture textures[PLAN_MAX_VIEWS];
    sim_launch launch;
} prepared;

static void prepared_free(prepared *p)
{
    if (p)
        sim_memory_deinit(&p->memory);
    free(p);
}

/* Prepares the launch at index `i` of the plan. Returns AT_USAGE if no GPU can make this launch. */
static at_status prepare(const device *d, const device_kernel *k, const launch_plan *plan,
                         uint32_t i, device_buffer *const *buffers, const sim_launch *how,
                         prepared **out, at_error *error)
{
    *out = NULL;
    const kernel_launch *launch = &plan->launches[i];
    const sim_program *program = k->kernel.programs[i];
    prepared *p = memory_new(1, sizeof *p);
    at_status status = check_resources(d, k, i, launch, error);
    if (!status)
        status = assign_addresses(k, plan, buffers, error);
    if (!status)
        status = pack_arguments(program, plan, launch, buffers, p->parameters, error);
    if (!status)
        status = gather_memory(k, buffers, &p->memory, error);
    if (!status && launch->cooperative)
        status = sim_memory_add(&p->memory,
                                &(sim_region){.name = "the grid's workspace",
                                              .base = SIM_WORKSPACE_BASE,
                                              .size_bytes = sizeof p->workspace,
                                              .bytes = p->workspace},
                                error);
    if (status) {
        prepared_free(p);
        return status;
    }
    /* Heap memory stays allocated for the later launches of the plan. */
    if (k->kernel.heap && i == 0)
        sim_heap_reset(k->kernel.heap);
    for (uint32_t n = 0; n < plan->view_count; n++)
        p->textures[n] = texture_of(&plan->views[n], buffers);
    p->launch = *how;
    p->launch.program = program;
    p->launch.workspace = launch->cooperative ? SIM_WORKSPACE_BASE : 0;
    p->launch.memory = &p->memory;
    p->launch.heap = k->kernel.heap;
    p->launch.parameters = p->parameters;
    p->launch.textures = p->textures;
    p->launch.texture_count = plan->view_count;
    p->launch.dynamic_shared_bytes = launch->dynamic_shared_bytes;
    memcpy(p->launch.grid, launch->grid, sizeof launch->grid);
    memcpy(p->launch.block, launch->block, sizeof launch->block);
    memcpy(p->launch.cluster, cluster_of(launch, limits_of(k, i)), sizeof launch->cluster);
    uint64_t held = blocks_held(d, k, i, launch) / sim_launch_cluster_blocks(&p->launch);
    p->launch.resident_clusters = held ? held : 1;
    *out = p;
    return AT_OK;
}

at_status sim_device_set_constants(const device_kernel *k, const launch_plan *plan,
                                   device_buffer *const *buffers, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; i < plan->constant_count && !status; i++) {
        const device_buffer *b = buffers[plan->constants[i].buffer];
        if (plan->constants[i].is_result)
            continue;
        sim_buffer_make_all(b);
        status = sim_kernel_set_variable(&k->kernel, plan->constants[i].name, b->region.bytes,
                                         b->region.size_bytes, error);
    }
    return status;
}

/* Appends the output of a launch to the output of earlier launches. After a fault, leaves out
 * the blocks after the faulty block. */
static void keep_printed(const sim_launch *launch, const sim_prints *prints, const sim_fault *fault,
                         char **printed)
{
    const bool faulted = fault->kind != SIM_FAULT_NONE;
    char *more =
        sim_prints_text(prints, faulted ? sim_print_order(launch, fault->at.block) : UINT64_MAX);
    const size_t had = *printed ? strlen(*printed) : 0;
    char *all =
        more && had > 0 && had < SIM_PRINT_BYTES ? realloc(*printed, had + strlen(more) + 1) : NULL;
    if (all) {
        strcpy(all + had, more);
        *printed = all;
    }
    if (had == 0)
        *printed = more;
    else
        free(more);
}

bool sim_device_refuses(const device *d, const device_kernel *k, const launch_plan *plan,
                        sim_fault *fault)
{
    at_error refused = {0};
    for (uint32_t i = 0; i < plan->launch_count; i++)
        if (check_resources(d, k, i, &plan->launches[i], &refused)) {
            *fault = (sim_fault){.kind = SIM_FAULT_LAUNCH};
            snprintf(fault->message, sizeof fault->message, "%s", refused.message);
            return true;
        }
    return false;
}

at_status sim_device_run(const device *d, const device_kernel *k, const launch_plan *plan,
                         uint32_t i, device_buffer *const *buffers, const sim_launch *how,
                         char **printed, sim_fault *fault, at_error *error)
{
    prepared *p;
    at_error refused = {0};
    at_status status = prepare(d, k, plan, i, buffers, how, &p, &refused);
    if (status == AT_USAGE) {
        *fault = (sim_fault){.kind = SIM_FAULT_LAUNCH};
        snprintf(fault->message, sizeof fault->message, "%s", refused.message);
        return AT_OK;
    }
    if (status)
        return error_set(error, status, "%s", refused.message);
    p->launch.ran = how->check ? k->ran[i] : NULL;
    p->launch.threads = d->alone ? 1 : how->threads;
    p->launch.schedule = how->excerpt ? how->schedule : d->schedule;
    sim_prints prints;
    sim_prints_init(&prints);
    p->launch.prints = printed ? &prints : NULL;
    status = sim_run(&p->launch, fault, error);
    if (printed)
        keep_printed(&p->launch, &prints, fault, printed);
    sim_prints_deinit(&prints);
    prepared_free(p);
    return status == AT_USAGE ? AT_COMPILE : status;
}

/* Turns AT_USAGE into AT_COMPILE, so that only this variant fails. */
static at_status as_compile_error(at_status status, at_error *error)
{
    if (status != AT_USAGE)
        return status;
    if (error)
        error->status = AT_COMPILE;
    return AT_COMPILE;
}

at_status sim_device_sweep(const device *d, const device_kernel *k, const launch_plan *plan,
                           uint32_t i, device_buffer *const *buffers, const problem_plan *problem,
                           const uint64_t *ends, uint64_t most, sweep_aim aim, sim_sweep *out,
                           at_error *error)
{
    prepared *p;
    sim_sweep_buffer all[PLAN_MAX_BUFFERS];
    at_status status = prepare(d, k, plan, i, buffers, &(sim_launch){0}, &p, error);
    if (status)
        return as_compile_error(status, error);
    for (uint32_t n = 0; n < problem->buffer_count; n++)
        all[n] = (sim_sweep_buffer){.base = buffers[n]->region.base,
                                    .size_bytes = buffers[n]->region.size_bytes,
                                    .end = ends[n],
                                    .element_bytes =
                                        (uint32_t)dtype_get(problem->buffers[n].type)->size_bytes};
    sim_sweep_run(&p->launch, all, problem->buffer_count, most, aim, problem->seed, out);
    prepared_free(p);
    return AT_OK;
}

at_status sim_device_launch(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error)
{
    char *printed = NULL;
    const uint64_t before = d->work;
    d->fault = (sim_fault){0};
    if (!d->carries_on)
        sim_kernel_reset(&k->kernel);
    at_status status = sim_device_set_constants(k, plan, buffers, error);
    launch_walk walk = {0};
    while (!status && d->fault.kind == SIM_FAULT_NONE && plan_walk(plan, &walk))
        status =
            sim_device_run(d, k, plan, walk.place, buffers,
                           &(sim_launch){.check = true,
                                         .work_limit = d->most_work ? before + d->most_work : 0,
                                         .work = &d->work},
                           &printed, &d->fault, error);
    d->last_work = d->work - before;
    if (!d->printed || d->fault.kind != SIM_FAULT_NONE) {
        free(d->printed);
        d->printed = printed;
    } else {
        free(printed);
    }
    return status;
}

outcome sim_fault_outcome(sim_fault_kind kind)
{
    static const outcome outcomes[] = {
        [SIM_FAULT_NONE] = OUTCOME_OK,
        [SIM_FAULT_LAUNCH] = OUTCOME_LAUNCH_ERROR,
        [SIM_FAULT_BOUNDS] = OUTCOME_CRASHED,
        [SIM_FAULT_MISALIGNED] = OUTCOME_CRASHED,
        [SIM_FAULT_UNINITIALISED] = OUTCOME_WRONG_RESULT,
        [SIM_FAULT_READ_ONLY] = OUTCOME_WRONG_RESULT,
        [SIM_FAULT_RACE] = OUTCOME_WRONG_RESULT,
        [SIM_FAULT_BARRIER] = OUTCOME_CRASHED,
        [SIM_FAULT_SHUFFLE] = OUTCOME_WRONG_RESULT,
        [SIM_FAULT_TRAP] = OUTCOME_CRASHED,
        [SIM_FAULT_ASSERTION] = OUTCOME_CRASHED,
        [SIM_FAULT_ENDLESS] = OUTCOME_CRASHED,
        [SIM_FAULT_BUDGET] = OUTCOME_TIMEOUT,
        [SIM_FAULT_LATE] = OUTCOME_TIMEOUT,
        [SIM_FAULT_UNKNOWN] = OUTCOME_NOT_SIMULATED,
        [SIM_FAULT_UNSEEN] = OUTCOME_OK,
        [SIM_FAULT_DEADLOCK] = OUTCOME_CRASHED,
        [SIM_FAULT_INTERNAL] = OUTCOME_CRASHED,
    };
    return outcomes[kind];
}

at_status sim_device_profile(device *d, const device_kernel *k, const launch_plan *plan, uint32_t i,
                             device_buffer *const *buffers, uint64_t sample, bool warm,
                             sim_counter *counters, sim_profile *profile,
                             sim_prediction *prediction, at_error *error)
{
    prepared *p;
    const kernel_launch *launch = &plan->launches[i];
    d->fault = (sim_fault){0};
    at_status status = sim_device_set_constants(k, plan, buffers, error);
    if (!status)
        status = prepare(d, k, plan, i, buffers, &(sim_launch){0}, &p, error);
    if (status)
        return as_compile_error(status, error);
    sim_needs needs = {
        .registers = k->registers,
        .shared_bytes = (uint64_t)static_shared_bytes(k, i) + launch->dynamic_shared_bytes,
        /* Without machine code, registers and stack_bytes are 0. */
        .local_bytes = k->registers > 0 ? k->stack_bytes : k->kernel.programs[i]->local_bytes,
        .spill_bytes = k->spill_bytes,
        .warm = warm};
    sim_sampling how;
    sim_model_sampling(&needs, plan_block_threads(launch), &d->chip, &how);
    how.all = sample > 0;
    how.blocks = sample ? sample : SAMPLE_BLOCKS;
    p->launch.progress = d->progress;
    p->launch.progress_context = d->progress_context;
    status = sim_profile_launch(&p->launch, &how, counters, profile, &d->fault, error);
    prepared_free(p);
    if (status || d->fault.kind != SIM_FAULT_NONE)
        return status == AT_USAGE ? AT_COMPILE : status;
    sim_model_predict(profile, &needs, &d->chip, prediction);
    return AT_OK;
}
