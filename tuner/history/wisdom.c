/* Kernel Launcher's wisdom, as templates/export/wisdom.tmpl writes it: JSON lines, the first of
 * which names the parameters. Devices and problem sizes are told apart by nobody here: what was
 * fast on any of them is worth trying. */

#include <math.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "history/recorded.h"

static size_t line_length(const char *text, size_t size_bytes)
{
    const char *end = memchr(text, '\n', size_bytes);
    return end ? (size_t)(end - text) : size_bytes;
}

bool recorded_wisdom_detect(const char *text, size_t size_bytes)
{
    at_error ignored = {0};
    json_t *head;
    size_t length = line_length(text, size_bytes);
    if (length == size_bytes || json_text_parse(text, length, "", &head, &ignored))
        return false;
    bool is = json_is_array(json_object_get(head, "tunable_parameters"));
    json_decref(head);
    return is;
}

static at_status read_head(recorded *out, const json_t *head, const char *path, at_error *error)
{
    const char *names[RECORDED_MAX_PARAMETERS];
    const json_t *parameters = json_object_get(head, "tunable_parameters");
    const char *version = json_string_value(json_object_get(head, "version"));
    const char *objective = json_string_value(json_object_get(head, "objective"));
    size_t count = json_array_size(parameters);
    if (!version || strcmp(version, "1.0") != 0)
        return error_set_at(error, AT_FORMAT, path, 1,
                            "wisdom of version '%.40s'; 1.0 is supported", version ? version : "");
    if (!objective || count == 0 || count > RECORDED_MAX_PARAMETERS)
        return error_set_at(error, AT_FORMAT, path, 1,
                            "wisdom begins with an objective and 1 to %d tunable_parameters",
                            RECORDED_MAX_PARAMETERS);
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_array_get(parameters, i));
        if (!names[i])
            return error_set_at(error, AT_FORMAT, path, 1, "parameter %zu has no name", i);
    }
    const char *key = json_string_value(json_object_get(head, "key"));
    out->kernel = key ? key : "";
    out->objective = objective;
    return recorded_set_names(out, names, count, error);
}

static at_status read_line(recorded *out, const json_t *line, const char *path, int number,
                           at_error *error)
{
    const json_t *values = json_object_get(line, "config");
    double cost = json_number_value(json_object_get(line, out->objective));
    if (json_array_size(values) != out->parameter_count || !isfinite(cost) || cost <= 0)
        return error_set_at(error, AT_FORMAT, path, number,
                            "a line of wisdom has a config of %zu values and a positive %.40s",
                            out->parameter_count, out->objective);
    recorded_result *result = recorded_add(out);
    for (size_t i = 0; i < out->parameter_count; i++)
        if (!json_to_value(json_array_get(values, i), &result->values[i]))
            return error_set_at(error, AT_FORMAT, path, number, "'%.80s' has no value",
                                out->names[i]);
    const json_t *environment = json_object_get(line, "environment");
    const char *device = json_string_value(json_object_get(environment, "device_name"));
    if (out->result_count == 1 && device)
        out->device = device;
    result->timestamp = json_string_value(json_object_get(environment, "date"));
    result->outcome = OUTCOME_OK;
    result->cost = cost;
    return AT_OK;
}

at_status recorded_wisdom_read(const char *text, size_t size_bytes, const char *path, recorded *out,
                               at_error *error)
{
    at_status status = AT_OK;
    out->root = memory_have(json_array());
    int number = 0;
    for (size_t at = 0; at < size_bytes && !status; number++) {
        size_t length = line_length(text + at, size_bytes - at);
        const char *from = text + at;
        json_t *line = NULL;
        at += length + 1;
        if (number > 0 && (length == 0 || *from == '#' || *from == '/'))
            continue;
        status = json_text_parse(from, length, path, &line, error);
        if (status) {
            if (error)
                error->line = number + 1;
            break;
        }
        /* The root owns the texts, from here on in any case. */
        memory_have(json_array_append_new(out->root, line) == 0 ? line : NULL);
        status = number == 0 ? read_head(out, line, path, error)
                             : read_line(out, line, path, number + 1, error);
    }
    return status;
}
