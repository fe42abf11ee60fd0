/* autotune inspect: registers, spills, shared memory and occupancy along a sweep, without a GPU. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/page.h"
#include "cmd/space/inspection.h"
#include "run/setup/setup.h"

typedef struct inspected {
    arch_limits arch;
    script *script;
    sweep sweep;
    inspect_row *rows;
} inspected;

enum { MOST_ARCHS = 32 };

static void inspected_deinit(inspected *a)
{
    for (size_t i = 0; a->rows && i < a->sweep.row_count; i++)
        inspect_row_deinit(&a->rows[i]);
    free(a->rows);
    sweep_deinit(&a->sweep);
    script_free(a->script);
}

/* Compiles the sweep's rows for `arch`. rows[w->row_count], zeroed before, gets the results. */
static at_status compile_rows(script *s, const sweep *w, const arch_limits *arch,
                              compile_pool *pool, inspect_row *rows, at_error *error)
{
    size_t waiting = 0;
    at_status status = AT_OK;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    for (size_t i = 0; !status && i < w->row_count; i++) {
        bool submitted;
        launch_plan launch;
        sweep_row(w, i, indices);
        status = inspect_submit(s, PROBLEM_TUNED, indices, arch, pool, i, NULL, &rows[i], &launch,
                                &submitted, error);
        waiting += submitted;
    }
    while (!status && waiting > 0) {
        compile_result r;
        status = compile_take(pool, -1, &r, error);
        if (status)
            break;
        inspect_take(&r, arch, &rows[r.id]);
        compile_result_deinit(&r);
        waiting--;
    }
    return status;
}

static at_status inspect_arch(const options *o, const char *arch, compile_pool *pool,
                              inspected *out, at_error *error)
{
    at_status status = target_find(arch, &out->arch, error);
    if (!status)
        status = target_load_script(&o->run, &out->arch, &out->script, error);
    if (!status)
        status = sweep_init(out->script, o->configuration, o->sweeps, o->sweep_count, &out->sweep,
                            error);
    if (status)
        return status;
    out->rows = memory_new(out->sweep.row_count, sizeof *out->rows);
    return compile_rows(out->script, &out->sweep, &out->arch, pool, out->rows, error);
}

static value axis_value(const inspected *a, size_t row, size_t axis)
{
    const sweep_axis *x = &a->sweep.axes[axis];
    const space_parameter *p = &script_pattern(a->script)->parameters[x->parameter];
    return p->values[x->values[sweep_position(&a->sweep, row, axis)]];
}

static const char *axis_name(const inspected *a, size_t axis)
{
    return script_pattern(a->script)->parameters[a->sweep.axes[axis].parameter].name;
}

static bool row_compiled(const inspect_row *r)
{
    return r->valid && r->outcome == COMPILE_OK;
}

static json_t *row_json(const inspected *a, size_t row)
{
    const inspect_row *r = &a->rows[row];
    json_t *config = json_object();
    for (size_t i = 0; i < a->sweep.axis_count; i++)
        json_put(&config, axis_name(a, i), json_from_value(axis_value(a, row, i)));
    if (!row_compiled(r))
        return json_pack(
            "{so ss so}", "config", config, "outcome",
            r->valid ? compile_outcome_name(r->outcome) : "rejected", "message",
            json_foreign_text(!r->valid ? script_pattern(a->script)->constraints[r->broken].text
                              : r->log  ? r->log
                                        : ""));
    return json_pack("{so ss si si si si sI si si sf ss}", "config", config, "outcome",
                     compile_outcome_name(r->outcome), "registers", (int)r->resources.registers,
                     "spill_store_bytes", (int)r->resources.spill_store_bytes, "spill_load_bytes",
                     (int)r->resources.spill_load_bytes, "stack_bytes",
                     (int)r->resources.stack_bytes, "shared_bytes", (json_int_t)r->shared_bytes,
                     "constant_bytes", (int)r->resources.constant_bytes, "threads", r->threads,
                     "occupancy", r->occupancy.fraction, "limit",
                     occupancy_limit_name(r->occupancy.limit));
}

static json_t *row_words(const inspected *a, size_t row)
{
    const inspect_row *r = &a->rows[row];
    return json_integer(r->valid ? 0 : script_pattern(a->script)->constraints[r->broken].line);
}

static at_status print(const options *o, const inspected *all, size_t count, at_error *error)
{
    const pattern *p = script_pattern(all[0].script);
    json_t *archs = json_array(), *words = json_array();
    for (size_t i = 0; i < count; i++) {
        const inspected *a = &all[i];
        char text[CONFIGURATION_BYTES];
        json_t *rows = json_array(), *lines = json_array(), *axes = json_array();
        for (size_t r = 0; r < a->sweep.row_count; r++) {
            json_append(&rows, row_json(a, r));
            json_append(&lines, row_words(a, r));
        }
        for (size_t x = 0; x < a->sweep.axis_count; x++)
            json_append(&axes, json_string(axis_name(a, x)));
        script_format_configuration(a->script, a->sweep.base, text, sizeof text);
        json_append(&words,
                    json_pack("{ss so so sI}", "base", text, "axes", axes, "lines", lines, "along",
                              (json_int_t)(o->sweep_count ? a->sweep.axes[0].count : 0)));
        json_append(&archs, json_pack("{ss so so}", "arch", a->arch.name, "base",
                                      pattern_json_configuration(p, a->sweep.base), "rows", rows));
    }
    return page_show(o, "inspect", 2, json_pack("{ss so}", "pattern", p->name, "archs", archs),
                     json_pack("{so}", "words", words), error);
}

static bool any_compiled(const inspected *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < all[i].sweep.row_count; r++)
            if (row_compiled(&all[i].rows[r]))
                return true;
    return false;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    inspected all[MOST_ARCHS] = {0};
    size_t count = 0;
    compile_pool *pool = NULL;
    char *list = memory_text(o->run.machine.arch), *rest = NULL;
    at_status status = compile_pool_new(
        &(compile_options){.jobs = o->run.machine.jobs, .use_cache = o->run.machine.use_cache},
        &pool, error);
    const char *arch = list ? strtok_r(list, ",", &rest) : NULL;
    do {
        if (status)
            break;
        if (count == MOST_ARCHS)
            status =
                error_set(error, AT_USAGE, "--arch takes %d architectures at most", MOST_ARCHS);
        else
            status = inspect_arch(o, arch, pool, &all[count++], error);
    } while (list && (arch = strtok_r(NULL, ",", &rest)) != NULL);
    if (status)
        goto cleanup;
    status = print(o, all, count, error);
    *exit_code = any_compiled(all, count) ? 0 : 1;
cleanup:
    for (size_t i = 0; i < count; i++)
        inspected_deinit(&all[i]);
    compile_pool_free(pool);
    free(list);
    return status;
}

const command cmd_inspect = {
    .name = "inspect",
    .operand = "SCRIPT",
    .summary = "Show registers, spills, shared memory and occupancy; needs no GPU",
    .options = "describe config captured only over arch set include jobs no-cache json",
    .answer = answer,
};
