#include <limits.h>
#include <stdlib.h>

#include "base/bits.h"
#include "ptx/parser.h"

/* Limits that no real kernel reaches, so a file that exceeds a limit is corrupt. */
static const uint64_t max_variable_bytes = 1u << 30;
static const int64_t max_registers = 1 << 20;

static void add_variable(ptx_parser *p, ptx_variable v)
{
    ptx_module *m = p->module;
    ptx_scope_put(p, &p->names, v.name, PTX_NAME_VARIABLE, (int)m->variable_count, 0);
    ptx_keep(p, &m->variables, &m->variable_count, &v, sizeof v);
    if (p->status)
        free(v.initial);
}

/* The modifiers of a declaration, which precede its first name. */
typedef struct declaration {
    ptx_space space;
    ptx_type type;
    bool has_type;
    uint32_t vector; /* 2 or 4 for .v2 or .v4 */
    int64_t alignment;
    bool opaque; /* a texture, sampler or surface reference, which has a name but no value */
} declaration;

static bool is_opaque(ptx_text t)
{
    return ptx_text_is(t, ".texref") || ptx_text_is(t, ".samplerref") || ptx_text_is(t, ".surfref");
}

static bool take_space(ptx_text t, ptx_space *space)
{
    for (int i = PTX_SPACE_GLOBAL; i <= PTX_SPACE_PARAM; i++) {
        if (t.length > 1 &&
            ptx_text_is((ptx_text){t.at + 1, t.length - 1}, ptx_space_name((ptx_space)i))) {
            *space = (ptx_space)i;
            return true;
        }
    }
    return false;
}

static void parse_declaration(ptx_parser *p, declaration *d)
{
    *d = (declaration){.space = PTX_SPACE_GENERIC, .vector = 1};
    bool pointer = false; /* after .ptr come the space and alignment of the pointee */
    while (p->token.kind == PTX_TOKEN_MODIFIER) {
        ptx_text t = p->token.text;
        ptx_space space;
        ptx_advance(p);
        if (ptx_text_is(t, ".align")) {
            int64_t alignment = ptx_take_integer(p);
            if (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1)))
                ptx_fail(p, "an alignment must be a power of two up to 4096");
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
        } else if (is_opaque(t) && d->space == PTX_SPACE_PARAM) {
            d->type = PTX_B64;
            d->has_type = d->opaque = true;
        } else {
            ptx_fail(p, "unknown directive \"%.*s\"", (int)(t.length > 40 ? 40 : t.length), t.at);
        }
    }
    if (!d->has_type || d->type == PTX_PRED || d->space == PTX_SPACE_GENERIC)
        ptx_fail(p, "a declaration needs a state space and a type");
}

/* Parses "[N][M]...". Returns the number of elements, or 0 for "[]". */
static uint64_t parse_extent(ptx_parser *p)
{
    uint64_t elements = 1;
    while (ptx_accept(p, '[')) {
        int64_t n = ptx_at(p, ']') ? 0 : ptx_take_integer(p);
        if (n < 0 || (uint64_t)n > max_variable_bytes || elements > max_variable_bytes)
            ptx_fail(p, "the array is larger than 1 GiB, the limit");
        elements *= (uint64_t)n;
        ptx_expect(p, ']');
    }
    return elements;
}

/* Converts a number in an initial value to the bits of an element. */
static void convert_initial(const ptx_token *t, bool negative, ptx_type type, uint64_t *bits)
{
    *bits = negative ? 0 - t->bits : t->bits;
    if (t->kind == PTX_TOKEN_DOUBLE && type == PTX_F32) {
        double v = double_of_bits(t->bits);
        *bits = bits_of_float((float)(negative ? -v : v));
    }
}

/* Parses the name of a function or variable of the module. An offset may follow: "f", "x+8". */
static void parse_name(ptx_parser *p, ptx_relocation *r)
{
    int kind = PTX_NAME_LABEL;
    if (p->token.kind != PTX_TOKEN_WORD ||
        !ptx_scope_find(&p->names, p->token.text, &kind, &r->target) ||
        (kind != PTX_NAME_FUNCTION && kind != PTX_NAME_VARIABLE))
        ptx_fail(p, "an initial value must be a number or a name that is known, not %s",
                 ptx_token_text(p));
    r->is_function = kind == PTX_NAME_FUNCTION;
    ptx_advance(p);
    if (ptx_accept(p, '+') || ptx_at(p, '-'))
        r->addend = ptx_take_integer(p);
}

/* Parses an element that is an address ("f", "generic(x)+8") or a byte of an address ("0xFF00(f)").
 * `mask` is 0 if there is no mask. */
