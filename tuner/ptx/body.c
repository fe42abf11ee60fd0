#include "ptx/parser.h"

enum { MAX_OPERANDS = 16, MAX_ITEMS = 256, MAX_DEPTH = 32 };

static void parse_operand(ptx_parser *p, ptx_operand *out, int depth);

static int add_operands(ptx_parser *p, const ptx_operand *items, int count)
{
    ptx_module *m = p->module;
    int first = (int)m->operand_count;
    for (int i = 0; i < count; i++)
        ptx_keep(p, &m->operands, &m->operand_count, &items[i], sizeof *items);
    return first;
}

/* Returns the index of a label of the current block, made if needed. Returns 0 on failure. */
static int find_label(ptx_parser *p, ptx_text name)
{
    int kind, index;
    if (ptx_scope_find(&p->label_names, name, &kind, &index) && index >= p->first_label)
        return index;
    ptx_module *m = p->module;
    const ptx_label label = {.name = name, .statement = PTX_NONE};
    index = (int)m->label_count;
    ptx_keep(p, &m->labels, &m->label_count, &label, sizeof label);
    ptx_scope_put(p, &p->label_names, name, PTX_NAME_LABEL, index, 0);
    return p->status ? 0 : index;
}

/* Returns whether the current token is a modifier that follows `text` without white space. */
static bool adjoins(const ptx_parser *p, ptx_text text)
{
    return p->token.kind == PTX_TOKEN_MODIFIER && p->token.text.at == text.at + text.length;
}

static void parse_special(ptx_parser *p, ptx_operand *out)
{
    out->kind = PTX_OPERAND_SPECIAL;
    ptx_advance(p);
    if (adjoins(p, out->text)) {
        out->text.length += p->token.text.length;
        ptx_advance(p);
    }
}

static void parse_word(ptx_parser *p, ptx_operand *out)
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
        parse_special(p, out);
        return;
    } else if (ptx_text_is(t, "_")) {
        out->kind = PTX_OPERAND_SINK;
    } else {
        out->kind = PTX_OPERAND_LABEL;
        out->index = find_label(p, t);
    }
    ptx_advance(p);
    if (out->kind == PTX_OPERAND_REGISTER && adjoins(p, t)) {
        out->selector = p->token.text;
        ptx_advance(p);
    }
}

/* Parses the offset after an address: "+ 4", "- 4 + 2 * 8", "+ -4". Returns 0 without an offset. */
static int64_t parse_offset(ptx_parser *p)
{
    return ptx_accept(p, '+') || ptx_at(p, '-') ? (int64_t)ptx_take_constant(p) : 0;
}

static void parse_number(ptx_parser *p, ptx_operand *out)
{
    const ptx_mark begin = ptx_here(p);
    const bool negative = ptx_accept(p, '-');
    const uint64_t bits = p->token.bits;
    if (p->token.kind == PTX_TOKEN_INTEGER || p->token.kind == PTX_TOKEN_PUNCTUATION ||
        p->token.kind == PTX_TOKEN_WORD) {
        ptx_go_back(p, &begin);
        out->kind = PTX_OPERAND_INTEGER;
        out->bits = ptx_take_constant(p);
        return;
    }
    if (p->token.kind == PTX_TOKEN_FLOAT) {
        out->kind = PTX_OPERAND_FLOAT;
        out->bits = negative ? bits ^ 0x80000000u : bits;
    } else if (p->token.kind == PTX_TOKEN_DOUBLE) {
        out->kind = PTX_OPERAND_DOUBLE;
        out->bits = negative ? bits ^ (1ull << 63) : bits;
    } else {
        ptx_fail(p, "expected an operand, not %s", ptx_token_text(p));
    }
    ptx_advance(p);
}

/* Parses operands up to `close`, which it also reads. Returns their number, at most `most`. */
static int parse_items(ptx_parser *p, char close, ptx_operand *items, int most, int depth)
{
    int count = 0;
    while (!ptx_at(p, close) && !p->status) {
        if (count == most) {
            ptx_fail(p,
                     depth ? "the list has more than %d operands, which is not supported"
                           : "more than %d operands",
                     most);
            break;
        }
        parse_operand(p, &items[count++], depth);
        if (!ptx_accept(p, ',') && !ptx_at(p, close))
            ptx_fail(p, "expected ',' or '%c', not %s", close, ptx_token_text(p));
    }
    ptx_advance(p);
    return count;
}

/* Parses "{a, b, ...}" or "(a, b, ...)". */
static void parse_list(ptx_parser *p, ptx_operand *out, int depth)
{
    char close = ptx_at(p, '{') ? '}' : ')';
    ptx_operand items[MAX_ITEMS];
    ptx_advance(p);
    out->kind = close == '}' ? PTX_OPERAND_VECTOR : PTX_OPERAND_GROUP;
    out->count = parse_items(p, close, items, MAX_ITEMS, depth + 1);
    out->first = add_operands(p, items, out->count);
}

