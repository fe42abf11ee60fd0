#define _GNU_SOURCE /* open_memstream */
#include "script/expression/python_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"

enum { MOST_BYTES = 16 * 1024, MOST_LEAF_BYTES = 512 };

/* "@", "#" and "$" stand for the first, second and third operand. */
static const char *const forms[TERM_OPS] = {
    [NODE_OR] = "(@ or #)",
    [NODE_AND] = "(@ and #)",
    [NODE_LESS] = "(@ < #)",
    [NODE_AT_MOST] = "(@ <= #)",
    [NODE_GREATER] = "(@ > #)",
    [NODE_AT_LEAST] = "(@ >= #)",
    [NODE_EQUAL] = "(@ == #)",
    [NODE_UNEQUAL] = "(@ != #)",
    [NODE_BIT_OR] = "(@ | #)",
    [NODE_BIT_XOR] = "(@ ^ #)",
    [NODE_BIT_AND] = "(@ & #)",
    [NODE_SHIFT_LEFT] = "(@ << #)",
    [NODE_ADD] = "(@ + #)",
    [NODE_SUBTRACT] = "(@ - #)",
    [NODE_MULTIPLY] = "(@ * #)",
    [NODE_FLOOR_DIVIDE] = "(@ // #)",
    [NODE_REMAINDER] = "(@ % #)",
    [NODE_NOT] = "(not @)",
    [NODE_NEGATE] = "(-@)",
    [TERM_SELECT] = "(# if @ else $)",
    [TERM_GIVEN] = "True",
    [TERM_GIVEN_NUMBER] = "True",
    [TERM_GIVEN_TEXT] = "True",
    [TERM_SAME] = "(@ == #)",
    [TERM_DIFFERENT] = "(@ != #)",
    [TERM_SAME_TEXT] = "(@ == #)",
    [TERM_OTHER_TEXT] = "(@ != #)",
    [TERM_TEXT_BEFORE] = "(@ < #)",
    [TERM_TEXT_NOT_BEFORE] = "(@ >= #)",
    [TERM_CONTAINS] = "(# in @)",
    [TERM_IS_POW2] = "(@ > 0 and (@ & (@ - 1)) == 0)",
    [TERM_CEIL_DIV] = "(-(-@ // #))",
    [TERM_ROUND_UP] = "(-(-@ // #) * #)",
    [TERM_MIN] = "min(@, #)",
    [TERM_MAX] = "max(@, #)",
    [TERM_TO_NUMBER] = "@",
    [TERM_NUMBER_ADD] = "(@ + #)",
    [TERM_NUMBER_SUBTRACT] = "(@ - #)",
    [TERM_NUMBER_MULTIPLY] = "(@ * #)",
    [TERM_NUMBER_DIVIDE] = "(@ / #)",
    [TERM_NUMBER_FLOOR_DIVIDE] = "(@ // #)",
    [TERM_NUMBER_NEGATE] = "(-@)",
    [TERM_NUMBER_MIN] = "min(@, #)",
    [TERM_NUMBER_MAX] = "max(@, #)",
    [TERM_NUMBER_ABS] = "abs(@)",
    [TERM_FLOOR] = "int(@ // 1)",
    [TERM_CEIL] = "int(-(-@ // 1))",
};

/* The first failure lasts: what is written after it is thrown away. */
typedef struct writer {
    term_leaf spell;
    python_field field;
    void *context;
    FILE *to;
    size_t written; /* characters */
    bool failed, none;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    w->written += length;
    w->none = w->none || w->written > MOST_BYTES;
    if (!w->none)
        w->failed = w->failed || fwrite(text, 1, length, w->to) != length;
}

static void put_word(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_number(writer *w, value v)
{
    char text[MOST_LEAF_BYTES];
    value_format(v, text, sizeof text);
    bool negative = *text == '-';
    put_word(w, negative ? "(" : "");
    put_word(w, text);
    put_word(w, negative ? ")" : "");
}

static void put_leaf(writer *w, const node *n)
{
    term_type type;
    char text[MOST_LEAF_BYTES];
    double number;
    switch (n->op) {
    case NODE_WHOLE:
        put_number(w, (value){.kind = VALUE_INTEGER, .integer = n->bits});
        break;
    case NODE_NUMBER:
        memcpy(&number, &n->bits, sizeof number);
        put_number(w, (value){.kind = VALUE_NUMBER, .number = number});
        break;
    case NODE_TRUTH:
        put_word(w, n->bits ? "True" : "False");
        break;
    case NODE_TEXT:
        w->none = w->none || strchr(n->name, '\'') || strchr(n->name, '\\');
        put_word(w, "'");
        put_word(w, n->name);
        put_word(w, "'");
        break;
    default:
        w->none = w->none ||
                  !(n->op == NODE_DEVICE ? w->field(w->context, n->name, text, sizeof text)
                                         : w->spell(w->context, n->name, &type, text, sizeof text));
        put_word(w, w->none ? "" : text);
    }
}

/* Properties of an element type, which is asked for by its name: one text. */
static void put_element(writer *w, int asked, const node *of)
{
    term_type type;
    dtype element;
    char text[MOST_LEAF_BYTES] = "";
    if (of->op == NODE_TEXT)
        snprintf(text, sizeof text, "'%s'", of->name);
    else if (of->op != NODE_INPUT || !w->spell(w->context, of->name, &type, text, sizeof text))
        w->none = true;
    text[strcspn(text + 1, "'") + 1] = '\0';
    w->none = w->none || !dtype_find(text + 1, &element);
    if (w->none)
        return;
    if (asked == TERM_IS_FLOAT)
        put_word(w, dtype_get(element)->is_float ? "True" : "False");
    else
        put_number(
            w, (value){.kind = VALUE_INTEGER, .integer = (int64_t)dtype_get(element)->size_bytes});
}

static void put_node(writer *w, const node *n)
{
    const char *form = forms[n->op];
    if (n->count == 0) {
        put_leaf(w, n);
        return;
    }
    if (n->op == TERM_SIZEOF || n->op == TERM_IS_FLOAT) {
        put_element(w, n->op, n->of[0]);
        return;
    }
    /* Shifts to the right have no operator of their own. */
    bool right = n->op == NODE_SHIFT_LEFT && n->of[1]->op == NODE_NEGATE;
    w->none = w->none || !form;
    for (const char *c = right ? "(@ >> #)" : form; !w->none && *c; c++) {
        if (*c == '@')
            put_node(w, n->of[0]);
        else if (*c == '#')
            put_node(w, right ? n->of[1]->of[0] : n->of[1]);
        else if (*c == '$')
            put_node(w, n->of[2]);
        else
            put(w, c, 1);
    }
}

at_status python_text_write(tree *t, const node *expression, term_leaf spell, python_field field,
                            void *context, char **out, at_error *error)
{
    *out = NULL;
    const node *term;
    term_type type;
    at_status status = term_make(t, expression, spell, context, &type, &term, error);
    if (status || !term)
        return status;
    size_t size_bytes;
    writer w = {
        .spell = spell, .field = field, .context = context, .to = open_memstream(out, &size_bytes)};
    if (!w.to)
        return error_no_memory(error);
    put_node(&w, term);
    w.failed = fclose(w.to) != 0 || w.failed;
    if (!w.failed && !w.none)
        return AT_OK;
    free(*out);
    *out = NULL;
    return w.failed ? error_no_memory(error) : AT_OK;
}
