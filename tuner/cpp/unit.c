#include "cpp/unit.h"

#include <stdlib.h>
#include <string.h>

/* Builds the index of macros: each macro links to the next macro with an equal key. */
static bool index_macros(cpp_unit *u)
{
    for (size_t i = u->macro_count; i-- > 0;) {
        const uint64_t key = cpp_span_key(u->macros[i].name);
        uint64_t after;
        if (keymap_get(&u->first_macros, key, &after))
            u->macros[i].next = (size_t)after;
        if (!keymap_put(&u->first_macros, key, i))
            return false;
    }
    return true;
}

at_status cpp_unit_read(const char *text, const cpp_macro *scopes, size_t scope_count,
                        cpp_unit *out, at_error *error)
{
    *out = (cpp_unit){.text = text, .length = strlen(text), .own_comment = {text, 0}};
    int line;
    cpp_comment_find(text, &out->own_comment, &line);
    if (cpp_parse(out, scopes, scope_count) && index_macros(out))
        return AT_OK;
    cpp_unit_deinit(out);
    return error_no_memory(error);
}

void cpp_unit_deinit(cpp_unit *u)
{
    for (size_t i = 0; i < u->declaration_count; i++)
        free(u->declarations[i].scope);
    free(u->declarations);
    free(u->macros);
    free(u->includes);
    free(u->names);
    keymap_deinit(&u->first_macros);
    *u = (cpp_unit){0};
}

static const cpp_macro *first_of_key(const cpp_unit *u, cpp_span name)
{
    uint64_t first;
    return keymap_get(&u->first_macros, cpp_span_key(name), &first) ? &u->macros[first] : NULL;
}

static const cpp_macro *next_of_key(const cpp_unit *u, const cpp_macro *m)
{
    return m->next > 0 ? &u->macros[m->next] : NULL;
}

const cpp_macro *cpp_find_macro(const cpp_unit *units, size_t count, cpp_span name)
{
    for (size_t i = 0; i < count; i++) {
        /* Different names may have the same key. */
        for (const cpp_macro *m = first_of_key(&units[i], name); m; m = next_of_key(&units[i], m))
            if (cpp_spans_equal(m->name, name))
                return m;
    }
    return NULL;
}

/* limits of the expansion: a macro that names itself twice doubles the text each time */
enum { MAX_EXPANSION = 6, MAX_EXPANDED_TOKENS = 4096 };

static bool text_has(const cpp_unit *units, size_t count, cpp_span text, const char *const *words,
                     int depth, int *expanded);

/* Tells whether a macro called `name` contains one of the words. Several macros may have this name,
 * below different #if. */
static bool macros_have(const cpp_unit *units, size_t count, cpp_span name,
                        const char *const *words, int depth, int *expanded)
{
    for (size_t i = 0; i < count; i++)
        for (const cpp_macro *m = first_of_key(&units[i], name); m; m = next_of_key(&units[i], m))
            if (!m->is_constant && cpp_spans_equal(m->name, name) &&
                text_has(units, count, m->value, words, depth, expanded))
                return true;
    return false;
}

static bool text_has(const cpp_unit *units, size_t count, cpp_span text, const char *const *words,
                     int depth, int *expanded)
{
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (depth > 0 && ++*expanded > MAX_EXPANDED_TOKENS)
            return false;
        if (t.kind != CPP_WORD)
            continue;
        if (cpp_is_any(t, words))
            return true;
        if (depth < MAX_EXPANSION && macros_have(units, count, t.span, words, depth + 1, expanded))
            return true;
    }
    return false;
}

bool cpp_text_has(const cpp_unit *units, size_t count, cpp_span text, const char *const *words)
{
    int expanded = 0;
    return text_has(units, count, text, words, 0, &expanded);
}

