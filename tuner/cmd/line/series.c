#include "cmd/line/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SHOWN = 3 }; /* most numbers before "..." that decide how the series goes on */

static at_status append(const char *name, const char *text, series *s, at_error *error)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->texts[i], text) == 0)
            return error_set(error, AT_USAGE, "--over %s goes over %s twice", name, text);
    if (s->count == SERIES_MOST)
        return error_set(error, AT_USAGE, "--over %s has over %d values", name, SERIES_MOST);
    char *copy = memory_text(text);
    memory_add(&s->texts, &s->count, &copy, sizeof copy);
    return AT_OK;
}

/* Reads a whole number of at most 32 bits: then products of two numbers do not overflow. */
static bool read_whole(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    *out = v;
    return end != text && *end == '\0' && !errno && v < INT32_MAX && v > INT32_MIN;
}

/* The rule of a series: the number after x is factor * x + step. */
typedef struct progression {
    int64_t factor, step;
} progression;

static bool find_progression(const int64_t *known, size_t count, progression *out)
{
    *out = (progression){1, 1};
    if (count < 2)
        return count == 1;
    bool even = true, steady = known[0] != 0 && known[1] % known[0] == 0;
    int64_t step = known[1] - known[0], factor = steady ? known[1] / known[0] : 0;
    for (size_t i = 1; i < count; i++) {
        even = even && known[i] - known[i - 1] == step;
        steady = steady && known[i] == known[i - 1] * factor;
    }
    *out = even ? (progression){1, step} : (progression){factor, 0};
    return even || (steady && factor > 1);
}

/* Appends the values after the last one and before `to`. */
static at_status continue_to(const char *name, const char *to, series *s, at_error *error)
{
    int64_t known[SHOWN], end;
    size_t count = s->count < SHOWN ? s->count : SHOWN;
    bool whole = read_whole(to, &end);
    for (size_t i = 0; whole && i < count; i++)
        whole = read_whole(s->texts[s->count - count + i], &known[i]);
    progression p = {0, 0};
    if (!whole || !find_progression(known, count, &p))
        return error_set(error, AT_USAGE,
                         "--over %s: '...' can only continue whole numbers with a constant "
                         "difference or factor, as in 1,2,...,8 or 1,2,4,...,64",
                         name);
    int64_t at = known[count - 1];
    bool upwards = p.factor * at + p.step > at;
    at_status status = AT_OK;
    while (!status) {
        int64_t next = p.factor * at + p.step;
        if (next == end)
            return AT_OK;
        if (next == at || (upwards ? next > end : next < end))
            return error_set(error, AT_USAGE,
                             "--over %s: the series does not reach its last value %s exactly", name,
                             to);
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, next);
        status = append(name, text, s, error);
        at = next;
    }
    return status;
}

at_status series_check(const options *o, const char *verb, const char *form, size_t most,
                       at_error *error)
{
    if (!o->sweep_count)
        return error_set(error, AT_USAGE,
                         "'autotune %s' needs --over %s; 'autotune space SCRIPT' lists the "
                         "variables of the problem",
                         verb, form);
    if (o->sweep_count > most ||
        o->sweep_count + o->run.pattern.variable_count > SETTINGS_MAX_VARIABLES)
        return error_set(error, AT_USAGE, "--over may be given %zu times at most", most);
    for (size_t i = 0; i < o->sweep_count; i++) {
        const char *name = o->sweeps[i].name;
        if (!o->sweeps[i].text)
            return error_set(error, AT_USAGE, "--over takes %s here, not '%s'", form, name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(name, o->sweeps[k].name) == 0)
                return error_set(error, AT_USAGE, "--over %s is given twice", name);
        for (size_t k = 0; k < o->run.pattern.variable_count; k++)
            if (strcmp(name, o->run.pattern.variables[k].name) == 0)
                return error_set(error, AT_USAGE, "%s is given by both --over and --set", name);
    }
    return AT_OK;
}

at_status series_parse(const char *name, const char *list, series *out, at_error *error)
{
    *out = (series){0};
    char *copy = memory_text(list), *rest = NULL;
    at_status status = AT_OK;
    bool gap = false;
    for (char *word = strtok_r(copy, ",", &rest); !status && word;
         word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "...") == 0) {
            if (gap || !out->count)
                break;
            gap = true;
            continue;
        }
        if (strstr(word, ".."))
            status = error_set(error, AT_USAGE,
                               "--over %s: '%.60s' is a range, which 'autotune portfolio' takes; "
                               "here values are listed, or continued: 64,128,...,1024",
                               name, word);
        else if (gap)
            status = continue_to(name, word, out, error);
        gap = false;
        if (!status)
            status = append(name, word, out, error);
    }
    if (!status && (gap || !out->count))
        status = error_set(error, AT_USAGE,
                           "--over %s: '...' must stand between two values, as in 1,2,...,8", name);
    free(copy);
    return status;
}

void series_deinit(series *s)
{
    for (size_t i = 0; s->texts && i < s->count; i++)
        free(s->texts[i]);
    free(s->texts);
    *s = (series){0};
}
