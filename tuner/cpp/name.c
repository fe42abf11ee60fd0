#include "cpp/name.h"

#include <stddef.h>

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

enum { MOST_VARIABLES = 3 };

/* Does the word stand in brackets, or after a plus that follows a word, p + at; or does a variable
 * that has it? */
static bool is_place(cpp_span text, cpp_span word, int depth)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token before[2] = {{0}, {0}}, variable = {0};
    int brackets = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        brackets += cpp_is(t, "[") - cpp_is(t, "]");
        if (cpp_is(t, "=") && before[1].kind == CPP_WORD)
            variable = before[1];
        if (cpp_is(t, ";") || cpp_is(t, "{"))
            variable = (cpp_token){0};
        const bool added = cpp_is(before[1], "+") && before[0].kind == CPP_WORD;
        const bool follows = depth < MOST_VARIABLES && variable.kind == CPP_WORD &&
                             !cpp_spans_equal(variable.span, word);
        if (t.kind == CPP_WORD && cpp_spans_equal(t.span, word) &&
            (brackets > 0 || added || (follows && is_place(text, variable.span, depth + 1))))
            return true;
        before[0] = before[1];
        before[1] = t;
    }
    return false;
}

bool cpp_is_index_array(cpp_span text, const char *name)
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
        const bool added = cpp_is(before, "+") && second.kind == CPP_WORD && cpp_is(third, "(");
        if (cpp_is(t, name) && cpp_is(cpp_next(&ahead), "[") &&
            (depth > 0 || added || (variable.kind == CPP_WORD && is_place(text, variable.span, 1))))
            return true;
        depth += cpp_is(t, "[") - cpp_is(t, "]");
        third = second;
        second = before;
        before = t;
    }
    return false;
}