const cpp_declaration *cpp_find_variable(const cpp_unit *u, const char *name)
{
    for (size_t i = 0; i < u->declaration_count; i++) {
        const cpp_declaration *d = &u->declarations[i];
        if (d->member || (d->kind != CPP_VARIABLE && d->kind != CPP_TYPE))
            continue;
        /* In an enum, names behind the brace are enumerators; the name before it is the type. */
        const char *brace = memchr(d->span.text, '{', d->span.length);
        for (size_t n = 0; n < d->name_count; n++)
            if (cpp_span_is(u->names[d->first_name + n], name) &&
                (d->kind == CPP_VARIABLE || (brace && u->names[d->first_name + n].text > brace)))
                return d;
    }
    return NULL;
}

bool cpp_is_kernel(const cpp_unit *units, size_t count, const cpp_declaration *d)
{
    static const char *const words[] = {"__global__", NULL};
    return d->kind == CPP_FUNCTION && cpp_text_has(units, count, d->head, words);
}

/* Returns the name of a parameter: the last word before a default value or brackets. Returns "" if
 * that word is the type. */
static cpp_span parameter_name(cpp_span text)
{
    static const char *const types[] = {"int",      "float",  "double", "char",  "long", "short",
                                        "unsigned", "signed", "bool",   "const", "void", NULL};
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token last = {.kind = CPP_END}, before = {.kind = CPP_END};
    int depth = 0;
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; t = cpp_next(&l)) {
        if (depth == 0 && (cpp_is(t, "=") || cpp_is(t, "[")))
            break;
        depth += cpp_is(t, "<") || cpp_is(t, "(");
        depth -= cpp_is(t, ">") || cpp_is(t, ")");
        before = last;
        last = t;
    }
    const bool is_type = before.kind == CPP_END || cpp_is(before, "::") || cpp_is_any(last, types);
    return last.kind == CPP_WORD && !is_type ? last.span : (cpp_span){text.text, 0};
}

size_t cpp_parameters(cpp_span list, cpp_parameter *out, size_t capacity)
{
    if (!list.text)
        return 0;
    size_t count = 0;
    int depth = 0;
    const char *begin = list.text;
    cpp_lexer l = cpp_lexer_make(list.text, list.length, 1);
    for (;;) {
        cpp_token t = cpp_next(&l);
        if (t.kind == CPP_END || (depth == 0 && cpp_is(t, ","))) {
            cpp_span text = cpp_trim(begin, t.span.text);
            bool none = text.length == 0 || cpp_span_is(text, "void");
            if (!none && count < capacity)
                out[count] = (cpp_parameter){.text = text, .name = parameter_name(text)};
            count += !none;
            if (t.kind == CPP_END)
                return count;
            begin = t.span.text + 1;
        }
        depth += cpp_nesting(t) + cpp_is(t, "<") - cpp_is(t, ">");
    }
}

/* Reads the first two words of a directive. *ends tells whether the directive has no more words. */
static void read_words(cpp_span directive, cpp_token words[2], bool *ends)
{
    cpp_lexer l = cpp_lexer_make(directive.text + 1, directive.length - 1, 1);
    words[0] = cpp_next(&l);
    words[1] = cpp_next(&l);
    *ends = cpp_next(&l).kind == CPP_END;
}

size_t cpp_leading_includes(const cpp_unit *u, const cpp_span *given, size_t given_count)
{
    size_t leading = 0;
    cpp_lexer l = cpp_lexer_make(u->text, u->length, 1);
    for (cpp_token t = cpp_next(&l); t.kind == CPP_DIRECTIVE; t = cpp_next(&l)) {
        cpp_token words[2];
        bool ends, is_given = false;
        read_words(t.span, words, &ends);
        for (size_t i = 0; i < given_count; i++)
            is_given = is_given || cpp_spans_equal(given[i], words[1].span);
        if (cpp_is(words[0], "include"))
            leading++;
        else if (!cpp_is(words[0], "pragma") && !cpp_is(words[0], "endif") &&
                 !cpp_is(words[0], "ifndef") && !(cpp_is(words[0], "define") && (is_given || ends)))
            break;
    }
    return leading < u->include_count ? leading : u->include_count;
}
