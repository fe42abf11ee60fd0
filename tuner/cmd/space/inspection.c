#include "cmd/space/inspection.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/kernel_names.h"
#include "run/setup/setup.h"
#include "script/emit.h"

/* Appends a value. Returns false if the axis has the value already. */
static bool append(sweep_axis *axis, uint16_t v)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->values[i] == v)
            return false;
    axis->values[axis->count++] = v;
    return true;
}

static bool append_between(sweep_axis *axis, uint16_t from, uint16_t to)
{
    while (from != to) {
        from = (uint16_t)(from < to ? from + 1 : from - 1);
        if (from != to && !append(axis, from))
            return false;
    }
    return true;
}

/* Reads a list of values, and splits it in place. A NULL `list` stands for every value. */
static at_status read_axis(const script *s, char *list, sweep_axis *axis, at_error *error)
{
    const char *name = script_pattern(s)->parameters[axis->parameter].name;
    bool gap = false, once = true;
    char *rest = NULL;
    for (; !list && axis->count < script_pattern(s)->parameters[axis->parameter].value_count;
         axis->count++)
        axis->values[axis->count] = (uint16_t)axis->count;
    if (!list)
        return AT_OK;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "...") == 0) {
            if (!axis->count || gap)
                break;
            gap = true;
            continue;
        }
        uint16_t v;
        char *dots = strstr(word, "..");
        at_status status = script_find_value(s, axis->parameter, word, &v, error);
        if (status && dots)
            return error_set(error, AT_USAGE,
                             "--over %s: '%s' is not a value; for a range, write %.*s,...,%s", name,
                             word, (int)(dots - word), word, dots + strspn(dots, "."));
        if (status)
            return status;
        if (gap)
            once = once && append_between(axis, axis->values[axis->count - 1], v);
        gap = false;
        once = once && append(axis, v);
        if (!once)
            return error_set(error, AT_USAGE, "--over %s goes over a value twice", name);
    }
    if (gap || !axis->count)
        return error_set(error, AT_USAGE,
                         "--over %s: '...' must stand between two values, as in 1,2,...,8", name);
    return AT_OK;
}

static at_status add_axis(const script *s, const script_setting *over, sweep *w, at_error *error)
{
    sweep_axis *axis = &w->axes[w->axis_count];
    at_status status = script_find_parameter(s, over->name, &axis->parameter, error);
    if (status)
        return status;
    for (size_t i = 0; i < w->axis_count; i++)
        if (w->axes[i].parameter == axis->parameter)
            return error_set(error, AT_USAGE, "--over %s is given twice", over->name);
    const space_parameter *parameter = &script_pattern(s)->parameters[axis->parameter];
    axis->values = memory_new(parameter->value_count, sizeof *axis->values);
    char *list = memory_text(over->text);
    w->axis_count++;
    status = read_axis(s, list, axis, error);
    free(list);
    if (status)
        return status;
    if (w->row_count > SWEEP_MOST_ROWS / axis->count)
        return error_set(
            error, AT_USAGE,
            "--over gives more than %d rows, the most that are allowed: give fewer values",
            SWEEP_MOST_ROWS);
    w->row_count *= axis->count;
    return AT_OK;
}

at_status sweep_init(script *s, const char *configuration, const script_setting *overs,
                     size_t over_count, sweep *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    *out = (sweep){.row_count = 1, .width = p->parameter_count};
    out->axes = memory_new(over_count + 1, sizeof *out->axes);
    bool is_swept[PATTERN_MAX_PARAMETERS] = {false};
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < over_count; i++) {
        status = add_axis(s, &overs[i], out, error);
        if (!status)
            is_swept[out->axes[i].parameter] = true;
    }
    if (!status)
        status =
            setup_choose_configuration(s, PROBLEM_TUNED, configuration, is_swept, out->base, error);
    return status;
}

void sweep_deinit(sweep *w)
{
    for (size_t i = 0; w->axes && i < w->axis_count; i++)
        free(w->axes[i].values);
    free(w->axes);
    *w = (sweep){0};
}

size_t sweep_position(const sweep *w, size_t row, size_t axis)
{
    for (size_t i = w->axis_count; i-- > axis + 1;)
        row /= w->axes[i].count;
    return row % w->axes[axis].count;
}

void sweep_row(const sweep *w, size_t row, uint16_t *indices)
{
    memcpy(indices, w->base, w->width * sizeof *indices);
    for (size_t i = 0; i < w->axis_count; i++)
        indices[w->axes[i].parameter] = w->axes[i].values[sweep_position(w, row, i)];
}

