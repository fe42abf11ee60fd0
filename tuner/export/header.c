/* The C header: data and an inline look-up for C11, C++17 and CUDA, with nothing but the standard
 * library.
 *
 * templates/export/header.h has its text; what differs from pattern to pattern is printed here. Its
 * look-up is record/pick.c in the header's own types; a test compiles a header and holds the two
 * together. */
#include <string.h>

#include "base/version.h"
#include "device/field.h"
#include "export/common_subexpression.h"
#include "export/derived.h"
#include "export/export.h"
#include "export/header.h"
#include "export/names.h"
#include "export/prelude.h"
#include "export/text.h"

static const char text[] = {
#include "header.h.inc"
};

static const char kernel[] = {
#include "kernel.h.inc"
};

/* ---- the comment ---- */

static void print_example(const export_model *m, FILE *to)
{
    const record_entry *first = NULL;
    for (size_t i = 0; i < m->row_count && !first; i++)
        first = m->rows[i].entry;
    if (first)
        export_print_values(m, m->variables, m->variable_count, &first->problem, 0, to);
    else
        fputs("{...}", to);
}

/* `c`: an expression, or NULL. */
static bool is_read_by(const char *c, const char *field)
{
    char read[80];
    int length = snprintf(read, sizeof read, "device->%s", field);
    const char *at = c ? strstr(c, read) : NULL;
    return at && !strchr("abcdefghijklmnopqrstuvwxyz_", at[length]);
}

/* Which fields of the device the constraints and what they are derived from read, beside those that
 * the look-up does. */
static void print_fields_read(const export_model *m, FILE *to)
{
    size_t count;
    const device_field *fields = device_fields(&count);
    if (m->constraint_count == 0) {
        fputs(" name, major and\n * minor are read (the pattern's script was not at hand: no "
              "constraint is checked)",
              to);
        return;
    }
    fputs("\n * these are read: name major minor", to);
    for (size_t f = 0; f < count; f++) {
        const char *name = fields[f].name;
        bool is_read = false;
        for (size_t i = 0; i < m->constraint_count && !is_read; i++)
            is_read = is_read_by(m->constraints[i].c, name);
        for (size_t i = 0; i < m->derived_count && !is_read; i++)
            is_read = is_read_by(m->derived[i].c, name);
        if (is_read && strcmp(name, "name") != 0 && strcmp(name, "major") != 0 &&
            strcmp(name, "minor") != 0)
            fprintf(to, "\n * %s", name);
    }
}

/* ---- types ---- */

static void print_enum(const export_model *m, const export_column *c, FILE *to)
{
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

static void print_enums(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->column_count; i++)
        if (m->columns[i].type == EXPORT_WORD)
            print_enum(m, &m->columns[i], to);
}

static void print_members(const export_model *m, const export_column *columns, size_t count,
                          FILE *to)
{
    static const char *const names[] = {[EXPORT_INTEGER] = "int",
                                        [EXPORT_LONG] = "int64_t",
                                        [EXPORT_NUMBER] = "double",
                                        [EXPORT_BOOLEAN] = "bool"};
    for (size_t i = 0; i < count; i++) {
        const export_column *c = &columns[i];
        if (c->type == EXPORT_WORD)
            fprintf(to, "    autotune_%s_%s_kind %s;\n", m->pattern, c->identifier, c->identifier);
        else
            fprintf(to, "    %s %s;\n", names[c->type], c->identifier);
    }
    fputs(count == 0 ? "    char nothing;\n" : "", to);
}

static void print_problem_members(const export_model *m, FILE *to)
{
    print_members(m, m->variables, m->variable_count, to);
}

static void print_config_members(const export_model *m, FILE *to)
{
    print_members(m, m->parameters, m->parameter_count, to);
}

/* ---- entries ---- */