static void parse_address_value(ptx_parser *p, uint64_t mask, ptx_relocation r)
{
    bool in_brackets = ptx_at(p, '(');
    if (mask) {
        r.shift = (uint32_t)__builtin_ctzll(mask);
    } else if (ptx_text_is(p->token.text, "generic")) {
        ptx_advance(p);
        in_brackets = true;
    }
    if (in_brackets)
        ptx_expect(p, '(');
    parse_name(p, &r);
    if (in_brackets)
        ptx_expect(p, ')');
    if (in_brackets && ptx_accept(p, '+'))
        r.addend += ptx_take_integer(p);
    ptx_keep(p, &p->module->relocations, &p->module->relocation_count, &r, sizeof r);
}

static void parse_element(ptx_parser *p, ptx_variable *v, ptx_type type, uint64_t at)
{
    const uint32_t bytes = ptx_type_bytes(type);
    const ptx_relocation r = {.variable = (int)p->module->variable_count, .at = at, .bytes = bytes};
    bool negative = ptx_accept(p, '-');
    const ptx_token number = p->token;
    if (at + bytes > v->size_bytes || bytes > 8)
        ptx_fail(p, "too many initial values");
    if (number.kind == PTX_TOKEN_WORD && !negative) {
        parse_address_value(p, 0, r);
        return;
    }
    if (number.kind < PTX_TOKEN_INTEGER || number.kind > PTX_TOKEN_DOUBLE)
        ptx_fail(p, "an initial value must be a number, not %s", ptx_token_text(p));
    ptx_advance(p);
    if (number.kind == PTX_TOKEN_INTEGER && number.bits && ptx_at(p, '(')) {
        parse_address_value(p, number.bits, r);
        return;
    }
    uint64_t bits;
    convert_initial(&number, negative, type, &bits);
    for (uint32_t i = 0; i < bytes && !p->status; i++)
        v->initial[at + i] = (uint8_t)(bits >> (8 * i));
}

/* Parses "= 5" or "= {1, 2, {3}}". Elements are little-endian; missing elements are zero. */
static void parse_initial(ptx_parser *p, ptx_variable *v, ptx_type type)
{
    uint64_t at = 0;
    int depth = 0;
    ptx_advance(p);
    if (v->size_bytes > 1u << 26) {
        ptx_fail(p, "the initialised array is larger than 64 MiB, the limit");
        return;
    }
    v->initial = calloc(1, v->size_bytes ? v->size_bytes : 1);
    if (!v->initial) {
        ptx_fail(p, "no memory for an initialised array");
        return;
    }
    do {
        if (ptx_at(p, '{') || ptx_at(p, '}')) {
            depth += ptx_at(p, '{') ? 1 : -1;
            ptx_advance(p);
        } else if (!ptx_accept(p, ',')) {
            parse_element(p, v, type, at);
            at += ptx_type_bytes(type);
        }
    } while (depth > 0 && !p->status);
    if (depth < 0)
        ptx_fail(p, "unbalanced braces in an initial value");
}

static void parse_declarator(ptx_parser *p, const declaration *d)
{
    if (p->token.kind != PTX_TOKEN_WORD) {
        ptx_fail(p, "expected a variable's name, not %s", ptx_token_text(p));
        return;
    }
    ptx_variable v = {.name = {p->token.text.at, d->opaque ? 0 : p->token.text.length},
                      .space = d->space};
    ptx_advance(p);
    uint64_t elements = parse_extent(p);
    uint32_t bytes = ptx_type_bytes(d->type) * d->vector;
    v.alignment = d->alignment ? (uint32_t)d->alignment : bytes;
    v.size_bytes = elements * bytes;
    if (v.size_bytes > max_variable_bytes)
        ptx_fail(p, "the variable is larger than 1 GiB, the limit");
    if (ptx_at(p, '='))
        parse_initial(p, &v, d->type);
    add_variable(p, v);
}

void ptx_parse_variable(ptx_parser *p)
{
    declaration d;
    parse_declaration(p, &d);
    do
        parse_declarator(p, &d);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';');
    /* Drop the relocations of a variable whose initial value cannot be read. */
    ptx_module *m = p->module;
    while (m->relocation_count > 0 &&
           (size_t)m->relocations[m->relocation_count - 1].variable >= m->variable_count)
        m->relocation_count--;
}

static void add_registers(ptx_parser *p, ptx_text name, ptx_type type, int64_t count)
{
    ptx_module *m = p->module;
    if (count < 0 || count + (int64_t)m->register_count > max_registers)
        ptx_fail(p, "the function declares more than %lld registers, the limit",
                 (long long)max_registers);
    ptx_scope_put(p, &p->names, name, PTX_NAME_REGISTER, (int)m->register_count, (int)count);
    for (int64_t i = 0; i < (count ? count : 1) && !p->status; i++)
        ptx_keep(p, &m->register_types, &m->register_count, &(uint8_t){(uint8_t)type}, 1);
}

