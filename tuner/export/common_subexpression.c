#include "export/common_subexpression.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/c_piece.h"

/* Part of an expression. */
typedef struct span {
    const char *at;
    size_t length;
} span;

/* A call, once however often it stands there. Those in its arguments come before it. */
typedef struct call {
    span text;
    size_t uses;
    bool whole; /* gives an int64_t */
} call;

/* Where one stands. */
typedef struct place {
    const char *at;
    size_t call;
} place;

typedef struct calls {
    call *of;
    size_t count;
    place *places; /* in the order of the text */
    size_t place_count;
} calls;

static const char prefix[] = "autotune_";

static span span_to(const char *at, const char *end)
{
    return (span){at, (size_t)(end - at)};
}

static span trim(span s)
{
    for (; s.length > 0 && s.at[0] == ' '; s.length--)
        s.at++;
    while (s.length > 0 && s.at[s.length - 1] == ' ')
        s.length--;
    return s;
}

static bool same(span a, span b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* Behind the bracket that closes the one at `c`, at most `end`. */
static const char *bracket_end(const char *c, const char *end)
{
    for (int depth = 0; c < end;) {
        depth += *c == '(';
        depth -= *c == ')';
        c = c_skip_piece(c);
        if (depth == 0)
            return c;
    }
    return end;
}

/* Where one of some characters stands outside of brackets; NULL: nowhere. */
static const char *find_outside(span in, const char *characters)
{
    const char *c = in.at, *end = c + in.length;
    while (c < end) {
        if (strchr(characters, *c))
            return c;
        c = *c == '(' ? bracket_end(c, end) : c_skip_piece(c);
    }
    return NULL;
}

/* Is some of what stands outside of brackets evaluated only as the rest of it has it? */
static bool is_conditional(span s)
{
    const char *c = s.at, *end = c + s.length;
    while ((c = find_outside(span_to(c, end), "?&|"))) {
        if (*c == '?' || c[1] == *c)
            return true;
        c++;
    }
    return false;
}

/* prelude.h has more functions; these give an int64_t. */
static bool gives_whole(span name)
{
    static const char *const names[] = {"add",       "subtract", "multiply", "divide",
                                        "remainder", "shift",    "ceil_div", "round_up",
                                        "log2",      "min",      "max",      "cluster_load"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same(name, (span){names[i], strlen(names[i])}))
            return true;
    return false;
}

static size_t find_call(const calls *all, span text)
{
    size_t i = 0;
    while (i < all->count && !same(all->of[i].text, text))
        i++;
    return i;
}

static void find_calls(calls *all, span in, bool counts);

static void add_call(calls *all, span text, span function, bool counts)
{
    place *p = &all->places[all->place_count++];
    p->at = text.at;
    p->call = find_call(all, text);
    bool fresh = p->call == all->count;
    /* What stands in a call that was there before was counted with it. */
    const char *arguments = function.at + function.length + 1, *end = text.at + text.length - 1;
    find_calls(all, span_to(arguments, end), counts && fresh);
    if (fresh) {
        p->call = all->count++;
        all->of[p->call] = (call){.text = text, .whole = gives_whole(function)};
    }
    all->of[p->call].uses += counts;
}

/* Finds the calls that are evaluated in any case. */
static void find_calls(calls *all, span in, bool counts)
{
    const char *c = in.at, *end = c + in.length;
    const size_t skipped = sizeof prefix - 1;
    if (is_conditional(in))
        return;
    while (c < end) {
        const char *next = *c == '(' ? bracket_end(c, end) : c_skip_piece(c);
        if (*c == '(') {
            find_calls(all, span_to(c + 1, next - 1), counts);
        } else if (next < end && *next == '(' && (size_t)(next - c) > skipped &&
                   memcmp(c, prefix, skipped) == 0) {
            const char *behind = bracket_end(next, end);
            add_call(all, span_to(c, behind), span_to(c + skipped, next), counts);
            next = behind;
        }
        c = next;
    }
}

static bool is_common(const call *c)
{
    return c->whole && c->uses > 1;
}

/* With the names of constants for common calls, but for the whole of it. */
static void print_with_constants(const calls *all, span s, FILE *to)
{
    const char *c = s.at, *end = c + s.length;
    for (size_t i = 0; i < all->place_count; i++) {
        const place *p = &all->places[i];
        const call *found = &all->of[p->call];
        if (p->at < c || p->at >= end || !is_common(found) || same(found->text, s))
            continue;
        fprintf(to, "%.*scommon_%zu", (int)(p->at - c), c, p->call);
        c = p->at + found->text.length;
    }
    fprintf(to, "%.*s", (int)(end - c), c);
}

static size_t count_brackets(span s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.length; i++)
        count += s.at[i] == '(';
    return count;
}

static void print_value(const char *target, span c, int indent, FILE *to)
{
    calls all = {.count = 0};
    size_t most = count_brackets(c) + 1;
    all.of = calloc(most, sizeof *all.of);
    all.places = calloc(most, sizeof *all.places);
    if (all.of && all.places)
        find_calls(&all, c, true);
    for (size_t i = 0; i < all.count; i++)
        if (is_common(&all.of[i])) {
            fprintf(to, "%*sconst int64_t common_%zu = ", indent, "", i);
            print_with_constants(&all, all.of[i].text, to);
            fputs(";\n", to);
        }
    fprintf(to, "%*s%s = ", indent, "", target);
    print_with_constants(&all, c, to);
    fputs(";\n", to);
    free(all.of);
    free(all.places);
}

static bool is_bracketed(span s)
{
    return s.length > 2 && *s.at == '(' && bracket_end(s.at, s.at + s.length) == s.at + s.length;
}

/* "(a ? b : c)", or something else. */
static void print_choice(const char *target, span c, int indent, FILE *to)
{
    const char *end = c.at + c.length, *question = NULL, *colon = NULL;
    if (is_bracketed(c)) {
        question = find_outside(span_to(c.at + 1, end - 1), "?");
        colon = question ? find_outside(span_to(question, end - 1), ":") : NULL;
    }
    if (!colon) {
        print_value(target, c, indent, to);
        return;
    }
    const span condition = trim(span_to(c.at + 1, question));
    const char *format = is_bracketed(condition) ? "%*sif %.*s {\n" : "%*sif (%.*s) {\n";
    fprintf(to, format, indent, "", (int)condition.length, condition.at);
    print_choice(target, trim(span_to(question + 1, colon)), indent + 4, to);
    fprintf(to, "%*s} else {\n", indent, "");
    print_choice(target, trim(span_to(colon + 1, end - 1)), indent + 4, to);
    fprintf(to, "%*s}\n", indent, "");
}

void export_print_assignment(const char *target, const char *c, int indent, FILE *to)
{
    print_choice(target, (span){c, strlen(c)}, indent, to);
}
