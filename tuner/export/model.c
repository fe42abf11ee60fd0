#include "export/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "record/pick.h"
#include "record/schema.h"
#include "script/render.h"

static void hold(json_t **held, const value *v)
{
    if (v)
        json_append(held, json_from_value(*v));
}

/* Adds the values of column `c` in the problems from which the record's portfolios were made,
 * because programs may ask for these problems. */
static void hold_made_on(json_t **held, const export_column *c, const record *from)
{
    for (size_t i = 0; i < from->seen_problem_count; i++)
        hold(held, record_get(&from->seen_problems[i], c->name));
}

static void hold_portfolio(json_t **held, const export_column *c, const record_portfolio *p)
{
    hold(held, record_get(&p->fixed, c->name));
    for (size_t i = 0; i < p->node_count; i++) {
        const record_node *n = &p->nodes[i];
        /* If the node tests a feature, a product or a divisor, its bound is no value of `c`. */
        if (n->variable && !n->feature && !n->times && !n->multiple_of &&
            strcmp(n->variable, c->name) == 0)
            hold(held, &n->bound);
    }
}

static json_t *values_of_variable(const export_model *m, size_t variable)
{
    const export_column *c = &m->variables[variable];
    json_t *held = json_array();
    for (size_t i = 0; m->script && i < m->script->problem_count; i++)
        if (strcmp(m->script->problems[PROBLEM_TUNED][i].name, c->name) == 0)
            hold(&held, &m->script->problems[PROBLEM_TUNED][i].value);
    for (size_t i = 0; i < m->row_count; i++) {
        const export_row *r = &m->rows[i];
        if (r->entry)
            hold(&held, record_get(&r->entry->problem, c->name));
        else if (r->place == 0)
            hold_made_on(&held, c, r->from);
    }
    for (size_t i = 0; i < m->portfolio_count; i++)
        hold_portfolio(&held, c, m->portfolios[i]);
    for (size_t i = 0; i < m->comparison_count; i++)
        hold(&held, record_get(m->seen[i].seen->problem, c->name));
    return held;
}

static json_t *values_of_parameter(const export_model *m, size_t parameter)
{
    const export_column *c = &m->parameters[parameter];
    const space_parameter *given = m->script ? &m->script->parameters[parameter] : NULL;
    json_t *held = json_array();
    for (size_t i = 0; given && i < given->value_count; i++)
        hold(&held, &given->values[i]);
    for (size_t i = 0; i < m->row_count; i++)
        hold(&held, record_get(m->rows[i].configuration, c->name));
    hold(&held, record_get(&m->defaults, c->name));
    return held;
}

static json_t *given_columns(const export_model *m)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < m->column_count; i++) {
        const export_column *c = &m->columns[i];
        bool is_variable = i < m->variable_count;
        json_t *more = json_array();
        for (size_t p = 0; is_variable && p < m->problem_count; p++)
            hold(&more, record_get(&m->problems[p], c->name));
        json_append(&columns,
                    json_pack("{ss sb so so}", "name", c->name, "open", is_variable, "values",
                              is_variable ? values_of_variable(m, i)
                                          : values_of_parameter(m, i - m->variable_count),
                              "more", more));
    }
    return columns;
}

static void read_column(const json_t *from, export_column *c)
{
    static const char *const types[] = {[EXPORT_INTEGER] = "int",
                                        [EXPORT_LONG] = "int64_t",
                                        [EXPORT_NUMBER] = "double",
                                        [EXPORT_BOOLEAN] = "bool",
                                        [EXPORT_WORD] = "word"};
    const json_t *words = json_object_get(from, "words");
    const char *type = json_string_value(json_object_get(from, "type"));
    free(c->words);
    c->word_count = json_array_size(words);
    c->words = memory_new(c->word_count, sizeof *c->words);
    for (int t = 0; t <= EXPORT_WORD; t++)
        if (strcmp(type, types[t]) == 0)
            c->type = (export_type)t;
    c->mixed = json_is_true(json_object_get(from, "mixed"));
    snprintf(c->identifier, sizeof c->identifier, "%s",
             json_string_value(json_object_get(from, "identifier")));
    for (size_t i = 0; i < c->word_count; i++) {
        const json_t *word = json_array_get(words, i);
        snprintf(c->words[i].text, sizeof c->words[i].text, "%s",
                 json_string_value(json_object_get(word, "text")));
        snprintf(c->words[i].identifier, sizeof c->words[i].identifier, "%s",
                 json_string_value(json_object_get(word, "identifier")));
    }
}