static ptx_type parse_register_type(ptx_parser *p)
{
    ptx_type type = PTX_B32;
    ptx_advance(p);
    if (p->token.kind != PTX_TOKEN_MODIFIER || !ptx_type_find(p->token.text, &type))
        ptx_fail(p, "unknown register type %s", ptx_token_text(p));
    ptx_advance(p);
    return type;
}

void ptx_parse_parameter(ptx_parser *p)
{
    if (p->token.kind == PTX_TOKEN_MODIFIER && ptx_text_is(p->token.text, ".reg")) {
        const ptx_type type = parse_register_type(p);
        if (p->token.kind != PTX_TOKEN_WORD)
            ptx_fail(p, "expected a register's name, not %s", ptx_token_text(p));
        add_registers(p, p->token.text, type, 0);
        ptx_advance(p);
        return;
    }
    declaration d;
    parse_declaration(p, &d);
    if (d.space != PTX_SPACE_PARAM)
        ptx_fail(p, "a parameter must be .param");
    parse_declarator(p, &d);
}

void ptx_parse_registers(ptx_parser *p)
{
    const ptx_type type = parse_register_type(p);
    do {
        ptx_text name = p->token.text;
        int64_t count = 0;
        if (p->token.kind != PTX_TOKEN_WORD)
            ptx_fail(p, "expected a register's name, not %s", ptx_token_text(p));
        ptx_advance(p);
        if (ptx_accept(p, '<')) {
            count = ptx_take_integer(p);
            if (count == 0)
                ptx_fail(p, "the register range is empty");
            ptx_expect(p, '>');
        }
        if (!p->status)
            add_registers(p, name, type, count);
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

void ptx_parse_file(ptx_parser *p)
{
    ptx_advance(p);
    int64_t number = ptx_take_integer(p);
    ptx_module *m = p->module;
    if (p->token.kind != PTX_TOKEN_STRING || number < 0 || number > 65535) {
        ptx_fail(p, "a .file directive needs a number and a name");
        return;
    }
    while (m->file_count <= (size_t)number && !p->status)
        ptx_keep(p, &m->files, &m->file_count, &(ptx_text){"", 0}, sizeof *m->files);
    if (p->status)
        return;
    m->files[number] = p->token.text;
    ptx_advance(p);
    while (ptx_accept(p, ','))
        ptx_advance(p);
}

static int clamp_int(int64_t v)
{
    return v < 0 ? 0 : v > INT_MAX ? INT_MAX : (int)v;
}

static int add_location(ptx_parser *p, const int64_t at[3], int outer)
{
    ptx_module *m = p->module;
    const ptx_location l = {clamp_int(at[0]), clamp_int(at[1]), clamp_int(at[2]), outer};
    ptx_keep(p, &m->locations, &m->location_count, &l, sizeof l);
    return (int)m->location_count - 1;
}

/* Parses .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN]. */
void ptx_parse_loc(ptx_parser *p)
{
    int64_t at[3], outer_at[3];
    int outer = PTX_NONE;
    ptx_advance(p);
    for (int i = 0; i < 3; i++)
        at[i] = ptx_take_integer(p);
    if (ptx_at(p, ',')) {
        while (!(p->token.kind == PTX_TOKEN_WORD && ptx_text_is(p->token.text, "inlined_at")) &&
               !p->status) {
            if (p->token.kind == PTX_TOKEN_END || p->token.kind == PTX_TOKEN_MODIFIER)
                ptx_fail(p, "a .loc directive with a function name lacks inlined_at");
            ptx_advance(p);
        }
        ptx_advance(p);
        for (int i = 0; i < 3; i++)
            outer_at[i] = ptx_take_integer(p);
        /* The caller's location is one of the last directives. The caller may be inlined itself. */
        const ptx_module *m = p->module;
        int alike = PTX_NONE; /* a location on the same line with another column */
        for (size_t i = m->location_count; i-- > 0 && m->location_count - i < 64 && outer < 0;) {
            const ptx_location *l = &m->locations[i];
            if (l->file != outer_at[0] || l->line != outer_at[1])
                continue;
            if (l->column == outer_at[2])
                outer = (int)i;
            else if (alike == PTX_NONE)
                alike = (int)i;
        }
        if (outer == PTX_NONE)
            outer =
                add_location(p, outer_at, alike == PTX_NONE ? PTX_NONE : m->locations[alike].outer);
    }
    if (at[1] != 0) /* line 0 means "no line": the previous location stays */
        p->location = add_location(p, at, outer);
}
