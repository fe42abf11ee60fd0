#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "capture/image.h"
#include "sim/kernel.h"
#include "sim/machine/run.h"

enum {
    WORKSPACE_BYTES = SIM_WORKSPACE_BYTES,
    FIRST_BLOCKS = 2,  /* blocks that run first, to learn the cost of a block */
    MOST_BLOCKS = 4096 /* most blocks of a grid that is too large to run whole */
};

static const size_t most_module_bytes = UINT64_C(1) << 32;

/* Buffers are further apart than a 32-bit index reaches, as in sim/buffer.c. */
static const uint64_t first_base = UINT64_C(0x010000000000), distance = UINT64_C(1) << 36;

typedef struct mapped_allocation {
    unsigned char *bytes;                /* contents in the simulated run */
    const unsigned char *before, *after; /* captured contents */
    uint64_t base;                       /* address in the simulated run */
} mapped_allocation;

typedef struct relaunch {
    const captured_launch *launch;
    relaunch_result *out;
    sim_kernel kernel;
    mapped_allocation *mapped; /* one for each allocation of the launch */
    unsigned char *parameters;
    uint8_t *variables; /* contents of the variables before the launch */
    uint8_t workspace[WORKSPACE_BYTES];
    sim_memory memory;
    at_error *error;
} relaunch;

static at_status map_file(const char *path, uint64_t size_bytes, bool writable, void **out,
                          at_error *error)
{
    int fd = descriptor_open(path, O_RDONLY | O_CLOEXEC, 0);
    *out = fd < 0 ? MAP_FAILED
                  : mmap(NULL, size_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                         MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    const int code = errno;
    if (fd >= 0)
        close(fd);
    if (*out != MAP_FAILED)
        return AT_OK;
    *out = NULL;
    return error_set_errno(error, code, "cannot read %s", path);
}

static at_status map_allocation(relaunch *r, size_t k)
{
    const captured_allocation *a = &r->launch->allocations[k];
    void *mapped;
    at_status status = map_file(a->before, a->size_bytes, false, &mapped, r->error);
    r->mapped[k].before = mapped;
    if (!status)
        status = map_file(a->after ? a->after : a->before, a->size_bytes, false, &mapped, r->error);
    if (!status)
        r->mapped[k].after = mapped;
    return status;
}

static void unmap(const unsigned char *bytes, uint64_t size_bytes)
{
    if (bytes)
        munmap((void *)(uintptr_t)bytes, size_bytes);
}

/* Resets allocations, workspace and variables to their contents before the launch. */
static at_status renew(relaunch *r)
{
    for (size_t k = 0; k < r->launch->allocation_count; k++) {
        const captured_allocation *a = &r->launch->allocations[k];
        void *mapped;
        unmap(r->mapped[k].bytes, a->size_bytes);
        at_status status = map_file(a->before, a->size_bytes, true, &mapped, r->error);
        r->mapped[k].bytes = mapped;
        if (status)
            return status;
    }
    memset(r->workspace, 0, sizeof r->workspace);
    memcpy(r->kernel.variables, r->variables, r->kernel.programs[0]->global_bytes);
    return AT_OK;
}

static bool find_addresses(const relaunch *r)
{
    const captured_launch *c = r->launch;
    for (size_t k = 0; k < c->allocation_count; k++)
        for (uint64_t at = 0; at + 8 <= c->allocations[k].size_bytes; at += 8) {
            uint64_t word;
            memcpy(&word, r->mapped[k].before + at, sizeof word);
            for (size_t i = 0; word != 0 && i < c->allocation_count; i++)
                if (word >= c->allocations[i].address &&
                    word - c->allocations[i].address < c->allocations[i].size_bytes)
                    return true;
        }
    return false;
}

static void place(relaunch *r)
{
    const captured_launch *c = r->launch;
    uint64_t next = first_base;
    r->out->holds_addresses = find_addresses(r);
    for (size_t k = 0; k < c->allocation_count; k++) {
        r->mapped[k].base = r->out->holds_addresses ? c->allocations[k].address : next;
        next += (c->allocations[k].size_bytes + 4095) / 4096 * 4096 + distance;
    }
    memcpy(r->parameters, c->parameters, c->parameter_bytes);
    for (size_t i = 0; i < c->pointer_count; i++) {
        const captured_pointer *p = &c->pointers[i];
        const uint64_t address = r->mapped[p->allocation].base + p->allocation_offset;
        memcpy(r->parameters + p->offset, &address, sizeof address);
    }
}

static at_status gather(relaunch *r)
{
    const captured_launch *c = r->launch;
    at_status status = AT_OK;
    sim_memory_deinit(&r->memory);
    r->memory = (sim_memory){0};
    for (size_t k = 0; !status && k < c->allocation_count; k++) {
        sim_region region = {.base = r->mapped[k].base,
                             .size_bytes = c->allocations[k].size_bytes,
                             .bytes = r->mapped[k].bytes};
        snprintf(region.name, sizeof region.name, "allocation %zu", k + 1);
        status = sim_memory_add(&r->memory, &region, r->error);
    }
    if (!status && c->cooperative)
        status = sim_memory_add(&r->memory,
                                &(sim_region){.name = "the grid's workspace",
                                              .base = SIM_WORKSPACE_BASE,
                                              .size_bytes = sizeof r->workspace,
                                              .bytes = r->workspace},
                                r->error);
    return status ? status : sim_kernel_add_variables(&r->kernel, &r->memory, r->error);
}

static bool has_atomics(const sim_program *p)
{
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].kind == SIM_ATOMIC && p->code[i].space != PTX_SPACE_SHARED)
            return true;
    return false;
}