static void print_entry(const export_model *m, const export_row *r, FILE *to)
{
    const record_values none = {0};
    fputs("        const autotune_", to);
    fprintf(to, "%s_entry entry = {\n            ", m->pattern);
    export_print_literal(r ? r->from->gpu : "", to);
    fprintf(to, ", %d, %d, %d, %d,\n            ", r ? r->from->major : 0, r ? r->from->minor : 0,
            r && !r->entry ? (int)r->portfolio : -1, r ? (int)r->place : 0);
    export_print_values(m, m->variables, m->variable_count,
                        r && r->entry ? &r->entry->problem : &none, 12, to);
    fputs(",\n            ", to);
    export_print_values(m, m->parameters, m->parameter_count, r ? r->configuration : &m->defaults,
                        12, to);
    fputs(",\n            ", to);
    export_print_long(r && r->entry ? r->entry->time_ns : 0, to);
    fputs("};\n        return entry;\n    }\n", to);
}

static void print_entries(const export_model *m, FILE *to)
{
    for (size_t i = 0; i + 1 < m->row_count; i++) {
        fprintf(to, "    case %zu: {\n", i);
        print_entry(m, &m->rows[i], to);
    }
    fputs("    default: {\n", to);
    print_entry(m, m->row_count ? &m->rows[m->row_count - 1] : NULL, to);
}

static void print_default(const export_model *m, FILE *to)
{
    export_print_values(m, m->parameters, m->parameter_count, &m->defaults, 8, to);
}

/* ---- problems and constraints ---- */

static void print_distances(const export_model *m, FILE *to)
{
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
}

static void print_same(const export_model *m, FILE *to)
{
    fputs(m->variable_count ? "    return " : "    (void)a;\n    (void)b;\n    return true", to);
    for (size_t i = 0; i < m->variable_count; i++)
        fprintf(to, "%sa->%s == b->%s", i ? " &&\n           " : "", m->variables[i].identifier,
                m->variables[i].identifier);
    fputs(";\n", to);
}

static bool can_fail(const char *c)
{
    return strstr(c, "failed)") != NULL;
}

/* Is it so of any constraint in C? */
static bool is_of_any(const export_model *m, bool (*is)(const char *c))
{
    for (size_t i = 0; i < m->constraint_count; i++)
        if (m->constraints[i].c && is(m->constraints[i].c))
            return true;
    return false;
}

static void print_constraints(const export_model *m, FILE *to)
{
    if (is_of_any(m, can_fail))
        fputs("    int *failed = &broken;\n", to);
    if (is_of_any(m, export_calls_derived))
        export_print_underived(m, to);
    for (size_t i = 0; i < m->constraint_count; i++)
        if (m->constraints[i].c)
            fprintf(to, "    if (!(%s))\n        return false;\n", m->constraints[i].c);
}

/* ---- portfolios ---- */

static bool is_asked(const export_model *m, const export_feature *f)
{
    bool asked = false;
    for (size_t p = 0; p < m->portfolio_count; p++)
        for (size_t i = 0; i < m->portfolios[p]->node_count && !asked; i++) {
            const record_node *n = &m->portfolios[p]->nodes[i];
            asked = n->feature && export_find_feature(m, n->feature) == f;
        }
    return asked;
}

/* What fails is below no bound, as record/pick.h has it. */
static void print_features(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->feature_count; i++) {
        const export_feature *f = &m->features[i];
        if (!f->c || !is_asked(m, f))
            continue;
        fprintf(to,
                "\n/* What the trees of portfolios ask for: %s. */\n"
                "AUTOTUNE_FUNCTION double autotune_%s_feature_%s(\n"
                "    const autotune_device *device, const autotune_%s_problem *problem,\n"
                "    const autotune_%s_config of)\n{\n"
                "    const autotune_%s_config *config = &of;\n"
                "    int broken = 0, *failed = &broken;\n",
                f->of->name, m->pattern, f->of->name, m->pattern, m->pattern, m->pattern);
        if (export_calls_derived(f->c))
            export_print_underived(m, to);
        fputs("    double value = 0;\n    (void)device;\n    (void)problem;\n    (void)config;\n"
              "    (void)failed;\n",
              to);
        export_print_assignment("value", f->c, 4, to);
        fputs("    return broken == 0 ? value : 1.7976931348623157e308;\n}\n", to);
    }
}

