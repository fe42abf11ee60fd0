#define _GNU_SOURCE /* vasprintf */
#include "script/constraint_c.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device/field.h"
#include "script/state.h"

enum { MOST_NESTED = 100, MOST_PIECES = 8192, MOST_ARGUMENTS = 8, MOST_BYTES = 256 * 1024 };

/* ---- values ---- */

/* What a part of the expression gives: where `when` is NULL the value of `text`, else that value
 * where `when` holds and Lua's `false` where it does not (`tile > 32 and 2`). */
typedef struct piece {
    c_type type;
    const char *text, *when;
    bool literal; /* a text as the script writes it */
} piece;

typedef struct translator {
    const script *s;
    const expression *e;
    lexer lexer;
    token next;
    c_spelling spell;
    void *context;
    size_t nested;
    size_t kept_count;
    char *kept[MOST_PIECES];
    bool no_memory;
} translator;

/* NULL, and the translation fails, when there is too much of it. */
static const char *keep(translator *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *keep(translator *t, const char *format, ...)
{
    char *text;
    if (t->kept_count == MOST_PIECES)
        return NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        t->no_memory = true;
        return NULL;
    }
    t->kept[t->kept_count++] = text;
    return length > MOST_BYTES ? NULL : text;
}

static bool give(piece *out, c_type type, const char *text)
{
    *out = (piece){.type = type, .text = text};
    return text != NULL;
}

static void advance(translator *t)
{
    t->next = lexer_next(&t->lexer);
}

static bool accept(translator *t, const char *symbol)
{
    bool is = token_is(t->next, symbol);
    if (is)
        advance(t);
    return is;
}

static bool is_value(const piece *p, c_type type)
{
    return p->type == type && !p->when;
}

static bool is_numeric(const piece *p)
{
    return is_value(p, C_WHOLE) || is_value(p, C_NUMBER);
}

static const char *as_number(translator *t, const piece *p)
{
    return p->type == C_NUMBER ? p->text : keep(t, "(double)%s", p->text);
}

/* ---- operands ---- */

static bool translate_binary(translator *t, int precedence, piece *out);

static bool translate_number(translator *t, piece *out)
{
    char digits[64], *end;
    if (t->next.length >= sizeof digits)
        return false;
    memcpy(digits, t->next.text, t->next.length);
    digits[t->next.length] = '\0';
    advance(t);
    errno = 0;
    bool hexadecimal = strpbrk(digits, "xX") != NULL;
    long long whole = strtoll(digits, &end, hexadecimal ? 16 : 10);
    if (!*end && !errno)
        return give(out, C_WHOLE, keep(t, "INT64_C(%lld)", whole));
    if (hexadecimal)
        return false;
    errno = 0;
    double number = strtod(digits, &end);
    return !*end && !errno && give(out, C_NUMBER, keep(t, "(double)%.17g", number));
}

/* The characters of a string between quotes; false for long brackets and escapes, which no
 * constraint has yet needed. */
static bool read_string(token string, char *out, size_t size_bytes)
{
    if (string.length < 2 || string.length - 2 >= size_bytes || string.text[0] == '[')
        return false;
    memcpy(out, string.text + 1, string.length - 2);
    out[string.length - 2] = '\0';
    return !memchr(out, '\\', string.length - 2);
}

