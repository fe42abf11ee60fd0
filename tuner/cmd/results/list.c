/* autotune results list: what is recorded, of which GPU, in which file. */
#include <stdio.h>

#include "base/json_text.h"
#include "cmd/line/known.h"
#include "cmd/line/page.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"

static json_t *pack_entry(const record *r, const record_entry *e)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/entries/%zu", e->place);
    json_t *out =
        json_pack("{ss ss so ss so sI so so ss ss}", "pattern", r->pattern, "gpu", r->gpu, "file",
                  json_path(r->path), "pointer", pointer, "configuration",
                  record_pack_values(&e->configuration), "time_ns", (json_int_t)e->time_ns,
                  "ceiling_fraction", json_rounded(e->ceiling_fraction, 4), "speedup",
                  json_rounded(e->speedup, 4), "date", e->date, "tool", e->tool);
    results_put_question(&out, e);
    return out;
}

/* Packs a row of the table, whose figures text rounds itself. */
static json_t *pack_row(const record_entry *e)
{
    json_t *row = json_pack("{sI sf sf ss ss}", "time_ns", (json_int_t)e->time_ns, "share",
                            e->ceiling_fraction, "speedup", e->speedup, "ceiling", e->ceiling,
                            "date", e->date);
    results_put_question(&row, e);
    return row;
}

/* Packs a file with the rows that are shown. */
static json_t *pack_record(const options *o, const record *r)
{
    json_t *rows = json_array(), *portfolios = json_array();
    for (size_t i = 0; i < r->entry_count; i++)
        if (results_wants_entry(o, &r->entries[i]))
            json_append(&rows, pack_row(&r->entries[i]));
    for (size_t i = 0; i < r->portfolio_count && o->run.pattern.variable_count == 0; i++)
        json_append(&portfolios, json_count(r->portfolios[i].configuration_count));
    return json_pack("{ss si si ss so so so}", "gpu", r->gpu, "major", r->major, "minor", r->minor,
                     "pattern", r->pattern, "file", json_path(r->path), "rows", rows, "portfolios",
                     portfolios);
}

at_status results_list(const options *o, at_error *error)
{
    record_set set = {0};
    record_folders folders;
    known_folders(o, &folders);
    at_status status = known_records(o, NULL, false, &set, error);
    json_t *list = json_array(), *faults = json_array(), *searched = json_array(),
           *records = json_array();
    for (size_t i = 0; i < folders.count; i++)
        json_append(&searched, json_path(folders.paths[i]));
    for (size_t i = 0; i < set.count; i++) {
        const record *r = &set.records[i];
        if (!results_wants(o, r))
            continue;
        if (!o->json)
            json_append(&records, pack_record(o, r));
        for (size_t k = 0; k < r->entry_count && o->json; k++)
            if (results_wants_entry(o, &r->entries[k]))
                json_append(&list, pack_entry(r, &r->entries[k]));
    }
    for (size_t i = 0; i < set.faults.count; i++)
        json_append(&faults, json_pack("{so ss so}", "file", json_path(set.faults.items[i].path),
                                       "pointer", set.faults.items[i].pointer, "why",
                                       json_said(set.faults.items[i].message)));
    json_t *found =
        json_pack("{so so so}", "folders", searched, "entries", list, "left_out", faults);
    json_t *also = json_pack("{so}", "records", records);
    if (!status)
        status = page_show(o, "results_list", 1, json_incref(found), json_incref(also), error);
    json_decref(found);
    json_decref(also);
    record_set_deinit(&set);
    return status;
}