/* Parses "[base]", "[base + n]", "[base - n + m]" or "[base, {coordinates}]". */
static void parse_address(ptx_parser *p, ptx_operand *out)
{
    ptx_operand parts[2] = {{0}, {.index = PTX_NONE, .first = PTX_NONE}};
    out->kind = PTX_OPERAND_ADDRESS;
    out->count = 1;
    ptx_advance(p);
    if (p->token.kind == PTX_TOKEN_WORD)
        parse_word(p, &parts[0]);
    else
        parse_number(p, &parts[0]);
    out->offset = parse_offset(p);
    if (ptx_accept(p, ',')) {
        if (ptx_at(p, '{'))
            parse_list(p, &parts[out->count++], 1);
        else
            ptx_fail(p, "expected coordinates in '{', not %s", ptx_token_text(p));
    }
    ptx_expect(p, ']');
    out->first = add_operands(p, parts, out->count);
}

/* Parses "|b" after the operand "a" in *out. *out becomes the pair. */
static void parse_pair(ptx_parser *p, ptx_operand *out)
{
    ptx_operand items[2] = {*out, {0}};
    ptx_advance(p);
    if (p->token.kind == PTX_TOKEN_WORD)
        parse_word(p, &items[1]);
    else
        ptx_fail(p, "expected a register after '|', not %s", ptx_token_text(p));
    *out = (ptx_operand){.kind = PTX_OPERAND_PAIR, .count = 2};
    out->first = add_operands(p, items, 2);
}

static void parse_operand(ptx_parser *p, ptx_operand *out, int depth)
{
    *out = (ptx_operand){.index = PTX_NONE, .first = PTX_NONE};
    if (ptx_at(p, '{') || (ptx_at(p, '(') && p->calls)) {
        if (depth > 1)
            ptx_fail(p, "the operand lists are nested too deeply");
        else
            parse_list(p, out, depth);
    } else if (ptx_at(p, '[')) {
        parse_address(p, out);
    } else {
        out->negated = ptx_accept(p, '!');
        const bool is_word =
            p->token.kind == PTX_TOKEN_WORD && !ptx_text_is(p->token.text, "WARP_SZ");
        if (is_word)
            parse_word(p, out);
        else if (out->negated)
            ptx_fail(p, "expected a predicate after '!'");
        else
            parse_number(p, out);
        if (out->kind == PTX_OPERAND_VARIABLE)
            out->offset = parse_offset(p);
        if (is_word && ptx_at(p, '|'))
            parse_pair(p, out);
    }
}

static void parse_guard(ptx_parser *p, ptx_statement *s)
{
    int kind, index;
    ptx_advance(p);
    s->guard_negated = ptx_accept(p, '!');
    if (p->token.kind != PTX_TOKEN_WORD ||
        !ptx_scope_find(&p->names, p->token.text, &kind, &index) || kind != PTX_NAME_REGISTER ||
        p->module->register_types[index] != PTX_PRED)
        ptx_fail(p, "expected a predicate register after '@', not %s", ptx_token_text(p));
    else
        s->guard = index;
    ptx_advance(p);
}

/* Reads an opcode and its modifiers on the same line. Space may separate them: "prmt .b32". */
static void take_opcode(ptx_parser *p, ptx_statement *s)
{
    s->opcode = p->token.text;
    s->line = p->token.line;
    ptx_advance(p);
    while (p->token.kind == PTX_TOKEN_MODIFIER && p->token.line == s->line) {
        s->opcode.length = (uint32_t)(p->token.text.at - s->opcode.at) + p->token.text.length;
        ptx_advance(p);
    }
}

static bool at_modifier(const ptx_parser *p, const char *modifier)
{
    return p->token.kind == PTX_TOKEN_MODIFIER && ptx_text_is(p->token.text, modifier);
}

/* Defines the label `name`; the current token is its ':'. A table of targets or a call prototype
 * may follow. A prototype is skipped, because each call states its own operands. */
static void define_label(ptx_parser *p, ptx_text name)
{
    ptx_advance(p);
    int index = find_label(p, name), first = (int)p->module->operand_count, count = 0;
    if (p->status)
        return;
    if (p->module->labels[index].statement != PTX_NONE || p->module->labels[index].count > 0)
        ptx_fail(p, "the label %.*s is defined twice", (int)name.length, name.at);
    if (!at_modifier(p, ".branchtargets") && !at_modifier(p, ".calltargets")) {
        p->module->labels[index].statement = (int)p->module->statement_count;
        if (at_modifier(p, ".callprototype"))
            while (!ptx_accept(p, ';') && p->token.kind != PTX_TOKEN_END)
                ptx_advance(p);
        return;
    }
    ptx_advance(p);
    for (; p->token.kind == PTX_TOKEN_WORD; count++) {
        ptx_operand target;
        parse_word(p, &target);
        add_operands(p, &target, 1);
        ptx_accept(p, ',');
    }
    if (!ptx_at(p, ';'))
        ptx_fail(p, "expected a name, not %s", ptx_token_text(p));
    if (count == 0)
        ptx_fail(p, "the table of branch targets is empty");
    p->module->labels[index].first = first;
    p->module->labels[index].count = count;
    ptx_expect(p, ';');
}

