/* What the keywords of a schema say, and on which line a value stands. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "record/json_schema.h"

typedef struct heard {
    size_t count;
    char pointer[128], message[256];
} heard;

static at_status hear(void *context, const char *pointer, const char *message)
{
    heard *h = context;
    h->count++;
    snprintf(h->pointer, sizeof h->pointer, "%s", pointer);
    snprintf(h->message, sizeof h->message, "%s", message);
    return AT_OK;
}

static json_t *parse(const char *text)
{
    json_t *root = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(root);
    return root;
}

static heard validate(const char *schema, const char *value)
{
    heard h = {0};
    at_error error = {0};
    json_t *s = parse(schema), *v = parse(value);
    assert_ok(json_schema_validate(s, v, hear, &h, &error), error);
    json_decref(s);
    json_decref(v);
    return h;
}

TEST(each_keyword_tells_good_from_bad)
{
    static const struct {
        const char *schema, *good, *bad, *pointer, *message;
    } cases[] = {
        {"{\"type\": \"integer\"}", "3.0", "3.5", "", "must be an integer"},
        {"{\"type\": [\"string\", \"null\"]}", "null", "1", "", "must be a string or null"},
        {"{\"enum\": [\"a\", 2]}", "2", "\"b\"", "", "must be one of \"a\", 2"},
        {"{\"minimum\": 0}", "0", "-1", "", "must be at least 0"},
        {"{\"exclusiveMinimum\": 0}", "0.5", "0", "", "must be above 0"},
        {"{\"maximum\": 1}", "1", "2", "", "must be at most 1"},
        {"{\"maxLength\": 2}", "\"\xc3\xa4\xc3\xb6\"", "\"abc\"", "", "at most 2 characters"},
        {"{\"pattern\": \"^[a-z]+$\"}", "\"ab\"", "\"a1\"", "", "must match"},
        {"{\"maxItems\": 1}", "[1]", "[1, 2]", "", "at most 1 elements"},
        {"{\"items\": {\"type\": \"string\"}}", "[\"a\"]", "[\"a\", 1]", "/1", "must be a string"},
        {"{\"required\": [\"a\"]}", "{\"a\": 1}", "{\"b\": 1}", "", "must have a member \"a\""},
        {"{\"properties\": {\"a~/b\": false}}", "{\"a\": 1}", "{\"a~/b\": 1}", "/a~0~1b",
         "must not be there"},
        {"{\"additionalProperties\": {\"type\": \"number\"}}", "{\"a\": 1}", "{\"a\": \"x\"}", "/a",
         "must be a number"},
        {"{\"propertyNames\": {\"pattern\": \"^a\"}}", "{\"ab\": 1}", "{\"b\": 1}", "/b",
         "must match"},
        {"{\"anyOf\": [{\"type\": \"null\"}, {\"minimum\": 5}]}", "6", "4", "", "one of the kinds"},
        {"{\"allOf\": [{\"minimum\": 2}, {\"maximum\": 4}]}", "3", "5", "", "at most 4"},
        {"{\"oneOf\": [{\"maximum\": 3}, {\"minimum\": 2}]}", "1", "2.5", "", "one of the kinds"},
        {"{\"$ref\": \"#/$defs/n\", \"$defs\": {\"n\": {\"const\": 1}}}", "1", "2", "", "constant"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heard good = validate(cases[i].schema, cases[i].good),
              bad = validate(cases[i].schema, cases[i].bad);
        if (good.count != 0 || bad.count != 1 || strcmp(bad.pointer, cases[i].pointer) != 0 ||
            !strstr(bad.message, cases[i].message))
            fail_msg("%s: %zu and %zu violations, '%s' at '%s'", cases[i].schema, good.count,
                     bad.count, bad.message, bad.pointer);
    }
}

TEST(a_schema_that_leads_nowhere_or_never_ends_is_refused)
{
    static const char *const schemas[] = {
        "{\"$ref\": \"#/$defs/gone\"}",
        "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"$ref\": \"#/$defs/a\"}}}"};
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        heard h = {0};
        at_error error = {0};
        json_t *s = parse(schemas[i]), *v = parse("1");
        assert_int_equal(json_schema_validate(s, v, hear, &h, &error), AT_FORMAT);
        json_decref(s);
        json_decref(v);
    }
}
