#include "export/prelude.h"

#include <string.h>

#include "device/field.h"
#include "export/text.h"
#include "record/pick.h"

static const char text[] = {
#include "prelude.h.inc"
};

static const struct {
    const char *constant, *meaning;
} rules[PICK_RULES] = {
    [PICK_EXACT] = {"EXACT", "measured on this GPU and problem"},
    [PICK_PORTFOLIO] = {"PORTFOLIO", "on this GPU, for a range of problems"},
    [PICK_NEAREST] = {"NEAREST", "on this GPU, for the nearest problem"},
    [PICK_CAPABILITY] = {"CAPABILITY", "on a GPU of the same compute capability"},
    [PICK_MAJOR] = {"MAJOR", "on a GPU of the same major compute capability"},
    [PICK_DEFAULT] = {"DEFAULT", "not measured: the pattern's default"},
    [PICK_OTHER] = {"OTHER", "on another GPU; the default is impossible"},
    [PICK_NONE] = {"NONE", "nothing that is known is possible: do not launch"},
};

static void print_rules(const export_model *m, FILE *to)
{
    (void)m;
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    AUTOTUNE_RULE_%s%s /* %s */\n", rules[r].constant,
                r + 1 < PICK_RULES ? "," : "", rules[r].meaning);
}

static void print_rule_names(const export_model *m, FILE *to)
{
    (void)m;
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    case AUTOTUNE_RULE_%s:\n        return \"%s\";\n", rules[r].constant,
                pick_rule_name((pick_rule)r));
}

static void print_device_fields(const export_model *m, FILE *to)
{
    static const char *const types[] = {[DEVICE_FIELD_INT] = "int64_t ",
                                        [DEVICE_FIELD_SIZE] = "int64_t ",
                                        [DEVICE_FIELD_DOUBLE] = "double ",
                                        [DEVICE_FIELD_TEXT] = "const char *"};
    size_t count;
    const device_field *fields = device_fields(&count);
    (void)m;
    for (size_t i = 0; i < count; i++)
        fprintf(to, "    %s%s;\n", types[fields[i].kind], fields[i].name);
}

static void print_device_values(const export_model *m, FILE *to)
{
    size_t count;
    const device_field *fields = device_fields(&count);
    (void)m;
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[i].name;
        bool given =
            strcmp(name, "name") == 0 || strcmp(name, "major") == 0 || strcmp(name, "minor") == 0;
        fprintf(to, "%s%s", i ? ", " : "", given ? name : "0");
    }
}

static void print_element_bytes(const export_model *m, FILE *to)
{
    (void)m;
    for (int i = 0; i < DTYPE_COUNT; i++)
        fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return %zu;\n",
                dtype_get((dtype)i)->name, (size_t)dtype_get((dtype)i)->size_bytes);
}

static void print_floats(const export_model *m, FILE *to)
{
    (void)m;
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (dtype_get((dtype)i)->is_float)
            fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return true;\n",
                    dtype_get((dtype)i)->name);
}

static void print_unlike(const export_model *m, FILE *to)
{
    (void)m;
    fprintf(to, "%.1f", PICK_UNLIKE);
}

void export_print_prelude(const export_model *m, FILE *to)
{
    static const export_slot slots[] = {
        {"rules", print_rules, NULL},
        {"rule_names", print_rule_names, NULL},
        {"device_fields", print_device_fields, NULL},
        {"device_values", print_device_values, NULL},
        {"element_bytes", print_element_bytes, NULL},
        {"floats", print_floats, NULL},
        {"unlike", print_unlike, NULL},
    };
    export_print_text(m, text, slots, to);
}
