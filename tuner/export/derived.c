#include "export/derived.h"

#include <string.h>

#include "export/common_subexpression.h"

static const char *type_of(const export_derived *d)
{
    static const char *const types[] = {[EXPORT_LONG] = "int64_t ",
                                        [EXPORT_NUMBER] = "double ",
                                        [EXPORT_BOOLEAN] = "bool ",
                                        [EXPORT_WORD] = "const char *"};
    return types[d->type];
}

static void print_function(const export_model *m, const export_derived *d, FILE *to)
{
    fprintf(to,
            "\nAUTOTUNE_FUNCTION %sautotune_%s_derived_%s(\n"
            "    const autotune_device *device, const autotune_%s_problem *problem,\n"
            "    const autotune_%s_config *config, autotune_%s_derived *derived, int *failed)\n{\n",
            type_of(d), m->pattern, d->name, m->pattern, m->pattern, m->pattern);
    fputs("    (void)device;\n    (void)problem;\n    (void)config;\n    (void)failed;\n", to);
    char target[RECORD_NAME_BYTES + sizeof "derived->value_"];
    snprintf(target, sizeof target, "derived->value_%s", d->name);
    fprintf(to, "    if (!derived->has_%s) {\n", d->name);
    export_print_assignment(target, d->c, 8, to);
    fprintf(to, "        derived->has_%s = true;\n    }\n    return %s;\n}\n", d->name, target);
}

void export_print_derived(const export_model *m, FILE *to)
{
    if (m->derived_count == 0)
        return;
    fprintf(to,
            "\n/* What follows from device, problem and configuration. */\n"
            "typedef struct autotune_%s_derived {\n",
            m->pattern);
    for (size_t i = 0; i < m->derived_count; i++)
        fprintf(to, "    bool has_%s;\n    %svalue_%s;\n", m->derived[i].name,
                type_of(&m->derived[i]), m->derived[i].name);
    fprintf(to, "} autotune_%s_derived;\n", m->pattern);
    for (size_t i = 0; i < m->derived_count; i++)
        print_function(m, &m->derived[i], to);
}

bool export_calls_derived(const char *c)
{
    return strstr(c, ", derived, failed)") != NULL;
}

void export_print_underived(const export_model *m, FILE *to)
{
    fprintf(to, "    autotune_%s_derived values = {", m->pattern);
    for (size_t i = 0; i < m->derived_count; i++)
        fprintf(to, "%sfalse, %s", i ? ", " : "",
                m->derived[i].type == EXPORT_BOOLEAN ? "false" : "0");
    fputs("}, *derived = &values;\n", to);
}
