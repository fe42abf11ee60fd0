#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

static const struct {
    const char *modifier;
    uint32_t bytes;
} types[PTX_TYPE_COUNT] = {
    [PTX_B8] = {".b8", 1},       [PTX_U8] = {".u8", 1},       [PTX_S8] = {".s8", 1},
    [PTX_B16] = {".b16", 2},     [PTX_U16] = {".u16", 2},     [PTX_S16] = {".s16", 2},
    [PTX_F16] = {".f16", 2},     [PTX_BF16] = {".bf16", 2},   [PTX_B32] = {".b32", 4},
    [PTX_U32] = {".u32", 4},     [PTX_S32] = {".s32", 4},     [PTX_F32] = {".f32", 4},
    [PTX_F16X2] = {".f16x2", 4}, [PTX_BF16X2] = {".bf16x2", 4}, [PTX_TF32] = {".tf32", 4},
    [PTX_B64] = {".b64", 8},     [PTX_U64] = {".u64", 8},     [PTX_S64] = {".s64", 8},
    [PTX_F64] = {".f64", 8},     [PTX_F32X2] = {".f32x2", 8}, [PTX_B128] = {".b128", 16},
    [PTX_PRED] = {".pred", 0},
};

/* More of anything than a real kernel has is a corrupt file. */
static const uint64_t max_variable_bytes = 1u << 30;
static const int64_t max_registers = 1 << 20;

uint32_t ptx_type_bytes(ptx_type type)
{
    return types[type].bytes;
}

bool ptx_type_find(ptx_text modifier, ptx_type *type)
{
    for (int i = 0; i < PTX_TYPE_COUNT; i++) {
        if (ptx_text_is(modifier, types[i].modifier)) {
            *type = (ptx_type)i;
            return true;
        }
    }
    return false;
}

static const char *const space_names[] = {
    [PTX_SPACE_GENERIC] = "generic", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_SHARED] = "shared",
    [PTX_SPACE_LOCAL] = "local",     [PTX_SPACE_CONST] = "const",   [PTX_SPACE_PARAM] = "param"};

const char *ptx_space_name(ptx_space space)
{
    return space_names[space];
}

void ptx_advance(ptx_parser *p)
{
    p->token = ptx_lexer_next(&p->lexer);
}

bool ptx_at(const ptx_parser *p, char c)
{
    return p->token.kind == PTX_TOKEN_PUNCTUATION && *p->token.text.at == c;
}

const char *ptx_token_text(ptx_parser *p)
{
    if (p->token.kind == PTX_TOKEN_END)
        return "the end of the file";
    int length = p->token.text.length > 40 ? 40 : (int)p->token.text.length;
    snprintf(p->shown, sizeof p->shown, "\"%.*s\"", length, p->token.text.at);
    return p->shown;
}

at_status ptx_fail(ptx_parser *p, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set_at(p->error, AT_FORMAT, p->module->name, p->token.line, "%s", text);
}

at_status ptx_no_memory(ptx_parser *p)
{
    return error_set(p->error, AT_NO_MEMORY, "no memory to parse PTX");
}

static at_status add_variable(ptx_parser *p, ptx_variable v)
{
    ptx_module *m = p->module;
    ptx_variable *grown = ptx_grow(m->variables, m->variable_count, sizeof *grown);
    if (!grown)
        return ptx_no_memory(p);
    m->variables = grown;
    if (!ptx_scope_put(&p->names, v.name, PTX_NAME_VARIABLE, (int)m->variable_count, 0))
        return ptx_no_memory(p);
    grown[m->variable_count++] = v;
    return AT_OK;
}

/* The modifiers before a declaration's first name. */
typedef struct declaration {
    ptx_space space;
    ptx_type type;
    bool has_type;
    uint32_t vector; /* .v2, .v4 */
    int64_t alignment;
} declaration;

static bool take_space(ptx_text t, ptx_space *space)
{
    for (int i = PTX_SPACE_GLOBAL; i <= PTX_SPACE_PARAM; i++) {
        if (t.length > 1 && ptx_text_is((ptx_text){t.at + 1, t.length - 1}, space_names[i])) {
            *space = (ptx_space)i;
            return true;
        }
    }
    return false;
}

