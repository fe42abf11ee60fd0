
#include "base/array.h"
#include "ptx/parser.h"

enum { MAX_OPERANDS = 16, MAX_ITEMS = 64, MAX_DEPTH = 32 };

static at_status parse_operand(ptx_parser *p, ptx_operand *out, int depth);

static int add_operands(ptx_parser *p, const ptx_operand *items, int count)
{
    ptx_module *m = p->module;
    int first = (int)m->operand_count;
    for (int i = 0; i < count; i++) {
        ptx_operand *grown = array_grow(m->operands, m->operand_count, sizeof *grown);
        if (!grown)
            return PTX_NONE;
        m->operands = grown;
        grown[m->operand_count++] = items[i];
    }
    return first;
}

static int find_label(ptx_parser *p, ptx_text name)
{
    int kind, index;
    if (ptx_scope_find(&p->label_names, name, &kind, &index))
        return index;
    ptx_module *m = p->module;
    ptx_label *grown = array_grow(m->labels, m->label_count, sizeof *grown);
    if (!grown)
        return PTX_NONE;
    m->labels = grown;
    index = (int)m->label_count++;
    grown[index] = (ptx_label){.name = name, .statement = PTX_NONE, .line = p->token.line};
    return ptx_scope_put(&p->label_names, name, PTX_NAME_LABEL, index, 0) ? index : PTX_NONE;
}

static at_status parse_special(ptx_parser *p, ptx_operand *out)
{
    out->kind = PTX_OPERAND_SPECIAL;
    out->text = p->token.text;
    ptx_advance(p);
    if (p->token.kind == PTX_TOKEN_MODIFIER && p->token.text.at == out->text.at + out->text.length) {
        out->text.length += p->token.text.length;
        ptx_advance(p);
    }
    return AT_OK;
}

static at_status parse_word(ptx_parser *p, ptx_operand *out)
{
    static const ptx_operand_kind kinds[] = {[PTX_NAME_REGISTER] = PTX_OPERAND_REGISTER,
                                             [PTX_NAME_VARIABLE] = PTX_OPERAND_VARIABLE,
                                             [PTX_NAME_FUNCTION] = PTX_OPERAND_FUNCTION};
    ptx_text t = p->token.text;
    int kind, index;
    out->text = t;
    if (ptx_scope_find(&p->names, t, &kind, &index)) {
        out->kind = kinds[kind];
        out->index = index;
    } else if (*t.at == '%') {
        return parse_special(p, out);
    } else if (ptx_text_is(t, "_")) {
        out->kind = PTX_OPERAND_SINK;
    } else if (ptx_text_is(t, "WARP_SZ")) {
        out->kind = PTX_OPERAND_INTEGER;
        out->bits = 32;
    } else {
        out->kind = PTX_OPERAND_LABEL;
        out->index = find_label(p, t);
        if (out->index == PTX_NONE)
            return ptx_no_memory(p);
    }
    ptx_advance(p);
    return AT_OK;
}

static at_status parse_number(ptx_parser *p, ptx_operand *out)
{
    bool negative = ptx_at(p, '-');
    if (negative)
        ptx_advance(p);
    uint64_t bits = p->token.bits;
    if (p->token.kind == PTX_TOKEN_INTEGER) {
        out->kind = PTX_OPERAND_INTEGER;
        out->bits = negative ? 0 - bits : bits;
    } else if (p->token.kind == PTX_TOKEN_FLOAT) {
        out->kind = PTX_OPERAND_FLOAT;
        out->bits = negative ? bits ^ 0x80000000u : bits;
    } else if (p->token.kind == PTX_TOKEN_DOUBLE) {
        out->kind = PTX_OPERAND_DOUBLE;
        out->bits = negative ? bits ^ (1ull << 63) : bits;
    } else {
        return ptx_fail(p, "expected an operand, not %s", ptx_token_text(p));
    }
    ptx_advance(p);
    return AT_OK;
}

static at_status parse_list(ptx_parser *p, ptx_operand *out, int depth);

