#include "cmd/space/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/setup/setup.h"

/* Appends a value; false when the sweep has it already. */
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

/* `list` is cut apart in place; NULL: every value. */
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
                             "--over %s: '%s' is not a value; from one to another is %.*s,...,%s",
                             name, word, (int)(dots - word), word, dots + strspn(dots, "."));
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
        return error_set(error, AT_USAGE, "--over %s: '...' stands between two values", name);
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
        return error_set(error, AT_USAGE, "the sweep has more than %d rows", SWEEP_MOST_ROWS);
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
