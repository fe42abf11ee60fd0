#include "run/variant/variant_log.h"

#include <stdlib.h>
#include <string.h>

void variant_log_put_on(const variant_log *log, candidate *c, size_t gpu_number)
{
    c->gpu = gpu_number;
    if (log->journal)
        c->key = journal_key_on(log->journal, gpu_number, c->source);
}

static void format_configuration(const variant_log *log, const candidate *c, char *text,
                                 size_t size_bytes)
{
    space_at(log->session->space, c->configuration, log->indices);
    script_format_configuration(log->session->script, log->indices, text, size_bytes);
}

static void append(variant_log *log, journal_key key, const journal_entry *e)
{
    at_error trouble = {0};
    journal_append(log->journal, key, e, &trouble);
    if (trouble.status)
        *log->trouble = trouble;
}

void variant_log_keep(variant_log *log, const candidate *c)
{
    if (!log->journal)
        return;
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    append(log, c->key,
           &(journal_entry){.configuration = text,
                            .stage = "screen",
                            .gpu = c->gpu,
                            .code = c->code,
                            .has_code = c->has_code,
                            .found = c->found});
}

static journal_key key_of_check(const candidate *c, const char *check)
{
    return journal_key_of_question(c->key, &(journal_question){.asked = check});
}

void variant_log_keep_check(variant_log *log, const candidate *c, const char *check)
{
    if (log->journal)
        append(
            log, key_of_check(c, check),
            &(journal_entry){.stage = "screen",
                             .asked = check,
                             .gpu = c->gpu,
                             .found = {.outcome = c->found.outcome, .message = c->found.message}});
}

static void find_checks(const variant_log *log, candidate *c)
{
    static const char *const checks[] = {"ragged", "proof"};
    for (size_t i = 0; i < 2 && c->found.outcome == OUTCOME_OK; i++) {
        journal_entry entry;
        if (!journal_find(log->journal, key_of_check(c, checks[i]), &entry))
            continue;
        if (entry.found.outcome != OUTCOME_OK)
            candidate_reject(c, entry.found.outcome, entry.found.message);
        else if (c->ragged)
            c->ragged = RAGGED_PASSED;
    }
}

static bool find_entry(const variant_log *log, const candidate *c, journal_entry *entry)
{
    return log->journal && journal_find(log->journal, c->key, entry) &&
           (entry->found.outcome != OUTCOME_OK || entry->found.sample_count >= log->samples) &&
           entry->found.sample_count <= DEVICE_MAX_SAMPLES;
}

bool variant_log_find(variant_log *log, candidate *c)
{
    journal_entry entry;
    variant_log_put_on(log, c, log->gpus->home);
    bool found = find_entry(log, c, &entry);
    for (size_t i = 0; !found && i < log->gpus->count; i++) {
        variant_log_put_on(log, c, i);
        found = find_entry(log, c, &entry);
    }
    if (!found)
        return false;
    c->from_journal = true;
    c->code = entry.code;
    c->has_code = entry.has_code;
    candidate_copy(c, &entry.found);
    find_checks(log, c);
    /* Another configuration may have the same kernel: a reader of the journal must find both. */
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    if (strcmp(text, entry.configuration) != 0)
        variant_log_keep(log, c);
    return true;
}