static at_status parse_declaration(ptx_parser *p, declaration *d)
{
    *d = (declaration){.space = PTX_SPACE_GENERIC, .vector = 1};
    bool pointer = false; /* after .ptr come the pointee's space and alignment */
    while (p->token.kind == PTX_TOKEN_MODIFIER) {
        ptx_text t = p->token.text;
        ptx_space space;
        at_status status = AT_OK;
        int64_t alignment;
        ptx_advance(p);
        if (ptx_text_is(t, ".align")) {
            status = ptx_take_integer(p, &alignment);
            if (!status && (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1))))
                status = ptx_fail(p, "an alignment must be a power of two up to 4096");
            if (!pointer)
                d->alignment = alignment;
        } else if (ptx_text_is(t, ".ptr")) {
            pointer = true;
        } else if (take_space(t, &space)) {
            if (!pointer)
                d->space = space;
        } else if (ptx_text_is(t, ".v2") || ptx_text_is(t, ".v4")) {
            d->vector = (uint32_t)(t.at[2] - '0');
        } else if (ptx_text_is(t, ".attribute")) {
            while (!ptx_at(p, ')') && p->token.kind != PTX_TOKEN_END)
                ptx_advance(p);
            ptx_advance(p);
        } else if (ptx_type_find(t, &d->type)) {
            d->has_type = true;
        } else {
            status = ptx_fail(p, "unknown directive \"%.*s\"", (int)(t.length > 40 ? 40 : t.length),
                              t.at);
        }
        if (status)
            return status;
    }
    if (!d->has_type || d->type == PTX_PRED || d->space == PTX_SPACE_GENERIC)
        return ptx_fail(p, "a declaration needs a state space and a type");
    return AT_OK;
}

/* [N][M]...: *elements is the product; 0 for []. */
static at_status parse_extent(ptx_parser *p, uint64_t *elements)
{
    *elements = 1;
    while (ptx_at(p, '[')) {
        ptx_advance(p);
        int64_t n = 0;
        if (!ptx_at(p, ']')) {
            at_status status = ptx_take_integer(p, &n);
            if (status)
                return status;
        }
        if (n < 0 || (uint64_t)n > max_variable_bytes || *elements > max_variable_bytes)
            return ptx_fail(p, "an array of more than 1 GiB");
        *elements *= (uint64_t)n;
        at_status status = ptx_expect(p, ']');
        if (status)
            return status;
    }
    return AT_OK;
}

static void convert_initial(const ptx_token *t, bool negative, ptx_type type, uint64_t *bits)
{
    *bits = negative ? 0 - t->bits : t->bits;
    if (t->kind == PTX_TOKEN_DOUBLE && type == PTX_F32) {
        double v;
        memcpy(&v, &t->bits, sizeof v);
        float f = (float)(negative ? -v : v);
        uint32_t b;
        memcpy(&b, &f, sizeof b);
        *bits = b;
    }
}

/* "= 5" or "= {1, 2, {3}}": little-endian elements, the rest zero. */
static at_status parse_initial(ptx_parser *p, ptx_variable *v, ptx_type type)
{
    ptx_advance(p);
    uint32_t bytes = ptx_type_bytes(type);
    if (v->size_bytes > 1u << 26)
        return ptx_fail(p, "an initialised array of more than 64 MiB");
    v->initial = calloc(1, v->size_bytes ? v->size_bytes : 1);
    if (!v->initial)
        return ptx_no_memory(p);
    uint64_t at = 0;
    int depth = 0;
    do {
        if (ptx_at(p, '{') || ptx_at(p, '}')) {
            depth += ptx_at(p, '{') ? 1 : -1;
        } else if (!ptx_at(p, ',')) {
            bool negative = ptx_at(p, '-');
            if (negative)
                ptx_advance(p);
            if (p->token.kind < PTX_TOKEN_INTEGER || p->token.kind > PTX_TOKEN_DOUBLE)
                return ptx_fail(p, "an initial value must be a number, not %s", ptx_token_text(p));
            if (at + bytes > v->size_bytes || bytes > 8)
                return ptx_fail(p, "too many initial values");
            uint64_t bits;
            convert_initial(&p->token, negative, type, &bits);
            for (uint32_t i = 0; i < bytes; i++)
                v->initial[at++] = (uint8_t)(bits >> (8 * i));
        }
        ptx_advance(p);
    } while (depth > 0);
    return depth < 0 ? ptx_fail(p, "unbalanced braces in an initial value") : AT_OK;
}

