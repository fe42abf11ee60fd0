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

/* Does the word stand in brackets, or after a plus that follows a word: p + at? */
static bool is_place(cpp_span text, cpp_span word)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token before[2] = {{0}, {0}};
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        depth += cpp_is(t, "[") - cpp_is(t, "]");
        const bool added = cpp_is(before[1], "+") && before[0].kind == CPP_WORD;
        if (t.kind == CPP_WORD && cpp_spans_equal(t.span, word) && (depth > 0 || added))
            return true;
        before[0] = before[1];
        before[1] = t;
    }
    return false;
}

bool cpp_is_index_array(cpp_span text, const char *name)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token variable = {0}, before = {0}; /* the variable that the statement gives a value */
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (cpp_is(t, "=") && before.kind == CPP_WORD)
            variable = before;
        if (cpp_is(t, ";") || cpp_is(t, "{"))
            variable = (cpp_token){0};
        cpp_lexer ahead = l;
        if (cpp_is(t, name) && cpp_is(cpp_next(&ahead), "[") &&
            (depth > 0 || (variable.kind == CPP_WORD && is_place(text, variable.span))))
            return true;
        depth += cpp_is(t, "[") - cpp_is(t, "]");
        before = t;
    }
    return false;
}
