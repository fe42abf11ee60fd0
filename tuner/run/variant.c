#include "run/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

at_status candidates_add(candidates *table, uint64_t configuration, candidate **out,
                         at_error *error)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 256;
        candidate **items = realloc(table->items, capacity * sizeof(candidate *));
        if (!items)
            return error_set(error, AT_NO_MEMORY, "out of memory for %zu variants", capacity);
        table->items = items;
        table->capacity = capacity;
    }
    candidate *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(error, AT_NO_MEMORY, "out of memory for %zu variants", table->count + 1);
    c->configuration = configuration;
    c->id = table->count;
    table->items[table->count++] = c;
    *out = c;
    return AT_OK;
}

void candidates_deinit(candidates *table)
{
    for (size_t i = 0; i < table->count; i++) {
        candidate_drop_images(table->items[i]);
        free(table->items[i]->samples_ns);
        free(table->items[i]->message);
        free(table->items[i]->unproven);
        free(table->items[i]);
    }
    free(table->items);
    *table = (candidates){0};
}

void candidate_finish(candidate *c, outcome o, const char *message)
{
    c->finished = true;
    c->outcome = o;
    free(c->message);
    c->message = message && *message ? strdup(message) : NULL;
}

void candidate_judge(candidate *c, proof *found)
{
    c->verdict = found->verdict;
    if (found->verdict == PROOF_CONVICTED) {
        char story[4096];
        snprintf(story, sizeof story, "on the simulated device, %s", found->message ? found->message : "");
        candidate_finish(c, OUTCOME_WRONG_RESULT, story);
    }
    free(c->unproven);
    c->unproven = found->message;
    found->message = NULL;
}

void candidate_keep_samples(candidate *c, const int64_t *samples_ns, size_t count)
{
    free(c->samples_ns);
    c->samples_ns = count ? malloc(count * sizeof *samples_ns) : NULL;
    c->sample_count = c->samples_ns ? count : 0;
    if (c->samples_ns)
        memcpy(c->samples_ns, samples_ns, count * sizeof *samples_ns);
}

int64_t candidate_fastest_ns(const candidate *c)
{
    int64_t fastest = 0;
    for (size_t i = 0; i < c->sample_count; i++)
        if (c->samples_ns[i] > 0 && (!fastest || c->samples_ns[i] < fastest))
            fastest = c->samples_ns[i];
    return fastest;
}

int64_t candidate_median_ns(const candidate *c)
{
    int64_t sorted[DEVICE_MAX_SAMPLES];
    if (c->sample_count == 0 || c->sample_count > DEVICE_MAX_SAMPLES)
        return 0;
    memcpy(sorted, c->samples_ns, c->sample_count * sizeof *sorted);
    return stats_summarise(sorted, c->sample_count).median_ns;
}

void candidate_variant(const candidate *c, device_variant *out)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = c->present[i];
        out->launches[i] = c->launches[i];
        out->images[i] = (device_image){.bytes = c->images[i],
                                        .size_bytes = c->image_bytes[i],
                                        .registers = c->resources.registers,
                                        .static_shared_bytes = c->resources.static_shared_bytes};
        memcpy(out->images[i].suffix, c->image_suffixes[i], sizeof c->image_suffixes[i]);
    }
}

void candidate_drop_images(candidate *c)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        free(c->images[i]);
        c->images[i] = NULL;
        c->image_bytes[i] = 0;
    }
}
