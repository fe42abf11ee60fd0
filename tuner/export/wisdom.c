/* Wisdom: what Kernel Launcher (github.com/KernelTuner/kernel_launcher, src/wisdom.cpp and
 * python/kernel_launcher/wisdom.py, format 1.0) reads when it compiles a kernel.
 *
 * A file is of one tuning key: a line of JSON that names the parameters, then one for each
 * configuration, with up to three sizes of the problem and a time in milliseconds. What else a
 * problem says (its element type) is part of the key: transpose_float. */
#include <ctype.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/version.h"
#include "export/export.h"

enum { MOST_SIZES = 3, KEY_BYTES = 120 };

static bool is_size(const export_column *c)
{
    return c->type == EXPORT_INTEGER || c->type == EXPORT_LONG;
}

/* Kernel Launcher's file names have no other characters. */
static void key_of(const export_model *m, const record_values *problem, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%s", m->pattern);
    for (size_t i = 0; i < m->variable_count; i++) {
        char text[RECORD_TEXT_BYTES];
        if (is_size(&m->variables[i]))
            continue;
        value_format(*record_get(problem, m->variables[i].name), text, sizeof text);
        for (char *c = text; *c; c++)
            if (!isalnum((unsigned char)*c) && !strchr("-.", *c))
                *c = '_';
        text_add(out, KEY_BYTES, "_%.40s", text);
    }
}

static at_status print_head(const export_model *m, const char *key, FILE *to, at_error *error)
{
    json_t *names = json_array();
    for (size_t i = 0; i < m->parameter_count; i++)
        json_append(&names, json_string(m->parameters[i].name));
    return json_text_print(json_pack("{ss ss so ss}", "version", "1.0", "objective", "time",
                                     "tunable_parameters", names, "key", key),
                           0, to, error);
}

static at_status print_result(const export_model *m, const export_row *row,
                              const record_values *configuration, int64_t time_ns, FILE *to,
                              at_error *error)
{
    json_t *values = json_array(), *sizes = json_array();
    for (size_t i = 0; i < m->parameter_count; i++)
        json_append(&values, json_from_value(*record_get(configuration, m->parameters[i].name)));
    for (size_t i = 0; i < m->variable_count; i++)
        if (is_size(&m->variables[i]))
            json_append(&sizes,
                        json_from_value(*record_get(&row->entry->problem, m->variables[i].name)));
    json_t *line =
        json_pack("{so so sf s{ss ss si ss}}", "config", values, "problem_size", sizes, "time",
                  (double)time_ns / 1e6, "environment", "date", row->entry->date, "device_name",
                  row->from->gpu, "compute_capability", 10 * row->from->major + row->from->minor,
                  "autotune_version", version_text());
    return json_text_print(line, 0, to, error);
}

static at_status print_row(const export_model *m, const export_row *row, FILE *to, at_error *error)
{
    const record_entry *e = row->entry;
    at_status status = print_result(m, row, row->configuration, e->time_ns, to, error);
    for (size_t i = 0; i < e->contender_count && !status; i++)
        if (export_has_parameters(m, &e->contenders[i].configuration))
            status = print_result(m, row, &e->contenders[i].configuration, e->contenders[i].time_ns,
                                  to, error);
    return status;
}

static at_status check_sizes(const export_model *m, at_error *error)
{
    size_t sizes = 0;
    for (size_t i = 0; i < m->variable_count; i++)
        sizes += is_size(&m->variables[i]);
    if (sizes <= MOST_SIZES)
        return AT_OK;
    return error_set(
        error, AT_USAGE,
        "a problem of %s has %zu sizes, and wisdom has room for %d: use another format", m->pattern,
        sizes, MOST_SIZES);
}

/* Has the key's file been written with a row before this one? */
static bool is_written(const export_model *m, size_t row, const char *key)
{
    char other[KEY_BYTES];
    for (size_t i = 0; i < row; i++) {
        if (!export_is_first(m, i))
            continue;
        key_of(m, &m->rows[i].entry->problem, other);
        if (strcmp(other, key) == 0)
            return true;
    }
    return false;
}

static at_status write_key(const export_model *m, size_t first, const char *key,
                           export_files *files, at_error *error)
{
    char name[EXPORT_FILE_NAME_BYTES], other[KEY_BYTES];
    FILE *to;
    snprintf(name, sizeof name, "%s.wisdom", key);
    at_status status = export_files_open(files, name, &to, error);
    if (status)
        return status;
    status = print_head(m, key, to, error);
    for (size_t i = first; i < m->row_count && !status; i++) {
        if (!export_is_first(m, i))
            continue;
        key_of(m, &m->rows[i].entry->problem, other);
        if (strcmp(other, key) == 0)
            status = print_row(m, &m->rows[i], to, error);
    }
    at_status closed = export_files_close(files, error);
    return status ? status : closed;
}

static at_status write_wisdom(const export_model *const *models, size_t count, const char *stem,
                              export_files *files, at_error *error)
{
    at_status status = AT_OK;
    (void)stem; /* Kernel Launcher looks for the key's name */
    for (size_t m = 0; m < count && !status; m++) {
        status = check_sizes(models[m], error);
        for (size_t i = 0; i < models[m]->row_count && !status; i++) {
            char key[KEY_BYTES];
            if (!export_is_first(models[m], i))
                continue;
            key_of(models[m], &models[m]->rows[i].entry->problem, key);
            if (!is_written(models[m], i, key))
                status = write_key(models[m], i, key, files, error);
        }
    }
    return status;
}

const exporter export_wisdom = {
    .name = "wisdom",
    .extension = ".wisdom",
    .write = write_wisdom,
};