/* Gives each column its type, identifier and words, and each buffer of the launch its identifier,
 * with lua/lib/identifiers.lua. A column that already has an identifier keeps it, and may get more
 * words. AT_USAGE if a problem's value has another type than its variable. */
static at_status name_columns(export_model *m, at_error *error)
{
    json_t *given = json_object(), *types = json_array(), *buffers = json_array(), *names = NULL;
    for (int t = 0; t < DTYPE_COUNT; t++)
        json_append(&types, json_string(dtype_get((dtype)t)->name));
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        json_append(&buffers, json_string(m->launch.buffer_names[i]));
    json_put(&given, "columns", given_columns(m));
    json_put(&given, "element_types", types);
    json_put(&given, "buffers", buffers);
    at_status status = script_compute("commands.export_names", NULL, given, &names, error);
    json_decref(given);
    for (size_t i = 0; i < m->column_count && !status; i++)
        read_column(json_array_get(json_object_get(names, "columns"), i), &m->columns[i]);
    for (size_t i = 0; i < m->launch.buffer_count && !status; i++)
        snprintf(m->launch.buffers[i], sizeof m->launch.buffers[i], "%s",
                 json_string_value(json_array_get(json_object_get(names, "buffers"), i)));
    json_decref(names);
    return status;
}

static const record_entry *latest_entry(const record_set *records)
{
    const record_entry *latest = NULL;
    for (size_t r = 0; r < records->count; r++)
        for (size_t i = 0; i < records->records[r].entry_count; i++) {
            const record_entry *e = &records->records[r].entries[i];
            if (!latest || strcmp(e->date, latest->date) > 0)
                latest = e;
        }
    return latest;
}

static void make_columns(export_model *m, size_t variables, size_t parameters)
{
    m->columns = memory_new(variables + parameters, sizeof *m->columns);
    m->column_count = variables + parameters;
    m->variables = m->columns;
    m->variable_count = variables;
    m->parameters = m->columns + variables;
    m->parameter_count = parameters;
}

/* Makes the columns in the script's order, but numbers such as 0.5 after the sizes. */
static at_status columns_of_script(export_model *m, const pattern *p, at_error *error)
{
    at_status status = AT_OK;
    make_columns(m, p->problem_count, p->parameter_count);
    size_t count = 0;
    for (int number = 0; number < 2; number++)
        for (size_t i = 0; i < p->problem_count; i++)
            if ((p->problems[PROBLEM_TUNED][i].value.kind == VALUE_NUMBER) == number)
                m->variables[count++].name = p->problems[PROBLEM_TUNED][i].name;
    for (size_t i = 0; i < p->parameter_count; i++)
        m->parameters[i].name = p->parameters[i].name;
    for (size_t i = 0; !status && i < m->column_count; i++)
        if (!record_is_name(m->columns[i].name))
            status = error_set(error, AT_SCRIPT, "'%.80s' cannot be a name in a header",
                               m->columns[i].name);
    return status;
}

static void columns_of_entry(export_model *m, const record_entry *e)
{
    make_columns(m, e->problem.count, e->configuration.count);
    for (size_t i = 0; i < e->problem.count; i++)
        m->variables[i].name = e->problem.pairs[i].name;
    for (size_t i = 0; i < e->configuration.count; i++)
        m->parameters[i].name = e->configuration.pairs[i].name;
}

static bool has_columns(const record_values *values, const export_column *columns, size_t count)
{
    if (values->count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!record_get(values, columns[i].name))
            return false;
    return true;
}

static const export_column *find_variable(const export_model *m, const char *name)
{
    for (size_t v = 0; v < m->variable_count; v++)
        if (strcmp(m->variables[v].name, name) == 0)
            return &m->variables[v];
    return NULL;
}

