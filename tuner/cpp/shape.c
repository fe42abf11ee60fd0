#include "cpp/shape.h"

#include <string.h>

typedef struct words {
    cpp_span *out;
    size_t count, capacity;
} words;

static void add(words *w, cpp_token t)
{
    if (t.kind == CPP_WORD && w->count < w->capacity)
        w->out[w->count++] = t.span;
}

static void add_all(words *w, cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l))
        add(w, t);
}

static bool is_place(cpp_token t)
{
    return cpp_is(t, "blockIdx") || cpp_is(t, "threadIdx");
}

/* #pragma unroll FACTOR */
static void add_factor(words *w, cpp_span directive)
{
    static const char word[] = "unroll";
    const char *end = directive.text + directive.length;
    for (const char *at = directive.text; at + sizeof word - 1 <= end; at++)
        if (memcmp(at, word, sizeof word - 1) == 0) {
            at += sizeof word - 1;
            add_all(w, (cpp_span){at, (size_t)(end - at)});
            return;
        }
}

/* Between [ and ], of which the first has been taken. */
static void add_extent(words *w, cpp_lexer *l)
{
    int depth = 1;
    for (cpp_token t = cpp_next(l); t.kind != CPP_END; t = cpp_next(l)) {
        depth += cpp_is(t, "[") - cpp_is(t, "]");
        if (depth == 0)
            return;
        add(w, t);
    }
}

/* Factors of a place: blockIdx.x * BLOCK * VEC, BLOCK * blockIdx.x. `at` is after the place. */
static void add_factors(words *w, cpp_lexer at, const cpp_token before[2])
{
    if (cpp_is(before[1], "*"))
        add(w, before[0]);
    cpp_next(&at); /* . */
    cpp_next(&at); /* x */
    while (cpp_is(cpp_next(&at), "*")) {
        cpp_token factor = cpp_next(&at);
        add(w, factor);
        if (!cpp_is(factor, "("))
            continue;
        int depth = 1;
        for (factor = cpp_next(&at); factor.kind != CPP_END; factor = cpp_next(&at)) {
            depth += cpp_is(factor, "(") - cpp_is(factor, ")");
            if (depth == 0)
                break;
            add(w, factor);
        }
    }
}

/* The third part of for (;;), of which the bracket has been taken: i += STEP. */
static void add_step(words *w, cpp_lexer at)
{
    int depth = 1, part = 0;
    for (cpp_token t = cpp_next(&at); t.kind != CPP_END && depth > 0; t = cpp_next(&at)) {
        depth += cpp_is(t, "(") - cpp_is(t, ")");
        part += depth == 1 && cpp_is(t, ";");
        if (part == 2 && depth > 0)
            add(w, t);
    }
}

size_t cpp_shaping_words(cpp_span text, cpp_span *out, size_t capacity)
{
    words w = {.out = out, .capacity = capacity};
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token before[2] = {{0}, {0}};
    bool shared = false;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (t.kind == CPP_DIRECTIVE) {
            add_factor(&w, t.span);
            continue;
        }
        shared = (shared || cpp_is(t, "__shared__")) && !cpp_is(t, ";");
        if (shared && cpp_is(t, "["))
            add_extent(&w, &l);
        if (is_place(t))
            add_factors(&w, l, before);
        if (cpp_is(t, "(") && cpp_is(before[1], "for"))
            add_step(&w, l);
        before[0] = before[1];
        before[1] = t;
    }
    return w.count;
}
