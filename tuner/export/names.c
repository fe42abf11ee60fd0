#include "export/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/text.h"

typedef struct global_name {
    char *text;
    const export_model *of;
} global_name;

typedef struct name_list {
    size_t count;
    global_name *names;
} name_list;

static bool add(name_list *list, const export_model *m, char *text)
{
    const global_name name = {text, m};
    if (text && array_add(&list->names, &list->count, &name, sizeof name))
        return true;
    free(text);
    return false;
}

/* What is printed by `print`, as a text of its own. */
static bool add_printed(name_list *list, const export_model *m, const export_column *c,
                        const export_word *w)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *to = open_memstream(&text, &size_bytes);
    if (!to)
        return false;
    export_print_word(m, c, w, to);
    fclose(to);
    return add(list, m, text);
}

static bool add_name(name_list *list, const export_model *m, const char *name)
{
    size_t size_bytes = strlen(m->pattern) + strlen(name) + sizeof "autotune__";
    char *text = malloc(size_bytes);
    if (text)
        snprintf(text, size_bytes, "autotune_%s_%s", m->pattern, name);
    return add(list, m, text);
}

static bool add_column(name_list *list, const export_model *m, const export_column *c)
{
    char name[2 * EXPORT_IDENTIFIER_BYTES];
    if (c->type != EXPORT_WORD)
        return true;
    snprintf(name, sizeof name, "%s_kind", c->identifier);
    bool done = add_name(list, m, name);
    snprintf(name, sizeof name, "%s_kind_name", c->identifier);
    done = done && add_name(list, m, name);
    for (size_t i = 0; i < c->word_count && done; i++)
        done = add_printed(list, m, c, &c->words[i]);
    return done;
}

static bool add_model(name_list *list, const export_model *m)
{
    static const char *const own[] = {
        "address",  "at",    "buffers",  "choice",  "config", "count", "default",
        "distance", "entry", "evaluate", "fill",    "find",   "fits",  "kernel",
        "launch",   "place", "plan",     "problem", "run",    "same",  "slower"};
    bool done = true;
    for (size_t i = 0; i < sizeof own / sizeof *own && done; i++)
        done = add_name(list, m, own[i]);
    for (size_t i = 0; i < m->column_count && done; i++)
        done = add_column(list, m, &m->columns[i]);
    return done;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const global_name *)a)->text, ((const global_name *)b)->text);
}

at_status export_check_names(const export_model *const *models, size_t count, at_error *error)
{
    name_list list = {0};
    bool done = true;
    at_status status = AT_OK;
    for (size_t i = 0; i < count && done; i++)
        done = add_model(&list, models[i]);
    if (!done)
        status = export_no_memory(error);
    else
        qsort(list.names, list.count, sizeof *list.names, by_text);
    for (size_t i = 1; i < list.count && !status; i++)
        if (list.names[i].of != list.names[i - 1].of &&
            by_text(&list.names[i - 1], &list.names[i]) == 0)
            status = error_set(
                error, AT_USAGE, "'%s' and '%s' would both define %s: they cannot share a program",
                list.names[i - 1].of->pattern, list.names[i].of->pattern, list.names[i].text);
    for (size_t i = 0; i < list.count; i++)
        free(list.names[i].text);
    free(list.names);
    return status;
}