/* Sets the module's variables to their captured contents. Skips variables that the kernel lacks. */
static at_status set_variables(relaunch *r)
{
    const captured_launch *c = r->launch;
    const size_t global_bytes = r->kernel.programs[0]->global_bytes;
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < c->variable_count; i++) {
        char *bytes = NULL;
        size_t size_bytes;
        at_error unused = {0};
        status =
            file_read(c->variables[i].before, most_module_bytes, &bytes, &size_bytes, r->error);
        if (!status)
            sim_kernel_set_variable(&r->kernel, c->variables[i].name, (const uint8_t *)bytes,
                                    size_bytes, &unused);
        free(bytes);
    }
    r->variables = memory_copy(r->kernel.variables, global_bytes, 1);
    r->out->variables_unread = c->variables_unread && global_bytes > 0;
    return status;
}

static at_status load(relaunch *r)
{
    const captured_launch *c = r->launch;
    char *image = NULL, *ptx = NULL;
    const char *entries[] = {c->mangled};
    size_t size_bytes;
    if (!c->module)
        return error_set_at(r->error, AT_NO_DEVICE, c->path, 0,
                            "the capture does not have the module of %s, so the launch cannot be "
                            "run again: capture the program again",
                            c->kernel);
    at_status status = file_read(c->module, most_module_bytes, &image, &size_bytes, r->error);
    if (!status)
        status = image_ptx(image, size_bytes, c->mangled, c->arch, c->module, &ptx, r->error);
    if (!status)
        status = sim_kernel_init(&r->kernel, ptx, strlen(ptx), "PTX", entries, 1, r->error);
    if (status == AT_FORMAT && ptx)
        status = r->error->status = AT_NO_DEVICE; /* The PTX cannot be simulated. */
    free(image);
    free(ptx);
    if (status)
        return status;
    const sim_program *p = r->kernel.programs[0];
    r->out->has_atomics = has_atomics(p);
    if (p->parameter_count != c->argument_count || p->parameter_bytes < c->parameter_bytes)
        return error_set_at(
            r->error, AT_FORMAT, c->path, 0,
            "the launch has %zu arguments, but the kernel in the module's PTX, %s, takes %u",
            c->argument_count, c->kernel, p->parameter_count);
    r->parameters = memory_new(p->parameter_bytes + 1, 1);
    return set_variables(r);
}

