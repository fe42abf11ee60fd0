/* T4: what is recorded of each GPU and problem as results of an auto-tuner (history/t4.c has the
 * format): the fastest, those that came next to it, and the default. */

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "export/export.h"
#include "export/kernels.h"
#include "history/recorded.h"

static at_status add_result(recorded *r, const record_entry *e, const record_values *configuration,
                            double time_ms, at_error *error)
{
    recorded_result *result = recorded_add(r);
    if (!result)
        return export_no_memory(error);
    for (size_t i = 0; i < r->parameter_count; i++)
        result->values[i] = *record_get(configuration, r->names[i]);
    result->outcome = OUTCOME_OK;
    result->cost = time_ms;
    result->timestamp = e->date;
    return AT_OK;
}

static at_status add_results(const export_model *m, const record_entry *e, recorded *r,
                             at_error *error)
{
    at_status status = add_result(r, e, &e->configuration, (double)e->time_ns / 1e6, error);
    for (size_t i = 0; i < e->contender_count && !status; i++)
        if (export_has_parameters(m, &e->contenders[i].configuration))
            status = add_result(r, e, &e->contenders[i].configuration,
                                (double)e->contenders[i].time_ns / 1e6, error);
    if (!status && e->speedup > 0 && export_has_parameters(m, &e->baseline))
        status = add_result(r, e, &e->baseline, (double)e->time_ns / 1e6 * e->speedup, error);
    return status ? status : recorded_drop_repeated(r, error);
}

/* "transpose.nvidia-h200.8192-8192-float.json". */
static void name_of(const export_model *m, const export_row *row, char out[EXPORT_FILE_NAME_BYTES])
{
    char gpu[PATHS_SLUG_BYTES], problem[PATHS_SLUG_BYTES], values[512] = "";
    for (size_t i = 0; i < m->variable_count; i++) {
        char text[RECORD_TEXT_BYTES];
        value_format(*record_get(&row->entry->problem, m->variables[i].name), text, sizeof text);
        text_add(values, sizeof values, "%s%s", i ? "-" : "", text);
    }
    paths_slug(row->from->gpu, gpu);
    paths_slug(values, problem);
    snprintf(out, EXPORT_FILE_NAME_BYTES, "%.40s.%.48s.%.60s.json", m->pattern, gpu, problem);
}

static at_status write_row(const export_model *m, const export_row *row, export_files *files,
                           at_error *error)
{
    const char *names[RECORD_MAX_VALUES];
    char name[EXPORT_FILE_NAME_BYTES];
    recorded r = {.device = row->from->gpu, .kernel = m->pattern, .objective = "time"};
    FILE *to;
    for (size_t i = 0; i < m->parameter_count; i++)
        names[i] = m->parameters[i].name;
    at_status status = recorded_set_names(&r, names, m->parameter_count, error);
    if (!status)
        status = add_results(m, row->entry, &r, error);
    name_of(m, row, name);
    if (!status)
        status = export_files_open(files, name, &to, error);
    if (!status) {
        status = json_text_print(recorded_t4.write(&r), 1, to, error);
        at_status closed = export_files_close(files, error);
        status = status ? status : closed;
    }
    recorded_deinit(&r);
    return status;
}

static at_status write_t4(const export_model *const *models, size_t count, const char *stem,
                          export_files *files, at_error *error)
{
    at_status status = AT_OK;
    (void)stem;
    for (size_t m = 0; m < count && !status; m++)
        for (size_t i = 0; i < models[m]->row_count && !status; i++)
            if (export_is_first(models[m], i))
                status = write_row(models[m], &models[m]->rows[i], files, error);
    return status;
}

const exporter export_t4 = {
    .name = "t4",
    .extension = ".json",
    .write = write_t4,
};
