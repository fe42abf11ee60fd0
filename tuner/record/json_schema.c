#include "record/json_schema.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum { POINTER_BYTES = 512, MESSAGE_BYTES = 512, MOST_DEPTH = 64 };

/* A pattern of the schema, compiled when it is first met: regcomp() takes longer than all else that
 * is done to a string. */
typedef struct compiled_pattern {
    const char *text; /* the schema's own */
    regex_t expression;
} compiled_pattern;

typedef struct pattern_list {
    compiled_pattern **of;
    size_t count;
} pattern_list;

typedef struct validation {
    const json_t *root; /* of the schema */
    json_schema_report *report;
    void *context;
    pattern_list *patterns;
    at_status status; /* why it cannot go on */
    at_error *error;
    size_t violations;
    bool silent; /* of oneOf and anyOf: only whether there are any */
    int depth;
} validation;

static void check(validation *v, const json_t *schema, const json_t *value, const char *pointer);

__attribute__((format(printf, 3, 4))) static void violate(validation *v, const char *pointer,
                                                          const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;
    v->violations++;
    if (v->silent || v->status)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    v->status = v->report(v->context, pointer, message);
}

static void refuse_schema(validation *v, const char *what)
{
    if (!v->status)
        v->status = error_set(v->error, AT_FORMAT, "the schema cannot be followed: %s", what);
}

/* ---- types and values ---- */

static bool is_whole(const json_t *value)
{
    return json_is_integer(value) ||
           (json_is_real(value) && floor(json_real_value(value)) == json_real_value(value));
}

static bool has_type(const json_t *value, const char *name)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = {{"object", JSON_OBJECT},
                 {"array", JSON_ARRAY},
                 {"string", JSON_STRING},
                 {"null", JSON_NULL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return json_typeof(value) == types[i].type;
    if (strcmp(name, "boolean") == 0)
        return json_is_boolean(value);
    return strcmp(name, "integer") == 0 ? is_whole(value) : json_is_number(value);
}

static void check_type(validation *v, const json_t *type, const json_t *value, const char *pointer)
{
    char names[128] = "";
    size_t count = json_is_array(type) ? json_array_size(type) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_is_array(type) ? json_array_get(type, i) : type);
        if (!name)
            refuse_schema(v, "a type is no text");
        if (!name || has_type(value, name))
            return;
        text_add(names, sizeof names, "%s%s", i ? " or " : "", name);
    }
    violate(v, pointer, "must be %s %s", strchr("aeiou", names[0]) ? "an" : "a", names);
}

static void check_enum(validation *v, const json_t *list, const json_t *value, const char *pointer)
{
    char names[256] = "";
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
    {
        if (json_equal(one, value))
            return;
        char *text = json_dumps(one, JSON_ENCODE_ANY);
        text_add(names, sizeof names, "%s%s", i ? ", " : "", text ? text : "");
        free(text);
    }
    violate(v, pointer, "must be %s%s", json_array_size(list) > 1 ? "one of " : "", names);
}

static void check_number(validation *v, const json_t *schema, const json_t *value,
                         const char *pointer)
{
    const json_t *least = json_object_get(schema, "minimum"),
                 *most = json_object_get(schema, "maximum");
    const json_t *above = json_object_get(schema, "exclusiveMinimum");
    double number = json_number_value(value);
    if (!json_is_number(value))
        return;
    if (least && number < json_number_value(least))
        violate(v, pointer, "must be at least %g", json_number_value(least));
    else if (above && number <= json_number_value(above))
        violate(v, pointer, "must be above %g", json_number_value(above));
    else if (most && number > json_number_value(most))
        violate(v, pointer, "must be at most %g", json_number_value(most));
}

/* Characters are counted, not bytes. */
static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* NULL when there is none: the validation's status says why. */
static const regex_t *compiled(validation *v, const char *text)
{
    pattern_list *list = v->patterns;
    for (size_t i = 0; i < list->count; i++)
        if (list->of[i]->text == text)
            return &list->of[i]->expression;
    compiled_pattern *added = calloc(1, sizeof *added);
    bool is_compiled = added && regcomp(&added->expression, text, REG_EXTENDED | REG_NOSUB) == 0;
    if (is_compiled && array_add(&list->of, &list->count, &added, sizeof added)) {
        added->text = text;
        return &added->expression;
    }
    if (is_compiled || !added)
        v->status = error_no_memory(v->error);
    else
        refuse_schema(v, "a pattern is no regular expression");
    if (is_compiled)
        regfree(&added->expression);
    free(added);
    return NULL;
}

static void free_patterns(pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        regfree(&list->of[i]->expression);
        free(list->of[i]);
    }
    free(list->of);
}

static void check_string(validation *v, const json_t *schema, const char *text, const char *pointer)
{
    const json_t *most = json_object_get(schema, "maxLength");
    const char *pattern = json_string_value(json_object_get(schema, "pattern"));
    if (most && count_characters(text) > (size_t)json_integer_value(most)) {
        violate(v, pointer, "must have at most %d characters", (int)json_integer_value(most));
        return;
    }
    const regex_t *expression = pattern ? compiled(v, pattern) : NULL;
    if (expression && regexec(expression, text, 0, NULL, 0) != 0)
        violate(v, pointer, "'%.60s' must match %s", text, pattern);
}

/* ---- arrays and objects ---- */

