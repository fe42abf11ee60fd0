/* The C header: data and an inline look-up for C11, C++17 and CUDA, with nothing but the standard
 * library.
 *
 * Its look-up is record/pick.c in the header's own types; a test compiles a header and holds the two
 * together. */
#include <string.h>

#include "base/version.h"
#include "device/field.h"
#include "export/export.h"
#include "export/header.h"
#include "export/names.h"
#include "export/prelude.h"
#include "export/text.h"

static const char types[] = {
#include "types.h.inc"
};

/* Which fields of the device the constraints read, beside those that the look-up does. */
static void print_fields_read(const export_model *m, FILE *to)
{
    size_t count;
    const device_field *fields = device_fields(&count);
    for (size_t f = 0; f < count; f++) {
        char read[80];
        bool is_read = false;
        int length = snprintf(read, sizeof read, "device->%s", fields[f].name);
        for (size_t i = 0; i < m->constraint_count && !is_read; i++) {
            const char *at = m->constraints[i].c ? strstr(m->constraints[i].c, read) : NULL;
            is_read = at && !strchr("abcdefghijklmnopqrstuvwxyz_", at[length]);
        }
        if (is_read && strcmp(fields[f].name, "name") != 0 && strcmp(fields[f].name, "major") != 0 &&
            strcmp(fields[f].name, "minor") != 0)
            fprintf(to, "\n * %s", fields[f].name);
    }
}

static void print_intro(const export_model *m, FILE *to)
{
    const record_entry *first = NULL;
    for (size_t i = 0; i < m->row_count && !first; i++)
        first = m->rows[i].entry;
    fprintf(to,
            "/* %s: configurations that autotune %s found, and a look-up. C11 or C++17.\n"
            " *\n"
            " *     autotune_%s_problem problem = ",
            m->pattern, version_text(), m->pattern);
    if (first)
        export_print_values(m, m->variables, m->variable_count, &first->problem, 0, to);
    else
        fputs("{...}", to);
    fprintf(to,
            ";\n"
            " *     autotune_%s_choice choice = autotune_%s_find(&device, &problem);\n"
            " *\n"
            " * The launch is choice.config; choice.rule says how it was found. What the pattern's\n"
            " * constraints forbid on this device or for this problem is never given; what was no faster\n"
            " * than the default on a neighbouring problem, beyond noise, only where the default is impossible.\n"
            " * AUTOTUNE_RULE_NONE says that nothing is left.\n"
            " * In C++ all of it is constexpr, in CUDA for host and device. Fill autotune_device in with\n"
            " * autotune_device_of(), where <cuda_runtime.h> is included before; of its fields%s",
            m->pattern, m->pattern, m->constraint_count ? "\n * these are read: name major minor" : "");
    if (m->constraint_count)
        print_fields_read(m, to);
    else
        fputs(" name, major and\n * minor are read (the pattern's script was not at hand: no constraint is checked)", to);
    fprintf(to,
            ".\n * Written by 'autotune export %s --format header' from %zu results: change those, not\n"
            " * this. */\n",
            m->pattern, m->row_count);
}

static void print_enum(const export_model *m, const export_column *c, FILE *to)
{
    if (c->type != EXPORT_WORD)
        return;
    fprintf(to, "\ntypedef enum autotune_%s_%s_kind {\n", m->pattern, c->identifier);
    for (size_t i = 0; i < c->word_count; i++) {
        fputs("    ", to);
        export_print_word(m, c, &c->words[i], to);
        fprintf(to, " = %zu%s\n", i, i + 1 < c->word_count ? "," : "");
    }
    fprintf(to,
            "} autotune_%s_%s_kind;\n\n"
            "AUTOTUNE_FUNCTION const char *\n"
            "autotune_%s_%s_kind_name(autotune_%s_%s_kind kind)\n"
            "{\n"
            "    switch (kind) {\n",
            m->pattern, c->identifier, m->pattern, c->identifier, m->pattern, c->identifier);
    for (size_t i = 0; i < c->word_count; i++) {
        fputs("    case ", to);
        export_print_word(m, c, &c->words[i], to);
        fputs(":\n        return ", to);
        export_print_literal(c->words[i].text, to);
        fputs(";\n", to);
    }
    fputs("    }\n    return \"\";\n}\n", to);
}

