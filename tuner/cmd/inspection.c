#include "cmd/inspection.h"

#include <stdlib.h>

#include "script/emit.h"
#include "run/setup.h"

uint32_t inspect_spill_bytes(const kernel_resources *r)
{
    return r->spill_store_bytes + r->spill_load_bytes;
}

void inspect_row_deinit(inspect_row *row)
{
    free(row->log);
    row->log = NULL;
}

static at_status submit_row(script *s, const uint16_t *indices, const arch_limits *arch,
                            compile_pool *pool, size_t id, inspect_row *row, bool *submitted,
                            at_error *error)
{
    const pattern *p = script_pattern(s);
    launch_plan launch;
    emitted source = {0};
    *submitted = false;
    at_status status = script_valid(s, PROBLEM_TUNED, indices, &row->valid, &row->broken, error);
    if (status || !row->valid)
        return status;
    status = script_launch_plan(s, PROBLEM_TUNED, indices, &launch, error);
    if (status)
        return status;
    row->threads = (int)plan_most_threads(&launch);
    row->shared_bytes = plan_most_shared_bytes(&launch);
    status = emit_variant(s, PROBLEM_TUNED, indices, true, &source, error);
    if (!status)
        status = submit_source(pool, id, &source, p->template_path, &launch, arch->name, false,
                               error);
    *submitted = !status;
    emitted_deinit(&source);
    return status;
}

static void take_row(const compile_result *r, const arch_limits *arch, inspect_row *row)
{
    row->outcome = r->outcome;
    row->resources = r->resources;
    row->shared_bytes += r->resources.static_shared_bytes;
    if (r->outcome == COMPILE_OK)
        row->occupancy = occupancy_compute(arch, row->threads, (int)r->resources.registers,
                                           row->shared_bytes);
}

at_status inspect_run(script *s, const sweep *w, const arch_limits *arch, compile_pool *pool,
                      inspect_row *rows, at_error *error)
{
    size_t waiting = 0;
    at_status status = AT_OK;
    uint16_t *indices = calloc(w->width + 1, sizeof *indices);
    if (!indices)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < w->row_count; i++) {
        bool submitted;
        sweep_row(w, i, indices);
        status = submit_row(s, indices, arch, pool, i, &rows[i], &submitted, error);
        waiting += submitted;
    }
    while (!status && waiting > 0) {
        compile_result r;
        status = compile_take(pool, -1, &r, error);
        if (status)
            break;
        inspect_row *row = &rows[r.id];
        take_row(&r, arch, row);
        row->log = r.log;
        r.log = NULL;
        compile_result_deinit(&r);
        waiting--;
    }
    free(indices);
    return status;
}
