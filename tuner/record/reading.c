/* The part that every reader of a record needs: names, texts, values, and the errors for bad
 * ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
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

void record_bad(record_reading *r, const char *what, const char *expected)
{
    char entry[32] = "";
    if (r->status)
        return;
    if (r->entry)
        snprintf(entry, sizeof entry, "entry %zu: ", r->entry);
    r->status =
        error_set_at(r->error, AT_FORMAT, r->path, 0,
                     "%s%s must be %s; correct the file or move it away", entry, what, expected);
}

void record_no_memory(record_reading *r)
{
    r->status = error_no_memory(r->error);
}

at_status record_faults_add(record_faults *faults, const char *path, const char *pointer,
                            const at_error *why, at_error *error)
{
    char line[16] = "";
    size_t room = strlen(path) + sizeof line + strlen(why->message) + 8;
    record_fault f = {.path = strdup(path),
                      .line = why->line,
                      .message = strdup(why->message),
                      .text = malloc(room)};
    if (f.line)
        snprintf(line, sizeof line, ":%d", f.line);
    snprintf(f.pointer, sizeof f.pointer, "%s", pointer);
    if (f.path && f.message && f.text) {
        snprintf(f.text, room, "%s%s: %s", path, line, f.message);
        if (array_add(&faults->items, &faults->count, &f, sizeof f))
            return AT_OK;
    }
    free(f.path);
    free(f.message);
    free(f.text);
    error_clear(error);
    return error_no_memory(error);
}

void record_faults_deinit(record_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        free(faults->items[i].path);
        free(faults->items[i].message);
        free(faults->items[i].text);
    }
    free(faults->items);
    *faults = (record_faults){0};
}

void record_leave_out(record_reading *r, const char *list, size_t place)
{
    char pointer[64];
    if (r->status != AT_FORMAT || !r->faults)
        return;
    snprintf(pointer, sizeof pointer, "/%s/%zu", list, place);
    r->status = record_faults_add(r->faults, r->path, pointer, r->error, r->error);
    if (!r->status)
        error_clear(r->error);
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
    /* jansson's iteration takes a mutable object, and does not change it. */
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
        /* Most are in the same order. */
        const bool beside = strcmp(a->pairs[i].name, b->pairs[i].name) == 0;
        const value *other = beside ? &b->pairs[i].value : record_get(b, a->pairs[i].name);
        if (!other || !value_equal(a->pairs[i].value, *other))
            return false;
    }
    return true;
}
