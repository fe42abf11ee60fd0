/* The C header: data and an inline look-up for C11 and C++17, with nothing but the standard
 * library.
 *
 * Its look-up is record/pick.c in the header's own types; a test compiles a header and holds the two
 * together. Texts from records appear as string literals alone, with everything but plain
 * characters escaped, so that no record can put code into the file. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "record/pick.h"
#include "base/version.h"
#include "base/units.h"

enum { PAGE_COLUMNS = 98 };

static void print_upper(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), to);
}

/* Three octal digits always, so that a digit behind is not taken in; '?' for the trigraphs' sake,
 * '*' so that no text can end a comment put around it. */
static void print_literal(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c < 0x7F && !strchr("\"\\?*", c))
            fputc(c, to);
        else
            fprintf(to, "\\%03o", c);
    }
    fputc('"', to);
}

/* '$' stands for the pattern's name. */
static void print_text(const export_model *m, const char *text, FILE *to)
{
    for (; *text; text++) {
        if (*text == '$')
            fputs(m->pattern, to);
        else
            fputc(*text, to);
    }
}

static void print_word(const export_model *m, const export_column *c, const export_word *w,
                       FILE *to)
{
    fputs("AUTOTUNE_", to);
    print_upper(m->pattern, to);
    fputc('_', to);
    print_upper(c->identifier, to);
    fprintf(to, "_%s", w->identifier);
}

static double number_of(value v)
{
    if (v.kind == VALUE_NUMBER)
        return v.number;
    return v.kind == VALUE_BOOLEAN ? v.boolean : (double)v.integer;
}

static void print_long(int64_t v, FILE *to)
{
    if (v == INT64_MIN)
        fputs("INT64_MIN", to);
    else if (v > INT32_MAX || v < -INT32_MAX)
        fprintf(to, "INT64_C(%" PRId64 ")", v);
    else
        fprintf(to, "%" PRId64, v);
}

static void print_number(double v, FILE *to)
{
    char text[40];
    if (!isfinite(v))
        v = 0;
    value_format((value){.kind = VALUE_NUMBER, .number = v}, text, sizeof text);
    fputs(text, to);
}

static void print_value(const export_model *m, const export_column *c, value v, FILE *to)
{
    switch (c->type) {
    case EXPORT_INTEGER:
    case EXPORT_LONG:
        print_long(v.integer, to);
        break;
    case EXPORT_NUMBER:
        print_number(number_of(v), to);
        break;
    case EXPORT_BOOLEAN:
        fputs(v.boolean ? "true" : "false", to);
        break;
    case EXPORT_WORD:
        print_word(m, c, export_find_word(c, v), to);
        break;
    }
}

/* How long what print_value() prints is. */
static size_t value_width(const export_model *m, const export_column *c, value v)
{
    char text[512] = "";
    FILE *to = fmemopen(text, sizeof text, "w");
    if (!to)
        return 0;
    print_value(m, c, v, to);
    fclose(to);
    return strlen(text);
}

/* {1, 2, AUTOTUNE_...}, continued on the next line where the page ends; `column` is where it
 * starts. A struct without members is not C, hence the 0. */
static void print_values(const export_model *m, const export_column *columns, size_t count,
                         const record_values *values, size_t column, FILE *to)
{
    size_t at = column + 1;
    fputc('{', to);
    for (size_t i = 0; i < count; i++) {
        value v = *record_get(values, columns[i].name);
        size_t width = value_width(m, &columns[i], v) + 2;
        if (i > 0 && at + width > PAGE_COLUMNS) {
            fprintf(to, ",\n%*s", (int)column + 1, "");
            at = column + 1;
        } else if (i > 0) {
            fputs(", ", to);
        }
        print_value(m, &columns[i], v, to);
        at += width;
    }
    fputs(count ? "}" : "0}", to);
}

