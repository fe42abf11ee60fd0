#include "export/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device/field.h"

static bool same_source(const export_source *a, const export_source *b)
{
    bool same = strcmp(a->text, b->text) == 0;
    for (size_t e = 0; e < PLAN_MAX_LAUNCHES && same; e++) {
        const char *x = a->entries[e].name, *y = b->entries[e].name;
        same = !x == !y && (!x || strcmp(x, y) == 0);
    }
    return same;
}

size_t export_kernels_add_source(export_kernels *k, export_source source)
{
    for (size_t i = 0; i < k->source_count; i++)
        if (same_source(&k->sources[i], &source)) {
            export_source_deinit(&source);
            return i;
        }
    memory_add(&k->sources, &k->source_count, &source, sizeof source);
    return k->source_count - 1;
}

static bool same_condition(const export_use *a, const export_use *b, size_t i)
{
    const export_condition *x = &a->conditions[i], *y = &b->conditions[i];
    size_t count;
    const device_field *f = &device_fields(&count)[x->of_device ? x->index : 0];
    if (x->of_device != y->of_device || x->index != y->index)
        return false;
    if (!x->of_device)
        return value_equal(a->problem->pairs[x->index].value, b->problem->pairs[x->index].value);
    return value_equal(device_field_value(f, &a->device), device_field_value(f, &b->device));
}

static bool same_use(const export_use *a, const export_use *b)
{
    if (a->source != b->source || a->condition_count != b->condition_count ||
        !record_same_values(a->configuration, b->configuration))
        return false;
    for (size_t i = 0; i < a->condition_count; i++)
        if (!same_condition(a, b, i))
            return false;
    return true;
}

void export_kernels_add_use(export_kernels *k, export_use use)
{
    for (size_t i = 0; i < k->use_count; i++)
        if (same_use(&k->uses[i], &use)) {
            free(use.conditions);
            return;
        }
    memory_add(&k->uses, &k->use_count, &use, sizeof use);
}

void export_source_deinit(export_source *s)
{
    free(s->text);
    json_decref(s->headers);
    for (size_t e = 0; e < PLAN_MAX_LAUNCHES; e++)
        free(s->entries[e].name);
    free(s->ptx);
    *s = (export_source){0};
}

void export_kernels_deinit(export_kernels *k)
{
    for (size_t i = 0; i < k->source_count; i++)
        export_source_deinit(&k->sources[i]);
    for (size_t i = 0; i < k->use_count; i++)
        free(k->uses[i].conditions);
    free(k->sources);
    free(k->uses);
    *k = (export_kernels){0};
}
