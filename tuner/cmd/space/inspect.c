/* autotune inspect: registers, spills, shared memory and occupancy along a sweep, by compiling
 * alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "cmd/space/inspection.h"
#include "report/table.h"
#include "run/setup/pattern_json.h"
#include "run/setup/setup.h"

typedef struct inspected {
    arch_limits arch;
    script *script;
    sweep sweep;
    inspect_row *rows;
} inspected;

enum { MOST_ARCHS = 32, NAME_BYTES = 64, NUMBERS = 7 };

static void inspected_deinit(inspected *a)
{
    for (size_t i = 0; a->rows && i < a->sweep.row_count; i++)
        inspect_row_deinit(&a->rows[i]);
    free(a->rows);
    sweep_deinit(&a->sweep);
    script_free(a->script);
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
    out->rows = calloc(out->sweep.row_count, sizeof *out->rows);
    if (!out->rows)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    return inspect_run(out->script, &out->sweep, &out->arch, pool, out->rows, error);
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

/* The values of every axis but the first: "max_registers=64, vec=2". */
static void describe_others(const inspected *a, size_t row, char *text, size_t size_bytes)
{
    text[0] = '\0';
    for (size_t i = 1; i < a->sweep.axis_count; i++) {
        char v[NAME_BYTES];
        value_format(axis_value(a, row, i), v, sizeof v);
        text_add(text, size_bytes, "%s%s=%s", i > 1 ? ", " : "", axis_name(a, i), v);
    }
}

static bool row_compiled(const inspect_row *r)
{
    return r->valid && r->outcome == COMPILE_OK;
}

/* The line of the log that says "error", with the template's line in front of it. */
static void first_line(const char *log, char *text, size_t size_bytes)
{
    const char *found = log ? strstr(log, "error") : NULL;
    while (found && found > log && found[-1] != '\n')
        found--;
    if (!found)
        found = log ? log : "";
    snprintf(text, size_bytes, "%.*s", (int)strcspn(found, "\n"), found);
}

/* What a row of the table says besides numbers: what limits it, or why there are none. */
static void add_words(const inspected *a, const inspect_row *r, table *t)
{
    char why[128];
    const space_constraint *c =
        r->valid ? NULL : &script_pattern(a->script)->constraints[r->broken];
    if (c && c->line)
        table_add_cell(t, "rejected: line %d: %s", c->line, c->text);
    else if (c)
        table_add_cell(t, "rejected: %s", c->text);
    else if (r->outcome == COMPILE_OK)
        table_add_cell(t, "%s", occupancy_limit_name(r->occupancy.limit));
    else {
        first_line(r->log, why, sizeof why);
        table_add_cell(t, "%s: %s", compile_outcome_name(r->outcome), why);
    }
}

static void add_row(const inspected *a, size_t row, table *t)
{
    const inspect_row *r = &a->rows[row];
    char v[NAME_BYTES];
    for (size_t i = 0; i < a->sweep.axis_count; i++) {
        value_format(axis_value(a, row, i), v, sizeof v);
        table_add_cell(t, "%s", v);
    }
    if (row_compiled(r)) {
        table_add_cell(t, "%u", r->resources.registers);
        table_add_cell(t, "%u", r->resources.spill_store_bytes);
        table_add_cell(t, "%u", r->resources.spill_load_bytes);
        table_add_cell(t, "%u", r->resources.stack_bytes);
        table_add_cell(t, "%zu", r->shared_bytes);
        table_add_cell(t, "%d", r->threads);
        table_add_cell(t, "%.0f %%", 100 * r->occupancy.fraction);
    }
    for (int i = 0; i < NUMBERS && !row_compiled(r); i++)
        table_add_cell(t, "%s", "");
    add_words(a, r, t);
}