static void print_struct(const export_model *m, const char *what, const export_column *columns,
                         size_t count, FILE *to)
{
    static const char *const names[] = {[EXPORT_INTEGER] = "int",
                                        [EXPORT_LONG] = "int64_t",
                                        [EXPORT_NUMBER] = "double",
                                        [EXPORT_BOOLEAN] = "bool"};
    fprintf(to, "\ntypedef struct autotune_%s_%s {\n", m->pattern, what);
    for (size_t i = 0; i < count; i++) {
        const export_column *c = &columns[i];
        if (c->type == EXPORT_WORD)
            fprintf(to, "    autotune_%s_%s_kind %s;\n", m->pattern, c->identifier, c->identifier);
        else
            fprintf(to, "    %s %s;\n", names[c->type], c->identifier);
    }
    if (count == 0)
        fputs("    char nothing;\n", to);
    fprintf(to, "} autotune_%s_%s;\n", m->pattern, what);
}

static void print_types(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->column_count; i++)
        print_enum(m, &m->columns[i], to);
    print_struct(m, "problem", m->variables, m->variable_count, to);
    print_struct(m, "config", m->parameters, m->parameter_count, to);
    fputs("\n", to);
    export_print_text(m, types, to);
}

static void print_entry(const export_model *m, const export_row *r, FILE *to)
{
    const record_values none = {0};
    fputs("        const autotune_", to);
    fprintf(to, "%s_entry entry = {\n            ", m->pattern);
    export_print_literal(r ? r->from->gpu : "", to);
    fprintf(to, ", %d, %d, %d, %d,\n            ", r ? r->from->major : 0, r ? r->from->minor : 0,
            r && !r->entry ? (int)r->portfolio : -1, r ? (int)r->place : 0);
    export_print_values(m, m->variables, m->variable_count, r && r->entry ? &r->entry->problem : &none, 12,
                 to);
    fputs(",\n            ", to);
    export_print_values(m, m->parameters, m->parameter_count, r ? r->configuration : &m->defaults, 12, to);
    fputs(",\n            ", to);
    export_print_long(r && r->entry ? r->entry->time_ns : 0, to);
    fputs("};\n        return entry;\n    }\n", to);
}

static void print_tables(const export_model *m, FILE *to)
{
    export_print_text(m,
               "\n/* How many configurations are recorded, and each of them. */\n"
               "AUTOTUNE_FUNCTION int autotune_$_count(void)\n"
               "{\n",
               to);
    fprintf(to, "    return %zu;\n}\n\n", m->row_count);
    export_print_text(m,
               "AUTOTUNE_FUNCTION autotune_$_entry autotune_$_at(int i)\n"
               "{\n"
               "    switch (i) {\n",
               to);
    for (size_t i = 0; i + 1 < m->row_count; i++) {
        fprintf(to, "    case %zu: {\n", i);
        print_entry(m, &m->rows[i], to);
    }
    fputs("    default: {\n", to);
    print_entry(m, m->row_count ? &m->rows[m->row_count - 1] : NULL, to);
    export_print_text(m,
               "    }\n"
               "}\n"
               "\n/* The pattern's default, which is fair on any GPU. */\n"
               "AUTOTUNE_FUNCTION autotune_$_config autotune_$_default(void)\n"
               "{\n"
               "    const autotune_$_config config =\n        ",
               to);
    export_print_values(m, m->parameters, m->parameter_count, &m->defaults, 8, to);
    fputs(";\n    return config;\n}\n", to);
}

static bool can_fail(const export_model *m)
{
    for (size_t i = 0; i < m->constraint_count; i++)
        if (m->constraints[i].c && strstr(m->constraints[i].c, "failed)"))
            return true;
    return false;
}

