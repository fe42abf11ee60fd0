#include "record/classes.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "record/schema.h"

/* Equal values have equal hashes: an integer that of the number which it equals. */
static uint64_t hash_value(value v, uint64_t seed)
{
    if (v.kind == VALUE_STRING)
        return XXH3_64bits_withSeed(v.string, strlen(v.string), seed);
    /* Adding 0 makes 0 of -0. */
    const double number = v.kind == VALUE_BOOLEAN ? (double)v.boolean : value_number(v) + 0.0;
    return XXH3_64bits_withSeed(&number, sizeof number, seed + (v.kind == VALUE_BOOLEAN));
}

/* The hash does not depend on their order. */
static uint64_t hash_values(const record_values *v)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < v->count; i++) {
        const char *name = v->pairs[i].name;
        hash += hash_value(v->pairs[i].value, XXH3_64bits(name, strlen(name)));
    }
    return hash;
}

/* *key: where it is, or belongs. */
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

/* ---- questions ---- */

/* The key of record.questions. What a kernel ran after makes another question. */
static uint64_t question(size_t problem, const record_entry *e)
{
    const uint64_t key = (uint64_t)problem * 4 + e->warm_cache * 2 + e->energy;
    return e->after && *e->after ? XXH3_64bits_withSeed(e->after, strlen(e->after), key) : key;
}

void record_note_questions(record_reading *r, record *out)
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
    /* A record that is yet to be made has no name. */
    if (in->entry_count == 0 || strcmp(in->gpu, of->gpu) != 0 ||
        strcmp(in->pattern, of->pattern) != 0)
        return NULL;
    const size_t problem = record_class_find(&in->problems, &like->problem);
    return problem != RECORD_NO_CLASS && keymap_get(&in->questions, question(problem, like), &first)
               ? &in->entries[first]
               : NULL;
}
