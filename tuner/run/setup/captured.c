/* Converts a captured launch to a script's arguments, and compares it with the script's launch. */
#include "run/setup/captured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Returns an argument. The pointers of an argument are consecutive in the launch's list of
 * pointers. */
static script_captured_argument argument_of(const captured_script *s, const captured_argument *a)
{
    const captured_launch *c = &s->read;
    script_captured_argument out = {.bytes = c->parameters + a->offset,
                                    .size_bytes = a->size_bytes};
    for (size_t i = 0; i < c->pointer_count; i++) {
        if (c->pointers[i].offset < a->offset || c->pointers[i].offset >= a->offset + a->size_bytes)
            continue;
        if (out.pointer_count++ == 0)
            out.pointers = &s->pointers[i];
        s->pointers[i].at = c->pointers[i].offset - a->offset;
    }
    return out;
}

static script_captured_pointer pointer_of(const captured_launch *c, const captured_pointer *p)
{
    const captured_allocation *m = &c->allocations[p->allocation];
    return (script_captured_pointer){.address = m->address + p->allocation_offset,
                                     .before = m->before,
                                     .after = m->after,
                                     .offset = p->allocation_offset,
                                     .left_bytes = m->size_bytes - p->allocation_offset};
}

at_status captured_script_read(const char *name, captured_script *out, at_error *error)
{
    *out = (captured_script){0};
    at_status status = captured_read(name, &out->read, error);
    if (status)
        return status;
    const captured_launch *c = &out->read;
    out->arguments = memory_new(c->argument_count, sizeof *out->arguments);
    out->pointers = memory_new(c->pointer_count, sizeof *out->pointers);
    for (size_t i = 0; i < c->pointer_count; i++)
        out->pointers[i] = pointer_of(c, &c->pointers[i]);
    for (size_t i = 0; i < c->argument_count; i++)
        out->arguments[i] = argument_of(out, &c->arguments[i]);
    out->variables = memory_new(c->variable_count, sizeof *out->variables);
    for (size_t i = 0; i < c->variable_count; i++)
        out->variables[i] = (script_captured_variable){c->variables[i].name, c->variables[i].before,
                                                       c->variables[i].size_bytes};
    out->launch = (script_captured){.path = c->path,
                                    .kernel = c->kernel,
                                    .dynamic_shared_bytes = c->dynamic_shared_bytes,
                                    .argument_count = c->argument_count,
                                    .arguments = out->arguments,
                                    .variable_count = c->variable_count,
                                    .variables = out->variables};
    memcpy(out->launch.grid, c->grid, sizeof c->grid);
    memcpy(out->launch.block, c->block, sizeof c->block);
    return AT_OK;
}

void captured_script_deinit(captured_script *c)
{
    captured_deinit(&c->read);
    free(c->arguments);
    free(c->pointers);
    free(c->variables);
    *c = (captured_script){0};
}

at_status captured_script_compare(const captured_script *c, script *s, at_error *error)
{
    const pattern *p = script_pattern(s);
    const captured_launch *l = &c->read;
    launch_plan plan;
    at_status status = script_launch_plan(s, PROBLEM_TUNED, p->baseline, &plan, error);
    if (status)
        return status;
    if (plan.launch_count != 1)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "--captured needs a script with one launch, but this script has %u",
                            plan.launch_count);
    const kernel_launch *k = &plan.launches[0];
    if (memcmp(k->grid, l->grid, sizeof k->grid) != 0 ||
        memcmp(k->block, l->block, sizeof k->block) != 0 ||
        k->dynamic_shared_bytes != l->dynamic_shared_bytes)
        fprintf(stderr,
                "autotune: the program launched a grid of %u x %u x %u, blocks of %u x %u x %u and "
                "%u bytes of dynamic shared memory; the baseline has %u x %u x %u, %u x %u x %u "
                "and %u: does it have the program's values?\n",
                l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                l->dynamic_shared_bytes, k->grid[0], k->grid[1], k->grid[2], k->block[0],
                k->block[1], k->block[2], k->dynamic_shared_bytes);
    return AT_OK;
}
