#include "cmd/export/exported.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/line/series.h"
#include "library/pattern.h"

static const export_type derived_types[] = {[TERM_WHOLE] = EXPORT_LONG,
                                            [TERM_NUMBER] = EXPORT_NUMBER,
                                            [TERM_TRUTH] = EXPORT_BOOLEAN,
                                            [TERM_TEXT] = EXPORT_WORD};

bool exported_spell(void *model, const char *name, term_type *type, char *text, size_t size_bytes)
{
    static const term_type types[] = {[EXPORT_INTEGER] = TERM_WHOLE,
                                      [EXPORT_LONG] = TERM_WHOLE,
                                      [EXPORT_NUMBER] = TERM_NUMBER,
                                      [EXPORT_BOOLEAN] = TERM_TRUTH,
                                      [EXPORT_WORD] = TERM_TEXT};
    const export_column *c = export_spell(model, name, text, size_bytes);
    if (c)
        *type = types[c->type];
    const export_derived *d = c ? NULL : export_spell_derived(model, name, text, size_bytes);
    if (d)
        *type = types[d->type];
    return c || d;
}

/* The forms of expressions in templates/export/header.h. */
static const c_text_form as_value = {NULL, 0}, to_derived = {"derived->value_", 8},
                         to_feature = {"value", 4};

/* Adds the derived values that C can express. Expressions that use other derived values contain
 * their definitions. */
static at_status add_derived(const script *s, export_model *out, at_error *error)
{
    at_status status = AT_OK;
    const char *name = "";
    for (size_t place = 0; name && !status; place++) {
        term_type type;
        char *c, *assignment = NULL;
        status = script_derived_c(s, place, exported_spell, out, as_value, &name, &type, &c, error);
        if (!status && c)
            status = script_derived_c(s, place, exported_spell, out, to_derived, &name, &type,
                                      &assignment, error);
        if (!status && c && assignment)
            export_model_add_derived(out, name, derived_types[type], c, assignment);
        else
            free(c);
    }
    return status;
}

/* Adds the features that are numbers and that C can express. */
static at_status add_features(const script *s, export_model *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    at_status status = AT_OK;
    for (size_t i = 0; i < p->feature_count && !status; i++) {
        term_type type = TERM_TEXT;
        char *c, *assignment = NULL;
        status = script_feature_c(s, i, exported_spell, out, as_value, &type, &c, error);
        if (!status && c && type <= TERM_NUMBER)
            status =
                script_feature_c(s, i, exported_spell, out, to_feature, &type, &assignment, error);
        if (assignment)
            export_model_set_feature(out, i, c, assignment);
        else
            free(c);
    }
    return status;
}

at_status exported_model(const char *pattern_name, const record_set *records, const script *s,
                         export_model *out, at_error *error)
{
    const pattern *p = s ? script_pattern(s) : NULL;
    at_status status = export_model_init(out, pattern_name, records, p, error);
    if (p && !status)
        status = add_derived(s, out, error);
    if (p && !status)
        status = add_features(s, out, error);
    for (size_t i = 0; p && i < p->constraint_count && !status; i++) {
        char *c = NULL;
        status = script_constraint_c(s, i, exported_spell, out, &c, error);
        if (!status)
            export_model_add_constraint(out, p->constraints[i].text, c);
    }
    if (status)
        export_model_deinit(out);
    return status;
}

void kernel_problems_deinit(kernel_problems *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->problems[i].pairs);
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    free(p->problems);
    free(p->texts);
    *p = (kernel_problems){0};
}