uint32_t inspect_spill_bytes(const kernel_resources *r)
{
    return r->spill_store_bytes + r->spill_load_bytes;
}

void inspect_row_deinit(inspect_row *row)
{
    free(row->log);
    row->log = NULL;
}

/* Lines before the source that remove the kernel's own launch bounds, because the compiler's option
 * for registers does not override them. */
static const char cap_lines[] = "#undef __launch_bounds__\n"
                                "#define __launch_bounds__(...) __attribute__((maxnreg(%u)))\n"
                                "#undef __maxnreg__\n"
                                "#define __maxnreg__(...) __attribute__((maxnreg(%u)))\n"
                                "#line 1\n";
static const char spill_line[] = " asm volatile(\".pragma \\\"enable_smem_spilling\\\";\");";

/* Returns the text after the brace that opens the body of the kernel `entry`, or NULL. */
static const char *find_body(const char *source, const char *entry)
{
    size_t length = strlen(entry);
    for (const char *at = strstr(source, entry); at; at = strstr(at + length, entry)) {
        const char *c = at + length;
        int depth = 0;
        c += strspn(c, " \t\n");
        if (*c != '(' || (at > source && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
            continue;
        for (; *c; c++) {
            depth += (*c == '(') - (*c == ')');
            if (depth == 0)
                break;
        }
        c += *c != '\0';
        c += strspn(c, " \t\n");
        if (*c == '{')
            return c + 1;
    }
    return NULL;
}

/* Makes `change` in the source. Returns false if it is impossible. */
static bool change_source(emitted *source, const launch_plan *launch, const inspect_change *change)
{
    size_t room = source->size_bytes + sizeof cap_lines + sizeof spill_line + 64;
    const char *body = source->source;
    if (change->shared_spills && launch->launch_count > 0) {
        char kernel[KERNEL_NAME_BYTES];
        kernel_name_of_entry(plan_entry(launch, 0), kernel);
        body = find_body(source->source, kernel);
        if (!body || launch->launch_count != 1 || launch->launches[0].dynamic_shared_bytes != 0)
            return false;
    }
    char *text = memory_new(room, 1);
    int used = 0;
    if (change->most_registers)
        used = snprintf(text, room, cap_lines, change->most_registers, change->most_registers);
    snprintf(text + used, room - (size_t)used, "%.*s%s%s", (int)(body - source->source),
             source->source, change->shared_spills ? spill_line : "", body);
    free(source->source);
    source->source = text;
    source->size_bytes = strlen(text);
    return true;
}

at_status inspect_submit(script *s, problem_kind problem, const uint16_t *indices,
                         const arch_limits *arch, compile_pool *pool, uint64_t id,
                         const inspect_change *change, inspect_row *row, launch_plan *launch,
                         bool *submitted, at_error *error)
{
    const pattern *p = script_pattern(s);
    emitted source = {0};
    char option[48];
    bool can = true;
    *submitted = false;
    at_status status = script_valid(s, problem, indices, &row->valid, &row->broken, error);
    if (status || !row->valid)
        return status;
    status = script_launch_plan(s, problem, indices, launch, error);
    if (status)
        return status;
    row->threads = (int)plan_most_threads(launch);
    row->shared_bytes = plan_most_shared_bytes(launch);
    status = emit_variant(s, problem, indices, true, &source, error);
    if (!status && change)
        can = change_source(&source, launch, change);
    if (!status && change && change->most_registers &&
        source.option_count < sizeof source.options / sizeof *source.options) {
        snprintf(option, sizeof option, "--maxrregcount=%u", change->most_registers);
        source.options[source.option_count++] = option;
    }
    can = can && launch->launch_count > 0;
    if (!status && can)
        status = submit_source(pool, id, &source, p->template_path, launch, arch->name,
                               change && change->want_ptx, error);
    *submitted = !status && can;
    emitted_deinit(&source);
    return status;
}

void inspect_take(compile_result *r, const arch_limits *arch, inspect_row *row)
{
    row->outcome = r->outcome;
    row->resources = r->resources;
    row->shared_bytes += r->resources.static_shared_bytes;
    if (r->outcome == COMPILE_OK)
        row->occupancy =
            occupancy_compute(arch, row->threads, (int)r->resources.registers, row->shared_bytes);
    row->log = r->log;
    r->log = NULL;
}