/* Notes a fault. Some kinds of fault do not show that the kernel is wrong. */
static void keep_fault(relaunch *r, const sim_fault *fault)
{
    static const sim_fault_kind open[] = {SIM_FAULT_UNKNOWN, SIM_FAULT_BUDGET, SIM_FAULT_LATE,
                                          SIM_FAULT_UNSEEN, SIM_FAULT_INTERNAL};
    if (fault->kind == SIM_FAULT_NONE)
        return;
    snprintf(r->out->fault, sizeof r->out->fault, "%s", fault->message);
    r->out->at = fault->at;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        r->out->undecided |= fault->kind == open[i];
}

/* Runs the chosen clusters (blocks without clusters), or all if `chosen` is NULL. */
static at_status run(relaunch *r, uint32_t schedule, const uint64_t *chosen, uint64_t count,
                     uint64_t *work)
{
    const captured_launch *c = r->launch;
    sim_excerpt excerpt = {.mark = SIM_BYTE_LAST, .enough = UINT64_MAX};
    sim_fault fault = {0};
    at_status status = renew(r);
    if (!status)
        status = gather(r);
    sim_launch launch = {.program = r->kernel.programs[0],
                         .memory = &r->memory,
                         .parameters = r->parameters,
                         .dynamic_shared_bytes = c->dynamic_shared_bytes,
                         .check = true,
                         .schedule = schedule,
                         .clusters = chosen,
                         .cluster_count = count,
                         .excerpt = chosen ? &excerpt : NULL,
                         .workspace = c->cooperative ? SIM_WORKSPACE_BASE : 0,
                         .work = work};
    memcpy(launch.grid, c->grid, sizeof launch.grid);
    memcpy(launch.block, c->block, sizeof launch.block);
    if (c->cluster[0] * c->cluster[1] * c->cluster[2] > 1)
        memcpy(launch.cluster, c->cluster, sizeof launch.cluster);
    if (!status)
        status = sim_run(&launch, &fault, r->error);
    keep_fault(r, &fault);
    r->out->compared = !chosen || (!r->out->has_atomics && excerpt.waiting + excerpt.blind == 0);
    return status == AT_USAGE ? AT_NO_DEVICE : status;
}

/* Returns the distance of two floats in ULPs; UINT32_MAX if one is not a number. */
static uint32_t ulps(uint32_t a, uint32_t b)
{
    const uint32_t infinity = 0x7f800000;
    if ((a & 0x7fffffff) > infinity || (b & 0x7fffffff) > infinity)
        return UINT32_MAX;
    const int64_t x = a >> 31 ? -(int64_t)(a & 0x7fffffff) : (int64_t)a;
    const int64_t y = b >> 31 ? -(int64_t)(b & 0x7fffffff) : (int64_t)b;
    const int64_t apart = x > y ? x - y : y - x;
    return apart > INT32_MAX ? UINT32_MAX : (uint32_t)apart;
}

/* Compares an allocation with the captured contents. Unless `all` blocks ran, compares only the
 * words that the run changed. */
static void compare_allocation(relaunch *r, uint32_t k, bool all)
{
    const uint64_t size = r->launch->allocations[k].size_bytes;
    const unsigned char *found = r->mapped[k].bytes, *before = r->mapped[k].before,
                        *after = r->mapped[k].after;
    relaunch_difference *d = &r->out->difference;
    for (uint64_t at = 0; at < size; at += 4) {
        const size_t n = size - at < 4 ? (size_t)(size - at) : 4;
        const bool is_written = memcmp(found + at, before + at, n) != 0;
        r->out->bytes_written += is_written ? n : 0;
        if ((!all && !is_written) || memcmp(found + at, after + at, n) == 0)
            continue;
        uint32_t a = 0, b = 0;
        memcpy(&a, after + at, n);
        memcpy(&b, found + at, n);
        const bool is_beyond = ulps(a, b) > RELAUNCH_ULPS;
        if (d->words == 0 || (is_beyond && d->beyond == 0)) {
            d->allocation = k;
            d->offset = at;
            d->expected = a;
            d->found = b;
        }
        d->words++;
        d->beyond += is_beyond;
    }
}

