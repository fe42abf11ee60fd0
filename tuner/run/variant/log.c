#include "run/variant/log.h"

#include <stdlib.h>
#include <string.h>

at_status variant_log_set_keys(const variant_log *log, candidate *c, const sources *all, at_error *error)
{
    journal_launch launches[DEVICE_SLOTS];
    size_t count = 0;
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        if (c->present[i])
            launches[count++] =
                (journal_launch){.source_hash = i > 0 && c->ragged ? c->codes[i] : all->of[i].hash,
                                 .plan = &c->launches[i]};
    if (!log->journal)
        return AT_OK;
    if (log->gpus->count == 1)
        return journal_key_of(log->journal, launches, count, &c->key, error);
    if (!c->keys)
        c->keys = calloc(log->gpus->count, sizeof *c->keys);
    if (!c->keys)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < log->gpus->count; i++)
        status = journal_key_on(log->journal, i, launches, count, &c->keys[i], error);
    c->key = c->keys[c->gpu];
    return status;
}

void variant_log_put_on(candidate *c, size_t gpu_number)
{
    c->gpu = gpu_number;
    if (c->keys)
        c->key = c->keys[gpu_number];
}

static void format_configuration(const variant_log *log, const candidate *c, char *text, size_t size_bytes)
{
    space_at(log->session->space, c->configuration, log->indices);
    script_format_configuration(log->session->script, log->indices, text, size_bytes);
}

void variant_log_keep(variant_log *log, const candidate *c)
{
    if (!log->journal)
        return;
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    at_error trouble = {0};
    journal_append(log->journal, c->key,
                   &(journal_entry){.configuration = text,
                                    .stage = "screen",
                                    .gpu = c->gpu,
                                    .code = c->code,
                                    .has_code = c->has_code,
                                    .found = c->found},
                   &trouble);
    if (trouble.status)
        *log->trouble = trouble;
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
    variant_log_put_on(c, log->gpus->home);
    bool found = find_entry(log, c, &entry);
    for (size_t i = 0; !found && c->keys && i < log->gpus->count; i++) {
        variant_log_put_on(c, i);
        found = find_entry(log, c, &entry);
    }
    if (!found)
        return false;
    c->from_journal = true;
    c->code = entry.code;
    c->has_code = entry.has_code;
    measurement whole = entry.found;
    measurement_own(&whole);
    measurement_deinit(&c->found);
    c->found = whole;
    /* Another configuration may have the same kernel: a reader of the journal must find both. */
    char text[CONFIGURATION_BYTES];
    format_configuration(log, c, text, sizeof text);
    if (strcmp(text, entry.configuration) != 0)
        variant_log_keep(log, c);
    return true;
}