static void print_fits(const export_model *m, FILE *to)
{
    export_print_text(m,
               "\n/* Do the pattern's constraints allow a configuration on this device, for this problem? */\n"
               "AUTOTUNE_FUNCTION bool autotune_$_fits(\n"
               "    const autotune_device *device, const autotune_$_problem *problem,\n"
               "    const autotune_$_config *config)\n"
               "{\n"
               "    int broken = 0;\n"
               "    (void)device;\n"
               "    (void)problem;\n"
               "    (void)config;\n",
               to);
    if (can_fail(m))
        fputs("    int *failed = &broken;\n", to);
    for (size_t i = 0; i < m->constraint_count; i++) {
        const export_constraint *c = &m->constraints[i];
        if (c->c)
            fprintf(to, "    if (!(%s))\n        return false;\n", c->c);
    }
    fputs("    return broken == 0;\n}\n", to);
}

static void print_leaf(const record_portfolio *p, const record_node *n, FILE *to)
{
    fprintf(to, "return index < 0 ? %d", n->has_default ? n->default_at : -1);
    for (size_t i = 0; i + 1 < p->configuration_count; i++)
        fprintf(to, " : index == %d ? %zu", n->order[i], i);
    fprintf(to, " : %zu;\n", p->configuration_count - 1);
}

/* What a node asks, in C. What cannot be asked of a type is never so, as record/pick.c has it. */
static void print_question(const export_model *m, const record_node *n, FILE *to)
{
    const export_column *c = export_find_variable(m, n->variable);
    const export_column *times = n->times ? export_find_variable(m, n->times) : c;
    bool number = n->bound.kind == VALUE_INTEGER || n->bound.kind == VALUE_NUMBER;
    if (n->multiple_of && c->type <= EXPORT_LONG) {
        fprintf(to, "problem->%s %% ", c->identifier);
        export_print_long(n->multiple_of, to);
        fputs(" == 0", to);
    } else if (n->multiple_of || (number && (c->type > EXPORT_NUMBER || times->type > EXPORT_NUMBER))) {
        fputs("false", to);
    } else if (number) {
        fprintf(to, "(double)problem->%s", c->identifier);
        if (n->times)
            fprintf(to, " * (double)problem->%s", times->identifier);
        fprintf(to, " < (double)%.17g",
                n->bound.kind == VALUE_INTEGER ? (double)n->bound.integer : n->bound.number);
    } else {
        fprintf(to, "problem->%s == ", c->identifier);
        export_print_value(m, c, n->bound, to);
    }
}

/* Nodes are numbered; children come behind their parents. */
static void print_tree(const export_model *m, const record_portfolio *p, FILE *to)
{
    for (size_t i = 0; i < p->node_count; i++) {
        const record_node *n = &p->nodes[i];
        fprintf(to, "        if (node == %zu) {\n            ", i);
        if (!n->variable) {
            print_leaf(p, n, to);
        } else {
            fputs("node = ", to);
            print_question(m, n, to);
            fprintf(to, " ? %zu : %zu;\n", n->then, n->otherwise);
        }
        fputs("        }\n", to);
    }
}

static void print_portfolios(const export_model *m, FILE *to)
{
    export_print_text(m,
               "\n/* The place of a portfolio's configuration in the order for this problem; -1: the\n"
               " * portfolio is not for it. Of index -1: how many come before the default; -1: the\n"
               " * tree does not say. */\n"
               "AUTOTUNE_FUNCTION int autotune_$_place(\n"
               "    int portfolio, int index, const autotune_$_problem *problem)\n"
               "{\n"
               "    (void)index;\n"
               "    (void)problem;\n",
               to);
    /* nvcc warns of what is set and not used. */
    fputs(m->portfolio_count ? "    int node = 0;\n" : "", to);
    for (size_t p = 0; p < m->portfolio_count; p++) {
        const record_portfolio *portfolio = m->portfolios[p];
        fprintf(to, "    if (portfolio == %zu", p);
        for (size_t i = 0; i < portfolio->fixed.count; i++) {
            const export_column *c = export_find_variable(m, portfolio->fixed.pairs[i].name);
            fprintf(to, " &&\n        problem->%s == ", c->identifier);
            export_print_value(m, c, portfolio->fixed.pairs[i].value, to);
        }
        fputs(") {\n", to);
        print_tree(m, portfolio, to);
        fputs("    }\n", to);
    }
    fputs("    return portfolio < 0 ? 0 : -1;\n}\n", to);
}

