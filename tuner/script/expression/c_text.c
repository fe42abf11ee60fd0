/* Writes terms in C. */
#define _GNU_SOURCE /* for open_memstream() */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/expression/term.h"

enum { MOST_BYTES = 256 * 1024, MOST_LEAF_BYTES = 512 };

/* A call that is always evaluated, and how often it occurs. */
typedef struct call {
    const node *of;
    size_t uses;
} call;

/* The writer discards text after its first failure. */
typedef struct writer {
    term_leaf spell;
    void *context;
    FILE *to;
    size_t written, found; /* characters written; nodes visited by find_calls() */
    bool failed, too_long;
    call *calls; /* sorted so that a call comes after the calls in its operands */
    size_t call_count;
    size_t *numbers; /* index + 1 in `calls`, by a node's id; 0 if the node is not in `calls` */
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *w, const char *format, ...)
{
    if (w->failed || w->too_long)
        return;
    va_list args;
    va_start(args, format);
    int length = vfprintf(w->to, format, args);
    va_end(args);
    w->written += length > 0 ? (size_t)length : 0;
    w->failed = length < 0;
    w->too_long = w->too_long || w->written > MOST_BYTES;
}

static void put_text(writer *w, const char *text)
{
    put(w, "\"");
    for (const char *c = text; *c; c++) {
        bool plain = (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7F && !strchr("\"\\?*", *c);
        put(w, plain ? "%c" : "\\%03o", (unsigned char)*c);
    }
    put(w, "\"");
}

static void put_leaf(writer *w, const node *n)
{
    term_type type;
    char text[MOST_LEAF_BYTES];
    double number;
    switch (n->op) {
    case NODE_WHOLE:
        put(w, "INT64_C(%lld)", (long long)n->bits);
        break;
    case NODE_NUMBER:
        memcpy(&number, &n->bits, sizeof number);
        put(w, "(double)%.17g", number);
        break;
    case NODE_TRUTH:
        put(w, n->bits ? "true" : "false");
        break;
    case NODE_TEXT:
        put_text(w, n->name);
        break;
    case NODE_DEVICE:
        put(w, "device->%s", n->name);
        break;
    default:
        w->failed = w->failed || !w->spell(w->context, n->name, &type, text, sizeof text);
        put(w, "%s", text);
    }
}

static bool is_conditional(const node *n)
{
    return n->op == NODE_AND || n->op == NODE_OR || n->op == TERM_SELECT;
}

static bool is_common(const writer *w, const node *n)
{
    size_t number = w->numbers ? w->numbers[n->id] : 0;
    return number > 0 && term_forms[n->op].whole && w->calls[number - 1].uses > 1;
}

/* Writes a node. With `constants`, calls that have a constant are written as its name. */
static void put_node(writer *w, const node *n, bool constants);

static void put_operator(writer *w, const node *n, bool constants)
{
    size_t operand = 0;
    if (n->count == 0) {
        put_leaf(w, n);
        return;
    }
    for (const char *c = term_forms[n->op].text; *c && !w->too_long;) {
        size_t length = strcspn(c, "#");
        put(w, "%.*s", (int)length, c);
        c += length;
        if (*c++ != '#')
            break;
        put_node(w, n->of[operand++ % n->count], constants && !is_conditional(n));
    }
}

static void put_node(writer *w, const node *n, bool constants)
{
    if (constants && is_common(w, n))
        put(w, "common_%zu", w->numbers[n->id] - 1);
    else
        put_operator(w, n, constants);
}

static bool is_call(const writer *w, const node *n)
{
    static const char prefix[] = "autotune_";
    term_type type;
    char text[MOST_LEAF_BYTES];
    if (n->op != NODE_INPUT && n->op != NODE_DERIVED)
        return n->count > 0 && strstr(term_forms[n->op].text, prefix);
    return w->spell(w->context, n->name, &type, text, sizeof text) &&
           strncmp(text, prefix, sizeof prefix - 1) == 0;
}

static void find_calls(writer *w, const node *n)
{
    bool calls = is_call(w, n);
    w->too_long = w->too_long || ++w->found > MOST_BYTES;
    if (is_conditional(n) || w->too_long)
        return;
    if (calls && w->numbers[n->id]) {
        w->calls[w->numbers[n->id] - 1].uses++;
        return;
    }
    for (size_t i = 0; i < n->count; i++)
        find_calls(w, n->of[i]);
    if (!calls)
        return;
    w->calls[w->call_count].of = n;
    w->calls[w->call_count].uses = 1;
    w->numbers[n->id] = ++w->call_count;
}

static void put_assignment(writer *w, const node *n, size_t nodes, c_text_form form)
{
    w->call_count = 0;
    w->calls = calloc(nodes, sizeof *w->calls);
    w->numbers = calloc(nodes, sizeof *w->numbers);
    w->failed = w->failed || !w->calls || !w->numbers;
    if (!w->failed)
        find_calls(w, n);
    for (size_t i = 0; i < w->call_count; i++) {
        const node *of = w->calls[i].of;
        if (!is_common(w, of))
            continue;
        put(w, "%*sconst int64_t common_%zu = ", form.indent, "", i);
        put_operator(w, of, true);
        put(w, ";\n");
    }
    put(w, "%*s%s = ", form.indent, "", form.target);
    put_operator(w, n, true);
    put(w, ";\n");
    free(w->calls);
    free(w->numbers);
    w->calls = NULL;
    w->numbers = NULL;
}

static void put_choice(writer *w, const node *n, size_t nodes, c_text_form form)
{
    if (n->op != TERM_SELECT) {
        put_assignment(w, n, nodes, form);
        return;
    }
    const c_text_form inner = {form.target, form.indent + 4};
    bool bracketed = n->of[0]->count > 0 && term_forms[n->of[0]->op].text[0] == '(';
    put(w, bracketed ? "%*sif " : "%*sif (", form.indent, "");
    put_node(w, n->of[0], false);
    put(w, bracketed ? " {\n" : ") {\n");
    put_choice(w, n->of[1], nodes, inner);
    put(w, "%*s} else {\n", form.indent, "");
    put_choice(w, n->of[2], nodes, inner);
    put(w, "%*s}\n", form.indent, "");
}

at_status c_text_write(tree *t, const node *expression, term_leaf spell, void *context,
                       c_text_form form, term_type *type, char **out, at_error *error)
{
    *out = NULL;
    const node *term;
    at_status status = term_make(t, expression, spell, context, type, &term, error);
    if (status || !term)
        return status;
    size_t size_bytes;
    writer w = {.spell = spell, .context = context, .to = open_memstream(out, &size_bytes)};
    if (!w.to)
        return error_no_memory(error);
    if (form.target)
        put_choice(&w, term, tree_count(t), form);
    else
        put_node(&w, term, false);
    w.failed = fclose(w.to) != 0 || w.failed;
    if (!w.failed && !w.too_long)
        return AT_OK;
    free(*out);
    *out = NULL;
    return w.failed ? error_no_memory(error) : AT_OK;
}
