/* autotune results show: an entry in words. */
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/page.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"

static json_t *pack_entry(const record *r, const record_entry *e)
{
    json_t *copy = json_deep_copy(results_json(r, e));
    json_put(&copy, "pattern", json_string(r->pattern));
    json_put(&copy, "gpu", json_string(r->gpu));
    json_put(&copy, "file", json_path(r->path));
    return copy;
}

/* Text shows the entries and then the portfolios of each record. */
static json_t *pack_shown(const record *r, const char *kind, json_t *what, size_t place)
{
    return json_pack("{ss ss so sI so}", "pattern", r->pattern, "gpu", r->gpu, "file",
                     json_path(r->path), "place", (json_int_t)place, kind, what);
}

/* A pattern that nothing is recorded of may be misspelt. */
static at_status refuse(const options *o, const record_set *set, at_error *error)
{
    const char *nearest = NULL;
    bool known = false;
    for (size_t i = 0; i < set->count; i++) {
        const char *name = set->records[i].pattern;
        known = known || strcmp(name, o->operands[1]) == 0;
        if (!nearest)
            nearest = nearest_name(o->operands[1], &name, 1);
    }
    return error_set(error, AT_USAGE,
                     "no such entry is recorded%s%s%s; 'autotune results list' lists what is",
                     nearest && !known ? "; did you mean '" : "", nearest && !known ? nearest : "",
                     nearest && !known ? "'?" : "");
}

at_status results_show(const options *o, at_error *error)
{
    record_set set = {0};
    if (o->operand_count < 2)
        return error_set(
            error, AT_USAGE,
            "'autotune results show' needs a PATTERN; 'autotune results list' lists them");
    at_status status = known_records(o, NULL, false, &set, error);
    json_t *list = json_array(), *shown = json_array();
    for (size_t i = 0; i < set.count && !status; i++) {
        const record *r = &set.records[i];
        if (!results_wants(o, r))
            continue;
        for (size_t k = 0; k < r->entry_count; k++) {
            const record_entry *e = &r->entries[k];
            if (!results_wants_entry(o, e))
                continue;
            if (o->json)
                json_append(&list, pack_entry(r, e));
            json_t *one = pack_shown(
                r, "entry", json_incref((json_t *)(uintptr_t)results_json(r, e)), e->place);
            results_put_question(&one, e);
            json_append(&shown, one);
        }
        const json_t *portfolios = json_object_get(r->root, "portfolios");
        for (size_t k = 0; k < r->portfolio_count && !o->run.pattern.variable_count; k++) {
            const size_t place = r->portfolios[k].place;
            json_append(&shown, pack_shown(r, "portfolio",
                                           json_incref(json_array_get(portfolios, place)), place));
        }
    }
    if (!status && json_array_size(shown) == 0)
        status = refuse(o, &set, error);
    json_t *found = json_pack("{so}", "entries", list), *also = json_pack("{so}", "shown", shown);
    if (!status)
        status = page_show(o, "results_show", 1, json_incref(found), json_incref(also), error);
    json_decref(found);
    json_decref(also);
    record_set_deinit(&set);
    return status;
}
