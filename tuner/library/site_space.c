#include "library/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "library/library.h"
#include "record/schema.h"

enum { MOST_CONFIGURATIONS = INT32_MAX, FEW_VALUES = 8, NEAR = 2 };

at_status site_variable_copy(const at_variable *v, const char *what, at_variable *out,
                             at_error *error)
{
    *out = (at_variable){0};
    if (!v->name || !record_is_name(v->name))
        return error_set(
            error, AT_USAGE,
            "the name of the %s '%.80s' is not valid: use an identifier of at most 63 letters",
            what, v->name ? v->name : "");
    if ((unsigned)v->kind > AT_KIND_TEXT)
        return error_set(error, AT_USAGE,
                         "the %s '%s' has an invalid kind, %d: use a value of at_kind", what,
                         v->name, (int)v->kind);
    if (v->kind == AT_KIND_TEXT && (!v->text || !record_is_text(v->text)))
        return error_set(error, AT_USAGE,
                         "a text of the %s '%s' is not valid: it must be at most 255 letters, "
                         "without control characters, and not NULL",
                         what, v->name);
    *out = (at_variable){.kind = v->kind, .integer = v->integer, .number = v->number};
    if (v->kind == AT_KIND_BOOLEAN)
        out->integer = v->integer != 0;
    out->name = strdup(v->name);
    if (v->kind == AT_KIND_TEXT)
        out->text = strdup(v->text);
    if (out->name && (v->kind != AT_KIND_TEXT || out->text))
        return AT_OK;
    site_variable_deinit(out);
    return error_no_memory(error);
}

static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

void site_variable_deinit(at_variable *v)
{
    free_text(v->name);
    free_text(v->text);
    *v = (at_variable){0};
}

static bool has_values(const at_parameter *p)
{
    return p->count > 0 && (p->kind == AT_KIND_NUMBER ? p->numbers != NULL
                            : p->kind == AT_KIND_TEXT ? p->texts != NULL
                                                      : p->integers != NULL);
}

static at_variable value_at(const at_parameter *p, size_t i)
{
    at_variable v = {.name = p->name, .kind = p->kind};
    if (p->kind == AT_KIND_NUMBER)
        v.number = p->numbers[i];
    else if (p->kind == AT_KIND_TEXT)
        v.text = p->texts[i];
    else
        v.integer = p->integers[i];
    return v;
}

static uint64_t hash_value(const at_variable *v)
{
    const int64_t integer = v->kind == AT_KIND_BOOLEAN ? v->integer != 0 : v->integer;
    if (v->kind == AT_KIND_TEXT)
        return v->text ? XXH3_64bits(v->text, strlen(v->text)) : 0;
    return v->kind == AT_KIND_NUMBER ? XXH3_64bits(&v->number, sizeof v->number)
                                     : XXH3_64bits(&integer, sizeof integer);
}

static at_status add_list(site_space *s, const at_parameter *p, at_error *error)
{
    site_list *list = &s->lists[s->list_count];
    if (!has_values(p))
        return error_set(error, AT_USAGE, "the parameter '%.80s' has no values",
                         p->name ? p->name : "");
    if ((uint64_t)s->count * p->count > MOST_CONFIGURATIONS)
        return error_set(
            error, AT_USAGE,
            "the parameters have more than 2^31 combinations of values, the most that are allowed");
    for (size_t i = 0; i < s->list_count; i++)
        if (p->name && strcmp(p->name, s->lists[i].name) == 0)
            return error_set(error, AT_USAGE, "two parameters are called '%.80s'", p->name);
    list->values = calloc(p->count, sizeof *list->values);
    if (!list->values)
        return error_no_memory(error);
    s->list_count++;
    for (size_t i = 0; i < p->count; i++) {
        at_variable v = value_at(p, i);
        at_status status = site_variable_copy(&v, "parameter", &list->values[i], error);
        if (status)
            return status;
        list->hash += hash_value(&list->values[i]);
        list->count++;
    }
    s->count *= (uint32_t)p->count;
    list->name = strdup(p->name);
    return list->name ? AT_OK : error_no_memory(error);
}

