#include "run/race/race_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The figures of an answer, in the journal's order. */
enum {
    FIGURE_CEILING,
    FIGURE_SM_CLOCK,
    FIGURE_LAUNCH_J,
    FIGURE_LOW_J,
    FIGURE_HIGH_J,
    FIGURE_POWER,
    FIGURE_CHUNKS,
    FIGURE_OTHERS,
    FIGURES
};

void race_log_init(race_log *l, journal *j, size_t gpu, const char *plan)
{
    *l = (race_log){.journal = j, .gpu = gpu};
    if (j)
        l->key = journal_key_of_race(j, gpu, plan);
}

static void keep(race_log *l, journal_key key, const journal_entry *e)
{
    at_error trouble = {0};
    if (journal_append(l->journal, key, e, &trouble))
        l->trouble = trouble;
}

static bool key_of(const race_log *l, const race_question *q, journal_key *out)
{
    if (!l->journal)
        return false;
    journal_key *keys = memory_new(q->count, sizeof *keys);
    uint64_t *configurations = memory_new(q->count, sizeof *configurations);
    for (size_t i = 0; i < q->count; i++) {
        keys[i] = q->variants[i]->key;
        configurations[i] = q->variants[i]->configuration;
    }
    *out = journal_key_of_question(l->key, &(journal_question){.asked = q->asked,
                                                               .number = q->number,
                                                               .variants = keys,
                                                               .configurations = configurations,
                                                               .count = q->count});
    free(keys);
    free(configurations);
    return true;
}

static const race_question the_search = {.asked = "search"};

bool race_log_find_search(const race_log *l, const uint64_t **tried, size_t *count, int *end)
{
    journal_key key;
    journal_entry e;
    if (!key_of(l, &the_search, &key) || !journal_find(l->journal, key, &e) ||
        e.figure_count != 1 || e.configuration_count == 0)
        return false;
    *tried = e.configurations;
    *count = e.configuration_count;
    *end = (int)e.figures[0];
    return true;
}

void race_log_keep_search(race_log *l, const uint64_t *tried, size_t count, int end)
{
    journal_key key;
    const double figure = end;
    if (key_of(l, &the_search, &key))
        keep(l, key,
             &(journal_entry){.found.outcome = OUTCOME_OK,
                              .gpu = l->gpu,
                              .asked = the_search.asked,
                              .stage = "race",
                              .configurations = tried,
                              .configuration_count = count,
                              .figures = &figure,
                              .figure_count = 1});
}

static size_t find_place(const race_question *q, uint64_t configuration)
{
    size_t at = 0;
    while (at < q->count && q->variants[at]->configuration != configuration)
        at++;
    return at;
}

bool race_log_find(const race_log *l, const race_question *q, device_event *out)
{
    journal_key key;
    journal_entry e;
    if (!key_of(l, q, &key) || !journal_find(l->journal, key, &e) || e.figure_count != FIGURES ||
        (e.found.sample_count != 0 && e.found.sample_count != q->count))
        return false;
    size_t place = e.configuration_count ? find_place(q, e.configurations[0]) : 0;
    if (place == q->count && q->count > 0)
        return false;
    *out = (device_event){.id = place,
                          .outcome = e.found.outcome,
                          .ceiling_ns = (int64_t)e.figures[FIGURE_CEILING],
                          .sm_clock_khz = e.figures[FIGURE_SM_CLOCK],
                          .energy = {.launch_j = e.figures[FIGURE_LAUNCH_J],
                                     .low_j = e.figures[FIGURE_LOW_J],
                                     .high_j = e.figures[FIGURE_HIGH_J],
                                     .power_w = e.figures[FIGURE_POWER],
                                     .chunks = (size_t)e.figures[FIGURE_CHUNKS]},
                          .others = (uint32_t)e.figures[FIGURE_OTHERS],
                          .message = memory_text(e.found.message),
                          .samples_ns = memory_copy(e.found.samples_ns, e.found.sample_count,
                                                    sizeof *out->samples_ns),
                          .sample_count = e.found.sample_count};
    return true;
}

void race_log_keep(race_log *l, const race_question *q, const char *stage, const device_event *e)
{
    journal_key key;
    for (size_t i = 0; i < e->sample_count; i++)
        if (e->samples_ns[i] <= 0)
            return;
    if (!key_of(l, q, &key))
        return;
    bool blames = e->outcome != OUTCOME_OK && e->id < q->count;
    uint64_t blamed = blames ? q->variants[e->id]->configuration : 0;
    const double figures[FIGURES] = {
        [FIGURE_CEILING] = (double)e->ceiling_ns,   [FIGURE_SM_CLOCK] = e->sm_clock_khz,
        [FIGURE_LAUNCH_J] = e->energy.launch_j,     [FIGURE_LOW_J] = e->energy.low_j,
        [FIGURE_HIGH_J] = e->energy.high_j,         [FIGURE_POWER] = e->energy.power_w,
        [FIGURE_CHUNKS] = (double)e->energy.chunks, [FIGURE_OTHERS] = (double)e->others,
    };
    keep(l, key,
         &(journal_entry){.found.outcome = e->outcome,
                          .gpu = l->gpu,
                          .found.message = e->message,
                          .asked = q->asked,
                          .stage = stage,
                          .found.samples_ns = e->samples_ns,
                          .found.sample_count = e->sample_count,
                          .configurations = &blamed,
                          .configuration_count = blames,
                          .figures = figures,
                          .figure_count = FIGURES});
}
