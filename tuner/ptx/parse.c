#include "ptx/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/parser.h"

static void skip_past(ptx_parser *p, char c)
{
    while (!ptx_at(p, c) && !p->status) {
        if (p->token.kind == PTX_TOKEN_END || p->token.kind == PTX_TOKEN_BAD)
            ptx_fail(p, "expected '%c' before the end of the directive", c);
        ptx_advance(p);
    }
    ptx_advance(p);
}

/* Skips ".section NAME { ... }", which holds debug information. */
static void skip_section(ptx_parser *p)
{
    ptx_advance(p);
    if (p->token.kind == PTX_TOKEN_MODIFIER || p->token.kind == PTX_TOKEN_WORD)
        ptx_advance(p);
    ptx_expect(p, '{');
    /* A section may contain any token, even a bad one. */
    while (!ptx_at(p, '}') && !p->status) {
        if (p->token.kind == PTX_TOKEN_END)
            ptx_fail(p, "the .section is never closed");
        ptx_advance(p);
    }
    ptx_advance(p);
}

static int new_function(ptx_parser *p)
{
    const ptx_function f = {.line = p->token.line};
    ptx_keep(p, &p->module->functions, &p->module->function_count, &f, sizeof f);
    return p->status ? PTX_NONE : (int)p->module->function_count - 1;
}

/* Parses "( .param ..., .reg ... )". Sets `*first` and `*count` to the range of the variables, and
 * `*registers` to the number of registers. */
static void parse_parameters(ptx_parser *p, int *first, int *count, int *registers)
{
    const size_t register_count = p->module->register_count;
    ptx_expect(p, '(');
    *first = (int)p->module->variable_count;
    while (!ptx_at(p, ')') && !p->status) {
        ptx_parse_parameter(p);
        if (!ptx_accept(p, ',') && !ptx_at(p, ')'))
            ptx_fail(p, "expected ',' or ')' after a parameter, not %s", ptx_token_text(p));
    }
    *count = (int)p->module->variable_count - *first;
    *registers = (int)(p->module->register_count - register_count);
    ptx_expect(p, ')');
}

/* Names the function `index`. Returns the index of its prototype, or `index` if it has none. */
static int name_function(ptx_parser *p, int index)
{
    int kind, found;
    if (p->token.kind != PTX_TOKEN_WORD) {
        ptx_fail(p, "expected a function's name, not %s", ptx_token_text(p));
    } else if (ptx_scope_find(&p->names, p->token.text, &kind, &found)) {
        if (kind != PTX_NAME_FUNCTION || p->module->functions[found].has_body) {
            ptx_fail(p, "%s is defined twice", ptx_token_text(p));
            return index;
        }
        p->module->functions[found] = p->module->functions[index];
        p->module->function_count--;
        index = found;
    } else {
        ptx_scope_put(p, &p->names, p->token.text, PTX_NAME_FUNCTION, index, 0);
    }
    p->module->functions[index].name = p->token.text;
    ptx_advance(p);
    return index;
}

static void parse_body(ptx_parser *p, int index)
{
    ptx_module *m = p->module;
    ptx_function *f = &m->functions[index];
    f->has_body = true;
    f->first_statement = (int)m->statement_count;
    p->location = PTX_NONE;
    f->body = ptx_parse_block(p, 0);
    f->statement_count = (int)m->statement_count - f->first_statement;
    f->register_count = (int)m->register_count - f->first_register;
    ptx_scope_deinit(&p->label_names);
}

/* Parses "nx, ny, nz". Missing extents are 1. */
static void parse_extents(ptx_parser *p, uint32_t extents[3])
{
    int i = 0;
    extents[0] = extents[1] = extents[2] = 1;
    do {
        int64_t extent = ptx_take_integer(p);
        if (extent < 1 || extent > UINT32_MAX)
            ptx_fail(p, "the extent %lld is not between 1 and 2^32 - 1", (long long)extent);
        extents[i++] = (uint32_t)extent;
    } while (i < 3 && ptx_accept(p, ','));
}

static uint32_t take_count(ptx_parser *p, const char *of)
{
    int64_t count = ptx_take_integer(p);
    if (count < 1 || count > UINT32_MAX)
        ptx_fail(p, "the number %lld of %s is not between 1 and 2^32 - 1", (long long)count, of);
    return (uint32_t)count;
}

/* Parses the directives between parameters and body. A launch never fails because of .minnctapersm,
 * .maxnctapersm (its old name), .maxnreg or .noreturn: they only tell the assembler how to use
 * registers (PTX ISA, "Performance-Tuning Directives"). */