static void hash_space(site_space *s)
{
    XXH128_hash_t h = {0};
    for (size_t i = 0; i < s->list_count; i++)
        for (size_t v = 0; v < s->lists[i].count; v++) {
            char text[RECORD_TEXT_BYTES + RECORD_NAME_BYTES + 64], shown[RECORD_TEXT_BYTES + 32];
            value_format(argument_value(&s->lists[i].values[v]), shown, sizeof shown);
            int n = snprintf(text, sizeof text, "%s %d %s %016llx", s->lists[i].name,
                             (int)s->lists[i].values[v].kind, shown, (unsigned long long)h.high64);
            h = XXH3_128bits_withSeed(text, (size_t)n, h.low64);
        }
    hash_text(h, s->hash);
}

at_status site_space_init(site_space *s, const at_parameter *parameters, size_t count,
                          at_error *error)
{
    *s = (site_space){.count = 1};
    if (count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a site can have at most %d parameters",
                         RECORD_MAX_VALUES);
    for (size_t i = 0; i < count; i++) {
        at_status status = add_list(s, &parameters[i], error);
        if (status)
            return status;
    }
    hash_space(s);
    return AT_OK;
}

static bool is_list(const site_list *list, const at_parameter *p)
{
    uint64_t hash = 0;
    const bool alike = p->count == list->count && p->kind == list->values->kind && has_values(p) &&
                       p->name && strcmp(p->name, list->name) == 0;
    for (size_t i = 0; i < list->count && alike; i++) {
        const at_variable given = value_at(p, i);
        hash += hash_value(&given);
    }
    return alike && hash == list->hash;
}

bool site_space_is_of(const site_space *s, const at_parameter *parameters, size_t count)
{
    bool same = count == s->list_count;
    for (size_t i = 0; i < s->list_count && same; i++)
        same = is_list(&s->lists[i], &parameters[i]);
    return same;
}

void site_space_deinit(site_space *s)
{
    for (size_t i = 0; i < s->list_count; i++) {
        for (size_t v = 0; v < s->lists[i].count; v++)
            site_variable_deinit(&s->lists[i].values[v]);
        free(s->lists[i].values);
        free(s->lists[i].name);
    }
    *s = (site_space){0};
}

void site_space_values(const site_space *s, uint32_t configuration, at_variable *out)
{
    for (size_t i = s->list_count; i-- > 0;) {
        out[i] = s->lists[i].values[configuration % s->lists[i].count];
        configuration /= (uint32_t)s->lists[i].count;
    }
}

bool site_space_find(const site_space *s, const record_values *values, uint32_t *out)
{
    uint32_t found = 0;
    if (values->count != s->list_count)
        return false;
    for (size_t i = 0; i < s->list_count; i++) {
        const value *wanted = record_get(values, s->lists[i].name);
        size_t at = 0;
        while (wanted && at < s->lists[i].count &&
               !value_equal(argument_value(&s->lists[i].values[at]), *wanted))
            at++;
        if (!wanted || at == s->lists[i].count)
            return false;
        found = found * (uint32_t)s->lists[i].count + (uint32_t)at;
    }
    *out = found;
    return true;
}

static size_t propose_neighbours(const site_space *s, uint32_t of, uint32_t *out, size_t most)
{
    size_t found = 0;
    uint32_t weight = 1;
    for (size_t i = s->list_count; i-- > 0;) {
        uint32_t count = (uint32_t)s->lists[i].count, at = of / weight % count;
        for (uint32_t v = 0; v < count && found < most; v++) {
            uint32_t apart = v > at ? v - at : at - v;
            if (apart && (count <= FEW_VALUES || apart <= NEAR))
                out[found++] = of - at * weight + v * weight;
        }
        weight *= count;
    }
    return found;
}

size_t site_space_propose(const site_space *s, size_t round, uint32_t incumbent, uint32_t *out,
                          size_t most)
{
    size_t found = 0;
    if (s->count <= most) {
        for (uint32_t i = 0; round == 0 && i < s->count; i++)
            out[found++] = i;
        return found;
    }
    if (round > 0)
        return propose_neighbours(s, incumbent, out, most);
    found = propose_neighbours(s, incumbent, out, most / 2);
    rng random = rng_seeded(s->count);
    while (found < most / 2)
        out[found++] = (uint32_t)rng_below(&random, s->count);
    return found;
}
