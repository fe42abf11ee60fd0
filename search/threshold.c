#include "search/threshold.h"

#include <stdlib.h>

#include "base/memory.h"

void threshold_init(threshold *t, size_t count, size_t budget)
{
    *t = (threshold){.count = count,
                     .budget = budget,
                     .told = memory_new(count, sizeof *t->told),
                     .supposed = memory_new(count, sizeof *t->supposed),
                     .wished = memory_new(count, sizeof *t->wished)};
}

void threshold_deinit(threshold *t)
{
    free(t->told);
    free(t->supposed);
    free(t->wished);
    *t = (threshold){0};
}

void threshold_prefer(threshold *t, size_t place)
{
    if (place < t->count)
        t->wished[place] = true;
}

void threshold_expect(threshold *t, size_t place, threshold_answer answer)
{
    t->supposed[place] = (uint8_t)answer;
}

static threshold_answer answer_at(const threshold *t, size_t place)
{
    return t->told[place] ? t->told[place] : t->supposed[place];
}

void threshold_tell(threshold *t, size_t place, threshold_answer answer)
{
    bool contradicts =
        answer != THRESHOLD_GAP && t->supposed[place] && t->supposed[place] != answer;
    t->asked += !t->told[place];
    t->told[place] = (uint8_t)answer;
    for (size_t i = 0; contradicts && i < t->count; i++)
        t->supposed[i] = THRESHOLD_UNKNOWN;
}

/* The changes among the known and expected answers. */
typedef struct shape {
    size_t first, last;   /* first and last point that may have an answer */
    size_t before, after; /* the change lies in (before, after] */
    size_t changes;
    bool any;
    threshold_answer begin;
} shape;

static shape shape_of(const threshold *t)
{
    shape s = {.before = 0, .after = 0};
    threshold_answer latest = THRESHOLD_UNKNOWN;
    size_t at = 0;
    for (size_t i = 0; i < t->count; i++) {
        threshold_answer a = answer_at(t, i);
        if (a == THRESHOLD_GAP)
            continue;
        if (!s.any)
            s.first = i;
        s.any = true;
        s.last = i;
        if (a == THRESHOLD_UNKNOWN)
            continue;
        if (latest && a != latest && s.changes++ == 0) {
            s.before = at;
            s.after = i;
        }
        s.begin = latest ? s.begin : a;
        latest = a;
        at = i;
    }
    return s;
}

static bool middle_of(const threshold *t, size_t low, size_t high, bool expected_too, size_t *place)
{
    size_t middle = low + (high - low) / 2;
    for (size_t d = 0; d <= high - low; d++)
        for (int side = 0; side < 2; side++) {
            size_t i = side ? middle + d : middle - d;
            if ((!side && d > middle) || i < low || i > high)
                continue;
            if (expected_too ? answer_at(t, i) == THRESHOLD_UNKNOWN : !t->told[i]) {
                *place = i;
                return true;
            }
        }
    return false;
}

/* Finds the middle of the longest range in [low, high] whose points have no answer and, if
 * `expected_too`, no expected answer. Returns the length of the range. */
static size_t middle_of_longest(const threshold *t, size_t low, size_t high, bool expected_too,
                                size_t *place)
{
    size_t best = 0, length = 0;
    for (size_t i = low; i <= high + 1; i++) {
        if (i <= high && !(expected_too ? answer_at(t, i) : t->told[i])) {
            length++;
            continue;
        }
        if (length > best) {
            best = length;
            *place = i - 1 - length / 2;
        }
        length = 0;
    }
    return best;
}

static bool first_untold(const threshold *t, bool wished, size_t *place)
{
    for (*place = 0; *place < t->count; ++*place)
        if (!t->told[*place] && (!wished || t->wished[*place]))
            return true;
    return false;
}

static bool next_doubt(const threshold *t, const shape *s, size_t *place)
{
    enum {
        BESIDE = 3, /* points beside the change */
        AROUND = 8, /* 1 / AROUND of the line on each side of the change is searched first */
        COARSE = 6  /* untried ranges of at most this length near the change are left for later */
    };
    if (t->asked >= t->budget)
        return false;
    for (size_t d = 0; s->changes && d < BESIDE; d++) {
        if (s->after + d < t->count && !t->told[s->after + d]) {
            *place = s->after + d;
            return true;
        }
        if (s->before >= d && !t->told[s->before - d]) {
            *place = s->before - d;
            return true;
        }
    }
    size_t around = t->count / AROUND;
    size_t low = s->before > around ? s->before - around : 0;
    size_t high = s->after + around < t->count ? s->after + around : t->count - 1;
    if (s->changes && middle_of_longest(t, low, high, true, place) > COARSE)
        return true;
    return first_untold(t, true, place) || middle_of_longest(t, 0, t->count - 1, true, place) ||
           middle_of_longest(t, 0, t->count - 1, false, place);
}

bool threshold_next(const threshold *t, size_t *place)
{
    shape s = shape_of(t);
    if (!s.any)
        return false;
    if (s.changes > 1)
        return first_untold(t, false, place);
    for (int end = 0; end < 2; end++) {
        *place = end ? s.last : s.first;
        if (answer_at(t, *place) == THRESHOLD_UNKNOWN)
            return true;
    }
    if (s.changes && s.after > s.before + 1 && middle_of(t, s.before + 1, s.after - 1, true, place))
        return true;
    return next_doubt(t, &s, place);
}

threshold_kind threshold_best_fit(const threshold *t, size_t *place)
{
    size_t fewest = SIZE_MAX;
    threshold_kind kind = THRESHOLD_NOTHING;
    *place = 0;
    for (int rises = 0; rises < 2; rises++) {
        size_t wrong = 0; /* exceptions to a change at point `at` */
        for (size_t i = 0; i < t->count; i++)
            wrong += t->told[i] == (rises ? THRESHOLD_NO : THRESHOLD_YES);
        for (size_t at = 0; at <= t->count; at++) {
            if (wrong < fewest) {
                fewest = wrong;
                *place = at;
                kind = at == 0          ? (rises ? THRESHOLD_ALWAYS : THRESHOLD_NEVER)
                       : at == t->count ? (rises ? THRESHOLD_NEVER : THRESHOLD_ALWAYS)
                       : rises          ? THRESHOLD_RISES
                                        : THRESHOLD_FALLS;
            }
            if (at < t->count && t->told[at] == (rises ? THRESHOLD_NO : THRESHOLD_YES))
                wrong--;
            else if (at < t->count && t->told[at] == (rises ? THRESHOLD_YES : THRESHOLD_NO))
                wrong++;
        }
    }
    return kind;
}

threshold_kind threshold_result(const threshold *t, size_t *place)
{
    shape s = shape_of(t);
    *place = s.after;
    if (!s.any)
        return THRESHOLD_NOTHING;
    if (s.changes > 1) {
        threshold_best_fit(t, place);
        return THRESHOLD_MIXED;
    }
    if (s.changes == 0)
        return s.begin == THRESHOLD_YES ? THRESHOLD_ALWAYS : THRESHOLD_NEVER;
    return s.begin == THRESHOLD_NO ? THRESHOLD_RISES : THRESHOLD_FALLS;
}
