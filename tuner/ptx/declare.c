#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

/* More of anything than a real kernel has is a corrupt file. */
static const uint64_t max_variable_bytes = 1u << 30;
static const int64_t max_registers = 1 << 20;

static at_status add_variable(ptx_parser *p, ptx_variable v)
{
    ptx_module *m = p->module;
    ptx_variable *grown = array_grow(m->variables, m->variable_count, sizeof *grown);
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
        if (t.length > 1 && ptx_text_is((ptx_text){t.at + 1, t.length - 1}, ptx_space_name((ptx_space)i))) {
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
        uint8_t *grown = array_grow(m->register_types, m->register_count, 1);
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
