#include "export/table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/version.h"
#include "device/arch.h"
#include "device/field.h"
#include "record/table.h"

/* Texts of kernels are as their authors typed them, in whatever encoding. */
static json_t *source_text(const char *text)
{
    return text ? json_string_nocheck(text) : json_null();
}

static json_t *count_of(size_t n)
{
    return json_integer((json_int_t)n);
}

/* ---- columns ---- */

static json_t *word_table(const export_word *w)
{
    return json_pack("{ss ss}", "text", w->text, "identifier", w->identifier);
}

static json_t *column_table(const export_column *c)
{
    static const struct {
        const char *type, *c_type;
    } types[] = {[EXPORT_INTEGER] = {"integer", "int"},
                 [EXPORT_LONG] = {"integer", "int64_t"},
                 [EXPORT_NUMBER] = {"number", "double"},
                 [EXPORT_BOOLEAN] = {"boolean", "bool"},
                 [EXPORT_WORD] = {"text", NULL}};
    bool is_word = c->type == EXPORT_WORD;
    json_t *out = json_object(), *words = json_array();
    for (size_t i = 0; i < c->word_count; i++)
        json_append(&words, word_table(&c->words[i]));
    json_put(&out, "name", json_string(c->name));
    json_put(&out, "type", json_string(is_word && c->mixed ? "any" : types[c->type].type));
    json_put(&out, "identifier", json_string(c->identifier));
    json_put(&out, "c_type", is_word ? json_null() : json_string(types[c->type].c_type));
    json_put(&out, "words", words);
    return out;
}

static json_t *columns_table(const export_column *columns, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&out, column_table(&columns[i]));
    return out;
}

/* ---- rows ---- */

/* The member of `name` in the record's table at `place`, shared by both. */
static json_t *shared(const json_t *of, const char *name, size_t place)
{
    return json_incref(json_array_get(json_object_get(of, name), place));
}

static size_t place_of(const export_model *m, const record *from)
{
    return (size_t)(from - m->records->records);
}

static json_t *row_table(const export_model *m, size_t at, const json_t *records)
{
    const export_row *row = &m->rows[at];
    json_t *of = json_array_get(records, place_of(m, row->from)), *entry = NULL;
    json_t *out = json_object(), *portfolio = NULL, *configuration;
    if (row->entry) {
        entry = shared(of, "entries", (size_t)(row->entry - row->from->entries));
        configuration = json_object_get(entry, "configuration");
    } else {
        const record_portfolio *p = m->portfolios[row->portfolio];
        portfolio = shared(of, "portfolios", (size_t)(p - row->from->portfolios));
        configuration = json_array_get(json_object_get(portfolio, "configurations"), row->place);
    }
    json_put(&out, "record", json_incref(of));
    json_put(&out, "configuration", json_incref(configuration));
    json_put(&out, "entry", entry ? entry : json_null());
    json_put(&out, "portfolio", portfolio ? portfolio : json_null());
    json_put(&out, "portfolio_number", portfolio ? count_of(row->portfolio) : json_null());
    json_put(&out, "place", portfolio ? count_of(row->place) : json_null());
    json_put(&out, "first", json_boolean(row->first));
    return out;
}

static json_t *seen_table(const export_model *m, const export_seen *s)
{
    json_t *rows = json_array();
    for (size_t r = s->first_row; r; r = m->rows[r - 1].next_alike)
        if (export_tells_of(m, s, &m->rows[r - 1]))
            json_append(&rows, count_of(r));
    return json_pack("{so so sb}", "rows", rows, "problem", record_pack_values(s->seen->problem),
                     "faster", s->seen->standing == RECORD_FASTER);
}

static void put_rows(const export_model *m, json_t **out)
{
    json_t *records = json_array(), *rows = json_array(), *portfolios = json_array();
    json_t *seen = json_array();
    for (size_t i = 0; i < m->records->count; i++)
        json_append(&records, record_table(&m->records->records[i]));
    for (size_t i = 0; i < m->row_count && records; i++) {
        const export_row *row = &m->rows[i];
        json_append(&rows, row_table(m, i, records));
        if (!row->entry && row->place == 0)
            json_append(&portfolios,
                        shared(json_array_get(records, place_of(m, row->from)), "portfolios",
                               (size_t)(m->portfolios[row->portfolio] - row->from->portfolios)));
    }
    for (size_t i = 0; i < m->seen_count; i++)
        json_append(&seen, seen_table(m, &m->seen[i]));
    json_put(out, "records", records);
    json_put(out, "rows", rows);
    json_put(out, "portfolios", portfolios);
    json_put(out, "seen", seen);
}

/* ---- what is said in C ---- */

static void put_expressions(const export_model *m, json_t **out)
{
    static const char *const c_types[] = {[EXPORT_INTEGER] = "int64_t",
                                          [EXPORT_LONG] = "int64_t",
                                          [EXPORT_NUMBER] = "double",
                                          [EXPORT_BOOLEAN] = "bool",
                                          [EXPORT_WORD] = "const char *"};
    json_t *constraints = json_array(), *derived = json_array();
    json_t *features = json_array();
    for (size_t i = 0; i < m->constraint_count; i++)
        json_append(&constraints, json_pack("{ss ss?}", "text", m->constraints[i].text, "c",
                                            m->constraints[i].c));
    for (size_t i = 0; i < m->derived_count; i++) {
        const export_derived *d = &m->derived[i];
        json_append(&derived, json_pack("{ss ss ss ss}", "name", d->name, "c_type",
                                        c_types[d->type], "c", d->c, "assignment", d->assignment));
    }
    for (size_t i = 0; i < m->feature_count; i++) {
        const export_feature *f = &m->features[i];
        json_append(&features,
                    json_pack("{ss ss ss? ss?}", "name", f->of->name, "definition",
                              f->of->definition, "c", f->c, "assignment", f->assignment));
    }
    json_put(out, "features", features);
    json_put(out, "constraints", constraints);
    json_put(out, "derived", derived);
}