static void print_intro(const export_model *m, FILE *to)
{
    fprintf(to,
            "/* %s: configurations that autotune %s found, and a look-up. C11 or C++17.\n"
            " *\n"
            " *     autotune_%s_problem problem = ",
            m->pattern, version_text(), m->pattern);
    if (m->row_count > 0)
        print_values(m, m->variables, m->variable_count, &m->rows[0].entry->problem, 0, to);
    else
        fputs("{...}", to);
    fprintf(
        to,
        ";\n"
        " *     autotune_%s_choice choice =\n"
        " *         autotune_%s_find(gpu_name, major, minor, &problem);\n"
        " *\n"
        " * gpu_name is what cuDeviceGetName() says, major and minor the compute capability. The\n"
        " * launch is choice.config; choice.rule says how it was found: one found for another "
        "problem\n"
        " * may be impossible for this one (a vector that does not divide it). Written by\n"
        " * 'autotune export %s --format header' from %zu results: change those, not this. */\n",
        m->pattern, m->pattern, m->pattern, m->row_count);
}

/* The same in every exported header; the first that is included defines it. */
static void print_common(FILE *to)
{
    fputs("#ifndef AUTOTUNE_RULE_DEFINED\n"
          "#define AUTOTUNE_RULE_DEFINED\n"
          "/* How a configuration was found, best first. */\n"
          "typedef enum autotune_rule {\n"
          "    AUTOTUNE_RULE_EXACT,      /* measured on this GPU and problem */\n"
          "    AUTOTUNE_RULE_NEAREST,    /* on this GPU, for the nearest problem */\n"
          "    AUTOTUNE_RULE_CAPABILITY, /* on a GPU of the same compute capability */\n"
          "    AUTOTUNE_RULE_MAJOR,      /* on a GPU of the same major compute capability */\n"
          "    AUTOTUNE_RULE_DEFAULT     /* not measured: the pattern's default */\n"
          "} autotune_rule;\n"
          "\n"
          "static inline const char *autotune_rule_name(autotune_rule rule)\n"
          "{\n"
          "    static const char *const names[] = {",
          to);
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "%s\"%s\"",
                r == 0   ? ""
                : r == 3 ? ",\n                                        "
                         : ", ",
                pick_rule_name((pick_rule)r));
    fprintf(to,
            "};\n"
            "    return names[rule];\n"
            "}\n"
            "\n"
            "/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by\n"
            " * their ratio. */\n"
            "static inline double autotune_scale(double x)\n"
            "{\n"
            "    double size = 1 + (x < 0 ? -x : x), power = 0;\n"
            "    if (!(size < 1e30))\n"
            "        size = 1e30;\n"
            "    while (size >= 2) {\n"
            "        size /= 2;\n"
            "        power += 1;\n"
            "    }\n"
            "    power += size - 1;\n"
            "    return x < 0 ? -power : power;\n"
            "}\n"
            "\n"
            "/* How far two sizes are apart. */\n"
            "static inline double autotune_apart(double a, double b)\n"
            "{\n"
            "    double d = autotune_scale(a) - autotune_scale(b);\n"
            "    return d < 0 ? -d : d;\n"
            "}\n"
            "\n"
            "/* What a variable adds that is no size and differs. */\n"
            "#define AUTOTUNE_UNLIKE %.1f\n"
            "#endif\n",
            PICK_UNLIKE);
}

static void print_enum(const export_model *m, const export_column *c, FILE *to)
{
    if (c->type != EXPORT_WORD)
        return;
    fprintf(to, "\ntypedef enum autotune_%s_%s_kind {\n", m->pattern, c->identifier);
    for (size_t i = 0; i < c->word_count; i++) {
        fputs("    ", to);
        print_word(m, c, &c->words[i], to);
        fprintf(to, " = %zu%s\n", i, i + 1 < c->word_count ? "," : "");
    }
    fprintf(to,
            "} autotune_%s_%s_kind;\n\n"
            "static inline const char *\n"
            "autotune_%s_%s_kind_name(autotune_%s_%s_kind kind)\n"
            "{\n"
            "    static const char *const names[] = {\n",
            m->pattern, c->identifier, m->pattern, c->identifier, m->pattern, c->identifier);
    for (size_t i = 0; i < c->word_count; i++) {
        fputs("        ", to);
        print_literal(c->words[i].text, to);
        fputs(i + 1 < c->word_count ? ",\n" : "};\n", to);
    }
    fputs("    return names[kind];\n}\n", to);
}