static bool translate_string(translator *t, piece *out)
{
    char text[256], escaped[4 * sizeof text];
    size_t used = 0;
    if (!read_string(t->next, text, sizeof text))
        return false;
    advance(t);
    for (const char *c = text; *c; c++) {
        bool plain = (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7F && !strchr("\"\\?*", *c);
        used += (size_t)snprintf(escaped + used, sizeof escaped - used, plain ? "%c" : "\\%03o",
                                 (unsigned char)*c);
    }
    escaped[used] = '\0';
    bool done = give(out, C_TEXT, keep(t, "\"%s\"", escaped));
    out->literal = true;
    return done;
}

typedef struct arguments {
    size_t count;
    piece of[MOST_ARGUMENTS];
} arguments;

static bool translate_arguments(translator *t, arguments *a)
{
    a->count = 0;
    if (!accept(t, "("))
        return false;
    while (!token_is(t->next, ")")) {
        if (a->count == MOST_ARGUMENTS || !translate_binary(t, 1, &a->of[a->count]) ||
            a->of[a->count++].when || (!token_is(t->next, ")") && !accept(t, ",")))
            return false;
    }
    advance(t);
    return true;
}

/* The arguments in C, one or more, with commas between them. */
static const char *list_arguments(translator *t, const arguments *a)
{
    const char *text = a->of[0].text;
    for (size_t i = 1; i < a->count && text; i++)
        text = keep(t, "%s, %s", text, a->of[i].text);
    return text;
}

/* Functions of whole numbers; all give one, but is_pow2. */
static bool call_whole(translator *t, const char *name, const arguments *a, piece *out)
{
    static const struct {
        const char *name;
        size_t count;
        c_type result;
        const char *rest; /* of its arguments in C */
    } functions[] = {
        {"ceil_div", 2, C_WHOLE, ", failed"}, {"round_up", 2, C_WHOLE, ", failed"},
        {"log2", 1, C_WHOLE, ", failed"},     {"cluster_load", 4, C_WHOLE, ", failed"},
        {"is_pow2", 1, C_TRUTH, ""},
    };
    for (size_t i = 0; i < a->count; i++)
        if (!is_value(&a->of[i], C_WHOLE))
            return false;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        if (strcmp(functions[f].name, name) == 0 && functions[f].count == a->count) {
            const char *list = list_arguments(t, a);
            return list && give(out, functions[f].result,
                                keep(t, "autotune_%s(%s%s)", name, list, functions[f].rest));
        }
    bool rounds = a->count == 1 && (strcmp(name, "floor") == 0 || strcmp(name, "ceil") == 0);
    return rounds && give(out, C_WHOLE, a->of[0].text);
}

static bool call_text(translator *t, const char *name, const arguments *a, piece *out)
{
    if (a->count != 1 || !is_value(&a->of[0], C_TEXT))
        return false;
    if (strcmp(name, "sizeof") == 0)
        return give(out, C_WHOLE, keep(t, "autotune_sizeof(%s, failed)", a->of[0].text));
    return strcmp(name, "is_float") == 0 &&
           give(out, C_TRUTH, keep(t, "autotune_is_float(%s, failed)", a->of[0].text));
}

/* min, max, abs, and rounding of numbers that are not whole. */
static bool call_numeric(translator *t, const char *name, const arguments *a, piece *out)
{
    bool least = strcmp(name, "min") == 0, whole = true;
    for (size_t i = 0; i < a->count; i++) {
        if (!is_numeric(&a->of[i]) || a->of[i].type != a->of[0].type)
            return false;
        whole = a->of[i].type == C_WHOLE;
    }
    if (a->count == 0)
        return false;
    *out = a->of[0];
    if (least || strcmp(name, "max") == 0) {
        for (size_t i = 1; i < a->count && out->text; i++)
            out->text = keep(t, "autotune_%s%s(%s, %s)", least ? "min" : "max",
                             whole ? "" : "_number", out->text, a->of[i].text);
        return out->text != NULL;
    }
    if (a->count == 1 && strcmp(name, "abs") == 0)
        return give(out, a->of[0].type,
                    whole ? keep(t, "autotune_max(%s, autotune_subtract(0, %s))", a->of[0].text,
                                 a->of[0].text)
                          : keep(t, "autotune_max_number(%s, -%s)", a->of[0].text, a->of[0].text));
    if (a->count == 1 && !whole && strcmp(name, "floor") == 0)
        return give(out, C_WHOLE, keep(t, "(int64_t)autotune_floor(%s)", a->of[0].text));
    return a->count == 1 && !whole && strcmp(name, "ceil") == 0 &&
           give(out, C_WHOLE, keep(t, "(-(int64_t)autotune_floor(-%s))", a->of[0].text));
}

static bool translate_call(translator *t, const char *name, piece *out)
{
    arguments a;
    return translate_arguments(t, &a) &&
           (call_whole(t, name, &a, out) || call_text(t, name, &a, out) ||
            call_numeric(t, name, &a, out));
}

/* string.find(text, "plain"): is it in there? */
static bool translate_find(translator *t, piece *out)
{
    arguments a;
    if (!translate_arguments(t, &a) || a.count != 2 || !is_value(&a.of[0], C_TEXT) ||
        !is_value(&a.of[1], C_TEXT) || !a.of[1].literal || strpbrk(a.of[1].text, "^$*+?.([%-\\"))
        return false;
    return give(out, C_TRUTH, keep(t, "autotune_contains(%s, %s)", a.of[0].text, a.of[1].text));
}

static bool translate_device(translator *t, const char *field, piece *out)
{
    static const c_type types[] = {[DEVICE_FIELD_INT] = C_WHOLE,
                                   [DEVICE_FIELD_SIZE] = C_WHOLE,
                                   [DEVICE_FIELD_DOUBLE] = C_NUMBER,
                                   [DEVICE_FIELD_TEXT] = C_TEXT};
    size_t count;
    const device_field *fields = device_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, field) == 0)
            return give(out, types[fields[i].kind], keep(t, "device->%s", field));
    return false;
}

