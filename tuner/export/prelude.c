#include "export/prelude.h"

#include <string.h>

#include "device/field.h"
#include "record/pick.h"

static const char macros[] = {
#include "macros.h.inc"
};

static const char arithmetic[] = {
#include "arithmetic.h.inc"
};

/* The rest of the look-up, and the device that a program that has the CUDA runtime is on. */
static const char lookup[] = {
#include "lookup.h.inc"
};

static void print_rules(FILE *to)
{
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
    fputs("/* How a configuration was found, best first. */\n"
          "typedef enum autotune_rule {\n",
          to);
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    AUTOTUNE_RULE_%s%s /* %s */\n", rules[r].constant,
                r + 1 < PICK_RULES ? "," : "", rules[r].meaning);
    fputs("} autotune_rule;\n"
          "\n"
          "AUTOTUNE_FUNCTION const char *autotune_rule_name(autotune_rule rule)\n"
          "{\n"
          "    switch (rule) {\n",
          to);
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    case AUTOTUNE_RULE_%s:\n        return \"%s\";\n", rules[r].constant,
                pick_rule_name((pick_rule)r));
    fputs("    }\n    return \"\";\n}\n", to);
}

static void print_device(FILE *to)
{
    static const char *const types[] = {[DEVICE_FIELD_INT] = "int64_t ",
                                        [DEVICE_FIELD_SIZE] = "int64_t ",
                                        [DEVICE_FIELD_DOUBLE] = "double ",
                                        [DEVICE_FIELD_TEXT] = "const char *"};
    size_t count;
    const device_field *fields = device_fields(&count);
    fputs("\n"
          "/* The device at hand. `name` is what the driver calls it, `major` and `minor` are its compute\n"
          " * capability, sizes are in bytes; of the rest only what a pattern's constraints read counts. */\n"
          "typedef struct autotune_device {\n",
          to);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "    %s%s;\n", types[fields[i].kind], fields[i].name);
    fputs("} autotune_device;\n"
          "\n"
          "/* A device of which no more is known than this; the rest is 0. */\n"
          "AUTOTUNE_FUNCTION autotune_device\n"
          "autotune_device_named(const char *name, int major, int minor)\n"
          "{\n"
          "    const autotune_device device = {",
          to);
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[i].name;
        bool given = strcmp(name, "name") == 0 || strcmp(name, "major") == 0 ||
                     strcmp(name, "minor") == 0;
        fprintf(to, "%s%s", i ? ", " : "", given ? name : "0");
    }
    fputs("};\n    return device;\n}\n\n", to);
}

static void print_element_types(FILE *to)
{
    fputs("\n"
          "/* Bytes of an element. */\n"
          "AUTOTUNE_FUNCTION int64_t autotune_sizeof(const char *dtype, int *failed)\n"
          "{\n",
          to);
    for (int i = 0; i < DTYPE_COUNT; i++)
        fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return %zu;\n",
                dtype_get((dtype)i)->name, (size_t)dtype_get((dtype)i)->size_bytes);
    fputs("    *failed = 1;\n"
          "    return 1;\n"
          "}\n"
          "\n"
          "AUTOTUNE_FUNCTION bool autotune_is_float(const char *dtype, int *failed)\n"
          "{\n",
          to);
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (dtype_get((dtype)i)->is_float)
            fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return true;\n",
                    dtype_get((dtype)i)->name);
    fputs("    (void)autotune_sizeof(dtype, failed);\n"
          "    return false;\n"
          "}\n",
          to);
}

void export_print_prelude(FILE *to)
{
    fprintf(to, "%s\n", macros);
    print_rules(to);
    print_device(to);
    fputs(arithmetic, to);
    print_element_types(to);
    fprintf(to, "\n%s", lookup);
    fprintf(to,
            "\n"
            "/* What a variable adds that is no size and differs. */\n"
            "#define AUTOTUNE_UNLIKE %.1f\n"
            "#endif\n",
            PICK_UNLIKE);
}
