/* Faults: what a reader finds wrong in a file, and the part and line that it leaves out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/record.h"
#include "record/schema.h"

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

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *skip_value(const char *at)
{
    size_t depth = 0;
    do {
        at = skip_blanks(at);
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            at += strcspn(at, ",:]} \t\r\n\"");
        }
        /* A number, string or word has depth 0, so the loop ends after it. */
    } while (*at && depth > 0);
    return at;
}

/* Returns whether the JSON string at `at` equals `part`, without decoding JSON escapes. */
static bool is_name(const char *at, const char *part, size_t length)
{
    for (at++; length > 0; at++) {
        char wanted = *part;
        size_t step = 1;
        if (wanted == '~' && length > 1) {
            wanted = (char)(part[1] == '0' ? '~' : '/');
            step = 2;
        }
        if (*at != wanted)
            return false;
        part += step;
        length -= step;
    }
    return *at == '"';
}

/* Returns the member or element `part` of the value at `at`, or NULL if there is none. */
static const char *enter(const char *at, const char *part, size_t length)
{
    bool object = *at == '{';
    size_t index = 0, wanted = strtoul(part, NULL, 10);
    if (!object && *at != '[')
        return NULL;
    for (at = skip_blanks(at + 1); *at && *at != '}' && *at != ']'; index++) {
        bool found = object ? is_name(at, part, length) : index == wanted;
        if (object) {
            at = skip_blanks(skip_string(at));
            at = skip_blanks(*at == ':' ? at + 1 : at);
        }
        if (found)
            return at;
        at = skip_blanks(skip_value(at));
        at = skip_blanks(*at == ',' ? at + 1 : at);
    }
    return NULL;
}

int json_pointer_line(const char *text, const char *pointer)
{
    const char *at = skip_blanks(text);
    while (*pointer == '/') {
        size_t length = strcspn(pointer + 1, "/");
        const char *next = enter(at, pointer + 1, length);
        if (!next)
            break;
        at = next;
        pointer += 1 + length;
    }
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}
