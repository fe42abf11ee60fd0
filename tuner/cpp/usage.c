#include "cpp/usage.h"

#include <string.h>

enum { MOST_ASSIGNMENTS = 16, MOST_WORDS = 512 };

static cpp_span from_to(const char *begin, const char *end)
{
    return (cpp_span){begin, end > begin ? (size_t)(end - begin) : 0};
}

/* Takes the second and third sign of <<< or >>> after `first`. Returns false, and takes nothing,
 * unless all three are adjacent. */
static bool takes_three(cpp_lexer *l, cpp_token first, const char *sign)
{
    cpp_lexer ahead = *l;
    cpp_token second = cpp_next(&ahead), third = cpp_next(&ahead);
    if (!cpp_is(first, sign) || !cpp_is(second, sign) || !cpp_is(third, sign) ||
        second.span.text != first.span.text + 1 || third.span.text != first.span.text + 2)
        return false;
    *l = ahead;
    return true;
}

static bool skip_angles(cpp_lexer *l)
{
    int depth = 1;
    for (cpp_token t = cpp_next(l); t.kind != CPP_END && depth > 0; t = cpp_next(l)) {
        depth += cpp_is(t, "<") - cpp_is(t, ">");
        if (cpp_is(t, ";") || cpp_is(t, "{"))
            return false;
        if (depth == 0)
            return true;
    }
    return false;
}

static bool read_arguments(cpp_lexer *l, cpp_launch *out)
{
    const cpp_token bracket = cpp_next(l);
    const char *begin = bracket.span.text + 1;
    if (!cpp_is(bracket, "("))
        return false;
    int depth = 1;
    for (cpp_token t = cpp_next(l); t.kind != CPP_END; t = cpp_next(l)) {
        depth += cpp_nesting(t);
        if (depth == 0) {
            out->arguments = from_to(begin, t.span.text);
            return true;
        }
    }
    return false;
}

/* Reads the rest of a launch. The lexer is after <<<. Returns false if this is not a launch. */
static bool read_launch(cpp_lexer *l, cpp_launch *out)
{
    const char *part = l->at, *begin = l->at;
    int depth = 0;
    for (cpp_token t = cpp_next(l); t.kind != CPP_END; t = cpp_next(l)) {
        cpp_lexer after = *l;
        const bool ends = depth == 0 && takes_three(&after, t, ">");
        if ((ends || (depth == 0 && cpp_is(t, ","))) && out->part_count < CPP_LAUNCH_PARTS) {
            out->parts[out->part_count++] = from_to(part, t.span.text);
            part = t.span.text + 1;
        }
        if (ends) {
            out->all = from_to(begin, t.span.text);
            *l = after;
            break;
        }
        depth += cpp_nesting(t);
        if (depth < 0 || cpp_is(t, ";"))
            return false;
    }
    return out->part_count >= 2 && read_arguments(l, out);
}

static void set_before(const cpp_unit *u, const char *at, cpp_launch *out)
{
    out->before = (cpp_span){at, 0};
    for (size_t i = 0; i < u->declaration_count; i++) {
        const cpp_declaration *d = &u->declarations[i];
        if (d->kind == CPP_FUNCTION && d->has_body && d->span.text < at &&
            at < d->span.text + d->span.length)
            out->before = from_to(d->span.text, at);
    }
}

/* Reads a launch. The lexer is after the kernel's name. Returns false if this is not a launch. */
static bool takes_launch(cpp_lexer *l, cpp_launch *out)
{
    cpp_token sign = cpp_next(l);
    if (!cpp_is(sign, "<"))
        return false;
    bool launches = takes_three(l, sign, "<");
    const char *begin = l->at;
    if (!launches && skip_angles(l)) {
        out->instance = from_to(begin, l->at - 1);
        sign = cpp_next(l);
        launches = takes_three(l, sign, "<");
    }
    return launches && read_launch(l, out);
}

size_t cpp_find_launches(const cpp_unit *units, size_t count, cpp_span kernel, cpp_launch *out,
                         size_t capacity)
{
    size_t found = 0;
    for (size_t u = 0; u < count; u++) {
        cpp_lexer l = cpp_lexer_make(units[u].text, units[u].length, 1);
        for (cpp_token t = cpp_next(&l); t.kind != CPP_END && found < capacity; t = cpp_next(&l)) {
            if (t.kind != CPP_WORD || !cpp_spans_equal(t.span, kernel))
                continue;
            cpp_lexer ahead = l;
            cpp_launch one = {.unit = u, .line = t.line};
            set_before(&units[u], t.span.text, &one);
            if (!takes_launch(&ahead, &one))
                continue;
            out[found++] = one;
            l = ahead;
        }
    }
    return found;
}