static void parse_directives(ptx_parser *p, ptx_launch_limits *limits)
{
    uint32_t extents[3];
    while (!ptx_at(p, '{') && !ptx_at(p, ';') && !p->status) {
        ptx_text t = p->token.text;
        if (p->token.kind == PTX_TOKEN_END || p->token.kind == PTX_TOKEN_BAD) {
            ptx_fail(p, "expected a function's body");
            return;
        }
        ptx_advance(p);
        if (ptx_text_is(t, ".maxntid")) {
            parse_extents(p, extents);
            /* No block has such extents. Their product is not computed: it may overflow. */
            bool huge = extents[0] > 65535 || extents[1] > 65535 || extents[2] > 65535;
            limits->max_threads =
                huge ? UINT32_MAX : (uint64_t)extents[0] * extents[1] * extents[2];
        } else if (ptx_text_is(t, ".reqntid")) {
            parse_extents(p, limits->required_block);
        } else if (ptx_text_is(t, ".reqnctapercluster")) {
            parse_extents(p, limits->cluster);
        } else if (ptx_text_is(t, ".maxclusterrank")) {
            limits->most_cluster_blocks = take_count(p, "blocks of a cluster");
        } else if (ptx_text_is(t, ".minnctapersm") || ptx_text_is(t, ".maxnctapersm")) {
            limits->least_blocks = take_count(p, "blocks");
        } else if (ptx_text_is(t, ".maxnreg")) {
            limits->most_registers = take_count(p, "registers");
        } else if (ptx_text_is(t, ".explicitcluster")) {
            limits->explicit_cluster = true;
        } else if (ptx_text_is(t, ".blocksareclusters")) {
            limits->blocks_are_clusters = true;
        }
    }
}

static void parse_function(ptx_parser *p, bool is_entry)
{
    ptx_advance(p);
    int index = new_function(p);
    if (index == PTX_NONE)
        return;
    size_t mark = p->names.count;
    const int first_variable = (int)p->module->variable_count;
    const int first_register = (int)p->module->register_count;
    int first_result = 0, result_count = 0, first = 0, count = 0, results = 0, parameters = 0;
    if (ptx_at(p, '('))
        parse_parameters(p, &first_result, &result_count, &results);
    /* The function's name outlives the names of its results, but comes after them in the text. So
     * the names of the results are removed, and added again after the function's name. */
    const size_t named = p->names.count - mark;
    ptx_name *names = named ? memory_copy(p->names.names + mark, named, sizeof *names) : NULL;
    ptx_scope_pop(&p->names, mark);
    index = name_function(p, index);
    mark = p->names.count;
    for (size_t i = 0; i < named; i++)
        ptx_scope_put(p, &p->names, names[i].text, names[i].kind, names[i].index, 0);
    free(names);
    if (ptx_at(p, '('))
        parse_parameters(p, &first, &count, &parameters);
    ptx_function *f = &p->module->functions[index];
    f->is_entry = is_entry;
    f->first_parameter = first;
    f->parameter_count = count;
    f->first_result = first_result;
    f->result_count = result_count;
    f->first_register = first_register;
    f->register_results = results;
    f->register_parameters = parameters;
    parse_directives(p, &f->limits);
    if (!ptx_accept(p, ';'))
        parse_body(p, index);
    f = &p->module->functions[index];
    f->first_variable = first_variable;
    f->variable_count = (int)p->module->variable_count - first_variable;
    ptx_scope_pop(&p->names, mark);
}

static void parse_target(ptx_parser *p)
{
    ptx_text name;
    ptx_advance(p);
    name = p->token.text;
    if (p->token.kind != PTX_TOKEN_WORD || name.length >= sizeof p->module->target)
        ptx_fail(p, "expected a target architecture, not %s", ptx_token_text(p));
    else
        memcpy(p->module->target, name.at, name.length);
    ptx_advance(p);
    while (ptx_accept(p, ','))
        ptx_advance(p);
}

static bool find_function(ptx_parser *p, int *index)
{
    int kind;
    const bool found = p->token.kind == PTX_TOKEN_WORD &&
                       ptx_scope_find(&p->names, p->token.text, &kind, index) &&
                       kind == PTX_NAME_FUNCTION;
    ptx_advance(p);
    return found;
}

