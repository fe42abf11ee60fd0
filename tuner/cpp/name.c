#include "cpp/name.h"

#include <stddef.h>
#include <string.h>

bool cpp_is_declared(cpp_span text, const char *name)
{
    static const char *const no_types[] = {"return", "else", "case", "goto", "delete", "throw"};
    static const char *const ends[] = {"=", ";", "[", ",", "{", "("};
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token before = {0};
    for (cpp_token t = cpp_next(&l), next; t.kind != CPP_END; t = next) {
        next = cpp_next(&l);
        bool after_type = before.kind == CPP_WORD && cpp_is(t, name), ended = false;
        for (size_t i = 0; i < sizeof no_types / sizeof *no_types; i++)
            after_type = after_type && !cpp_is(before, no_types[i]);
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            ended = ended || cpp_is(next, ends[i]);
        if (after_type && ended)
            return true;
        before = t;
    }
    return false;
}

bool cpp_is_type_like(cpp_span text, const char *name)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    bool after_const = false;
    for (cpp_token t = cpp_next(&l), next; t.kind != CPP_END; t = next) {
        next = cpp_next(&l);
        if (cpp_is(t, name) && (after_const || next.kind == CPP_WORD))
            return true;
        after_const = cpp_is(t, "const");
    }
    return false;
}

/* A place is computed through few variables; a kernel whose loops are unrolled has many. */
enum { MOST_STEPS = 3, MOST_VARIABLES = 256 };

/* Variables whose values the array's elements are in, each once, those of fewer steps first. */
typedef struct variables {
    cpp_span all[MOST_VARIABLES];
    size_t count;
} variables;

static void add_variable(variables *v, cpp_span name)
{
    for (size_t i = 0; i < v->count; i++)
        if (cpp_spans_equal(v->all[i], name))
            return;
    if (v->count < MOST_VARIABLES)
        v->all[v->count++] = name;
}

/* Does the variable, or an element of the array, stand in brackets or in a sum with an address:
 * p + at, *(p + array[i])? Else the variables that it is in the value of are added. */
static bool is_place(cpp_span text, cpp_span name, bool is_array, variables *in)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token variable = {0}; /* that the statement gives a value */
    cpp_token before = {0}, second = {0}, third = {0};
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (cpp_is(t, "=") && before.kind == CPP_WORD)
            variable = before;
        if (cpp_is(t, ";") || cpp_is(t, "{"))
            variable = (cpp_token){0};
        cpp_lexer ahead = l;
        const bool is_read = t.kind == CPP_WORD && cpp_spans_equal(t.span, name) &&
                             (!is_array || cpp_is(cpp_next(&ahead), "["));
        const bool added =
            cpp_is(before, "+") && second.kind == CPP_WORD && (!is_array || cpp_is(third, "("));
        if (is_read && (depth > 0 || added))
            return true;
        if (is_read && variable.kind == CPP_WORD)
            add_variable(in, variable.span);
        depth += cpp_is(t, "[") - cpp_is(t, "]");
        third = second;
        second = before;
        before = t;
    }
    return false;
}

bool cpp_is_index_array(cpp_span text, const char *name)
{
    variables in = {.count = 0};
    if (is_place(text, (cpp_span){name, strlen(name)}, true, &in))
        return true;
    size_t next = 0;
    for (int step = 0; step < MOST_STEPS; step++)
        for (const size_t end = in.count; next < end; next++)
            if (is_place(text, in.all[next], false, &in))
                return true;
    return false;
}
