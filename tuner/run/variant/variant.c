#include "run/variant/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

candidate *candidates_add(candidates *table, uint64_t configuration)
{
    candidate *c = memory_new(1, sizeof *c);
    c->configuration = configuration;
    c->id = table->count;
    memory_add(&table->items, &table->count, &c, sizeof c);
    table->at[CANDIDATE_NEW]++;
    return c;
}

void candidates_deinit(candidates *table)
{
    for (size_t i = 0; i < table->count; i++) {
        candidate_drop_images(table->items[i]);
        measurement_deinit(&table->items[i]->found);
        free(table->items[i]->unproven);
        free(table->items[i]->coverage);
        free(table->items[i]);
    }
    free(table->items);
    *table = (candidates){0};
}

static void condemn(candidate *c)
{
    char text[4096];
    snprintf(text, sizeof text, "on the simulated device, %s", c->unproven ? c->unproven : "");
    candidate_reject(c, OUTCOME_WRONG_RESULT, text);
}

void candidate_copy(candidate *c, const measurement *found)
{
    measurement copy = *found;
    measurement_own(&copy);
    measurement_deinit(&c->found);
    c->found = copy;
    c->fastest_ns = measurement_fastest_ns(&copy);
}

void candidate_found(candidate *c, outcome o, const char *message, const int64_t *samples_ns,
                     size_t sample_count)
{
    measurement whole = c->found;
    whole.outcome = o;
    whole.message = message;
    whole.samples_ns = samples_ns;
    whole.sample_count = sample_count;
    candidate_copy(c, &whole);
    /* A proof may be faster than the device. */
    if (o == OUTCOME_OK && c->verdict == PROOF_CONVICTED)
        condemn(c);
}

void candidate_reject(candidate *c, outcome o, const char *message)
{
    candidate_found(c, o, message, c->found.samples_ns, c->found.sample_count);
}

void candidate_judge(candidate *c, proof *found)
{
    c->verdict = found->verdict;
    free(c->unproven);
    c->unproven = found->message;
    found->message = NULL;
    free(c->coverage);
    c->coverage = c->verdict == PROOF_PROVEN ? coverage_copy(&found->coverage) : NULL;
    proof_deinit(found);
    if (c->verdict == PROOF_CONVICTED)
        condemn(c);
}

int64_t candidate_median_ns(const candidate *c)
{
    stats_summary all;
    stats_summarise_copy(c->found.samples_ns, c->found.sample_count, &all);
    return all.median_ns;
}

void candidate_variant(const candidate *c, device_variant *out)
{
    out->layout = c->layout;
    out->once[0] = '\0'; /* it is tried on all */
    out->launch_ns = c->fastest_ns;
    out->too_slow_ns = 0;
    out->unchecked = c->ragged == RAGGED_UNCHECKED;
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        out->present[i] = c->present[i] && (i == 0 || !candidate_waits(c));
        out->launches[i] = c->launches[i];
        out->images[i] =
            (device_image){.bytes = c->images[i],
                           .size_bytes = c->image_bytes[i],
                           .registers = c->found.resources.registers,
                           .static_shared_bytes = c->found.resources.static_shared_bytes,
                           .stack_bytes = c->found.resources.stack_bytes,
                           .spill_bytes = c->found.resources.spill_load_bytes +
                                          c->found.resources.spill_store_bytes,
                           .symbols = c->image_symbols[i] ? c->image_symbols[i] : "",
                           .shared = c->image_shared[i]};
    }
}

bool candidate_waits(const candidate *c)
{
    return c->ragged == RAGGED_DEFERRED;
}

bool candidate_is_checked(const candidate *c)
{
    return c->ragged == RAGGED_WITH_TUNED || c->ragged == RAGGED_PASSED;
}

bool candidate_has_code(const candidate *c)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        if (c->present[i] && c->launches[i].launch_count > 0 && !c->images[i] && !c->images[0])
            return false;
    return true;
}

size_t candidate_code_bytes(const candidate *c)
{
    size_t sum = 0;
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        sum += c->image_bytes[i];
    return sum;
}

void candidate_drop_images(candidate *c)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++) {
        free(c->images[i]);
        free(c->image_symbols[i]);
        c->images[i] = NULL;
        c->image_symbols[i] = NULL;
        c->image_bytes[i] = 0;
    }
}
