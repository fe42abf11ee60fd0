#include "cmd/line/known.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"

bool known_gpu(const char *gpu, const char *asked, bool *exactly)
{
    char slug[PATHS_SLUG_BYTES + 2] = "-", words[PATHS_SLUG_BYTES + 2] = "-";
    paths_slug(gpu, slug + 1);
    paths_slug(asked, words + 1);
    text_add(slug, sizeof slug, "-");
    text_add(words, sizeof words, "-");
    *exactly = strcmp(slug, words) == 0;
    return strstr(slug, words) != NULL;
}

void known_folders(const options *o, record_folders *out)
{
    paths own;
    at_error none = {0};
    bool found = paths_find(&own, &none) == AT_OK;
    record_folders_find(o->results, found ? &own : NULL, out);
}

at_status known_records(const options *o, const char *pattern_name, bool may_be_none,
                        record_set *out, at_error *error)
{
    record_folders folders;
    known_folders(o, &folders);
    at_status status = record_search(&folders, pattern_name, out, error);
    if (may_be_none)
        status = error_ignore(status, AT_NOT_FOUND, error);
    for (size_t i = 0; i < out->faults.count; i++)
        fprintf(stderr, "autotune: warning: left out: %s\n", out->faults.items[i].text);
    return status;
}

bool known_wants(const options *o, const record *r)
{
    bool wanted = o->operand_count < 2, exactly;
    for (size_t i = 1; i < o->operand_count; i++)
        wanted = wanted || strcmp(o->operands[i], r->pattern) == 0;
    return wanted && (!o->gpu || known_gpu(r->gpu, o->gpu, &exactly));
}

bool known_wants_entry(const options *o, const record_entry *e)
{
    for (size_t i = 0; i < o->run.pattern.variable_count; i++) {
        char text[RECORD_TEXT_BYTES];
        const value *v = record_get(&e->problem, o->run.pattern.variables[i].name);
        if (!v)
            return false;
        value_format(*v, text, sizeof text);
        if (strcmp(text, o->run.pattern.variables[i].text) != 0)
            return false;
    }
    return true;
}

at_status known_check_set(const options *o, const record_set *set, at_error *error)
{
    const char *names[RECORD_MAX_VALUES];
    for (size_t v = 0; v < o->run.pattern.variable_count; v++) {
        const char *asked = o->run.pattern.variables[v].name, *nearest = NULL;
        bool known = false;
        for (size_t i = 0; i < set->count && !known; i++)
            for (size_t k = 0; known_wants(o, &set->records[i]) && k < set->records[i].entry_count;
                 k++) {
                const record_values *problem = &set->records[i].entries[k].problem;
                for (size_t n = 0; n < problem->count; n++)
                    names[n] = problem->pairs[n].name;
                known = known || record_get(problem, asked);
                nearest = nearest ? nearest : nearest_name(asked, names, problem->count);
            }
        if (!known && nearest)
            return error_set(error, AT_USAGE,
                             "--set %s: no problem in the records has this variable; did you mean "
                             "'%s'?",
                             asked, nearest);
        if (!known)
            return error_set(error, AT_USAGE,
                             "--set %s: no problem in the records has this variable", asked);
    }
    return AT_OK;
}

void known_question(const record_entry *e, char *text, size_t size_bytes)
{
    record_format_values(&e->problem, text, size_bytes);
    text_add(text, size_bytes, "%s%s", e->warm_cache ? " (warm)" : "",
             e->energy ? " (energy)" : "");
    if (*e->after)
        text_add(text, size_bytes, " (after %s)", e->after);
}

static json_t *pack_places(size_t count, const void *parts, size_t stride, size_t place_at)
{
    json_t *places = json_array();
    for (size_t i = 0; i < count; i++) {
        const char *part = (const char *)parts + i * stride + place_at;
        json_append(&places, json_count(*(const size_t *)(const void *)part));
    }
    return places;
}

json_t *known_pack(const options *o, const record_set *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->count; i++) {
        const record *r = &set->records[i];
        if (o && !known_wants(o, r))
            continue;
        json_append(&list,
                    json_pack("{so ss ss si si sO so so}", "file", json_path(r->path), "gpu",
                              r->gpu, "pattern", r->pattern, "major", r->major, "minor", r->minor,
                              "content", (json_t *)r->root, "entries",
                              pack_places(r->entry_count, r->entries, sizeof *r->entries,
                                          offsetof(record_entry, place)),
                              "portfolios",
                              pack_places(r->portfolio_count, r->portfolios, sizeof *r->portfolios,
                                          offsetof(record_portfolio, place))));
    }
    return list;
}

void known_put_question(json_t **object, const record_entry *e)
{
    json_put(object, "problem", record_pack_values(&e->problem));
    json_put(object, "cache", json_string(e->warm_cache ? "warm" : "cold"));
    json_put(object, "objective", json_string(e->energy ? "energy" : "time"));
    json_put(object, "after", *e->after ? json_string(e->after) : json_null());
}
