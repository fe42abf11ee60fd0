#include "cmd/export/exported.h"

#include <stdlib.h>

#include "script/constraint_c.h"

static const export_type derived_types[] = {[C_WHOLE] = EXPORT_LONG,
                                            [C_NUMBER] = EXPORT_NUMBER,
                                            [C_TRUTH] = EXPORT_BOOLEAN,
                                            [C_TEXT] = EXPORT_WORD};

bool exported_spell(void *model, const char *name, c_type *type, char *text, size_t size_bytes)
{
    static const c_type types[] = {[EXPORT_INTEGER] = C_WHOLE,
                                   [EXPORT_LONG] = C_WHOLE,
                                   [EXPORT_NUMBER] = C_NUMBER,
                                   [EXPORT_BOOLEAN] = C_TRUTH,
                                   [EXPORT_WORD] = C_TEXT};
    const export_column *c = export_spell(model, name, text, size_bytes);
    if (c)
        *type = types[c->type];
    const export_derived *d = c ? NULL : export_spell_derived(model, name, text, size_bytes);
    if (d)
        *type = types[d->type];
    return c || d;
}

/* What can be translated; what cannot is put in place. */
static at_status add_derived(const script *s, export_model *out, at_error *error)
{
    at_status status = AT_OK;
    const char *name = "";
    for (size_t place = 0; name && !status; place++) {
        c_type type;
        char *c;
        status = script_derived_c(s, place, exported_spell, out, &name, &type, &c, error);
        if (!status && c)
            status = export_model_add_derived(out, name, derived_types[type], c, error);
    }
    return status;
}

/* What has no number in C is no feature there. */
static at_status add_features(const script *s, export_model *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    at_status status = AT_OK;
    for (size_t i = 0; i < p->feature_count && !status; i++) {
        c_type type = C_TEXT;
        char *c;
        status = script_feature_c(s, i, exported_spell, out, &type, &c, error);
        if (!status && type <= C_NUMBER)
            export_model_set_feature(out, i, c);
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
            status = export_model_add_constraint(out, p->constraints[i].text, c, error);
    }
    if (status)
        export_model_deinit(out);
    return status;
}
