#include "cmd/export/exported.h"

#include "script/constraint_c.h"

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
    return c != NULL;
}

at_status exported_model(const char *pattern_name, const record_set *records, const script *s,
                         export_model *out, at_error *error)
{
    const pattern *p = s ? script_pattern(s) : NULL;
    at_status status = export_model_init(out, pattern_name, records, p, error);
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