static void print_struct(const export_model *m, const char *what, const export_column *columns,
                         size_t count, FILE *to)
{
    static const char *const types[] = {[EXPORT_INTEGER] = "int",
                                        [EXPORT_LONG] = "int64_t",
                                        [EXPORT_NUMBER] = "double",
                                        [EXPORT_BOOLEAN] = "bool"};
    fprintf(to, "\ntypedef struct autotune_%s_%s {\n", m->pattern, what);
    for (size_t i = 0; i < count; i++) {
        const export_column *c = &columns[i];
        if (c->type == EXPORT_WORD)
            fprintf(to, "    autotune_%s_%s_kind %s;\n", m->pattern, c->identifier, c->identifier);
        else
            fprintf(to, "    %s %s;\n", types[c->type], c->identifier);
    }
    if (count == 0)
        fputs("    char nothing;\n", to);
    fprintf(to, "} autotune_%s_%s;\n", m->pattern, what);
}

static void print_types(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->variable_count; i++)
        print_enum(m, &m->variables[i], to);
    for (size_t i = 0; i < m->parameter_count; i++)
        print_enum(m, &m->parameters[i], to);
    print_struct(m, "problem", m->variables, m->variable_count, to);
    print_struct(m, "config", m->parameters, m->parameter_count, to);
    print_text(m,
               "\ntypedef struct autotune_$_entry {\n"
               "    const char *gpu;\n"
               "    int major, minor; /* compute capability */\n"
               "    autotune_$_problem problem;\n"
               "    autotune_$_config config;\n"
               "    int64_t time_ns; /* median of a launch */\n"
               "} autotune_$_entry;\n"
               "\n"
               "typedef struct autotune_$_choice {\n"
               "    autotune_rule rule;\n"
               "    autotune_$_config config;\n"
               "    const autotune_$_entry *entry; /* where it is from; NULL for the default */\n"
               "} autotune_$_choice;\n",
               to);
}

static void print_entry(const export_model *m, const export_row *r, FILE *to)
{
    fputs("        {", to);
    print_literal(r->from->gpu, to);
    fprintf(to, ", %d, %d,\n         ", r->from->major, r->from->minor);
    print_values(m, m->variables, m->variable_count, &r->entry->problem, 9, to);
    fputs(",\n         ", to);
    print_values(m, m->parameters, m->parameter_count, &r->entry->configuration, 9, to);
    fputs(",\n         ", to);
    print_long(r->entry->time_ns, to);
    fputs("},\n", to);
}

static void print_tables(const export_model *m, FILE *to)
{
    print_text(m,
               "\n/* Every recorded configuration. */\n"
               "static inline const autotune_$_entry *autotune_$_entries(size_t *count)\n"
               "{\n",
               to);
    if (m->row_count > 0) {
        print_text(m, "    static const autotune_$_entry entries[] = {\n", to);
        for (size_t i = 0; i < m->row_count; i++)
            print_entry(m, &m->rows[i], to);
        fputs("    };\n"
              "    *count = sizeof entries / sizeof *entries;\n"
              "    return entries;\n"
              "}\n",
              to);
    } else {
        fputs("    *count = 0;\n    return NULL;\n}\n", to);
    }
    print_text(m,
               "\n/* The pattern's default, which is fair on any GPU. */\n"
               "static inline autotune_$_config autotune_$_default(void)\n"
               "{\n"
               "    const autotune_$_config config =\n        ",
               to);
    print_values(m, m->parameters, m->parameter_count, &m->defaults, 8, to);
    fputs(";\n    return config;\n}\n", to);
}

