#include "run/variant/hangs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { MOST_CAUSES = 64, MOST_COMPARED = 24 }; /* of those that hung, the first */

void hangs_deinit(hangs *h)
{
    free(h->causes);
    *h = (hangs){0};
}

/* Not those that were left out, nor twins, of which nothing new is known. */
static bool has_hung(const candidate *c)
{
    return c->finished && !c->twin_of && c->found.outcome == OUTCOME_TIMEOUT;
}

static bool has_ended(const candidate *c)
{
    const outcome o = c->found.outcome;
    return c->finished && !c->twin_of && (o == OUTCOME_OK || o == OUTCOME_WRONG_RESULT || o == OUTCOME_CRASHED);
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
        if (memcmp(h->causes[i].is_common, cause->is_common, width * sizeof *cause->is_common) == 0 &&
            has_all(&h->causes[i], width, cause->values))
            return true;
    return false;
}

static void describe(hang_cause *cause, const space *s)
{
    for (size_t i = 0; i < space_parameter_count(s); i++) {
        const space_parameter *p = space_get_parameter(s, i);
        char shown[128];
        if (!cause->is_common[i])
            continue;
        value_format(p->values[cause->values[i]], shown, sizeof shown);
        text_add(cause->text, sizeof cause->text, "%s%s=%s", *cause->text ? ", " : "", p->name, shown);
    }
}

/* A cause, unless a variant with all of these values has ended. */
static at_status suspect(hangs *h, const space *s, const candidates *all, hang_cause *cause, at_error *error)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    const size_t width = space_parameter_count(s);
    if (h->count == MOST_CAUSES || is_known(h, cause, width))
        return AT_OK;
    for (size_t i = 0; i < all->count; i++) {
        if (!has_ended(all->items[i]))
            continue;
        space_at(s, all->items[i]->configuration, indices);
        if (has_all(cause, width, indices))
            return AT_OK;
    }
    describe(cause, s);
    return array_add(&h->causes, &h->count, cause, sizeof *cause) ? AT_OK
                                                                  : error_set(error, AT_NO_MEMORY, "out of memory");
}

/* Of the candidate and each two others that hung. */
static at_status suspect_with(hangs *h, const space *s, const candidates *all, const candidate *c, at_error *error)
{
    uint16_t hung[MOST_COMPARED][PATTERN_MAX_PARAMETERS], own[PATTERN_MAX_PARAMETERS];
    const size_t width = space_parameter_count(s);
    size_t count = 0;
    for (size_t i = 0; i < all->count && count < MOST_COMPARED; i++)
        if (all->items[i] != c && has_hung(all->items[i]))
            space_at(s, all->items[i]->configuration, hung[count++]);
    space_at(s, c->configuration, own);
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++)
        for (size_t k = 0; !status && k < i; k++) {
            hang_cause cause = {.text = ""};
            memset(cause.is_common, true, width * sizeof *cause.is_common);
            memcpy(cause.values, own, width * sizeof *own);
            keep_common(&cause, width, hung[i]);
            keep_common(&cause, width, hung[k]);
            status = suspect(h, s, all, &cause, error);
        }
    return status;
}

/* Those that have ended are the cause of nothing. */
static void clear(hangs *h, const space *s, const candidate *c)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    size_t kept = 0;
    if (h->count > 0)
        space_at(s, c->configuration, indices);
    for (size_t i = 0; i < h->count; i++)
        if (!has_all(&h->causes[i], space_parameter_count(s), indices))
            h->causes[kept++] = h->causes[i];
    h->count = kept;
}

at_status hangs_note(hangs *h, const space *s, const candidates *all, const candidate *c, at_error *error)
{
    if (has_ended(c))
        clear(h, s, c);
    return has_hung(c) ? suspect_with(h, s, all, c, error) : AT_OK;
}

const hang_cause *hangs_find(const hangs *h, const space *s, const uint16_t *indices)
{
    for (size_t i = 0; i < h->count; i++)
        if (has_all(&h->causes[i], space_parameter_count(s), indices))
            return &h->causes[i];
    return NULL;
}
