/* JSON: all that is recorded of the patterns, as one document; docs/export.schema.json describes
 * it.
 *
 * Records are in it whole, as their files have them, so that what a later version of autotune adds
 * is kept too. */
#include "base/json_text.h"
#include "base/version.h"
#include "export/export.h"

static json_t *column_json(const export_column *c)
{
    static const char *const types[] = {[EXPORT_INTEGER] = "integer",
                                        [EXPORT_LONG] = "integer",
                                        [EXPORT_NUMBER] = "number",
                                        [EXPORT_BOOLEAN] = "boolean",
                                        [EXPORT_WORD] = "text"};
    json_t *out = json_object();
    json_put(&out, "name", json_string(c->name));
    json_put(&out, "type",
             json_string(c->mixed && c->type == EXPORT_WORD ? "any" : types[c->type]));
    if (c->type != EXPORT_WORD)
        return out;
    json_t *values = json_array();
    for (size_t i = 0; i < c->word_count; i++)
        json_append(&values, json_string(c->words[i].text));
    json_put(&out, "values", values);
    return out;
}

static json_t *columns_json(const export_column *columns, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&out, column_json(&columns[i]));
    return out;
}

static json_t *model_json(const export_model *m)
{
    json_t *defaults = json_object(), *constraints = json_array(), *records = json_array();
    for (size_t i = 0; i < m->defaults.count; i++)
        json_put(&defaults, m->defaults.pairs[i].name, json_from_value(m->defaults.pairs[i].value));
    for (size_t i = 0; i < m->constraint_count; i++)
        json_append(&constraints, json_string(m->constraints[i].text));
    for (size_t i = 0; i < m->records->count; i++)
        json_append(&records, json_incref(m->records->records[i].root));
    return json_pack("{ss so so so so so}", "pattern", m->pattern, "variables",
                     columns_json(m->variables, m->variable_count), "parameters",
                     columns_json(m->parameters, m->parameter_count), "default", defaults,
                     "constraints", constraints, "records", records);
}

static at_status write_json(const export_model *const *models, size_t count, const char *stem,
                            export_files *files, at_error *error)
{
    char name[EXPORT_FILE_NAME_BYTES];
    FILE *to;
    snprintf(name, sizeof name, "%.100s.json", stem);
    json_t *patterns = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&patterns, model_json(models[i]));
    json_t *root = json_pack("{ss si so so}", "schema", "autotune-export", "version", 1, "tool",
                             json_sprintf("autotune %s", version_text()), "patterns", patterns);
    at_status status = export_files_open(files, name, &to, error);
    if (status) {
        json_decref(root);
        return status;
    }
    status = json_text_print(root, 2, to, error);
    at_status closed = export_files_close(files, error);
    return status ? status : closed;
}

const exporter export_json = {
    .name = "json",
    .extension = ".json",
    .several = true,
    .write = write_json,
};