/* [base], [base + n], [base - n], [base + -n], [base, {coordinates}] */
static at_status parse_address(ptx_parser *p, ptx_operand *out)
{
    ptx_operand parts[2] = {{0}, {.index = PTX_NONE, .first = PTX_NONE}}, *base = &parts[0];
    int count = 1;
    ptx_advance(p);
    at_status status = p->token.kind == PTX_TOKEN_WORD ? parse_word(p, base) : parse_number(p, base);
    if (!status && (ptx_at(p, '+') || ptx_at(p, '-'))) {
        bool minus = ptx_at(p, '-');
        int64_t offset;
        ptx_advance(p);
        status = ptx_take_integer(p, &offset);
        if (!status)
            out->offset = minus ? (int64_t)(0 - (uint64_t)offset) : offset;
    }
    if (!status && ptx_at(p, ',')) {
        ptx_advance(p);
        if (!ptx_at(p, '{'))
            return ptx_fail(p, "expected coordinates in '{', not %s", ptx_token_text(p));
        status = parse_list(p, &parts[count++], 1);
    }
    if (!status)
        status = ptx_expect(p, ']');
    if (status)
        return status;
    out->kind = PTX_OPERAND_ADDRESS;
    out->count = count;
    out->first = add_operands(p, parts, count);
    return out->first == PTX_NONE ? ptx_no_memory(p) : AT_OK;
}

/* {a, b, ...} or (a, b, ...) */
static at_status parse_list(ptx_parser *p, ptx_operand *out, int depth)
{
    char close = ptx_at(p, '{') ? '}' : ')';
    ptx_operand items[MAX_ITEMS];
    int count = 0;
    at_status status = AT_OK;
    ptx_advance(p);
    while (!status && !ptx_at(p, close)) {
        if (count == MAX_ITEMS)
            return ptx_fail(p, "more than %d operands in a list", MAX_ITEMS);
        status = parse_operand(p, &items[count++], depth + 1);
        if (!status && ptx_at(p, ','))
            ptx_advance(p);
        else if (!status && !ptx_at(p, close))
            status = ptx_fail(p, "expected ',' or '%c', not %s", close, ptx_token_text(p));
    }
    if (status)
        return status;
    ptx_advance(p);
    out->kind = close == '}' ? PTX_OPERAND_VECTOR : PTX_OPERAND_GROUP;
    out->count = count;
    out->first = add_operands(p, items, count);
    return out->first == PTX_NONE ? ptx_no_memory(p) : AT_OK;
}

static at_status parse_pair(ptx_parser *p, ptx_operand *out)
{
    ptx_operand items[2] = {*out, {0}};
    ptx_advance(p);
    if (p->token.kind != PTX_TOKEN_WORD)
        return ptx_fail(p, "expected a register after '|', not %s", ptx_token_text(p));
    at_status status = parse_word(p, &items[1]);
    if (status)
        return status;
    *out = (ptx_operand){.kind = PTX_OPERAND_PAIR, .count = 2};
    out->first = add_operands(p, items, 2);
    return out->first == PTX_NONE ? ptx_no_memory(p) : AT_OK;
}

static at_status parse_operand(ptx_parser *p, ptx_operand *out, int depth)
{
    *out = (ptx_operand){.index = PTX_NONE, .first = PTX_NONE};
    if (ptx_at(p, '{') || ptx_at(p, '(')) {
        if (depth > 1)
            return ptx_fail(p, "operand lists nest too deep");
        return parse_list(p, out, depth);
    }
    if (ptx_at(p, '['))
        return parse_address(p, out);
    bool negated = ptx_at(p, '!');
    if (negated)
        ptx_advance(p);
    if (p->token.kind != PTX_TOKEN_WORD)
        return negated ? ptx_fail(p, "expected a predicate after '!'") : parse_number(p, out);
    at_status status = parse_word(p, out);
    out->negated = negated;
    if (!status && out->kind == PTX_OPERAND_VARIABLE && ptx_at(p, '+')) {
        ptx_advance(p);
        status = ptx_take_integer(p, &out->offset);
    }
    if (!status && ptx_at(p, '|'))
        status = parse_pair(p, out);
    return status;
}

static at_status add_statement(ptx_parser *p, ptx_statement s)
{
    ptx_module *m = p->module;
    ptx_statement *grown = array_grow(m->statements, m->statement_count, sizeof *grown);
    if (!grown)
        return ptx_no_memory(p);
    m->statements = grown;
    grown[m->statement_count++] = s;
    return AT_OK;
}

static at_status parse_guard(ptx_parser *p, ptx_statement *s)
{
    ptx_advance(p);
    s->guard_negated = ptx_at(p, '!');
    if (s->guard_negated)
        ptx_advance(p);
    int kind, index;
    if (p->token.kind != PTX_TOKEN_WORD ||
        !ptx_scope_find(&p->names, p->token.text, &kind, &index) || kind != PTX_NAME_REGISTER ||
        p->module->register_types[index] != PTX_PRED)
        return ptx_fail(p, "expected a predicate register after '@', not %s", ptx_token_text(p));
    s->guard = index;
    ptx_advance(p);
    return AT_OK;
}