/* The row of a portfolio's configuration. */
static size_t row_of(const export_model *m, size_t portfolio, size_t place)
{
    size_t row = 0;
    while (m->rows[row].entry || m->rows[row].portfolio != portfolio || m->rows[row].place != place)
        row++;
    return row;
}

static bool can_be_asked(const export_model *m, const record_portfolio *p)
{
    bool can = true;
    for (size_t i = 0; i < p->node_count && can; i++)
        can = !p->nodes[i].feature || export_find_feature(m, p->nodes[i].feature)->c;
    return can;
}

static void print_leaf(const record_portfolio *p, const record_node *n, FILE *to)
{
    fprintf(to, "return index < 0 ? %d", n->has_default ? n->default_at : -1);
    for (size_t i = 0; i + 1 < p->configuration_count; i++)
        fprintf(to, " : index == %d ? %zu", n->order[i], i);
    fprintf(to, " : %zu;\n", p->configuration_count - 1);
}

/* What a node asks, in C. What cannot be asked of a type is never so, as record/pick.c has it. */
static void print_question(const export_model *m, size_t portfolio, const record_node *n, FILE *to)
{
    if (n->feature) {
        fprintf(to,
                "autotune_%s_feature_%s(device, problem, autotune_%s_at(%zu).config) < "
                "(double)%.17g",
                m->pattern, n->feature->name, m->pattern, row_of(m, portfolio, n->of),
                value_number(n->bound));
        return;
    }
    const export_column *c = export_find_variable(m, n->variable);
    const export_column *times = n->times ? export_find_variable(m, n->times) : c;
    bool number = value_is_number(n->bound);
    if (n->multiple_of && c->type <= EXPORT_LONG) {
        fprintf(to, "problem->%s %% ", c->identifier);
        export_print_long(n->multiple_of, to);
        fputs(" == 0", to);
    } else if (n->multiple_of ||
               (number && (c->type > EXPORT_NUMBER || times->type > EXPORT_NUMBER))) {
        fputs("false", to);
    } else if (number) {
        fprintf(to, "(double)problem->%s", c->identifier);
        if (n->times)
            fprintf(to, " * (double)problem->%s", times->identifier);
        fprintf(to, " < (double)%.17g", value_number(n->bound));
    } else {
        fprintf(to, "problem->%s == ", c->identifier);
        export_print_value(m, c, n->bound, to);
    }
}

/* Nodes are numbered; children come behind their parents. */
static void print_tree(const export_model *m, size_t portfolio, FILE *to)
{
    const record_portfolio *p = m->portfolios[portfolio];
    for (size_t i = 0; i < p->node_count; i++) {
        const record_node *n = &p->nodes[i];
        fprintf(to, "        if (node == %zu) {\n            ", i);
        if (!n->variable) {
            print_leaf(p, n, to);
        } else {
            fputs("node = ", to);
            print_question(m, portfolio, n, to);
            fprintf(to, " ? %zu : %zu;\n", n->then, n->otherwise);
        }
        fputs("        }\n", to);
    }
}

static void print_portfolios(const export_model *m, FILE *to)
{
    /* nvcc warns of what is set and not used. */
    fputs(m->portfolio_count ? "    int node = 0;\n" : "", to);
    for (size_t p = 0; p < m->portfolio_count; p++) {
        const record_portfolio *portfolio = m->portfolios[p];
        if (!can_be_asked(m, portfolio))
            continue;
        fprintf(to, "    if (portfolio == %zu", p);
        for (size_t i = 0; i < portfolio->fixed.count; i++) {
            const export_column *c = export_find_variable(m, portfolio->fixed.pairs[i].name);
            fprintf(to, " &&\n        problem->%s == ", c->identifier);
            export_print_value(m, c, portfolio->fixed.pairs[i].value, to);
        }
        fputs(") {\n", to);
        print_tree(m, p, to);
        fputs("    }\n", to);
    }
}