/* Parses ".alias NAME, FUNCTION": replaces NAME by FUNCTION in earlier and later code. */
static void parse_alias(ptx_parser *p)
{
    ptx_module *m = p->module;
    int from, to;
    ptx_advance(p);
    const ptx_text name = p->token.text;
    const bool known = find_function(p, &from);
    if (ptx_accept(p, ',') && find_function(p, &to) && known) {
        for (size_t i = 0; i < m->operand_count; i++)
            if (m->operands[i].kind == PTX_OPERAND_FUNCTION && m->operands[i].index == from)
                m->operands[i].index = to;
        for (size_t i = 0; i < m->relocation_count; i++)
            if (m->relocations[i].is_function && m->relocations[i].target == from)
                m->relocations[i].target = to;
        ptx_scope_put(p, &p->names, name, PTX_NAME_FUNCTION, to, 0);
    }
    skip_past(p, ';');
}

static void parse_top(ptx_parser *p)
{
    ptx_text t = p->token.text;
    if (p->token.kind != PTX_TOKEN_MODIFIER) {
        ptx_fail(p, "expected a directive, not %s", ptx_token_text(p));
    } else if (ptx_text_is(t, ".version") || ptx_text_is(t, ".address_size")) {
        ptx_advance(p);
        ptx_advance(p);
    } else if (ptx_text_is(t, ".target")) {
        parse_target(p);
    } else if (ptx_text_is(t, ".file")) {
        ptx_parse_file(p);
    } else if (ptx_text_is(t, ".section")) {
        skip_section(p);
    } else if (ptx_text_is(t, ".pragma")) {
        skip_past(p, ';');
    } else if (ptx_text_is(t, ".alias")) {
        parse_alias(p);
    } else if (ptx_text_is(t, ".visible") || ptx_text_is(t, ".weak") || ptx_text_is(t, ".common") ||
               ptx_text_is(t, ".extern")) {
        ptx_advance(p);
    } else if (ptx_text_is(t, ".entry") || ptx_text_is(t, ".func")) {
        parse_function(p, ptx_text_is(t, ".entry"));
    } else if (ptx_text_is(t, ".loc")) {
        ptx_parse_loc(p);
    } else {
        const ptx_mark begin = ptx_here(p);
        ptx_parse_variable(p);
        ptx_skip_unread(p, &begin);
    }
}

at_status ptx_parse(const char *text, size_t size, const char *name, ptx_module **out,
                    at_error *error)
{
    *out = NULL;
    while (size > 0 && text[size - 1] == '\0')
        size--;
    if (size > (size_t)64 << 20)
        return error_set_at(error, AT_FORMAT, name, 0, "the PTX is larger than 64 MiB, the limit");
    ptx_module *m = memory_new(1, sizeof *m);
    ptx_parser p = {.module = m, .error = error, .location = PTX_NONE};
    m->text = memory_new(size + 1, 1);
    memcpy(m->text, text, size);
    strncpy(m->name, name, sizeof m->name - 1);
    ptx_lexer_init(&p.lexer, m->text, size);
    ptx_advance(&p);
    while (p.token.kind != PTX_TOKEN_END)
        parse_top(&p);
    if (!p.status && m->target[0] == '\0')
        p.status = error_set_at(error, AT_FORMAT, name, 0, "this is not PTX: it has no .target");
    ptx_scope_deinit(&p.names);
    ptx_scope_deinit(&p.label_names);
    if (p.status)
        ptx_module_free(m);
    else
        *out = m;
    return p.status;
}

/* Returns the start of a line's note, or NULL if the line has no note. */
static const char *find_note(const char *line, const char *end)
{
    static const char mark[] = "//@ ";
    for (const char *at = line; at + sizeof mark - 1 <= end; at++)
        if (memcmp(at, mark, sizeof mark - 1) == 0)
            return at + sizeof mark - 1;
    return NULL;
}

static void read_note(const char *at, const char *end, ptx_note *out)
{
    uint16_t *const members[] = {&out->common, &out->integers, &out->products,   &out->specials,
                                 &out->locals, &out->others,   &out->loads_ahead};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        unsigned v = 0;
        while (at < end && *at == ' ')
            at++;
        for (; at < end && *at >= '0' && *at <= '9' && v < 10000; at++)
            v = v * 10 + (unsigned)(*at - '0');
        *members[i] = (uint16_t)(v < UINT16_MAX ? v : UINT16_MAX);
    }
}

void ptx_read_notes(ptx_module *m, const char *text, size_t size_bytes)
{
    const char *const end = text + size_bytes;
    size_t next = 0;
    int line = 1;
    m->has_notes = false;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        /* Statements are sorted by line. */
        while (next < m->statement_count && m->statements[next].line < line)
            next++;
        const char *note = next < m->statement_count && m->statements[next].line == line
                               ? find_note(text, stop)
                               : NULL;
        if (note) {
            read_note(note, stop, &m->statements[next].note);
            m->has_notes = true;
        }
        text = stop + 1;
        line++;
    }
}
