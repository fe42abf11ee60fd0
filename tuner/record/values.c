/* Names, texts and values of records: checks for readers, comparisons, look-ups of equal values. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/json_text.h"
#include "record/record.h"
#include "record/schema.h"
#include "space/pattern.h"

bool record_is_name(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length >= RECORD_NAME_BYTES || (text[0] >= '0' && text[0] <= '9'))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(c >= '0' && c <= '9'))
            return false;
    }
    return true;
}

bool record_is_text(const char *text)
{
    size_t length = strlen(text);
    if (length >= RECORD_TEXT_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        /* In UTF-8, C1 control characters are 0xC2 0x80 to 0xC2 0x9F. */
        bool c1 = c == 0xC2 && (unsigned char)text[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || c1)
            return false;
    }
    return true;
}

void record_read_values(record_reading *r, const json_t *object, const char *what,
                        record_values *out)
{
    size_t count = json_object_size(object);
    if (!json_is_object(object))
        record_bad(r, what, "an object");
    if (count > RECORD_MAX_VALUES)
        record_bad(r, what, "64 names at most");
    if (r->status)
        return;
    out->pairs = calloc(count ? count : 1, sizeof *out->pairs);
    if (!out->pairs) {
        record_no_memory(r);
        return;
    }
    const char *name;
    json_t *member;
    /* json_object_foreach() takes a mutable object but does not change it. */
    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        record_pair *p = &out->pairs[out->count];
        if (!record_is_name(name))
            record_bad(r, what, "named by identifiers of 63 letters at most");
        if (!json_to_value(member, &p->value) ||
            (json_is_string(member) && !record_is_text(p->value.string)))
            record_bad(r, what, "numbers, booleans and short strings without control characters");
        p->name = name;
        out->count++;
    }
}

const value *record_get(const record_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->pairs[i].name, name) == 0)
            return &values->pairs[i].value;
    return NULL;
}

bool record_indices(const pattern *p, const record_values *configuration, uint16_t *indices)
{
    for (size_t i = 0; i < p->parameter_count; i++) {
        const space_parameter *parameter = &p->parameters[i];
        const value *v = record_get(configuration, parameter->name);
        size_t at = 0;
        while (v && at < parameter->value_count && !value_equal(parameter->values[at], *v))
            at++;
        if (!v || at == parameter->value_count)
            return false;
        indices[i] = (uint16_t)at;
    }
    return true;
}

bool record_same_values(const record_values *a, const record_values *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        /* Both lists usually have the same order, so the same index is tried first. */
        const bool beside = strcmp(a->pairs[i].name, b->pairs[i].name) == 0;
        const value *other = beside ? &b->pairs[i].value : record_get(b, a->pairs[i].name);
        if (!other || !value_equal(a->pairs[i].value, *other))
            return false;
    }
    return true;
}

/* Hashes integers as real numbers: 1 equals 1.0, and equal values need equal hashes. */
static uint64_t hash_value(value v, uint64_t seed)
{
    if (v.kind == VALUE_STRING)
        return XXH3_64bits_withSeed(v.string, strlen(v.string), seed);
    /* Adding 0 turns -0 into 0. */
    const double number = v.kind == VALUE_BOOLEAN ? (double)v.boolean : value_number(v) + 0.0;
    return XXH3_64bits_withSeed(&number, sizeof number, seed + (v.kind == VALUE_BOOLEAN));
}

/* The sum makes the hash independent of the order of the pairs. */
static uint64_t hash_values(const record_values *v)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < v->count; i++) {
        const char *name = v->pairs[i].name;
        hash += hash_value(v->pairs[i].value, XXH3_64bits(name, strlen(name)));
    }
    return hash;
}

/* Returns the class of `v`, or RECORD_NO_CLASS. `*key` is its key, or the key for a new class. */
static size_t look_up(const record_classes *c, const record_values *v, uint64_t *key)
{
    uint64_t number;
    for (*key = hash_values(v); keymap_get(&c->numbers, *key, &number); ++*key)
        if (record_same_values(c->members[number], v))
            return (size_t)number;
    return RECORD_NO_CLASS;
}

size_t record_class_find(const record_classes *c, const record_values *v)
{
    uint64_t key;
    return look_up(c, v, &key);
}

size_t record_class_of(record_classes *c, const record_values *v)
{
    uint64_t key;
    size_t number = look_up(c, v, &key);
    if (number != RECORD_NO_CLASS)
        return number;
    number = c->count;
    if (!array_add(&c->members, &c->count, &v, sizeof v))
        return RECORD_NO_CLASS;
    if (keymap_put(&c->numbers, key, number))
        return number;
    c->count--;
    return RECORD_NO_CLASS;
}

void record_classes_deinit(record_classes *c)
{
    free(c->members);
    keymap_deinit(&c->numbers);
    *c = (record_classes){0};
}

/* Returns the key of record.questions. The preceding kernels are part of the question. */
static uint64_t question(size_t problem, const record_entry *e)
{
    const uint64_t key = (uint64_t)problem * 4 + e->warm_cache * 2 + e->energy;
    return e->after && *e->after ? XXH3_64bits_withSeed(e->after, strlen(e->after), key) : key;
}

void record_index_questions(record_reading *r, record *out)
{
    for (size_t i = 0; i < out->entry_count && !r->status; i++) {
        const record_entry *e = &out->entries[i];
        const size_t problem = record_class_of(&out->problems, &e->problem);
        uint64_t first;
        if (problem == RECORD_NO_CLASS ||
            (!keymap_get(&out->questions, question(problem, e), &first) &&
             !keymap_put(&out->questions, question(problem, e), i)))
            record_no_memory(r);
    }
}

const record_entry *record_find_question(const record *in, const record *of,
                                         const record_entry *like)
{
    uint64_t first;
    /* The names of a new record, which has no entries, are NULL. */
    if (in->entry_count == 0 || strcmp(in->gpu, of->gpu) != 0 ||
        strcmp(in->pattern, of->pattern) != 0)
        return NULL;
    const size_t problem = record_class_find(&in->problems, &like->problem);
    return problem != RECORD_NO_CLASS && keymap_get(&in->questions, question(problem, like), &first)
               ? &in->entries[first]
               : NULL;
}