bool export_has_variables(const export_model *m, const record_values *problem)
{
    return has_columns(problem, m->variables, m->variable_count);
}

static bool has_parameters(const export_model *m, const record_values *configuration)
{
    return has_columns(configuration, m->parameters, m->parameter_count);
}

static const export_feature *find_feature(const export_model *m, const record_feature *asked)
{
    for (size_t i = 0; i < m->feature_count; i++)
        if (strcmp(m->features[i].of->name, asked->name) == 0 &&
            strcmp(m->features[i].of->definition, asked->definition) == 0)
            return &m->features[i];
    return NULL;
}

static bool has_inputs_of_node(const export_model *m, const record_node *n)
{
    if (n->feature)
        return find_feature(m, n->feature) != NULL;
    return !n->variable ||
           (find_variable(m, n->variable) && (!n->times || find_variable(m, n->times)));
}

/* Returns whether the model has all variables and parameters that the portfolio names. An older
 * script may have had others. */
static bool is_of_model(const export_model *m, const record_portfolio *p)
{
    bool has = true;
    for (size_t i = 0; i < p->fixed.count && has; i++)
        has = find_variable(m, p->fixed.pairs[i].name) != NULL;
    for (size_t n = 0; n < p->node_count && has; n++)
        has = has_inputs_of_node(m, &p->nodes[n]);
    for (size_t i = 0; i < p->configuration_count && has; i++)
        has = has_parameters(m, &p->configurations[i]);
    return has;
}

static void add_rows(export_model *m, const record *from)
{
    for (size_t p = 0; p < from->portfolio_count; p++) {
        const record_portfolio *portfolio = &from->portfolios[p];
        if (!is_of_model(m, portfolio)) {
            m->skipped += portfolio->configuration_count;
            continue;
        }
        for (size_t i = 0; i < portfolio->configuration_count; i++)
            m->rows[m->row_count++] = (export_row){.from = from,
                                                   .portfolio = m->portfolio_count,
                                                   .place = i,
                                                   .configuration = &portfolio->configurations[i]};
        m->portfolios[m->portfolio_count++] = portfolio;
    }
    for (size_t i = 0; i < from->entry_count; i++) {
        const record_entry *e = &from->entries[i];
        if (export_has_variables(m, &e->problem) && has_parameters(m, &e->configuration))
            m->rows[m->row_count++] =
                (export_row){.from = from, .entry = e, .configuration = &e->configuration};
        else
            m->skipped++;
    }
}

/* Sorts the rows of entries by preference. The sort is stable: of two rows that are equally near to
 * a problem, the first is picked. The rows of portfolios stay in their places. */
static void sort_by_preference(export_model *m)
{
    export_row *sorted = memory_new(m->row_count, sizeof *sorted);
    for (size_t from = 0, to; from < m->row_count; from = to + 1) {
        size_t count = 0;
        for (to = from; to < m->row_count && m->rows[to].entry; to++)
            ;
        for (int preference = 0; preference < PICK_PREFERENCES; preference++)
            for (size_t i = from; i < to; i++)
                if (pick_preference(m->rows[i].entry) == preference)
                    sorted[count++] = m->rows[i];
        memcpy(m->rows + from, sorted, count * sizeof *sorted);
    }
    free(sorted);
}

/* Returns whether all leaves of the tree contain the default. */
static bool has_default(const record_portfolio *p)
{
    for (size_t i = 0; i < p->node_count; i++)
        if (!p->nodes[i].variable && !p->nodes[i].has_default)
            return false;
    return true;
}

bool export_tells_of(const export_model *m, const export_seen *s, const export_row *r)
{
    if (!r->entry && has_default(m->portfolios[r->portfolio]))
        return false;
    return r->from == s->from && s->seen->warm_cache == (r->entry && r->entry->warm_cache);
}

/* Classes of equal configurations and of equal problems, used to choose rows. */
typedef struct chooser {
    record_classes configurations, problems;
    size_t *heads; /* 1 + index of the first row of each class of configurations */
    keymap firsts; /* pairs of record and problem that have a first row */
} chooser;