static void check_count(validation *v, const json_t *schema, const char *least_name,
                        const char *most_name, size_t count, const char *pointer)
{
    const json_t *least = json_object_get(schema, least_name),
                 *most = json_object_get(schema, most_name);
    if (least && count < (size_t)json_integer_value(least))
        violate(v, pointer, "must have at least %d elements", (int)json_integer_value(least));
    else if (most && count > (size_t)json_integer_value(most))
        violate(v, pointer, "must have at most %d elements", (int)json_integer_value(most));
}

static void check_array(validation *v, const json_t *schema, const json_t *value,
                        const char *pointer)
{
    const json_t *items = json_object_get(schema, "items");
    check_count(v, schema, "minItems", "maxItems", json_array_size(value), pointer);
    for (size_t i = 0; items && i < json_array_size(value) && !v->status; i++) {
        char place[POINTER_BYTES];
        snprintf(place, sizeof place, "%s/%zu", pointer, i);
        check(v, items, json_array_get(value, i), place);
    }
}

static void check_required(validation *v, const json_t *required, const json_t *value,
                           const char *pointer)
{
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (name && !json_object_get(value, name))
            violate(v, pointer, "must have a member \"%s\"", name);
    }
}

/* The name as a part of a pointer (RFC 6901). */
static void add_name(char *pointer, size_t size_bytes, const char *name)
{
    size_t used = strlen(pointer);
    if (used + 1 < size_bytes)
        pointer[used++] = '/';
    for (; *name && used + 2 < size_bytes; name++) {
        if (*name == '~' || *name == '/')
            pointer[used++] = '~';
        pointer[used++] = (char)(*name == '~' ? '0' : *name == '/' ? '1' : *name);
    }
    pointer[used] = '\0';
}

static void check_object(validation *v, const json_t *schema, const json_t *value,
                         const char *pointer)
{
    const json_t *known = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const json_t *names = json_object_get(schema, "propertyNames");
    const char *name;
    json_t *member;
    check_count(v, schema, "minProperties", "maxProperties", json_object_size(value), pointer);
    check_required(v, json_object_get(schema, "required"), value, pointer);
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        char place[POINTER_BYTES];
        const json_t *rule = json_object_get(known, name);
        snprintf(place, sizeof place, "%s", pointer);
        add_name(place, sizeof place, name);
        if (names)
            check_string(v, names, name, place);
        if (rule || others)
            check(v, rule ? rule : others, member, place);
    }
}

/* ---- combinations ---- */

static size_t count_matches(validation *v, const json_t *list, const json_t *value,
                            const char *pointer)
{
    validation quiet = *v;
    size_t matches = 0;
    quiet.silent = true;
    for (size_t i = 0; i < json_array_size(list); i++) {
        quiet.violations = 0;
        check(&quiet, json_array_get(list, i), value, pointer);
        matches += quiet.violations == 0;
    }
    v->status = quiet.status;
    return matches;
}

static void check_combinations(validation *v, const json_t *schema, const json_t *value,
                               const char *pointer)
{
    const json_t *one = json_object_get(schema, "oneOf"), *any = json_object_get(schema, "anyOf");
    const char *title = json_string_value(json_object_get(schema, "description"));
    const json_t *all = json_object_get(schema, "allOf");
    for (size_t i = 0; i < json_array_size(all); i++)
        check(v, json_array_get(all, i), value, pointer);
    size_t matches = one || any ? count_matches(v, one ? one : any, value, pointer) : 1;
    if (matches == 0 || (one && matches > 1))
        violate(v, pointer, "must be %s", title ? title : "one of the kinds that the schema has");
}

static const json_t *follow(const validation *v, const json_t *reference)
{
    const char *text = json_string_value(reference);
    if (!text || strncmp(text, "#/$defs/", 8) != 0)
        return NULL;
    return json_object_get(json_object_get(v->root, "$defs"), text + 8);
}

static void check(validation *v, const json_t *schema, const json_t *value, const char *pointer)
{
    const json_t *reference = json_object_get(schema, "$ref"),
                 *type = json_object_get(schema, "type");
    const json_t *list = json_object_get(schema, "enum"),
                 *constant = json_object_get(schema, "const");
    size_t before = v->violations;
    if (json_is_false(schema))
        violate(v, pointer, "must not be there");
    if (v->depth == MOST_DEPTH)
        refuse_schema(v, "it is nested too deeply");
    if (v->status || json_is_boolean(schema))
        return;
    v->depth++;
    if (reference && follow(v, reference))
        check(v, follow(v, reference), value, pointer);
    else if (reference)
        refuse_schema(v, "a $ref leads nowhere");
    if (type)
        check_type(v, type, value, pointer);
    /* Nothing else is worth a word about a value of the wrong type. */
    if (v->violations == before && !v->status) {
        if (list)
            check_enum(v, list, value, pointer);
        if (constant && !json_equal(constant, value))
            violate(v, pointer, "must be as the schema's constant");
        check_number(v, schema, value, pointer);
        if (json_is_string(value))
            check_string(v, schema, json_string_value(value), pointer);
        if (json_is_array(value))
            check_array(v, schema, value, pointer);
        if (json_is_object(value))
            check_object(v, schema, value, pointer);
        check_combinations(v, schema, value, pointer);
    }
    v->depth--;
}

at_status json_schema_validate(const json_t *schema, const json_t *value,
                               json_schema_report *report, void *context, at_error *error)
{
    pattern_list patterns = {0};
    validation v = {.root = schema,
                    .report = report,
                    .context = context,
                    .patterns = &patterns,
                    .error = error};
    check(&v, schema, value, "");
    free_patterns(&patterns);
    return v.status;
}
