/* What every reader of a record needs: names, texts, values, and what is said of bad ones. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_text.h"
#include "record/record.h"
#include "record/schema.h"

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

/* A short text without control characters: a string value, a GPU's name. */
bool record_is_text(const char *text)
{
    size_t length = strlen(text);
    if (length >= RECORD_TEXT_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        /* C1 controls are 0xC2 0x80-0x9F in UTF-8. */
        bool c1 = c == 0xC2 && (unsigned char)text[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || c1)
            return false;
    }
    return true;
}

at_status record_bad(const record_reading *r, const char *what, const char *expected)
{
    if (r->entry)
        return error_set_at(r->error, AT_FORMAT, r->path, 0,
                            "entry %zu: %s must be %s; correct the file or move it away", r->entry,
                            what, expected);
    return error_set_at(r->error, AT_FORMAT, r->path, 0,
                        "%s must be %s; correct the file or move it away", what, expected);
}

at_status record_no_memory(const record_reading *r)
{
    return error_set(r->error, AT_NO_MEMORY, "no memory to read %s", r->path);
}

at_status record_read_values(const record_reading *r, const json_t *object, const char *what,
                             record_values *out)
{
    size_t count = json_object_size(object);
    if (!json_is_object(object))
        return record_bad(r, what, "an object");
    if (count > RECORD_MAX_VALUES)
        return record_bad(r, what, "64 names at most");
    out->pairs = calloc(count ? count : 1, sizeof *out->pairs);
    if (!out->pairs)
        return record_no_memory(r);
    const char *name;
    json_t *member;
    /* jansson's iteration takes a mutable object, and does not change it. */
    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        record_pair *p = &out->pairs[out->count];
        if (!record_is_name(name))
            return record_bad(r, what, "named by identifiers of 63 letters at most");
        if (!json_to_value(member, &p->value) ||
            (json_is_string(member) && !record_is_text(p->value.string)))
            return record_bad(r, what, "numbers, booleans and short strings without control characters");
        p->name = name;
        out->count++;
    }
    return AT_OK;
}

const value *record_get(const record_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->pairs[i].name, name) == 0)
            return &values->pairs[i].value;
    return NULL;
}

bool record_same_values(const record_values *a, const record_values *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const value *other = record_get(b, a->pairs[i].name);
        if (!other || !value_equal(a->pairs[i].value, *other))
            return false;
    }
    return true;
}