/* The opcode is the current word; its modifiers follow without white space. */
static void take_opcode(ptx_parser *p, ptx_statement *s)
{
    s->opcode = p->token.text;
    s->line = p->token.line;
    ptx_advance(p);
    while (p->token.kind == PTX_TOKEN_MODIFIER &&
           p->token.text.at == s->opcode.at + s->opcode.length) {
        s->opcode.length += p->token.text.length;
        ptx_advance(p);
    }
}

static at_status parse_operands(ptx_parser *p, ptx_statement *s)
{
    ptx_operand items[MAX_OPERANDS];
    int count = 0;
    at_status status = AT_OK;
    while (!status && !ptx_at(p, ';')) {
        if (count == MAX_OPERANDS)
            return ptx_fail(p, "more than %d operands", MAX_OPERANDS);
        status = parse_operand(p, &items[count++], 0);
        if (!status && ptx_at(p, ','))
            ptx_advance(p);
        else if (!status && !ptx_at(p, ';'))
            status = ptx_fail(p, "expected ',' or ';', not %s", ptx_token_text(p));
    }
    if (status)
        return status;
    ptx_advance(p);
    s->count = count;
    s->first = add_operands(p, items, count);
    return s->first == PTX_NONE ? ptx_no_memory(p) : AT_OK;
}

/* "LABEL:" was read; the word is `name`. Perhaps a table of branch targets follows. */
static at_status define_label(ptx_parser *p, ptx_text name)
{
    ptx_advance(p);
    int index = find_label(p, name);
    if (index == PTX_NONE)
        return ptx_no_memory(p);
    if (p->module->labels[index].statement != PTX_NONE || p->module->labels[index].count > 0)
        return ptx_fail(p, "the label %.*s is defined twice", (int)name.length, name.at);
    if (p->token.kind != PTX_TOKEN_MODIFIER || !ptx_text_is(p->token.text, ".branchtargets")) {
        p->module->labels[index].statement = (int)p->module->statement_count;
        return AT_OK;
    }
    ptx_advance(p);
    ptx_operand list = {0};
    int first = (int)p->module->operand_count, count = 0;
    at_status status = AT_OK;
    while (!status && !ptx_at(p, ';')) {
        if (p->token.kind != PTX_TOKEN_WORD)
            return ptx_fail(p, "expected a label, not %s", ptx_token_text(p));
        list = (ptx_operand){.kind = PTX_OPERAND_LABEL, .index = find_label(p, p->token.text)};
        if (list.index == PTX_NONE || add_operands(p, &list, 1) == PTX_NONE)
            return ptx_no_memory(p);
        count++;
        ptx_advance(p);
        if (ptx_at(p, ','))
            ptx_advance(p);
    }
    if (count == 0)
        return ptx_fail(p, "an empty table of branch targets");
    p->module->labels[index].first = first;
    p->module->labels[index].count = count;
    return ptx_expect(p, ';');
}

static at_status parse_instruction(ptx_parser *p)
{
    ptx_statement s = {.guard = PTX_NONE, .location = p->location};
    at_status status = AT_OK;
    if (ptx_at(p, '@'))
        status = parse_guard(p, &s);
    if (status)
        return status;
    if (p->token.kind != PTX_TOKEN_WORD)
        return ptx_fail(p, "expected an instruction, not %s", ptx_token_text(p));
    take_opcode(p, &s);
    if (ptx_at(p, ':') && s.guard == PTX_NONE)
        return define_label(p, s.opcode);
    status = parse_operands(p, &s);
    return status ? status : add_statement(p, s);
}

static at_status parse_directive(ptx_parser *p)
{
    ptx_text t = p->token.text;
    if (ptx_text_is(t, ".reg"))
        return ptx_parse_registers(p);
    if (ptx_text_is(t, ".loc"))
        return ptx_parse_loc(p);
    if (ptx_text_is(t, ".pragma")) {
        while (!ptx_at(p, ';') && p->token.kind != PTX_TOKEN_END)
            ptx_advance(p);
        return ptx_expect(p, ';');
    }
    return ptx_parse_variable(p);
}

at_status ptx_parse_block(ptx_parser *p, int depth)
{
    if (depth > MAX_DEPTH)
        return ptx_fail(p, "blocks nest more than %d deep", MAX_DEPTH);
    size_t mark = p->names.count;
    at_status status = ptx_expect(p, '{');
    while (!status && !ptx_at(p, '}')) {
        if (ptx_at(p, '{'))
            status = ptx_parse_block(p, depth + 1);
        else if (p->token.kind == PTX_TOKEN_MODIFIER)
            status = parse_directive(p);
        else if (ptx_at(p, ';'))
            ptx_advance(p);
        else
            status = parse_instruction(p);
    }
    ptx_scope_pop(&p->names, mark);
    if (!status)
        ptx_advance(p);
    return status;
}
