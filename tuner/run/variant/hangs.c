#include "run/variant/hangs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum {
    MOST_CAUSES = 64,
    MOST_COMPARED = 24
}; /* MOST_COMPARED: most earlier hung configurations that are compared with a new one */

void hangs_init(hangs *h, const pattern *p)
{
    *h = (hangs){.pattern = p};
}

void hangs_deinit(hangs *h)
{
    free(h->causes);
    free(h->hung);
    free(h->ended);
    *h = (hangs){0};
}

static bool has_all(const hang_cause *cause, size_t width, const uint16_t *indices)
{
    for (size_t i = 0; i < width; i++)
        if (cause->is_common[i] && cause->values[i] != indices[i])
            return false;
    return true;
}

static void keep_common(hang_cause *cause, size_t width, const uint16_t *indices)
{
    for (size_t i = 0; i < width; i++)
        cause->is_common[i] = cause->is_common[i] && cause->values[i] == indices[i];
}

static bool is_known(const hangs *h, const hang_cause *cause, size_t width)
{
    for (size_t i = 0; i < h->count; i++)
        if (memcmp(h->causes[i].is_common, cause->is_common, width * sizeof *cause->is_common) ==
                0 &&
            has_all(&h->causes[i], width, cause->values))
            return true;
    return false;
}

static void describe(hang_cause *cause, const pattern *p)
{
    for (size_t i = 0; i < p->parameter_count; i++) {
        char shown[128];
        if (!cause->is_common[i])
            continue;
        value_format(p->parameters[i].values[cause->values[i]], shown, sizeof shown);
        text_add(cause->text, sizeof cause->text, "%s%s=%s", *cause->text ? ", " : "",
                 p->parameters[i].name, shown);
    }
}

static void suspect(hangs *h, hang_cause *cause)
{
    const size_t width = h->pattern->parameter_count;
    if (h->count == MOST_CAUSES || is_known(h, cause, width))
        return;
    for (size_t i = 0; i < h->ended_count; i++)
        if (has_all(cause, width, h->ended + i * width))
            return;
    describe(cause, h->pattern);
    memory_add(&h->causes, &h->count, cause, sizeof *cause);
}

/* Suspects the values that the latest hung variant shares with each pair of earlier hung ones. */
static void suspect_with_others(hangs *h)
{
    const size_t width = h->pattern->parameter_count, others = h->hung_count - 1;
    const size_t count = others < MOST_COMPARED ? others : MOST_COMPARED;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            hang_cause cause = {.text = ""};
            memset(cause.is_common, true, width * sizeof *cause.is_common);
            memcpy(cause.values, h->hung + others * width, width * sizeof *cause.values);
            keep_common(&cause, width, h->hung + i * width);
            keep_common(&cause, width, h->hung + k * width);
            suspect(h, &cause);
        }
}

static void clear(hangs *h, const uint16_t *indices)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++)
        if (!has_all(&h->causes[i], h->pattern->parameter_count, indices))
            h->causes[kept++] = h->causes[i];
    h->count = kept;
}

void hangs_note(hangs *h, const uint16_t *indices, bool hung)
{
    memory_add(hung ? &h->hung : &h->ended, hung ? &h->hung_count : &h->ended_count, indices,
               h->pattern->parameter_count * sizeof *indices);
    if (hung)
        suspect_with_others(h);
    else
        clear(h, indices);
}

const hang_cause *hangs_find(const hangs *h, const uint16_t *indices)
{
    for (size_t i = 0; i < h->count; i++)
        if (has_all(&h->causes[i], h->pattern->parameter_count, indices))
            return &h->causes[i];
    return NULL;
}

void hangs_explain(const hang_cause *cause, char why[HANGS_WHY_BYTES])
{
    snprintf(why, HANGS_WHY_BYTES,
             "not tried, because all %d variants%s%s that were tried ran out of time",
             HANGS_OF_A_CAUSE, *cause->text ? " with " : "", cause->text);
}
