#include "export/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "script/render.h"

static void hold(json_t **held, const value *v)
{
    if (v)
        json_append(held, json_from_value(*v));
}

/* ---- the values that a column must hold, in the order in which its words are named ---- */

/* Readers ask a portfolio of problems like those that it was made on. */
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
        /* A feature's or a product's bound and a divisor are no values of the variable. */
        if (n->variable && !n->feature && !n->times && !n->multiple_of &&
            strcmp(n->variable, c->name) == 0)
            hold(held, &n->bound);
    }
}

static json_t *values_of_variable(const export_model *m, size_t variable)
{
    const export_column *c = &m->variables[variable];
    json_t *held = json_array();
    if (m->script)
        hold(&held, &m->script->problems[PROBLEM_TUNED][variable].value);
    for (size_t i = 0; i < m->row_count; i++) {
        const export_row *r = &m->rows[i];
        if (r->entry)
            hold(&held, record_get(&r->entry->problem, c->name));
        else if (r->place == 0)
            hold_made_on(&held, c, r->from);
    }
    for (size_t i = 0; i < m->portfolio_count; i++)
        hold_portfolio(&held, c, m->portfolios[i]);
    for (size_t i = 0; i < m->seen_count; i++)
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

/* ---- their names ---- */

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

at_status export_name_columns(export_model *m, at_error *error)
{
    json_t *given = json_object(), *types = json_array(), *buffers = json_array(), *names = NULL;
    char *text;
    for (int t = 0; t < DTYPE_COUNT; t++)
        json_append(&types, json_string(dtype_get((dtype)t)->name));
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        json_append(&buffers, json_string(m->launch.buffer_names[i]));
    json_put(&given, "columns", given_columns(m));
    json_put(&given, "element_types", types);
    json_put(&given, "buffers", buffers);
    at_status status = script_render("export/names.json.tmpl", given, &text, error);
    json_decref(given);
    if (!status)
        status = json_text_parse(text, strlen(text), "names.json", &names, error);
    free(text);
    for (size_t i = 0; i < m->column_count && !status; i++)
        read_column(json_array_get(json_object_get(names, "columns"), i), &m->columns[i]);
    for (size_t i = 0; i < m->launch.buffer_count && !status; i++)
        snprintf(m->launch.buffers[i], sizeof m->launch.buffers[i], "%s",
                 json_string_value(json_array_get(json_object_get(names, "buffers"), i)));
    json_decref(names);
    return status;
}
