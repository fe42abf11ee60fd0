#include "run/setup/captured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The pointer that lies at `offset` of the parameters; NULL: there is none. */
static const captured_pointer *pointer_at(const captured_launch *c, uint32_t offset)
{
    for (size_t i = 0; i < c->pointer_count; i++)
        if (c->pointers[i].offset == offset)
            return &c->pointers[i];
    return NULL;
}

static script_captured_argument argument_of(const captured_launch *c, const captured_argument *a)
{
    script_captured_argument out = {.bytes = c->parameters + a->offset,
                                    .size_bytes = a->size_bytes};
    const captured_pointer *p = a->size_bytes == 8 ? pointer_at(c, a->offset) : NULL;
    for (size_t i = 0; i < c->pointer_count; i++)
        out.holds_pointers |=
            c->pointers[i].offset >= a->offset && c->pointers[i].offset < a->offset + a->size_bytes;
    if (!p)
        return out;
    const captured_allocation *m = &c->allocations[p->allocation];
    out.is_pointer = true;
    out.before = m->before;
    out.after = m->after;
    out.offset = p->allocation_offset;
    out.left_bytes = m->size_bytes - p->allocation_offset;
    return out;
}

at_status captured_script_read(const char *name, captured_script *out, at_error *error)
{
    *out = (captured_script){0};
    at_status status = captured_read(name, &out->read, error);
    if (status)
        return status;
    const captured_launch *c = &out->read;
    out->arguments = memory_new(c->argument_count, sizeof *out->arguments);
    for (size_t i = 0; i < c->argument_count; i++)
        out->arguments[i] = argument_of(c, &c->arguments[i]);
    out->launch = (script_captured){.path = c->path,
                                    .kernel = c->kernel,
                                    .dynamic_shared_bytes = c->dynamic_shared_bytes,
                                    .argument_count = c->argument_count,
                                    .arguments = out->arguments};
    memcpy(out->launch.grid, c->grid, sizeof c->grid);
    memcpy(out->launch.block, c->block, sizeof c->block);
    return AT_OK;
}

void captured_script_deinit(captured_script *c)
{
    captured_deinit(&c->read);
    free(c->arguments);
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
                            "--captured is for a script with one launch, and this has %u",
                            plan.launch_count);
    const kernel_launch *k = &plan.launches[0];
    if (memcmp(k->grid, l->grid, sizeof k->grid) != 0 ||
        memcmp(k->block, l->block, sizeof k->block) != 0 ||
        k->dynamic_shared_bytes != l->dynamic_shared_bytes)
        fprintf(stderr,
                "autotune: the program launched a grid of %u x %u x %u, blocks of %u x %u x %u and "
                "%u bytes of dynamic shared memory; the baseline has %u x %u x %u, %u x %u x %u "
                "and %u: were its values the program's?\n",
                l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                l->dynamic_shared_bytes, k->grid[0], k->grid[1], k->grid[2], k->block[0],
                k->block[1], k->block[2], k->dynamic_shared_bytes);
    return AT_OK;
}