static void parse_instruction(ptx_parser *p)
{
    ptx_statement s = {.guard = PTX_NONE,
                       .location = p->location,
                       .opcode = p->token.text,
                       .line = p->token.line,
                       .rolled = p->rolled};
    ptx_operand items[MAX_OPERANDS];
    const ptx_mark begin = ptx_here(p);
    p->rolled = false;
    if (ptx_at(p, '@'))
        parse_guard(p, &s);
    if (p->token.kind == PTX_TOKEN_WORD) {
        take_opcode(p, &s);
        if (ptx_at(p, ':') && s.guard == PTX_NONE) {
            define_label(p, s.opcode);
            return;
        }
        p->calls = ptx_text_begins(s.opcode, "call");
        s.count = parse_items(p, ';', items, MAX_OPERANDS, 0);
        s.first = add_operands(p, items, s.count);
    } else {
        ptx_fail(p, "expected an instruction, not %s", ptx_token_text(p));
    }
    if (p->status == AT_FORMAT) {
        s.unreadable = true;
        s.guard = PTX_NONE;
        s.count = 0;
        ptx_skip_unread(p, &begin);
    }
    ptx_keep(p, &p->module->statements, &p->module->statement_count, &s, sizeof s);
}

/* Parses a directive in a body. If this is impossible, the directive declares nothing. */
static void parse_directive(ptx_parser *p)
{
    ptx_text t = p->token.text;
    const ptx_mark begin = ptx_here(p);
    if (ptx_text_is(t, ".loc")) {
        ptx_parse_loc(p);
        return;
    }
    if (ptx_text_is(t, ".reg")) {
        ptx_parse_registers(p);
    } else if (ptx_text_is(t, ".pragma")) {
        while (!ptx_at(p, ';') && p->token.kind != PTX_TOKEN_END) {
            p->rolled = p->rolled || ptx_text_is(p->token.text, "nounroll");
            ptx_advance(p);
        }
        ptx_expect(p, ';');
    } else {
        ptx_parse_variable(p);
    }
    ptx_skip_unread(p, &begin);
}

/* Ends a nested block. Its undefined labels become labels of the outer block. `first_around` is the
 * first label of the outer block; `first_operand` is the first operand of the nested block. */
static void end_labels(ptx_parser *p, size_t mark, int first_around, size_t first_operand)
{
    ptx_module *m = p->module;
    const int first = p->first_label, end = (int)m->label_count;
    ptx_scope_pop(&p->label_names, mark);
    p->first_label = first_around;
    for (int i = first; i < end && !p->status; i++) {
        if (m->labels[i].statement != PTX_NONE || m->labels[i].count > 0)
            continue;
        int around = -1;
        for (size_t k = first_operand; k < m->operand_count && !p->status; k++) {
            if (m->operands[k].kind != PTX_OPERAND_LABEL || m->operands[k].index != i)
                continue;
            if (around < 0)
                around = find_label(p, m->labels[i].name);
            m->operands[k].index = around;
        }
    }
}

ptx_text ptx_parse_block(ptx_parser *p, int depth)
{
    const size_t mark = p->names.count, label_mark = p->label_names.count,
                 first_operand = p->module->operand_count;
    const int first_around = p->first_label;
    const char *begin = p->token.text.at + 1;
    if (depth > MAX_DEPTH)
        ptx_fail(p, "the blocks { } are nested more than %d deep, which is not supported",
                 MAX_DEPTH);
    if (depth > 0)
        p->first_label = (int)p->module->label_count;
    ptx_expect(p, '{');
    while (!ptx_at(p, '}') && !p->status) {
        if (ptx_at(p, '{'))
            ptx_parse_block(p, depth + 1);
        else if (p->token.kind == PTX_TOKEN_MODIFIER)
            parse_directive(p);
        else if (!ptx_accept(p, ';'))
            parse_instruction(p);
    }
    ptx_scope_pop(&p->names, mark);
    if (depth > 0)
        end_labels(p, label_mark, first_around, first_operand);
    const ptx_text inside = {begin, p->status ? 0 : (uint32_t)(p->token.text.at - begin)};
    ptx_advance(p);
    return inside;
}