static bool is_input(const translator *t, const char *name)
{
    for (size_t i = 0; i < t->e->input_count; i++)
        if (strcmp(expression_input_name(t->s, t->e->inputs[i]), name) == 0)
            return true;
    return false;
}

/* A call of a derived value: what the caller has for it, else the value itself. */
static bool translate_derived(translator *t, const script_derived *derived, piece *out)
{
    c_type type;
    char text[512];
    while (!token_is(t->next, ")") && t->next.kind != TOKEN_END)
        advance(t); /* names alone */
    if (!accept(t, ")"))
        return false;
    if (t->spell(t->context, derived->name, &type, text, sizeof text))
        return give(out, type, keep(t, "%s", text));
    const lexer behind = t->lexer;
    const token next = t->next;
    t->lexer = lexer_make(derived->value.code, strlen(derived->value.code));
    advance(t);
    bool done = translate_binary(t, 1, out) && t->next.kind == TOKEN_END;
    t->lexer = behind;
    t->next = next;
    return done;
}

static bool translate_name(translator *t, piece *out)
{
    char name[128], field[128] = "", text[512];
    if (t->next.length >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)t->next.length, t->next.text);
    advance(t);
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return give(out, C_TRUTH, keep(t, "%s", name));
    if (accept(t, ".")) {
        if (t->next.kind != TOKEN_NAME || t->next.length >= sizeof field)
            return false;
        snprintf(field, sizeof field, "%.*s", (int)t->next.length, t->next.text);
        advance(t);
        if (strcmp(name, "device") == 0)
            return translate_device(t, field, out);
        if (strcmp(name, "math") == 0)
            return translate_call(t, field, out);
        return strcmp(name, "string") == 0 && strcmp(field, "find") == 0 && translate_find(t, out);
    }
    const script_derived *derived = script_called(t->s, name);
    if (derived)
        return translate_derived(t, derived, out);
    if (token_is(t->next, "("))
        return translate_call(t, name, out);
    c_type type;
    return is_input(t, name) && t->spell(t->context, name, &type, text, sizeof text) &&
           give(out, type, keep(t, "%s", text));
}

/* ---- operators ---- */

/* Lua 5.4 reference manual, section 3.4.8. */
static const struct binary_operator {
    const char *symbol, *c;
    int precedence;
    enum { OP_OR, OP_AND, OP_ORDER, OP_SAME, OP_BITS, OP_SHIFT, OP_PLAIN, OP_RATIO, OP_WHOLE } kind;
    const char *function;
} operators[] = {
    {"or", "||", 1, OP_OR, NULL},          {"and", "&&", 2, OP_AND, NULL},
    {"<", "<", 3, OP_ORDER, NULL},         {"<=", "<=", 3, OP_ORDER, NULL},
    {">", ">", 3, OP_ORDER, NULL},         {">=", ">=", 3, OP_ORDER, NULL},
    {"==", "==", 3, OP_SAME, NULL},        {"~=", "!=", 3, OP_SAME, NULL},
    {"|", "|", 4, OP_BITS, NULL},          {"~", "^", 5, OP_BITS, NULL},
    {"&", "&", 6, OP_BITS, NULL},          {"<<", "", 7, OP_SHIFT, NULL},
    {">>", "-", 7, OP_SHIFT, NULL},        {"+", "+", 9, OP_PLAIN, "add"},
    {"-", "-", 9, OP_PLAIN, "subtract"},   {"*", "*", 10, OP_PLAIN, "multiply"},
    {"/", "/", 10, OP_RATIO, NULL},        {"//", "/", 10, OP_WHOLE, "divide"},
    {"%", "%", 10, OP_WHOLE, "remainder"},
};
enum { UNARY_PRECEDENCE = 11 };

