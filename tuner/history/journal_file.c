/* Our own journals (journal/journal.h): JSON lines, of which the last of each variant counts. A
 * cost is the median of the samples. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"
#include "history/recorded.h"
#include "journal/line.h"

/* Cuts "a=1,b=x" apart; calls `each` for every pair, in order. False when it is no such list. */
typedef bool (*pair_visit)(void *context, size_t place, const char *name, const char *text);

static bool visit_pairs(const char *configuration, pair_visit visit, void *context, size_t *count)
{
    char *copy = memory_text(configuration), *rest = copy, *pair;
    bool ok = true;
    *count = 0;
    while (ok && (pair = strsep(&rest, ",")) != NULL) {
        char *equals = strchr(pair, '=');
        ok = equals && equals != pair && *count < RECORDED_MAX_PARAMETERS;
        if (!ok)
            break;
        *equals = '\0';
        ok = visit(context, (*count)++, pair, equals + 1);
    }
    free(copy);
    return ok;
}

/* The texts that outlive the journal's own are kept in the recorded's root, a JSON array. */
static const char *keep_text(recorded *r, const char *text)
{
    json_t *kept = json_string(text);
    if (!kept || json_array_append_new(r->root, kept))
        return NULL;
    return json_string_value(kept);
}

typedef struct name_list {
    recorded *r;
    const char *names[RECORDED_MAX_PARAMETERS];
} name_list;

static bool visit_name(void *context, size_t place, const char *name, const char *text)
{
    (void)text;
    name_list *list = context;
    list->names[place] = keep_text(list->r, name);
    return list->names[place] != NULL;
}

typedef struct value_list {
    recorded *r;
    recorded_result *result;
} value_list;

static bool visit_value(void *context, size_t place, const char *name, const char *text)
{
    value_list *list = context;
    if (place >= list->r->parameter_count || strcmp(name, list->r->names[place]) != 0)
        return false;
    value v = value_parse(text);
    if (v.kind == VALUE_STRING) {
        v.string = keep_text(list->r, text);
        if (!v.string)
            return false;
    }
    list->result->values[place] = v;
    return true;
}

static void drop_last(recorded *r)
{
    recorded_result *result = &r->results[--r->result_count];
    free(result->values);
    free(result->samples_ms);
}

static void read_samples(recorded_result *result, const journal_entry *e)
{
    result->outcome = e->found.outcome;
    result->has_resources = e->found.has_resources;
    result->registers = e->found.resources.registers;
    result->spill_bytes =
        e->found.resources.spill_store_bytes + e->found.resources.spill_load_bytes;
    result->shared_bytes = e->found.resources.static_shared_bytes;
    result->compile_ms = (double)e->found.compile_ns / 1e6;
    result->check_ms = (double)e->found.check_ns / 1e6;
    if (e->found.sample_count == 0)
        return;
    stats_summary summary;
    memory_have(stats_summarise_copy(e->found.samples_ns, e->found.sample_count, &summary) ? result
                                                                                           : NULL);
    result->samples_ms = memory_new(e->found.sample_count, sizeof *result->samples_ms);
    result->sample_count = e->found.sample_count;
    for (size_t i = 0; i < e->found.sample_count; i++) {
        result->samples_ms[i] = (double)e->found.samples_ns[i] / 1e6;
        result->run_ms += result->samples_ms[i];
    }
    if (e->found.outcome == OUTCOME_OK && summary.median_ns > 0) {
        result->cost = (double)summary.median_ns / 1e6;
        result->low_ms = (double)summary.low_ns / 1e6;
        result->high_ms = (double)summary.high_ns / 1e6;
    }
}

/* Adds an entry; one that is not of this journal's parameters is left out. */
static void add_entry(recorded *r, const journal_entry *e)
{
    size_t count;
    if (r->parameter_count == 0) {
        name_list list = {.r = r};
        at_error error = {0};
        if (!visit_pairs(e->configuration, visit_name, &list, &count))
            return;
        if (recorded_set_names(r, list.names, count, &error))
            return;
    }
    value_list list = {.r = r, .result = recorded_add(r)};
    if (!visit_pairs(e->configuration, visit_value, &list, &count) || count != r->parameter_count ||
        (e->found.outcome == OUTCOME_OK && e->found.sample_count == 0)) {
        drop_last(r);
        return;
    }
    read_samples(list.result, e);
}

bool recorded_journal_detect(const char *text, size_t size_bytes)
{
    const char *end = memchr(text, '\n', size_bytes);
    journal_line line;
    bool is_line = end && journal_line_parse(text, (size_t)(end - text), &line);
    if (is_line)
        journal_line_deinit(&line);
    return is_line;
}

void recorded_journal_read(const char *text, size_t size_bytes, recorded *out)
{
    out->root = memory_have(json_array());
    out->newest_first = true;
    /* Backwards: of several entries for a variant the last counts. */
    size_t end = size_bytes;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        size_t length = end - start - (text[end - 1] == '\n');
        journal_line line;
        if (journal_line_parse(text + start, length, &line)) {
            if (!line.is_finish && !*line.entry.asked)
                add_entry(out, &line.entry);
            journal_line_deinit(&line);
        }
        end = start;
    }
}