static void compare(relaunch *r, bool all)
{
    r->out->difference = (relaunch_difference){0};
    r->out->bytes_written = 0;
    for (uint32_t k = 0; k < r->launch->allocation_count; k++)
        compare_allocation(r, k, all);
}

/* Chooses the first, the last and random blocks, ascending. Returns their number, <= `wanted`. */
static uint64_t choose(uint64_t *chosen, uint64_t wanted, uint64_t count)
{
    rng random = rng_seeded(1);
    uint64_t n = 0;
    if (wanted > MOST_BLOCKS)
        wanted = MOST_BLOCKS;
    for (uint64_t i = 0; i < wanted; i++) {
        const uint64_t from = count / wanted * i, width = count / wanted;
        chosen[n++] = i == 0 ? 0 : i + 1 == wanted ? count - 1 : from + rng_below(&random, width);
    }
    qsort(chosen, n, sizeof *chosen, ascending_u64);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || chosen[kept - 1] != chosen[i])
            chosen[kept++] = chosen[i];
    return kept;
}

/* Measures the work of a block, and runs as many blocks as `most_work` allows. */
static at_status run_all(relaunch *r, uint64_t most_work)
{
    const captured_launch *c = r->launch;
    uint64_t chosen[MOST_BLOCKS], work = 0;
    const uint64_t in_cluster = (uint64_t)c->cluster[0] * c->cluster[1] * c->cluster[2];
    const uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    const uint64_t count = in_cluster > 0 ? blocks / in_cluster : blocks;
    uint64_t tried = choose(chosen, FIRST_BLOCKS, count);
    r->out->blocks = blocks;
    at_status status = run(r, 0, chosen, tried, &work);
    if (status || r->out->fault[0])
        return status;
    const uint64_t each = work / tried + 1;
    const bool all = each * count / 2 <= most_work || c->cooperative;
    tried = all ? count : choose(chosen, most_work / each + FIRST_BLOCKS, count);
    r->out->blocks_run = tried * (in_cluster > 0 ? in_cluster : 1);
    for (uint32_t schedule = 0; !status && schedule < 2; schedule++) {
        status = run(r, schedule, all ? NULL : chosen, all ? 0 : tried, &work);
        if (status || r->out->fault[0])
            return status;
        if (r->out->compared && (schedule == 0 || r->out->difference.beyond == 0))
            compare(r, all);
    }
    return status;
}

at_status relaunch_run(const captured_launch *c, uint64_t most_work, relaunch_result *out,
                       at_error *error)
{
    relaunch *r = memory_new(1, sizeof *r);
    const size_t n = c->allocation_count;
    *out = (relaunch_result){0};
    *r = (relaunch){.launch = c, .out = out, .error = error};
    r->mapped = memory_new(n, sizeof *r->mapped);
    at_status status = load(r);
    for (size_t k = 0; !status && k < n; k++)
        status = map_allocation(r, k);
    if (!status) {
        place(r);
        status = run_all(r, most_work);
    }
    for (size_t k = 0; k < n; k++) {
        unmap(r->mapped[k].bytes, c->allocations[k].size_bytes);
        unmap(r->mapped[k].before, c->allocations[k].size_bytes);
        unmap(r->mapped[k].after, c->allocations[k].size_bytes);
    }
    sim_memory_deinit(&r->memory);
    sim_kernel_deinit(&r->kernel);
    free(r->mapped);
    free(r->parameters);
    free(r->variables);
    free(r);
    return status;
}