/* ---- kernels ---- */

static json_t *launch_table(const export_launch *l)
{
    json_t *entries = json_array(), *buffers = json_array(), *constants = json_array();
    for (size_t i = 0; i < l->entry_count; i++)
        json_append(&entries, json_string(l->entries[i]));
    for (size_t i = 0; i < l->buffer_count; i++)
        json_append(&buffers,
                    json_pack("{ss sb}", "identifier", l->buffers[i], "is_input", l->is_input[i]));
    for (size_t i = 0; i < l->constant_count; i++)
        json_append(&constants, json_pack("{ss si}", "name", l->constants[i].name, "buffer",
                                          (int)l->constants[i].buffer));
    return json_pack("{so so so so}", "statements", source_text(l->statements), "entries", entries,
                     "buffers", buffers, "constants", constants);
}

static json_t *kernel_table(const export_model *m, const export_source *s)
{
    json_t *out = json_object(), *entries = json_array(), *has_entry = json_array();
    for (size_t i = 0; i < m->launch.entry_count; i++) {
        const char *name = s->entries[i].name;
        json_append(&entries, json_string(name ? name : ""));
        json_append(&has_entry, json_boolean(name != NULL));
    }
    json_put(&out, "source", source_text(s->text));
    json_put(&out, "headers", json_incref(s->headers));
    json_put(&out, "ptx", source_text(s->ptx));
    json_put(&out, "entries", entries);
    json_put(&out, "has_entry", has_entry);
    return out;
}

static json_t *use_table(const export_use *u)
{
    size_t count;
    const device_field *fields = device_fields(&count);
    json_t *conditions = json_array();
    for (size_t i = 0; i < u->condition_count; i++) {
        size_t index = u->conditions[i].index;
        bool of_device = u->conditions[i].of_device;
        json_append(
            &conditions,
            json_pack("{sb si so}", "of_device", of_device, "number", (int)index + 1, "value",
                      of_device ? json_from_value(device_field_value(&fields[index], &u->device))
                                : json_from_value(u->problem->pairs[index].value)));
    }
    return json_pack("{si so so so}", "kernel", (int)u->source + 1, "configuration",
                     record_pack_values(u->configuration), "problem",
                     record_pack_values(u->problem), "conditions", conditions);
}

static void put_kernels(const export_model *m, json_t **out)
{
    json_t *kernels = json_array(), *uses = json_array();
    for (size_t i = 0; i < m->kernels.source_count; i++)
        json_append(&kernels, kernel_table(m, &m->kernels.sources[i]));
    for (size_t i = 0; i < m->kernels.use_count; i++)
        json_append(&uses, use_table(&m->kernels.uses[i]));
    json_put(out, "launch", m->launch.statements ? launch_table(&m->launch) : json_null());
    json_put(out, "kernels", kernels);
    json_put(out, "uses", uses);
}

/* ---- the whole ---- */

static json_t *pattern_table(const export_model *m)
{
    json_t *out = json_object();
    json_put(&out, "name", json_string(m->pattern));
    json_put(&out, "variables", columns_table(m->variables, m->variable_count));
    json_put(&out, "parameters", columns_table(m->parameters, m->parameter_count));
    json_put(&out, "default", record_pack_values(&m->defaults));
    put_expressions(m, &out);
    put_rows(m, &out);
    put_kernels(m, &out);
    return out;
}

static json_t *fields_table(void)
{
    static const char *const kinds[] = {[DEVICE_FIELD_INT] = "int",
                                        [DEVICE_FIELD_SIZE] = "size",
                                        [DEVICE_FIELD_DOUBLE] = "double",
                                        [DEVICE_FIELD_TEXT] = "text"};
    size_t count;
    const device_field *fields = device_fields(&count);
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&out,
                    json_pack("{ss ss}", "name", fields[i].name, "kind", kinds[fields[i].kind]));
    return out;
}

/* Each compute capability once: of those with variants (sm_90, sm_90a) the limits are the same. */
static json_t *capabilities_table(void)
{
    size_t count, field_count;
    const arch_limits *known = arch_table(&count);
    const device_field *fields = device_fields(&field_count);
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && known[i].major == known[i - 1].major && known[i].minor == known[i - 1].minor)
            continue;
        json_t *limits = json_object();
        for (size_t k = 0; k < field_count; k++)
            json_put(&limits, fields[k].name,
                     json_from_value(device_field_value(&fields[k], &known[i])));
        json_append(&out, limits);
    }
    return out;
}

static json_t *element_types_table(void)
{
    json_t *out = json_array();
    for (int i = 0; i < DTYPE_COUNT; i++) {
        const dtype_info *d = dtype_get((dtype)i);
        json_append(&out, json_pack("{ss si sb}", "name", d->name, "bytes", (int)d->size_bytes,
                                    "is_float", d->is_float));
    }
    return out;
}

json_t *export_table(const export_model *const *models, size_t count, const char *stem)
{
    json_t *out = json_object(), *patterns = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&patterns, pattern_table(models[i]));
    json_put(&out, "tool", json_sprintf("autotune %s", version_text()));
    json_put(&out, "version", json_string(version_text()));
    json_put(&out, "stem", json_string(stem));
    json_put(&out, "patterns", patterns);
    json_put(&out, "device_fields", fields_table());
    json_put(&out, "capabilities", capabilities_table());
    json_put(&out, "element_types", element_types_table());
    json_put(&out, "most_kept", json_integer(RECORD_MAX_KEPT));
    return out;
}
