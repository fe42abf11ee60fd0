/* autotune results list: what is recorded, of which GPU, in which file. */
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "cmd/line/known.h"
#include "cmd/line/terminal.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"
#include "report/table.h"

enum { TEXT_BYTES = 1024 };

static const char *ceiling_of(const record *r, const record_entry *e)
{
    const char *name = json_string_value(json_object_get(results_json(r, e), "ceiling"));
    return name ? name : "copy";
}

static void format_figures(const record *r, const record_entry *e, char time[32], char share[64])
{
    snprintf(time, 32, "%.2f", (double)e->time_ns / 1e3);
    share[0] = '\0';
    if (e->ceiling_fraction > 0)
        snprintf(share, 64, "%.1f %% %.20s", 100 * e->ceiling_fraction, ceiling_of(r, e));
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What the columns before the problem take, with the blanks between them. */
static size_t width_before_problem(const record *r)
{
    size_t time_width = strlen("us"), share_width = strlen("reaches");
    for (size_t i = 0; i < r->entry_count; i++) {
        char time[32], share[64];
        format_figures(r, &r->entries[i], time, share);
        time_width = larger(time_width, strlen(time));
        share_width = larger(share_width, strlen(share));
    }
    return 2 + time_width + 2 + share_width + 2 + strlen("speed-up") + 2 + strlen("2026-01-31") + 2;
}

static at_status print_record(const options *o, const record *r, size_t *shown, at_error *error)
{
    table t;
    size_t columns = terminal_page();
    table_init(&t);
    table_add_columns(&t, "us,reaches,speed-up,<date,<problem");
    size_t rows = 0, before = width_before_problem(r);
    for (size_t i = 0; i < r->entry_count; i++) {
        const record_entry *e = &r->entries[i];
        char problem[TEXT_BYTES], time[32], share[64];
        if (!results_wants_entry(o, e))
            continue;
        rows++;
        results_problem(e, problem, sizeof problem, columns > before + 10 ? columns - before : 10);
        format_figures(r, e, time, share);
        table_add_cell(&t, "%s", time);
        table_add_cell(&t, "%s", share);
        table_add_cell(&t, e->speedup > 0 ? "%.2f" : "", e->speedup);
        table_add_cell(&t, "%.10s", e->date);
        table_add_cell(&t, "%s", problem);
    }
    at_status status = AT_OK;
    if (rows > 0 || (r->portfolio_count > 0 && o->run.variable_count == 0)) {
        char head[TEXT_BYTES];
        printf("%s%s: %s\n", *shown ? "\n" : "", r->pattern,
               table_clean(r->path, head, sizeof head));
        if (rows > 0)
            status = terminal_print_table(&t, error);
        for (size_t i = 0; i < r->portfolio_count; i++)
            printf("  a portfolio of %zu configurations\n", r->portfolios[i].configuration_count);
        *shown += rows;
    }
    table_deinit(&t);
    return status;
}

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

static at_status list_json(const options *o, const record_set *set, const record_folders *folders,
                           at_error *error)
{
    json_t *list = json_array(), *faults = json_array(), *searched = json_array();
    for (size_t i = 0; i < folders->count; i++)
        json_append(&searched, json_path(folders->paths[i]));
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->records[i].entry_count && results_wants(o, &set->records[i]);
             k++)
            if (results_wants_entry(o, &set->records[i].entries[k]))
                json_append(&list, pack_entry(&set->records[i], &set->records[i].entries[k]));
    for (size_t i = 0; i < set->faults.count; i++)
        json_append(&faults,
                    json_pack("{so ss ss}", "file", json_path(set->faults.items[i].path), "pointer",
                              set->faults.items[i].pointer, "why", set->faults.items[i].message));
    return json_text_print(
        json_pack("{so so so}", "folders", searched, "entries", list, "left_out", faults), 1,
        stdout, error);
}

at_status results_list(const options *o, at_error *error)
{
    record_set set = {0};
    record_folders folders;
    size_t shown = 0;
    char names[TEXT_BYTES];
    const char *gpu = "";
    known_folders(o, &folders);
    at_status status = known_records(o, NULL, false, &set, error);
    if (!status && o->json)
        status = list_json(o, &set, &folders, error);
    for (size_t i = 0; i < set.count && !status && !o->json; i++) {
        const record *r = &set.records[i];
        if (!results_wants(o, r))
            continue;
        if (strcmp(gpu, r->gpu) != 0) {
            char clean[RECORD_TEXT_BYTES];
            printf("%s%s (%d.%d)\n\n", shown ? "\n" : "", table_clean(r->gpu, clean, sizeof clean),
                   r->major, r->minor);
            shown = 0;
        }
        gpu = r->gpu;
        status = print_record(o, r, &shown, error);
    }
    record_folders_text(&folders, names, sizeof names);
    if (!status && !o->json)
        printf("%sSearched: %s\n", *gpu ? "\n" : "Nothing is recorded of what was asked for.\n",
               names);
    record_set_deinit(&set);
    return status;
}