static bool apply_or(translator *t, const piece *a, const piece *b, piece *out)
{
    if (is_value(a, C_TRUTH) && is_value(b, C_TRUTH))
        return give(out, C_TRUTH, keep(t, "(%s || %s)", a->text, b->text));
    if (a->when && a->type == b->type && b->type != C_TRUTH && !b->when)
        return give(out, a->type, keep(t, "(%s ? %s : %s)", a->when, a->text, b->text));
    if (a->when && a->type == b->type && b->when) {
        *out = *a;
        out->literal = false;
        out->text = keep(t, "(%s ? %s : %s)", a->when, a->text, b->text);
        out->when = keep(t, "(%s || %s)", a->when, b->when);
        return out->text && out->when;
    }
    return false;
}

/* Whether a value is there that is no truth. Lua evaluates it, so that it may fail. */
static const char *presence(translator *t, const piece *a)
{
    static const char *const functions[] = {
        [C_WHOLE] = "", [C_NUMBER] = "_number", [C_TEXT] = "_text"};
    if (!strstr(a->text, "failed)"))
        return a->when ? a->when : "true";
    const char *given = keep(t, "autotune_given%s(%s)", functions[a->type], a->text);
    return given && a->when ? keep(t, "(%s && %s)", a->when, given) : given;
}

static bool apply_and(translator *t, const piece *a, const piece *b, piece *out)
{
    if (!a->when && a->type != C_TRUTH)
        return false;
    const char *condition = a->when ? presence(t, a) : a->text;
    if (!condition)
        return false;
    if (is_value(b, C_TRUTH))
        return give(out, C_TRUTH, keep(t, "(%s && %s)", condition, b->text));
    *out = *b;
    out->literal = false;
    out->when = b->when ? keep(t, "(%s && %s)", condition, b->when) : condition;
    return out->when != NULL;
}

static bool apply_order(translator *t, const struct binary_operator *op, const piece *a,
                        const piece *b, piece *out)
{
    if (is_numeric(a) && is_numeric(b)) {
        bool mixed = a->type != b->type;
        const char *x = mixed ? as_number(t, a) : a->text, *y = mixed ? as_number(t, b) : b->text;
        return x && y && give(out, C_TRUTH, keep(t, "(%s %s %s)", x, op->c, y));
    }
    if (!is_value(a, C_TEXT) || !is_value(b, C_TEXT))
        return false;
    bool swapped = op->c[0] == '>', negated = op->c[1] == '=';
    /* a <= b is not b < a. */
    const piece *x = swapped != negated ? b : a, *y = swapped != negated ? a : b;
    return give(out, C_TRUTH,
                keep(t, "%sautotune_text_before(%s, %s)", negated ? "!" : "", x->text, y->text));
}

static bool apply_same(translator *t, const struct binary_operator *op, const piece *a,
                       const piece *b, piece *out)
{
    const char *no = op->c[0] == '!' ? "!" : "";
    if (a->when || b->when)
        return false;
    if (is_numeric(a) && is_numeric(b))
        return apply_order(t, op, a, b, out);
    if (a->type != b->type)
        return give(out, C_TRUTH, *no ? "true" : "false");
    if (a->type == C_TEXT)
        return give(out, C_TRUTH, keep(t, "%sautotune_same_text(%s, %s)", no, a->text, b->text));
    return give(out, C_TRUTH, keep(t, "((%s) %s (%s))", a->text, op->c, b->text));
}

static bool apply_arithmetic(translator *t, const struct binary_operator *op, const piece *a,
                             const piece *b, piece *out)
{
    if (!is_numeric(a) || !is_numeric(b))
        return false;
    bool whole = a->type == C_WHOLE && b->type == C_WHOLE;
    if (op->kind == OP_BITS)
        return whole && give(out, C_WHOLE, keep(t, "(%s %s %s)", a->text, op->c, b->text));
    if (op->kind == OP_SHIFT)
        return whole && give(out, C_WHOLE,
                             *op->c ? keep(t, "autotune_shift(%s, autotune_subtract(0, %s))",
                                           a->text, b->text)
                                    : keep(t, "autotune_shift(%s, %s)", a->text, b->text));
    if (whole && op->kind != OP_RATIO)
        return give(out, C_WHOLE,
                    keep(t, "autotune_%s(%s, %s%s)", op->function, a->text, b->text,
                         op->kind == OP_WHOLE ? ", failed" : ""));
    const char *x = as_number(t, a), *y = as_number(t, b);
    if (!x || !y || op->c[0] == '%')
        return false;
    return give(out, C_NUMBER,
                op->kind == OP_WHOLE ? keep(t, "autotune_floor(%s / %s)", x, y)
                                     : keep(t, "(%s %s %s)", x, op->c, y));
}