/* Returns the text from `begin` to the end of the value of a declaration or an assignment. */
static cpp_span read_value(cpp_lexer *l, const char *begin, bool bracketed)
{
    int depth = bracketed ? 1 : 0;
    const char *end = begin;
    for (cpp_token t = cpp_next(l); t.kind != CPP_END; t = cpp_next(l)) {
        depth += cpp_nesting(t);
        if ((bracketed && depth == 0) ||
            (!bracketed && (depth < 0 || cpp_is(t, ";") || (depth == 0 && cpp_is(t, ",")))))
            return from_to(begin, t.span.text);
        end = t.span.text + t.span.length;
    }
    return from_to(begin, end);
}

size_t cpp_assignments(cpp_span text, cpp_span name, cpp_assignment *out, size_t capacity)
{
    size_t found = 0;
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token before = {0};
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END && found < capacity; t = cpp_next(&l)) {
        const bool is_name = t.kind == CPP_WORD && cpp_spans_equal(t.span, name) &&
                             !cpp_is(before, ".") && !cpp_is(before, "::");
        const bool is_declared = before.kind == CPP_WORD || cpp_is(before, ",");
        before = t;
        if (!is_name)
            continue;
        cpp_lexer ahead = l;
        cpp_assignment one = {.member = {t.span.text, 0}};
        cpp_token next = cpp_next(&ahead);
        if (cpp_is(next, ".")) {
            one.member = cpp_next(&ahead).span;
            next = cpp_next(&ahead);
        } else if (is_declared && (cpp_is(next, "(") || cpp_is(next, "{"))) {
            one.value = read_value(&ahead, next.span.text + 1, true);
            out[found++] = one;
            continue;
        }
        if (!cpp_is(next, "="))
            continue;
        one.value = read_value(&ahead, next.span.text + 1, false);
        out[found++] = one;
    }
    return found;
}

typedef struct words {
    cpp_span all[MOST_WORDS];
    size_t count;
} words;

static void add_words(words *w, cpp_span text)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        bool known = t.kind != CPP_WORD || w->count == MOST_WORDS;
        for (size_t i = 0; i < w->count && !known; i++)
            known = cpp_spans_equal(w->all[i], t.span);
        if (!known)
            w->all[w->count++] = t.span;
    }
}

/* Adds the words of the declarations of `name`, except that of the function that launches. */
static void add_declared(words *w, const cpp_unit *units, size_t count, const cpp_launch *launch,
                         cpp_span name)
{
    for (size_t u = 0; u < count; u++)
        for (size_t i = 0; i < units[u].declaration_count; i++) {
            const cpp_declaration *d = &units[u].declarations[i];
            if (d->member || d->span.text == launch->before.text ||
                (d->kind != CPP_VARIABLE && d->kind != CPP_FUNCTION) ||
                cpp_is_kernel(units, count, d))
                continue;
            for (size_t n = 0; n < d->name_count; n++)
                if (cpp_spans_equal(units[u].names[d->first_name + n], name))
                    add_words(w, d->span);
        }
}

bool cpp_launch_reads(const cpp_unit *units, size_t count, const cpp_launch *launch,
                      const char *name)
{
    words w = {.count = 0};
    for (size_t i = 0; i < launch->part_count && i < CPP_LAUNCH_PARTS - 1; i++)
        add_words(&w, launch->parts[i]);
    for (size_t i = 0; i < w.count; i++) {
        if (cpp_span_is(w.all[i], name))
            return true;
        cpp_assignment of[MOST_ASSIGNMENTS];
        const size_t n = cpp_assignments(launch->before, w.all[i], of, MOST_ASSIGNMENTS);
        for (size_t k = 0; k < n; k++)
            add_words(&w, of[k].value);
        const cpp_macro *m = cpp_find_macro(units, count, w.all[i]);
        if (m)
            add_words(&w, m->value);
        add_declared(&w, units, count, launch, w.all[i]);
    }
    return w.count == MOST_WORDS;
}

size_t cpp_find_other_uses(const cpp_unit *units, size_t count, const char *name, cpp_place *out,
                           size_t capacity)
{
    enum { MOST_LAUNCHES = 16 };
    const char *const own[] = {name, NULL};
    cpp_launch launches[MOST_LAUNCHES];
    size_t found = 0;
    for (size_t u = 0; u < count; u++)
        for (size_t i = 0; i < units[u].declaration_count; i++) {
            const cpp_declaration *d = &units[u].declarations[i];
            if (d->wanted || d->kind != CPP_FUNCTION || !cpp_is_kernel(units, count, d))
                continue;
            if (found < capacity && cpp_text_has(units, count, d->span, own))
                out[found++] = (cpp_place){u, d->line};
            const size_t n = cpp_find_launches(units, count, d->name, launches, MOST_LAUNCHES);
            for (size_t k = 0; k < n && found < capacity; k++)
                if (cpp_launch_reads(units, count, &launches[k], name))
                    out[found++] = (cpp_place){launches[k].unit, launches[k].line};
        }
    return found;
}