/* Where spilling begins along the first axis, for each combination of the others. */
static void print_thresholds(const inspected *a)
{
    const sweep *w = &a->sweep;
    size_t lines = w->row_count / w->axes[0].count;
    for (size_t other = 0; other < lines; other++) {
        size_t first = SIZE_MAX, compiled = 0;
        for (size_t i = 0; i < w->axes[0].count && first == SIZE_MAX; i++) {
            const inspect_row *r = &a->rows[i * lines + other];
            if (!row_compiled(r))
                continue;
            compiled++;
            if (inspect_spill_bytes(&r->resources) > 0)
                first = i * lines + other;
        }
        char others[256], v[NAME_BYTES];
        describe_others(a, other, others, sizeof others);
        printf("%s%s%s: ", a->arch.name, others[0] ? ", " : "", others);
        if (first == SIZE_MAX) {
            puts(compiled ? "no spills along the sweep" : "nothing compiled");
            continue;
        }
        value_format(axis_value(a, first, 0), v, sizeof v);
        printf("spills begin at %s=%s (%u bytes stored, %u loaded, %u registers)\n",
               axis_name(a, 0), v, a->rows[first].resources.spill_store_bytes,
               a->rows[first].resources.spill_load_bytes, a->rows[first].resources.registers);
    }
}

static at_status print_rows(const inspected *a, at_error *error)
{
    char text[CONFIGURATION_BYTES], head[CONFIGURATION_BYTES + NAME_BYTES];
    table t;
    script_format_configuration(a->script, a->sweep.base, text, sizeof text);
    snprintf(head, sizeof head, "%s on %s: %s", script_pattern(a->script)->name, a->arch.name,
             text);
    table_print_wrapped(terminal_page(), 0, "", head, stdout);
    putchar('\n');
    table_init(&t);
    for (size_t i = 0; i < a->sweep.axis_count; i++)
        table_add_column(&t, axis_name(a, i), TABLE_RIGHT);
    table_add_columns(&t,
                      "registers,spill st,spill ld,stack,shared mem,threads,occupancy,<limited by");
    for (size_t i = 0; i < a->sweep.row_count; i++)
        add_row(a, i, &t);
    at_status status = terminal_print_table(&t, error);
    table_deinit(&t);
    putchar('\n');
    return status;
}

static json_t *row_json(const inspected *a, size_t row)
{
    const inspect_row *r = &a->rows[row];
    json_t *config = json_object();
    for (size_t i = 0; i < a->sweep.axis_count; i++)
        json_put(&config, axis_name(a, i), json_from_value(axis_value(a, row, i)));
    if (!row_compiled(r))
        return json_pack("{so ss so}", "config", config, "outcome",
                         r->valid ? compile_outcome_name(r->outcome) : "rejected", "message",
                         json_said(!r->valid
                                       ? script_pattern(a->script)->constraints[r->broken].text
                                   : r->log ? r->log
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

static at_status print_json(const inspected *all, size_t count, at_error *error)
{
    const pattern *p = script_pattern(all[0].script);
    json_t *archs = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *rows = json_array();
        for (size_t r = 0; r < all[i].sweep.row_count; r++)
            json_append(&rows, row_json(&all[i], r));
        json_append(&archs,
                    json_pack("{ss so so}", "arch", all[i].arch.name, "base",
                              pattern_json_configuration(p, all[i].sweep.base), "rows", rows));
    }
    return json_text_print(json_pack("{ss so}", "pattern", p->name, "archs", archs), 2, stdout,
                           error);
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
    char *list = o->run.arch ? strdup(o->run.arch) : NULL, *rest = NULL;
    if (o->run.arch && !list)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = compile_pool_new(
        &(compile_options){.jobs = o->run.jobs, .use_cache = o->run.use_cache}, &pool, error);
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
    if (o->json) {
        status = print_json(all, count, error);
    } else {
        for (size_t i = 0; i < count; i++)
            status = print_rows(&all[i], error);
        for (size_t i = 0; o->sweep_count && i < count; i++)
            print_thresholds(&all[i]);
    }
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
    .options = "config only over arch set jobs no-cache json",
    .answer = answer,
};
