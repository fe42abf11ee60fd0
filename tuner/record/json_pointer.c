#include "record/json_pointer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The place after the string that begins at `at`. */
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
        /* A comma or a bracket after it ends a value that is not nested. */
    } while (*at && depth > 0);
    return at;
}

/* Is the string at `at` this part of a pointer? Names with escapes are only found as they are
 * spelt. */
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

/* The value of a member or an element; NULL: there is none. */
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