static void print_seen(const export_model *m, FILE *to)
{
    fputs(m->seen_count ? "    double distance = 0, nearest = -1;\n" : "", to);
    for (size_t i = 0; i < m->seen_count; i++) {
        const export_seen *s = &m->seen[i];
        const char * or = "    if (";
        for (size_t r = 0; r < m->row_count; r++)
            if (export_tells_of(m, s, &m->rows[r])) {
                fprintf(to, "%sentry == %zu", or, r);
                or = " || ";
            }
        fprintf(to, ") {\n        const autotune_%s_problem seen = ", m->pattern);
        export_print_values(m, m->variables, m->variable_count, s->seen->problem, 12, to);
        fprintf(to,
                ";\n        distance = autotune_%s_distance(&seen, problem);\n"
                "        if (nearest < 0 || distance < nearest) {\n"
                "            nearest = distance;\n"
                "            faster = %s;\n"
                "        }\n"
                "    }\n",
                m->pattern, s->seen->standing == RECORD_FASTER ? "true" : "false");
    }
}

/* ---- kernels ---- */

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
    for (size_t i = 0; i < m->parameter_count; i++, and = " &&\n        ") {
        const export_column *c = &m->parameters[i];
        fprintf(to, "%sconfig->%s == ", and, c->identifier);
        export_print_value(m, c, *record_get(u->configuration, c->name), to);
    }
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
    fprintf(to, "%s)\n        return %zu;\n", *and? "" : "true", u->source);
}

static void print_uses(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->kernels.use_count; i++)
        print_use(m, &m->kernels.uses[i], to);
}

static void print_kernel(const export_model *m, FILE *to)
{
    static const export_slot slots[] = {{"uses", print_uses, NULL}};
    if (m->launch.statements)
        export_print_text(m, kernel, slots, to);
}

/* ---- the look-up ---- */

static void print_default_has_kernel(const export_model *m, FILE *to)
{
    if (m->launch.statements)
        fprintf(to, " &&\n        autotune_%s_kernel(device, problem, &fallback.config) >= 0",
                m->pattern);
}

/* Is there a constraint that cannot be said in C? */
static bool has_untold(const export_model *m)
{
    for (size_t i = 0; i < m->constraint_count; i++)
        if (!m->constraints[i].c)
            return true;
    return false;
}

static void print_pass_over(const export_model *m, FILE *to)
{
    /* What cannot be checked is given for what it was measured on alone. */
    if (has_untold(m))
        fputs("        if (rule != AUTOTUNE_RULE_EXACT)\n            continue;\n", to);
    if (m->launch.statements)
        fprintf(to,
                "        if (autotune_%s_kernel(device, problem, &e.config) < 0)\n            "
                "continue;\n",
                m->pattern);
}

void export_print_header(const export_model *m, FILE *to)
{
    char count[24], most_kept[8];
    const export_slot slots[] = {
        {"version", NULL, version_text()},
        {"example", print_example, NULL},
        {"fields_read", print_fields_read, NULL},
        {"count", NULL, count},
        {"prelude", export_print_prelude, NULL},
        {"enums", print_enums, NULL},
        {"problem_members", print_problem_members, NULL},
        {"config_members", print_config_members, NULL},
        {"entries", print_entries, NULL},
        {"default", print_default, NULL},
        {"distances", print_distances, NULL},
        {"same", print_same, NULL},
        {"derived", export_print_derived, NULL},
        {"constraints", print_constraints, NULL},
        {"features", print_features, NULL},
        {"portfolios", print_portfolios, NULL},
        {"seen", print_seen, NULL},
        {"kernel", print_kernel, NULL},
        {"default_has_kernel", print_default_has_kernel, NULL},
        {"pass_over", print_pass_over, NULL},
        {"most_kept", NULL, most_kept},
    };
    snprintf(count, sizeof count, "%zu", m->row_count);
    snprintf(most_kept, sizeof most_kept, "%d", RECORD_MAX_KEPT);
    export_print_text(m, text, slots, to);
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
    .extension = ".h",
    .several = true,
    .write = write_header,
};