/* One name of a declaration. */
static at_status parse_declarator(ptx_parser *p, const declaration *d)
{
    if (p->token.kind != PTX_TOKEN_WORD)
        return ptx_fail(p, "expected a variable's name, not %s", ptx_token_text(p));
    ptx_variable v = {.name = p->token.text, .space = d->space, .function = p->function,
                      .line = p->token.line};
    ptx_advance(p);
    uint64_t elements;
    at_status status = parse_extent(p, &elements);
    if (status)
        return status;
    uint32_t bytes = ptx_type_bytes(d->type) * d->vector;
    v.alignment = d->alignment ? (uint32_t)d->alignment : bytes;
    v.size_bytes = elements * bytes;
    if (v.size_bytes > max_variable_bytes)
        return ptx_fail(p, "a variable of more than 1 GiB");
    if (ptx_at(p, '='))
        status = parse_initial(p, &v, d->type);
    if (!status)
        status = add_variable(p, v);
    if (status)
        free(v.initial);
    return status;
}

at_status ptx_parse_variable(ptx_parser *p)
{
    declaration d;
    at_status status = parse_declaration(p, &d);
    while (!status) {
        status = parse_declarator(p, &d);
        if (status || !ptx_at(p, ','))
            break;
        ptx_advance(p);
    }
    return status ? status : ptx_expect(p, ';');
}

at_status ptx_parse_parameter(ptx_parser *p)
{
    /* A .func may take registers; they are parameters of another space. */
    if (p->token.kind == PTX_TOKEN_MODIFIER && ptx_text_is(p->token.text, ".reg"))
        return ptx_fail(p, "register parameters are not supported");
    declaration d;
    at_status status = parse_declaration(p, &d);
    if (!status && d.space != PTX_SPACE_PARAM)
        return ptx_fail(p, "a parameter must be .param");
    return status ? status : parse_declarator(p, &d);
}

static at_status add_registers(ptx_parser *p, ptx_text name, ptx_type type, int64_t count)
{
    ptx_module *m = p->module;
    if (count < 0 || count + (int64_t)m->register_count > max_registers)
        return ptx_fail(p, "more than %lld registers", (long long)max_registers);
    if (!ptx_scope_put(&p->names, name, PTX_NAME_REGISTER, (int)m->register_count, (int)count))
        return ptx_no_memory(p);
    for (int64_t i = 0; i < (count ? count : 1); i++) {
        uint8_t *grown = ptx_grow(m->register_types, m->register_count, 1);
        if (!grown)
            return ptx_no_memory(p);
        m->register_types = grown;
        grown[m->register_count++] = (uint8_t)type;
    }
    return AT_OK;
}

at_status ptx_parse_registers(ptx_parser *p)
{
    ptx_advance(p);
    ptx_type type;
    if (p->token.kind != PTX_TOKEN_MODIFIER || !ptx_type_find(p->token.text, &type))
        return ptx_fail(p, "unknown register type %s", ptx_token_text(p));
    if (type == PTX_B128)
        return ptx_fail(p, "128-bit registers are not supported");
    ptx_advance(p);
    for (;;) {
        if (p->token.kind != PTX_TOKEN_WORD)
            return ptx_fail(p, "expected a register's name, not %s", ptx_token_text(p));
        ptx_text name = p->token.text;
        int64_t count = 0;
        at_status status = AT_OK;
        ptx_advance(p);
        if (ptx_at(p, '<')) {
            ptx_advance(p);
            status = ptx_take_integer(p, &count);
            if (!status && count == 0)
                return ptx_fail(p, "an empty register range");
            if (!status)
                status = ptx_expect(p, '>');
        }
        if (!status)
            status = add_registers(p, name, type, count);
        if (status)
            return status;
        if (!ptx_at(p, ','))
            return ptx_expect(p, ';');
        ptx_advance(p);
    }
}
