#include "export/export.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "device/arch.h"
#include "device/field.h"
#include "record/record.h"
#include "script/render.h"

/* ---- one record: its table for templates (docs/development/record_table.md) ----
 *
 * Every record has every member; unknown values are null. Entries and portfolios keep the record's
 * order. Functions return new references. */

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *number_or_null(double v)
{
    return v > 0 ? json_real(v) : json_null();
}

static json_t *time_or_null(int64_t time_ns)
{
    return time_ns > 0 ? json_integer(time_ns) : json_null();
}

static json_t *in_file(const record *r, const char *list, size_t place)
{
    json_t *found = json_array_get(json_object_get(r->root, list), place);
    return found ? json_incref(found) : json_null();
}

static json_t *timed(const record_values *configuration, int64_t time_ns, int64_t low_ns,
                     int64_t high_ns)
{
    json_t *out = json_object();
    json_put(&out, "configuration", record_pack_values(configuration));
    json_put(&out, "time_ns", time_or_null(time_ns));
    json_put(&out, "time_low_ns", time_or_null(low_ns));
    json_put(&out, "time_high_ns", time_or_null(high_ns));
    return out;
}

static json_t *entry_table(const record *r, const record_entry *e)
{
    json_t *contenders = json_array();
    json_t *out = timed(&e->configuration, e->time_ns, e->time_low_ns, e->time_high_ns);
    json_put(&out, "problem", record_pack_values(&e->problem));
    json_put(&out, "baseline",
             e->baseline.count
                 ? timed(&e->baseline, e->baseline_ns, e->baseline_low_ns, e->baseline_high_ns)
                 : json_null());
    for (size_t i = 0; i < e->contender_count; i++)
        json_append(&contenders,
                    timed(&e->contenders[i].configuration, e->contenders[i].time_ns,
                          e->contenders[i].time_low_ns, e->contenders[i].time_high_ns));
    json_put(&out, "contenders", contenders);
    json_put(&out, "speedup", number_or_null(e->speedup));
    json_put(&out, "gbps", number_or_null(e->gbps));
    json_put(&out, "gflops", number_or_null(e->gflops));
    json_put(&out, "gitems", number_or_null(e->gitems));
    json_put(&out, "item", text_or_null(e->item));
    json_put(&out, "ceiling", text_or_null(e->ceiling));
    json_put(&out, "ceiling_fraction", number_or_null(e->ceiling_fraction));
    json_put(&out, "warm_cache", json_boolean(e->warm_cache));
    json_put(&out, "after", text_or_null(e->after));
    json_put(&out, "energy", json_boolean(e->energy));
    json_put(&out, "oracle", json_string(e->oracle));
    json_put(&out, "date", text_or_null(e->date));
    json_put(&out, "tool", text_or_null(e->tool));
    json_put(&out, "effort", text_or_null(e->effort));
    json_put(&out, "script_hash", text_or_null(e->script_hash));
    json_put(&out, "template_hash", text_or_null(e->template_hash));
    json_put(&out, "source_hash", text_or_null(e->source_hash));
    json_put(&out, "file", in_file(r, "entries", e->place));
    return out;
}

static json_t *node_table(const record_portfolio *p, const record_node *n)
{
    json_t *out = json_object(), *order = json_array();
    const bool asks = n->variable != NULL, bounded = asks && !n->multiple_of;
    const char *variable = n->feature ? NULL : n->variable;
    for (size_t i = 0; !asks && i < p->configuration_count; i++)
        json_append(&order, json_integer(n->order[i]));
    json_put(&out, "variable", text_or_null(variable));
    json_put(&out, "feature", text_or_null(n->feature ? n->feature->name : NULL));
    json_put(&out, "of", n->feature ? json_integer((json_int_t)n->of) : json_null());
    json_put(&out, "times", text_or_null(n->times));
    json_put(&out, "below",
             bounded && value_is_number(n->bound) ? json_from_value(n->bound) : json_null());
    json_put(&out, "is",
             bounded && !value_is_number(n->bound) ? json_from_value(n->bound) : json_null());
    json_put(&out, "multiple_of", n->multiple_of ? json_integer(n->multiple_of) : json_null());
    json_put(&out, "then", asks ? json_integer((json_int_t)n->then) : json_null());
    json_put(&out, "otherwise", asks ? json_integer((json_int_t)n->otherwise) : json_null());
    json_put(&out, "order", order);
    json_put(&out, "default_at",
             !asks && n->has_default ? json_integer(n->default_at) : json_null());
    return out;
}

static json_t *portfolio_table(const record *r, const record_portfolio *p)
{
    json_t *out = json_object(), *configurations = json_array(), *tree = json_array();
    json_t *choose_by = json_object();
    for (size_t i = 0; i < p->configuration_count; i++)
        json_append(&configurations, record_pack_values(&p->configurations[i]));
    for (size_t i = 0; i < p->node_count; i++)
        json_append(&tree, node_table(p, &p->nodes[i]));
    for (size_t i = 0; i < p->feature_count; i++)
        json_put(&choose_by, p->features[i].name, json_string(p->features[i].definition));
    json_put(&out, "choose_by", choose_by);
    json_put(&out, "fixed", record_pack_values(&p->fixed));
    json_put(&out, "configurations", configurations);
    json_put(&out, "tree", tree);
    json_put(&out, "held_out", p->held_out ? json_integer((json_int_t)p->held_out) : json_null());
    json_put(&out, "mean_regret", p->held_out ? json_real(p->mean_regret) : json_null());
    json_put(&out, "worst_regret", p->held_out ? json_real(p->worst_regret) : json_null());
    json_put(&out, "date", text_or_null(p->date));
    json_put(&out, "file", in_file(r, "portfolios", p->place));
    return out;
}

