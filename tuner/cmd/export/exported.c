#include "cmd/export/exported.h"

#include <stdlib.h>

#include "script/launch_c.h"

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

/* The forms that templates/export/header.h has. */
static const c_text_form as_value = {NULL, 0}, to_derived = {"derived->value_", 8},
                         to_feature = {"value", 4};

/* Adds the derived values that can be translated; the others are put in place. */
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

/* Adds the features that are numbers in C. */
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
