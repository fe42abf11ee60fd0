#include "cmd/results/entry.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/known.h"

bool results_wants(const options *o, const record *r)
{
    bool wanted = o->operand_count < 2, exactly;
    for (size_t i = 1; i < o->operand_count; i++)
        wanted = wanted || strcmp(o->operands[i], r->pattern) == 0;
    return wanted && (!o->gpu || known_gpu(r->gpu, o->gpu, &exactly));
}

bool results_wants_entry(const options *o, const record_entry *e)
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

void results_problem(const record_entry *e, char *text, size_t size_bytes, size_t width)
{
    record_format_values(&e->problem, text, size_bytes);
    text_add(text, size_bytes, "%s%s", e->warm_cache ? " (warm)" : "",
             e->energy ? " (energy)" : "");
    if (*e->after)
        text_add(text, size_bytes, " (after %s)", e->after);
    if (width > 3 && width < size_bytes && strlen(text) > width)
        snprintf(text + width - 3, size_bytes - width, "...");
}

const json_t *results_json(const record *r, const record_entry *e)
{
    return json_array_get(json_object_get(r->root, "entries"), e->place);
}

void results_put_question(json_t **object, const record_entry *e)
{
    json_put(object, "problem", record_pack_values(&e->problem));
    json_put(object, "cache", json_string(e->warm_cache ? "warm" : "cold"));
    json_put(object, "objective", json_string(e->energy ? "energy" : "time"));
    json_put(object, "after", *e->after ? json_string(e->after) : json_null());
}