static void print_distance(const export_model *m, FILE *to)
{
    print_text(m,
               "\n/* How far two problems are apart. */\n"
               "static inline double autotune_$_distance(\n"
               "    const autotune_$_problem *a, const autotune_$_problem *b)\n"
               "{\n"
               "    double distance = 0;\n",
               to);
    for (size_t i = 0; i < m->variable_count; i++) {
        const export_column *c = &m->variables[i];
        if (c->type == EXPORT_WORD || c->type == EXPORT_BOOLEAN)
            fprintf(to, "    distance += a->%s == b->%s ? 0 : AUTOTUNE_UNLIKE;\n", c->identifier,
                    c->identifier);
        else
            fprintf(to, "    distance += autotune_apart((double)a->%s, (double)b->%s);\n",
                    c->identifier, c->identifier);
    }
    if (m->variable_count == 0)
        fputs("    (void)a;\n    (void)b;\n", to);
    print_text(m,
               "    return distance;\n"
               "}\n"
               "\n"
               "static inline int autotune_$_same(\n"
               "    const autotune_$_problem *a, const autotune_$_problem *b)\n"
               "{\n",
               to);
    if (m->variable_count == 0)
        fputs("    (void)a;\n    (void)b;\n", to);
    fputs(m->variable_count ? "    return " : "    return 1", to);
    for (size_t i = 0; i < m->variable_count; i++)
        fprintf(to, "%sa->%s == b->%s", i ? " &&\n           " : "", m->variables[i].identifier,
                m->variables[i].identifier);
    fputs(";\n}\n", to);
}

static void print_find(const export_model *m, FILE *to)
{
    print_text(
        m,
        "\n/* The best configuration known for a GPU and a problem: measured on this GPU and\n"
        " * problem, else on this GPU for the nearest problem, else on a GPU of the same compute\n"
        " * capability, else of the same major one, else the default. */\n"
        "static inline autotune_$_choice\n"
        "autotune_$_find(const char *gpu, int major, int minor,\n"
        "    const autotune_$_problem *problem)\n"
        "{\n"
        "    size_t count, i;\n"
        "    double nearest = 0;\n"
        "    const autotune_$_entry *entries = autotune_$_entries(&count);\n"
        "    autotune_$_choice best;\n"
        "    best.rule = AUTOTUNE_RULE_DEFAULT;\n"
        "    best.config = autotune_$_default();\n"
        "    best.entry = NULL;\n"
        "    for (i = 0; i < count; i++) {\n"
        "        const autotune_$_entry *e = &entries[i];\n"
        "        autotune_rule rule = AUTOTUNE_RULE_MAJOR;\n"
        "        double distance = autotune_$_distance(&e->problem, problem);\n",
        to);
    print_text(
        m,
        "        if (strcmp(e->gpu, gpu) == 0)\n"
        "            rule = AUTOTUNE_RULE_NEAREST;\n"
        "        else if (e->major != major)\n"
        "            continue;\n"
        "        else if (e->minor == minor)\n"
        "            rule = AUTOTUNE_RULE_CAPABILITY;\n"
        "        if (rule == AUTOTUNE_RULE_NEAREST && autotune_$_same(&e->problem, problem))\n"
        "            rule = AUTOTUNE_RULE_EXACT;\n"
        "        if (rule < best.rule || (rule == best.rule && distance < nearest)) {\n"
        "            best.rule = rule;\n"
        "            best.config = e->config;\n"
        "            best.entry = e;\n"
        "            nearest = distance;\n"
        "        }\n"
        "    }\n"
        "    return best;\n"
        "}\n",
        to);
}

static void write_header(const export_model *m, FILE *to)
{
    print_intro(m, to);
    /* Constants have no small letters: none is the guard. */
    print_text(m, "#ifndef AUTOTUNE_EXPORTED_$_h\n#define AUTOTUNE_EXPORTED_$_h\n", to);
    fputs("\n"
          "#include <stdbool.h>\n"
          "#include <stddef.h>\n"
          "#include <stdint.h>\n"
          "#include <string.h>\n\n",
          to);
    print_common(to);
    print_types(m, to);
    print_tables(m, to);
    print_distance(m, to);
    print_find(m, to);
    fputs("\n#endif\n", to);
}

const exporter export_header = {
    .name = "header",
    .summary = "C header with all recorded configurations and an inline look-up (C11, C++17)",
    .write = write_header,
};
