#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

static at_status find_parameter(const pattern *p, const char *name, size_t *out, at_error *error)
{
    const char *names[256];
    size_t count = p->parameter_count < 256 ? p->parameter_count : 256;
    for (size_t i = 0; i < count; i++) {
        names[i] = p->parameters[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return AT_OK;
        }
    }
    const char *nearest = nearest_name(name, names, count);
    return error_set(error, AT_USAGE, "%s has no parameter '%s' to sweep%s%s%s", p->path, name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static at_status find_value(const space_parameter *p, const char *text, size_t *out,
                            at_error *error)
{
    value wanted = value_parse(text);
    for (size_t i = 0; i < p->value_count; i++)
        if (value_equal(p->values[i], wanted)) {
            *out = i;
            return AT_OK;
        }
    char list[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < p->value_count && used + 80 < sizeof list; i++) {
        char one[64];
        value_format(p->values[i], one, sizeof one);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", one);
    }
    return error_set(error, AT_USAGE, "'%s' is not a value of %s; it has %s", text, p->name, list);
}

/* Appends a value; false when the sweep has it already. */
static bool append(sweep_axis *axis, size_t v)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->values[i] == v)
            return false;
    axis->values[axis->count++] = (uint16_t)v;
    return true;
}

static bool append_between(sweep_axis *axis, size_t from, size_t to)
{
    while (from != to) {
        from += from < to ? 1 : (size_t)-1;
        if (from != to && !append(axis, from))
            return false;
    }
    return true;
}

/* `list` is cut apart in place. */
static at_status read_axis(const space_parameter *p, char *list, sweep_axis *axis, at_error *error)
{
    bool gap = false, once = true;
    char *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "...") == 0) {
            if (!axis->count || gap)
                break;
            gap = true;
            continue;
        }
        size_t v;
        at_status status = find_value(p, word, &v, error);
        if (status)
            return status;
        if (gap)
            once = once && append_between(axis, axis->values[axis->count - 1], v);
        gap = false;
        once = once && append(axis, v);
        if (!once)
            return error_set(error, AT_USAGE, "--over %s goes over a value twice", p->name);
    }
    if (gap || !axis->count)
        return error_set(error, AT_USAGE, "--over %s: '...' stands between two values", p->name);
    return AT_OK;
}

static at_status add_axis(const pattern *p, const script_setting *over, sweep *w, at_error *error)
{
    sweep_axis *axis = &w->axes[w->axis_count];
    at_status status = find_parameter(p, over->name, &axis->parameter, error);
    if (status)
        return status;
    for (size_t i = 0; i < w->axis_count; i++)
        if (w->axes[i].parameter == axis->parameter)
            return error_set(error, AT_USAGE, "--over %s is given twice", over->name);
    const space_parameter *parameter = &p->parameters[axis->parameter];
    axis->values = calloc(parameter->value_count, sizeof *axis->values);
    char *list = strdup(over->text);
    w->axis_count++;
    if (!axis->values || !list)
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    else
        status = read_axis(parameter, list, axis, error);
    free(list);
    if (status)
        return status;
    if (w->row_count > SWEEP_MOST_ROWS / axis->count)
        return error_set(error, AT_USAGE, "the sweep has over %d rows", SWEEP_MOST_ROWS);
    w->row_count *= axis->count;
    return AT_OK;
}

at_status sweep_init(const script *s, const char *configuration, const script_setting *overs,
                     size_t over_count, sweep *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    *out = (sweep){.row_count = 1, .width = p->parameter_count};
    out->base = calloc(p->parameter_count + 1, sizeof *out->base);
    out->axes = calloc(over_count + 1, sizeof *out->axes);
    if (!out->base || !out->axes)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status =
        script_parse_configuration(s, configuration ? configuration : "", out->base, error);
    for (size_t i = 0; !status && i < over_count; i++)
        status = add_axis(p, &overs[i], out, error);
    return status;
}

void sweep_deinit(sweep *w)
{
    for (size_t i = 0; w->axes && i < w->axis_count; i++)
        free(w->axes[i].values);
    free(w->axes);
    free(w->base);
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