static json_t *record_table(const record *r)
{
    char slug[PATHS_SLUG_BYTES];
    json_t *out = json_object(), *entries = json_array(), *portfolios = json_array();
    paths_slug(r->gpu, slug);
    for (size_t i = 0; i < r->entry_count; i++)
        json_append(&entries, entry_table(r, &r->entries[i]));
    for (size_t i = 0; i < r->portfolio_count; i++)
        json_append(&portfolios, portfolio_table(r, &r->portfolios[i]));
    json_put(&out, "pattern", json_string(r->pattern));
    json_put(&out, "gpu", json_string(r->gpu));
    json_put(&out, "slug", json_string(slug));
    json_put(&out, "major", json_integer(r->major));
    json_put(&out, "minor", json_integer(r->minor));
    json_put(&out, "path", r->path ? json_path(r->path) : json_null());
    json_put(&out, "entries", entries);
    json_put(&out, "portfolios", portfolios);
    json_put(&out, "file", r->root ? json_incref(r->root) : json_null());
    return out;
}

/* Packs source text, whose encoding is not checked. */
static json_t *source_text(const char *text)
{
    return text ? json_string_nocheck(text) : json_null();
}

static json_t *count_of(size_t n)
{
    return json_integer((json_int_t)n);
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
        json_append(&words, json_pack("{ss ss}", "text", c->words[i].text, "identifier",
                                      c->words[i].identifier));
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

/* Returns element `place` of the array that is member `name` of `of`, as a new reference. */
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
    for (size_t i = 0; i < m->comparison_count; i++)
        json_append(&seen, seen_table(m, &m->seen[i]));
    json_put(out, "records", records);
    json_put(out, "rows", rows);
    json_put(out, "portfolios", portfolios);
    json_put(out, "seen", seen);
}

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

/* ---- the whole table ---- */

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

/* Lists each compute capability once: sm_90 and sm_90a, for example, have the same limits. */
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

/* Makes the table for templates, a new reference. Files are named `stem` and an extension. */
static json_t *export_table(const export_model *const *models, size_t count, const char *stem)
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

/* ---- files ---- */

static bool is_taken(const export_files *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].name, name) == 0)
            return true;
    return false;
}

static void choose_name(const export_files *f, const char *name, char out[EXPORT_FILE_NAME_BYTES])
{
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot ? (size_t)(dot - name) : strlen(name));
    if (stem > EXPORT_FILE_NAME_BYTES - 40)
        stem = EXPORT_FILE_NAME_BYTES - 40;
    snprintf(out, EXPORT_FILE_NAME_BYTES, "%.*s%.20s", stem, name, dot ? dot : "");
    for (unsigned n = 2; is_taken(f, out); n++)
        snprintf(out, EXPORT_FILE_NAME_BYTES, "%.*s-%u%.20s", stem, name, n, dot ? dot : "");
}

/* Adds a file, which takes over `text`. If another file has this name, "-2", "-3" ... is inserted
 * before the extension. */
static void export_files_add(export_files *f, const char *name, char *text, size_t size_bytes)
{
    export_file file = {.text = text, .size_bytes = size_bytes};
    choose_name(f, name, file.name);
    memory_add(&f->files, &f->count, &file, sizeof file);
}

void export_files_deinit(export_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->files[i].text);
    free(f->files);
    *f = (export_files){0};
}

/* ---- exporters ---- */

static const exporter exporters[] = {
    {.name = "header", .extension = ".h", .template_name = "export/header.tmpl", .several = true},
    {.name = "cuda",
     .extension = ".cu",
     .template_name = "export/cuda.tmpl",
     .several = true,
     .pair = true,
     .kernels = true},
    {.name = "json", .extension = ".json", .template_name = "export/json.tmpl", .several = true},
    {.name = "wisdom", .extension = ".wisdom", .template_name = "export/wisdom.tmpl"},
    {.name = "t4", .extension = ".json", .template_name = "export/t4.tmpl"},
};

at_status exporter_find(const char *name, const exporter **out, at_error *error)
{
    char known[256] = "";
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++) {
        if (strcmp(exporters[i].name, name) == 0) {
            *out = &exporters[i];
            return AT_OK;
        }
        text_add(known, sizeof known, "%s%s", i ? ", " : "", exporters[i].name);
    }
    return error_set(error, AT_USAGE, "no format '%.80s'; there is: %s", name, known);
}

at_status exporter_write(const exporter *e, const export_model *const *models, size_t count,
                         const char *stem, export_files *files, at_error *error)
{
    char unnamed[EXPORT_FILE_NAME_BYTES];
    rendered texts;
    json_t *data = export_table(models, count, stem);
    at_status status = script_render_files(e->template_name, e->path, data, &texts, error);
    json_decref(data);
    snprintf(unnamed, sizeof unnamed, "%.100s%s", stem, e->extension);
    for (size_t i = 0; i < texts.count && !status; i++) {
        rendered_file *f = &texts.files[i];
        if (f->name[0] == '\0' && f->size_bytes == 0 && !e->path)
            continue;
        export_files_add(files, f->name[0] ? f->name : unnamed, f->text, f->size_bytes);
        f->text = NULL;
    }
    rendered_deinit(&texts);
    return status;
}
