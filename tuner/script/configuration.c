/* Configurations as text ("tile=64,vec=4"), and the data layouts that configurations choose. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "script/state.h"

size_t script_layout_count(const script *s)
{
    size_t count = 1;
    for (size_t i = 0; i < s->space.layout_count; i++)
        count *= s->space.parameters[s->space.layout[i]].value_count;
    return count;
}

size_t script_layout_of(const script *s, const uint16_t *indices)
{
    size_t layout = 0;
    for (size_t i = 0; i < s->space.layout_count; i++)
        layout = layout * s->space.parameters[s->space.layout[i]].value_count +
                 indices[s->space.layout[i]];
    return layout;
}

bool script_layout_occurs(const script *s, const space *sp, size_t layout)
{
    uint16_t indices[SCRIPT_MAX_NAMES] = {0};
    script_set_layout(s, layout, indices);
    for (size_t i = 0; i < s->space.layout_count; i++)
        if (!space_uses(sp, s->space.layout[i], indices[s->space.layout[i]]))
            return false;
    return true;
}

void script_set_layout(const script *s, size_t layout, uint16_t *indices)
{
    for (size_t i = s->space.layout_count; i-- > 0;) {
        size_t values = s->space.parameters[s->space.layout[i]].value_count;
        indices[s->space.layout[i]] = (uint16_t)(layout % values);
        layout /= values;
    }
}

at_status script_find_parameter(const script *s, const char *name, size_t *parameter,
                                at_error *error)
{
    const char *names[SCRIPT_MAX_NAMES] = {NULL};
    size_t count = s->pattern.parameter_count;
    for (*parameter = 0; *parameter < count; ++*parameter) {
        names[*parameter] = s->space.parameters[*parameter].name;
        if (strcmp(names[*parameter], name) == 0)
            return AT_OK;
    }
    const char *nearest = nearest_name(name, names, count);
    if (nearest)
        return error_set(error, AT_USAGE,
                         "the pattern %s has no parameter '%s'; did you mean '%s'?",
                         s->pattern.name, name, nearest);
    error_set(error, AT_USAGE, "the pattern %s has no parameter '%s'; it has", s->pattern.name,
              name);
    for (size_t i = 0; error && i < count; i++) {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, "%s %s", i ? "," : "",
                 names[i]);
    }
    return AT_USAGE;
}

static void list_values(const space_parameter *p, char *text, size_t size_bytes)
{
    enum { MOST_SHOWN = 24 };
    size_t used = 0;
    for (size_t i = 0; i < p->value_count && used < size_bytes; i++) {
        if (i == MOST_SHOWN) {
            snprintf(text + used, size_bytes - used, ", ... (%zu values)", p->value_count);
            return;
        }
        char shown[80];
        value_format(p->values[i], shown, sizeof shown);
        used += (size_t)snprintf(text + used, size_bytes - used, "%s%s", i ? ", " : "", shown);
    }
}

static const char *nearest_text(const space_parameter *p, const char *typed)
{
    enum { MOST_COMPARED = 256 };
    const char *texts[MOST_COMPARED];
    size_t count = 0;
    for (size_t i = 0; i < p->value_count && count < MOST_COMPARED; i++)
        if (p->values[i].kind == VALUE_STRING)
            texts[count++] = p->values[i].string;
    return nearest_name(typed, texts, count);
}

size_t script_item_length(const char *list)
{
    char quote = '\0';
    size_t length = 0;
    for (; list[length] && (quote || list[length] != ','); length++)
        if (quote ? list[length] == quote : list[length] == '"' || list[length] == '\'')
            quote = quote ? '\0' : list[length];
    /* A quote without an end is an ordinary character. */
    return quote ? strcspn(list, ",") : length;
}

char *script_bare(char *word)
{
    static const char blanks[] = " \t\r\n";
    word += strspn(word, blanks);
    size_t length = strlen(word);
    while (length > 0 && strchr(blanks, word[length - 1]))
        word[--length] = '\0';
    bool quoted = length >= 2 && (word[0] == '"' || word[0] == '\'') && word[length - 1] == word[0];
    if (quoted)
        word[length - 1] = '\0';
    return word + quoted;
}

enum { MOST_SHOWN = 60 }; /* bytes of an unknown value in a message */

at_status script_find_value(const script *s, size_t parameter, const char *typed, uint16_t *index,
                            at_error *error)
{
    const space_parameter *p = &s->space.parameters[parameter];
    value v = value_parse(typed);
    for (size_t i = 0; i < p->value_count; i++) {
        /* A person may type 4 for the string "4". */
        if (value_equal(p->values[i], v) ||
            (p->values[i].kind == VALUE_STRING && strcmp(p->values[i].string, typed) == 0)) {
            *index = (uint16_t)i;
            return AT_OK;
        }
    }
    char values[1024], meant[SCRIPT_MEANT_BYTES];
    list_values(p, values, sizeof values);
    return error_set(error, AT_USAGE, "'%.*s%s' is not a value of %s; it has %s%s", MOST_SHOWN,
                     typed, strlen(typed) > MOST_SHOWN ? "..." : "", p->name, values,
                     script_meant(nearest_text(p, typed), meant));
}

static at_status parse_item(const script *s, const char *item, size_t length, bool *given,
                            uint16_t *indices, at_error *error)
{
    char text[512];
    if (length >= sizeof text)
        return error_set(error, AT_USAGE,
                         "--config: '%.40s...' is longer than any value of the space", item);
    memcpy(text, item, length);
    text[length] = '\0';
    char *equals = strchr(text, '=');
    if (!equals)
        return error_set(error, AT_USAGE, "--config: '%s' is not of the form NAME=VALUE", text);
    *equals = '\0';
    size_t parameter;
    const char *name = script_bare(text);
    at_status status = script_find_parameter(s, name, &parameter, error);
    if (status)
        return status;
    if (given[parameter])
        return error_set(error, AT_USAGE, "--config: %s is given twice", name);
    given[parameter] = true;
    return script_find_value(s, parameter, script_bare(equals + 1), &indices[parameter], error);
}

at_status script_parse_configuration(const script *s, const char *text, uint16_t *indices,
                                     at_error *error)
{
    bool given[SCRIPT_MAX_NAMES];
    return script_parse_given(s, text, indices, given, error);
}

at_status script_parse_given(const script *s, const char *text, uint16_t *indices, bool *given,
                             at_error *error)
{
    memset(given, 0, s->pattern.parameter_count * sizeof *given);
    memcpy(indices, s->pattern.baseline, s->pattern.parameter_count * sizeof *indices);
    for (const char *item = text; *item;) {
        size_t length = script_item_length(item);
        at_status status = parse_item(s, item, length, given, indices, error);
        if (status)
            return status;
        item += length;
        if (*item == ',')
            item++;
    }
    return AT_OK;
}

int script_format_configuration(const script *s, const uint16_t *indices, char *text,
                                size_t size_bytes)
{
    size_t used = 0;
    if (size_bytes > 0)
        text[0] = '\0';
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        const space_parameter *p = &s->space.parameters[i];
        size_t left = used < size_bytes ? size_bytes - used : 0;
        int n = snprintf(left ? text + used : NULL, left, "%s%s=", i ? "," : "", p->name);
        used += (size_t)n;
        left = used < size_bytes ? size_bytes - used : 0;
        n = value_format(p->values[indices[i]], left ? text + used : NULL, left);
        used += (size_t)n;
    }
    return (int)used;
}