/* Links sorted rows with equal configurations. Marks the first row of each record and problem. */
static void link_rows(export_model *m, chooser *c)
{
    for (size_t i = 0; i < m->row_count; i++) {
        export_row *r = &m->rows[i];
        uint64_t known;
        const size_t problem = r->entry ? record_class_of(&c->problems, &r->entry->problem) : 0;
        const uint64_t key =
            problem * (uint64_t)m->records->count + (uint64_t)(r->from - m->records->records);
        bool has = record_class_of(&c->configurations, r->configuration) != RECORD_NO_CLASS &&
                   problem != RECORD_NO_CLASS;
        r->first = r->entry && !keymap_get(&c->firsts, key, &known);
        memory_require(has && (!r->first || keymap_put(&c->firsts, key, i)) ? m : NULL);
    }
    c->heads = memory_new(c->configurations.count, sizeof *c->heads);
    for (size_t i = m->row_count; i-- > 0;) {
        size_t *head = &c->heads[record_class_find(&c->configurations, m->rows[i].configuration)];
        m->rows[i].next_alike = *head;
        *head = i + 1;
    }
}

static size_t first_row(const chooser *c, const record_comparison *s)
{
    const size_t class = record_class_find(&c->configurations, s->configuration);
    return class == RECORD_NO_CLASS ? 0 : c->heads[class];
}

/* Adds timings of configurations that have a row and once were not faster than the default. */
static void choose_seen(export_model *m, const chooser *c, const record *from)
{
    /* [class of configurations][warm cache]: once not faster than the default */
    bool(*matters)[2] = memory_new(c->configurations.count, sizeof *matters);
    for (size_t i = 0; i < from->comparison_count; i++) {
        const record_comparison *s = &from->seen[i];
        const size_t class = record_class_find(&c->configurations, s->configuration);
        if (class != RECORD_NO_CLASS && s->standing != RECORD_FASTER)
            matters[class][s->warm_cache] = true;
    }
    for (size_t i = 0; i < from->comparison_count; i++) {
        const export_seen s = {from, &from->seen[i], first_row(c, &from->seen[i])};
        bool is_row = false;
        if (s.first_row && matters[record_class_find(&c->configurations, s.seen->configuration)]
                                  [s.seen->warm_cache])
            for (size_t r = s.first_row; r && !is_row; r = m->rows[r - 1].next_alike)
                is_row = export_tells_of(m, &s, &m->rows[r - 1]);
        if (is_row && export_has_variables(m, s.seen->problem))
            m->seen[m->comparison_count++] = s;
    }
    free(matters);
}

static void choose_rows(export_model *m, const record_set *records)
{
    size_t total = 0, portfolios = 0, seen = 0;
    for (size_t r = 0; r < records->count; r++) {
        total +=
            records->records[r].entry_count + records->records[r].portfolio_count * RECORD_MAX_KEPT;
        portfolios += records->records[r].portfolio_count;
        seen += records->records[r].comparison_count;
    }
    m->rows = memory_new(total, sizeof *m->rows);
    m->portfolios = memory_new(portfolios, sizeof *m->portfolios);
    m->seen = memory_new(seen, sizeof *m->seen);
    for (size_t r = 0; r < records->count; r++)
        add_rows(m, &records->records[r]);
    chooser c = {0};
    sort_by_preference(m);
    link_rows(m, &c);
    for (size_t r = 0; r < records->count; r++)
        choose_seen(m, &c, &records->records[r]);
    record_classes_deinit(&c.configurations);
    record_classes_deinit(&c.problems);
    keymap_deinit(&c.firsts);
    free(c.heads);
}

void export_model_add_constraint(export_model *m, const char *text, char *c)
{
    const export_constraint added = {text, c};
    memory_add(&m->constraints, &m->constraint_count, &added, sizeof added);
}

void export_model_set_feature(export_model *m, size_t feature, char *c, char *assignment)
{
    m->features[feature].c = c;
    m->features[feature].assignment = assignment;
}

void export_model_add_derived(export_model *m, const char *name, export_type type, char *c,
                              char *assignment)
{
    const export_derived added = {name, type, c, assignment};
    memory_add(&m->derived, &m->derived_count, &added, sizeof added);
}