/* That the configuration at hand has this one's value of a parameter. */
static void print_has(const export_model *m, const export_column *c, const char *before,
                      const record_values *configuration, FILE *to)
{
    fprintf(to, "%sconfig->%s == ", before, c->identifier);
    export_print_value(m, c, *record_get(configuration, c->name), to);
}

static void print_seen(const export_model *m, FILE *to)
{
    export_print_text(m,
               "\n/* Was an entry's configuration faster than the default, beyond noise, on the nearest problem on\n"
               " * which its GPU has timed both? So too where it has timed them on none. A portfolio's tree may\n"
               " * say it itself. */\n"
               "AUTOTUNE_FUNCTION bool autotune_$_faster(int entry, const autotune_$_problem *problem)\n"
               "{\n"
               "    bool faster = true;\n"
               "    (void)entry;\n"
               "    (void)problem;\n",
               to);
    fputs(m->seen_count ? "    double distance = 0, nearest = -1;\n" : "", to);
    for (size_t i = 0; i < m->seen_count; i++) {
        const export_seen *s = &m->seen[i];
        const char *or = "    if (";
        for (size_t r = 0; r < m->row_count; r++)
            if (export_tells_of(m, s, &m->rows[r])) {
                fprintf(to, "%sentry == %zu", or, r);
                or = " || ";
            }
        export_print_text(m, ") {\n        const autotune_$_problem seen = ", to);
        export_print_values(m, m->variables, m->variable_count, s->seen->problem, 12, to);
        export_print_text(m, ";\n        distance = autotune_$_distance(&seen, problem);\n", to);
        fprintf(to,
                "        if (nearest < 0 || distance < nearest) {\n"
                "            nearest = distance;\n"
                "            faster = %s;\n"
                "        }\n"
                "    }\n",
                s->seen->standing == RECORD_FASTER ? "true" : "false");
    }
    fputs("    return faster;\n}\n", to);
}