static bool apply(translator *t, const struct binary_operator *op, const piece *a, const piece *b,
                  piece *out)
{
    switch (op->kind) {
    case OP_OR:
        return apply_or(t, a, b, out);
    case OP_AND:
        return apply_and(t, a, b, out);
    case OP_ORDER:
        return apply_order(t, op, a, b, out);
    case OP_SAME:
        return apply_same(t, op, a, b, out);
    default:
        return apply_arithmetic(t, op, a, b, out);
    }
}

static bool translate_operand(translator *t, piece *out)
{
    if (accept(t, "("))
        return translate_binary(t, 1, out) && accept(t, ")");
    if (accept(t, "-")) {
        piece a;
        if (!translate_binary(t, UNARY_PRECEDENCE, &a) || !is_numeric(&a))
            return false;
        return give(out, a.type,
                    a.type == C_WHOLE ? keep(t, "autotune_subtract(0, %s)", a.text)
                                      : keep(t, "(-%s)", a.text));
    }
    if (accept(t, "not")) {
        piece a;
        if (!translate_binary(t, UNARY_PRECEDENCE, &a))
            return false;
        /* Whatever is neither nil nor false is true. */
        const char *holds = a.when || a.type != C_TRUTH ? presence(t, &a) : a.text;
        return holds && give(out, C_TRUTH, keep(t, "!(%s)", holds));
    }
    if (t->next.kind == TOKEN_NUMBER)
        return translate_number(t, out);
    if (t->next.kind == TOKEN_STRING)
        return translate_string(t, out);
    return t->next.kind == TOKEN_NAME && translate_name(t, out);
}

static const struct binary_operator *find_operator(token next)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (token_is(next, operators[i].symbol))
            return &operators[i];
    return NULL;
}

/* Operators that bind at least as strongly as `precedence`, and their operands. */
static bool translate_binary(translator *t, int precedence, piece *out)
{
    if (t->nested == MOST_NESTED)
        return false;
    t->nested++;
    if (!translate_operand(t, out))
        return false;
    for (;;) {
        const struct binary_operator *op = find_operator(t->next);
        if (!op || op->precedence < precedence)
            break;
        advance(t);
        piece left = *out, right;
        /* `a and 1 or b and 2 or 3` from its end, so that no condition is written twice. */
        bool from_end = op->kind == OP_OR;
        if (!translate_binary(t, op->precedence + !from_end, &right) ||
            !apply(t, op, &left, &right, out))
            return false;
    }
    t->nested--;
    return true;
}

at_status script_expression_c(const script *s, const expression *e, c_spelling spell, void *context,
                              c_type *type, char **out, at_error *error)
{
    *out = NULL;
    translator *t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    *t = (translator){.s = s,
                      .e = e,
                      .lexer = lexer_make(e->code, strlen(e->code)),
                      .spell = spell,
                      .context = context};
    advance(t);
    piece whole;
    bool done = translate_binary(t, 1, &whole) && !whole.when && t->next.kind == TOKEN_END;
    if (done) {
        *type = whole.type;
        *out = strdup(whole.text);
    }
    bool no_memory = t->no_memory || (done && !*out);
    for (size_t i = 0; i < t->kept_count; i++)
        free(t->kept[i]);
    free(t);
    return no_memory ? error_set(error, AT_NO_MEMORY, "out of memory") : AT_OK;
}

at_status script_constraint_c(const script *s, size_t constraint, c_spelling spell, void *context,
                              char **out, at_error *error)
{
    c_type type = C_TRUTH;
    at_status status =
        script_expression_c(s, &s->constraint_tests[constraint], spell, context, &type, out, error);
    if (type != C_TRUTH) {
        free(*out);
        *out = NULL;
    }
    return status;
}

at_status script_feature_c(const script *s, size_t feature, c_spelling spell, void *context,
                           c_type *type, char **out, at_error *error)
{
    return script_expression_c(s, &s->features[feature], spell, context, type, out, error);
}

at_status script_derived_c(const script *s, size_t place, c_spelling spell, void *context,
                           const char **name, c_type *type, char **out, at_error *error)
{
    *name = NULL;
    *out = NULL;
    for (size_t i = 0; i < s->derived_count; i++) {
        const script_derived *d = &s->derived[i];
        if (!d->call || d->rank != place)
            continue;
        *name = d->name;
        return script_expression_c(s, &d->value, spell, context, type, out, error);
    }
    return AT_OK;
}
