#include "sim/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parse.h"
#include "sim/decode/decode.h"

/* Limit of the bytes of all variables of a module. */
static const uint64_t max_variable_bytes = 256u << 20;

void sim_kernel_deinit(sim_kernel *k)
{
    for (size_t i = 0; i < k->program_count; i++)
        sim_program_free(k->programs[i]);
    ptx_module_free(k->module);
    free(k->variables);
    free(k->initial);
    sim_heap_free(k->heap);
    *k = (sim_kernel){0};
}

static bool in_module_memory(const sim_kernel *k, const ptx_variable *v, size_t index)
{
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) &&
           k->programs[0]->addresses[index] >= SIM_MODULE_BASE;
}

/* Writes the addresses that initial values contain. */
static void relocate(const sim_kernel *k)
{
    for (size_t i = 0; i < k->module->relocation_count; i++) {
        const ptx_relocation *r = &k->module->relocations[i];
        const ptx_variable *v = &k->module->variables[r->variable];
        if (!in_module_memory(k, v, (size_t)r->variable))
            continue;
        const uint64_t address = (r->is_function ? sim_function_address(r->target)
                                                 : k->programs[0]->addresses[r->target]) +
                                 (uint64_t)r->addend;
        uint8_t *to =
            k->variables + (k->programs[0]->addresses[r->variable] - SIM_MODULE_BASE) + r->at;
        for (uint32_t n = 0; n < r->bytes; n++)
            to[n] = (uint8_t)(address >> r->shift >> (8 * n));
    }
}

at_status sim_kernel_init(sim_kernel *k, const char *ptx, size_t size, const char *name,
                          const char *const *entries, size_t entry_count, at_error *error)
{
    *k = (sim_kernel){0};
    at_status status = ptx_parse(ptx, size, name, &k->module, error);
    if (!status)
        ptx_read_notes(k->module, ptx, size);
    for (size_t i = 0; i < entry_count && !status; i++) {
        status = sim_decode(k->module, entries[i], &k->programs[i], error);
        k->program_count += !status;
    }
    if (status)
        goto cleanup;
    uint64_t global_bytes = k->programs[0]->global_bytes;
    if (global_bytes > max_variable_bytes) {
        status =
            error_set_at(error, AT_FORMAT, name, 0,
                         "the module's variables take %llu bytes, more than the simulator can hold",
                         (unsigned long long)global_bytes);
        goto cleanup;
    }
    k->variables = calloc(1, global_bytes + 1);
    k->initial = calloc(1, global_bytes + 1);
    if (!k->variables || !k->initial) {
        status = error_set(error, AT_NO_MEMORY, "no memory for a kernel's variables");
        goto cleanup;
    }
    for (size_t i = 0; i < k->module->variable_count; i++) {
        const ptx_variable *v = &k->module->variables[i];
        if (in_module_memory(k, v, i) && v->initial)
            memcpy(k->variables + (k->programs[0]->addresses[i] - SIM_MODULE_BASE), v->initial,
                   v->size_bytes);
    }
    relocate(k);
    memcpy(k->initial, k->variables, global_bytes);
    bool allocates = false;
    for (size_t i = 0; i < k->program_count; i++)
        allocates = allocates || k->programs[i]->allocates;
    k->heap = allocates ? sim_heap_new() : NULL;
    if (allocates && !k->heap)
        status = error_set(error, AT_NO_MEMORY, "no memory for a kernel's heap");
cleanup:
    if (status)
        sim_kernel_deinit(k);
    return status;
}

void sim_kernel_reset(const sim_kernel *k)
{
    memcpy(k->variables, k->initial, k->programs[0]->global_bytes);
}

const ptx_variable *sim_kernel_find_changed(const sim_kernel *k, const launch_plan *plan)
{
    for (size_t i = 0; i < k->module->variable_count; i++) {
        const ptx_variable *v = &k->module->variables[i];
        bool filled = !in_module_memory(k, v, i);
        for (uint32_t n = 0; n < plan->constant_count && !filled; n++)
            filled = ptx_text_is(v->name, plan->constants[n].name);
        if (filled)
            continue;
        const size_t at = (size_t)(k->programs[0]->addresses[i] - SIM_MODULE_BASE);
        if (memcmp(k->variables + at, k->initial + at, v->size_bytes) != 0)
            return v;
    }
    return NULL;
}

at_status sim_kernel_find_variable(const sim_kernel *k, const char *name, uint64_t size_bytes,
                                   uint64_t *address, at_error *error)
{
    for (size_t i = 0; i < k->module->variable_count; i++) {
        const ptx_variable *v = &k->module->variables[i];
        if (!in_module_memory(k, v, i) || !ptx_text_is(v->name, name))
            continue;
        if (v->size_bytes < size_bytes)
            return error_set(
                error, AT_COMPILE,
                "the variable %s has %llu bytes, but its buffer has %llu: make both equal", name,
                (unsigned long long)v->size_bytes, (unsigned long long)size_bytes);
        *address = k->programs[0]->addresses[i];
        return AT_OK;
    }
    return error_set(error, AT_COMPILE,
                     "the kernel's module has no variable %s: use it in the kernel, and declare it "
                     "outside of namespaces, or extern \"C\"",
                     name);
}

at_status sim_kernel_set_variable(const sim_kernel *k, const char *name, const uint8_t *bytes,
                                  uint64_t size_bytes, at_error *error)
{
    uint64_t address;
    at_status status = sim_kernel_find_variable(k, name, size_bytes, &address, error);
    if (!status)
        memcpy(k->variables + (address - SIM_MODULE_BASE), bytes, size_bytes);
    return status;
}

at_status sim_kernel_add_variables(const sim_kernel *k, sim_memory *memory, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; i < k->module->variable_count && !status; i++) {
        const ptx_variable *v = &k->module->variables[i];
        if (!in_module_memory(k, v, i) || v->size_bytes == 0)
            continue;
        const uint64_t base = k->programs[0]->addresses[i];
        const sim_region *before = sim_memory_find(memory, base);
        const uint64_t held_bytes = before ? before->size_bytes : 0;
        if (held_bytes >= v->size_bytes)
            continue;
        sim_region r = {.base = base + held_bytes,
                        .size_bytes = v->size_bytes - held_bytes,
                        .read_only = v->space == PTX_SPACE_CONST};
        r.bytes = k->variables + (r.base - SIM_MODULE_BASE);
        snprintf(r.name, sizeof r.name, "%.*s", (int)(v->name.length > 60 ? 60 : v->name.length),
                 v->name.at);
        status = sim_memory_add(memory, &r, error);
    }
    if (!status && k->heap) {
        const sim_region heap = sim_heap_region(k->heap);
        status = sim_memory_add(memory, &heap, error);
    }
    return status;
}