static void print_distance(const export_model *m, FILE *to)
{
    export_print_text(m,
               "\n/* How far two problems are apart. */\n"
               "AUTOTUNE_FUNCTION double autotune_$_distance(\n"
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
    export_print_text(m,
               "    return distance;\n"
               "}\n"
               "\n"
               "AUTOTUNE_FUNCTION bool autotune_$_same(\n"
               "    const autotune_$_problem *a, const autotune_$_problem *b)\n"
               "{\n",
               to);
    if (m->variable_count == 0)
        fputs("    (void)a;\n    (void)b;\n", to);
    fputs(m->variable_count ? "    return " : "    return true", to);
    for (size_t i = 0; i < m->variable_count; i++)
        fprintf(to, "%sa->%s == b->%s", i ? " &&\n           " : "", m->variables[i].identifier,
                m->variables[i].identifier);
    fputs(";\n}\n", to);
}

static void print_field(const export_use *u, size_t field, FILE *to)
{
    size_t count;
    const device_field *f = &device_fields(&count)[field];
    const char *at = (const char *)&u->device + f->offset;
    switch (f->kind) {
    case DEVICE_FIELD_INT:
        fprintf(to, "device->%s == %d", f->name, *(const int *)(const void *)at);
        break;
    case DEVICE_FIELD_SIZE:
        fprintf(to, "device->%s == INT64_C(%zu)", f->name, *(const size_t *)(const void *)at);
        break;
    case DEVICE_FIELD_DOUBLE:
        fprintf(to, "device->%s == %.17g", f->name, *(const double *)(const void *)at);
        break;
    case DEVICE_FIELD_TEXT:
        fprintf(to, "autotune_same_text(device->%s, ", f->name);
        export_print_literal(at, to);
        fputs(")", to);
        break;
    }
}

static void print_use(const export_model *m, const export_use *u, FILE *to)
{
    const char *and = "";
    fputs("    if (", to);
    for (size_t i = 0; i < m->parameter_count; i++, and = " &&\n        ")
        print_has(m, &m->parameters[i], and, u->configuration, to);
    for (size_t i = 0; i < u->condition_count; i++, and = " &&\n        ") {
        size_t index = u->conditions[i].index;
        fputs(and, to);
        if (u->conditions[i].of_device) {
            print_field(u, index, to);
            continue;
        }
        fprintf(to, "problem->%s == ", m->variables[index].identifier);
        export_print_value(m, &m->variables[index], u->problem->pairs[index].value, to);
    }
    fprintf(to, "%s)\n        return %zu;\n", *and ? "" : "true", u->source);
}

static void print_kernel(const export_model *m, FILE *to)
{
    export_print_text(m,
                      "\n/* Which of the sources has a configuration's kernels for this problem and device: there\n"
                      " * are sizes and limits in some. -1: none has. */\n"
                      "AUTOTUNE_FUNCTION int autotune_$_kernel(\n"
                      "    const autotune_device *device, const autotune_$_problem *problem,\n"
                      "    const autotune_$_config *config)\n"
                      "{\n"
                      "    (void)device;\n"
                      "    (void)problem;\n"
                      "    (void)config;\n",
                      to);
    for (size_t i = 0; i < m->kernels.use_count; i++)
        print_use(m, &m->kernels.uses[i], to);
    fputs("    return -1;\n}\n", to);
}

/* Is there a constraint that cannot be said in C? */
static bool has_untold(const export_model *m)
{
    for (size_t i = 0; i < m->constraint_count; i++)
        if (!m->constraints[i].c)
            return true;
    return false;
}

static void print_find(const export_model *m, FILE *to)
{
    export_print_text(
        m,
        "\n/* The best configuration known for a device and a problem: measured on this GPU and\n"
        " * problem, else of this GPU's portfolio, else on this GPU for the nearest problem, else on a\n"
        " * GPU of the same compute capability, else of the same major one, else the default; and the\n"
        " * default where that is no faster. */\n"
        "AUTOTUNE_FUNCTION autotune_$_choice\n"
        "autotune_$_find(const autotune_device *device, const autotune_$_problem *problem)\n"
        "{\n"
        "    const autotune_$_choice fallback = {AUTOTUNE_RULE_DEFAULT, autotune_$_default(), -1};\n"
        "    autotune_$_choice best = {AUTOTUNE_RULE_NONE, autotune_$_default(), -1};\n"
        "    autotune_rule rank = AUTOTUNE_RULE_NONE;\n"
        "    bool has_default = false;\n"
        "    double nearest = 0;\n"
        "    int i = 0;\n"
        "    if (autotune_$_fits(device, problem, &fallback.config)",
        to);
    if (m->launch.statements)
        export_print_text(m, " &&\n        autotune_$_kernel(device, problem, &fallback.config) >= 0", to);
    export_print_text(
        m,
        ") {\n"
        "        has_default = true;\n"
        "        best = fallback;\n"
        "        rank = best.rule;\n"
        "    }\n"
        "    for (i = 0; i < autotune_$_count(); i++) {\n"
        "        const autotune_$_entry e = autotune_$_at(i);\n"
        "        autotune_rule rule = AUTOTUNE_RULE_OTHER;\n"
        "        int place = autotune_$_place(e.portfolio, e.place, problem);\n"
        "        double distance = e.portfolio < 0 ? autotune_$_distance(&e.problem, problem) : place;\n"
        "        int ahead = e.portfolio < 0 ? -1 : autotune_$_place(e.portfolio, -1, problem);\n"
        "        bool as_good = false; /* the default */\n"
        "        if (place < 0)\n"
        "            continue;\n"
        "        if (autotune_same_text(e.gpu, device->name))\n"
        "            rule = AUTOTUNE_RULE_NEAREST;\n"
        "        else if (e.major == device->major)\n"
        "            rule = e.minor == device->minor ? AUTOTUNE_RULE_CAPABILITY\n"
        "                                            : AUTOTUNE_RULE_MAJOR;\n",
        to);
    export_print_text(
        m,
        "        if (rule == AUTOTUNE_RULE_NEAREST && e.portfolio >= 0)\n"
        "            rule = AUTOTUNE_RULE_PORTFOLIO;\n"
        "        else if (rule == AUTOTUNE_RULE_NEAREST && autotune_$_same(&e.problem, problem))\n"
        "            rule = AUTOTUNE_RULE_EXACT;\n"
        "        else if (e.portfolio >= 0)\n"
        "            distance -= 1000;\n",
        to);
    /* What cannot be checked is given for what it was measured on alone. */
    if (has_untold(m))
        fputs("        if (rule != AUTOTUNE_RULE_EXACT)\n            continue;\n", to);
    if (m->launch.statements)
        export_print_text(m,
                          "        if (autotune_$_kernel(device, problem, &e.config) < 0)\n"
                          "            continue;\n",
                          to);
    export_print_text(
        m,
        "        if (rule > rank || (rule == rank && distance >= nearest))\n"
        "            continue;\n"
        "        if (!autotune_$_fits(device, problem, &e.config))\n"
        "            continue;\n"
        "        as_good = has_default && rule != AUTOTUNE_RULE_EXACT &&\n"
        "                  (ahead < 0 ? !autotune_$_faster(i, problem) : place >= ahead);\n",
        to);
    fprintf(to,
            "        /* Other configurations of a portfolio come before the default in its place. */\n"
            "        if (as_good && e.portfolio >= 0)\n"
            "            distance += %d;\n",
            RECORD_MAX_KEPT);
    export_print_text(
        m,
        "        if (rule == rank && distance >= nearest)\n"
        "            continue;\n"
        "        rank = rule;\n"
        "        nearest = distance;\n"
        "        best = fallback;\n"
        "        if (as_good)\n"
        "            continue;\n"
        "        best.rule = rule;\n"
        "        best.config = e.config;\n"
        "        best.entry = i;\n"
        "    }\n"
        "    return best;\n"
        "}\n",
        to);
}

void export_print_header(const export_model *m, FILE *to)
{
    print_intro(m, to);
    /* Constants have no small letters: none is the guard. */
    export_print_text(m, "#ifndef AUTOTUNE_EXPORTED_$_h\n#define AUTOTUNE_EXPORTED_$_h\n", to);
    fputs("\n"
          "#include <stdbool.h>\n"
          "#include <stddef.h>\n"
          "#include <stdint.h>\n"
          "#include <string.h>\n\n",
          to);
    export_print_prelude(to);
    print_types(m, to);
    print_tables(m, to);
    print_distance(m, to);
    print_fits(m, to);
    print_portfolios(m, to);
    print_seen(m, to);
    if (m->launch.statements)
        print_kernel(m, to);
    print_find(m, to);
    fputs("\n#endif\n", to);
}

static at_status write_header(const export_model *const *models, size_t count, const char *stem,
                              export_files *files, at_error *error)
{
    char name[EXPORT_FILE_NAME_BYTES];
    FILE *to;
    snprintf(name, sizeof name, "%.100s.h", stem);
    at_status status = export_check_names(models, count, error);
    if (!status)
        status = export_files_open(files, name, &to, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "\n" : "", to);
        export_print_header(models[i], to);
    }
    return export_files_close(files, error);
}

const exporter export_header = {
    .name = "header",
    .summary = "C header with all recorded configurations and an inline look-up (C11, C++17)",
    .extension = ".h",
    .several = true,
    .write = write_header,
};