/* Adds a problem unless it is in the list. `values` has all variables, in any order. */
static at_status add_problem(kernel_problems *p, const export_model *m, const record_values *values,
                             at_error *error)
{
    for (size_t i = 0; i < p->count; i++)
        if (record_same_values(&p->problems[i], values))
            return AT_OK;
    if (p->count == KERNELS_MOST_PROBLEMS)
        return error_set(error, AT_USAGE,
                         "--over gives more than %d problems, the most that kernels are made for",
                         KERNELS_MOST_PROBLEMS);
    record_values to = {0, memory_new(m->variable_count, sizeof *to.pairs)};
    for (; to.count < m->variable_count; to.count++)
        to.pairs[to.count] = (record_pair){m->variables[to.count].name,
                                           *record_get(values, m->variables[to.count].name)};
    memory_add(&p->problems, &p->count, &to, sizeof to);
    return AT_OK;
}

/* Adds the recorded problems or, with `sampled`, the problems that portfolios were made from. */
static at_status add_known(kernel_problems *p, const export_model *m, const record_set *records,
                           bool sampled, at_error *error)
{
    at_status status = AT_OK;
    for (size_t at = 0; at < records->count && !status; at++) {
        const record *r = &records->records[at];
        for (size_t i = 0; i < (sampled ? r->comparison_count : r->entry_count) && !status; i++) {
            const record_values *problem = sampled ? r->seen[i].problem : &r->entries[i].problem;
            if (export_has_variables(m, problem))
                status = add_problem(p, m, problem, error);
        }
    }
    return status;
}

/* Reads a value as the script reads --set. The value has the type of `like`. */
static at_status read_value(kernel_problems *p, value like, const char *text, value *out,
                            at_error *error)
{
    char *end = NULL;
    *out = like;
    if (like.kind == VALUE_INTEGER)
        out->integer = strtoll(text, &end, 0);
    else if (like.kind == VALUE_NUMBER)
        out->number = strtod(text, &end);
    else if (like.kind == VALUE_BOOLEAN)
        out->boolean = strcmp(text, "true") == 0;
    else {
        char *copy = memory_text(text);
        memory_add(&p->texts, &p->text_count, &copy, sizeof copy);
        out->string = copy;
    }
    if (end && (end == text || *end))
        return error_set(error, AT_USAGE, "--over: '%.80s' is not a number", text);
    return AT_OK;
}

/* Adds each combination of the values of sweep `at` of --over and the later sweeps. `pairs` has the
 * values of the earlier sweeps. */
static at_status add_swept(const options *o, size_t at, kernel_problems *p, const export_model *m,
                           record_pair *pairs, at_error *error)
{
    const record_values problem = {m->variable_count, pairs};
    if (at == o->sweep_count)
        return add_problem(p, m, &problem, error);
    series values = {0};
    const char *name = o->sweeps[at].name;
    size_t v = 0;
    while (v < m->variable_count && strcmp(pairs[v].name, name) != 0)
        v++;
    if (v == m->variable_count)
        return error_set(error, AT_USAGE, "--over: %s has no variable '%.80s'", m->pattern, name);
    if (!o->sweeps[at].text)
        return error_set(error, AT_USAGE, "--over %.80s needs values, for example %.80s=1024,2048",
                         name, name);
    value before = pairs[v].value;
    at_status status = series_parse(name, o->sweeps[at].text, &values, error);
    for (size_t i = 0; i < values.count && !status; i++) {
        status = read_value(p, before, values.texts[i], &pairs[v].value, error);
        if (!status)
            status = add_swept(o, at + 1, p, m, pairs, error);
    }
    pairs[v].value = before;
    series_deinit(&values);
    return status;
}

at_status exported_problems(const options *o, const export_model *m, const record_set *records,
                            const script *s, kernel_problems *p, at_error *error)
{
    record_pair pairs[RECORD_MAX_VALUES];
    library_script_problem(script_pattern(s), pairs);
    at_status status = add_known(p, m, records, false, error);
    if (!status && (o->sweep_count > 0 || o->run.pattern.variable_count > 0 || p->count == 0))
        status = add_swept(o, 0, p, m, pairs, error);
    p->wanted = p->count;
    return status ? status : add_known(p, m, records, true, error);
}