const export_derived *export_spell_derived(const export_model *m, const char *name, char *text,
                                           size_t size_bytes)
{
    for (size_t i = 0; i < m->derived_count; i++) {
        if (strcmp(m->derived[i].name, name) != 0)
            continue;
        snprintf(text, size_bytes,
                 "autotune_%s_derived_%s(device, problem, config, derived, failed)", m->pattern,
                 name);
        return &m->derived[i];
    }
    return NULL;
}

at_status export_model_add_problems(export_model *m, const record_values *problems, size_t count,
                                    at_error *error)
{
    m->problems = problems;
    m->problem_count = count;
    return name_columns(m, error);
}

const export_column *export_spell(const export_model *m, const char *name, char *text,
                                  size_t size_bytes)
{
    static const char *const owners[] = {"problem", "config"};
    for (size_t i = 0; i < m->column_count; i++) {
        bool parameter = i >= m->variable_count;
        const export_column *c = &m->columns[i];
        if (strcmp(c->name, name) != 0)
            continue;
        if (c->type == EXPORT_WORD)
            snprintf(text, size_bytes, "autotune_%s_%s_kind_name(%s->%s)", m->pattern,
                     c->identifier, owners[parameter], c->identifier);
        else
            snprintf(text, size_bytes, "%s%s->%s",
                     c->type == EXPORT_INTEGER || c->type == EXPORT_LONG ? "(int64_t)" : "",
                     owners[parameter], c->identifier);
        return c->type == EXPORT_WORD && c->mixed ? NULL : c;
    }
    return NULL;
}

/* Takes the default from the script or, without a script, from the latest record. */
static at_status choose_default(export_model *m, const record_set *records, const pattern *p,
                                at_error *error)
{
    const record_values *recorded = pick_default(records);
    m->defaults.pairs = memory_new(m->parameter_count, sizeof *m->defaults.pairs);
    for (size_t i = 0; i < m->parameter_count; i++) {
        const char *name = m->parameters[i].name;
        const value *v = NULL;
        if (p)
            v = &p->parameters[i].values[p->baseline[i]];
        else if (recorded)
            v = record_get(recorded, name);
        if (!v)
            return error_set(error, AT_NOT_FOUND,
                             "no default of '%s' is recorded: export in a folder where the script "
                             "of '%s' can be found",
                             name, m->pattern);
        m->defaults.pairs[m->defaults.count++] = (record_pair){name, *v};
    }
    return AT_OK;
}

at_status export_model_init(export_model *m, const char *pattern_name, const record_set *records,
                            const pattern *p, at_error *error)
{
    *m = (export_model){.pattern = pattern_name, .script = p, .records = records};
    const record_entry *latest = latest_entry(records);
    at_status status = AT_OK;
    if (!record_is_name(pattern_name))
        status = error_set(error, AT_SCRIPT, "'%.80s' cannot be a name in a header", pattern_name);
    else if (p)
        status = columns_of_script(m, p, error);
    else if (latest)
        columns_of_entry(m, latest);
    else
        status =
            error_set(error, AT_NOT_FOUND, "there is nothing to export for '%s'", pattern_name);
    for (size_t i = 0; p && i < p->feature_count; i++)
        m->features[m->feature_count++].of = &p->features[i];
    if (!status)
        choose_rows(m, records);
    if (!status)
        status = choose_default(m, records, p, error);
    if (!status)
        status = name_columns(m, error);
    if (status)
        export_model_deinit(m);
    return status;
}

void export_model_deinit(export_model *m)
{
    for (size_t i = 0; i < m->column_count; i++)
        free(m->columns[i].words);
    free(m->columns);
    for (size_t i = 0; i < m->constraint_count; i++)
        free(m->constraints[i].c);
    free(m->constraints);
    for (size_t i = 0; i < m->derived_count; i++) {
        free(m->derived[i].c);
        free(m->derived[i].assignment);
    }
    free(m->derived);
    for (size_t i = 0; i < m->feature_count; i++) {
        free(m->features[i].c);
        free(m->features[i].assignment);
    }
    free(m->launch.statements);
    export_kernels_deinit(&m->kernels);
    free(m->portfolios);
    free(m->seen);
    free(m->rows);
    free(m->defaults.pairs);
    *m = (export_model){0};
}
