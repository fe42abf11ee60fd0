#include "export/kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "device/field.h"
#include "ptx/parse.h"

static bool same_source(const export_source *a, const export_source *b)
{
    bool same = strcmp(a->text, b->text) == 0;
    for (size_t e = 0; e < PLAN_MAX_LAUNCHES && same; e++) {
        const char *x = a->entries[e].name, *y = b->entries[e].name;
        same = !x == !y && (!x || strcmp(x, y) == 0);
    }
    return same;
}

size_t export_kernels_add_source(export_kernels *k, export_source source)
{
    for (size_t i = 0; i < k->source_count; i++)
        if (same_source(&k->sources[i], &source)) {
            export_source_deinit(&source);
            return i;
        }
    memory_add(&k->sources, &k->source_count, &source, sizeof source);
    return k->source_count - 1;
}

static bool same_condition(const export_use *a, const export_use *b, size_t i)
{
    const export_condition *x = &a->conditions[i], *y = &b->conditions[i];
    size_t count;
    const device_field *f = &device_fields(&count)[x->of_device ? x->index : 0];
    if (x->of_device != y->of_device || x->index != y->index)
        return false;
    if (!x->of_device)
        return value_equal(a->problem->pairs[x->index].value, b->problem->pairs[x->index].value);
    return value_equal(device_field_value(f, &a->device), device_field_value(f, &b->device));
}

static bool same_use(const export_use *a, const export_use *b)
{
    if (a->source != b->source || a->condition_count != b->condition_count ||
        !record_same_values(a->configuration, b->configuration))
        return false;
    for (size_t i = 0; i < a->condition_count; i++)
        if (!same_condition(a, b, i))
            return false;
    return true;
}

void export_kernels_add_use(export_kernels *k, export_use use)
{
    for (size_t i = 0; i < k->use_count; i++)
        if (same_use(&k->uses[i], &use)) {
            free(use.conditions);
            return;
        }
    memory_add(&k->uses, &k->use_count, &use, sizeof use);
}

void export_source_deinit(export_source *s)
{
    free(s->text);
    json_decref(s->headers);
    for (size_t e = 0; e < PLAN_MAX_LAUNCHES; e++)
        free(s->entries[e].name);
    free(s->ptx);
    *s = (export_source){0};
}

void export_kernels_deinit(export_kernels *k)
{
    for (size_t i = 0; i < k->source_count; i++)
        export_source_deinit(&k->sources[i]);
    for (size_t i = 0; i < k->use_count; i++)
        free(k->uses[i].conditions);
    free(k->sources);
    free(k->uses);
    *k = (export_kernels){0};
}

typedef struct kernel {
    const ptx_module *m;
    const ptx_function *f;
    bool *is_dynamic; /* for each variable of the module: kernel uses it as dynamic shared memory */
} kernel;

static const ptx_operand *operand(const kernel *k, const ptx_statement *s, int i)
{
    return &k->m->operands[s->first + i];
}

/* Returns the variable that the operand names, or whose address it has; NULL for other operands. */
static const ptx_variable *variable_of(const kernel *k, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_ADDRESS)
        o = &k->m->operands[o->first];
    return o->kind == PTX_OPERAND_VARIABLE ? &k->m->variables[o->index] : NULL;
}

static const ptx_variable *parameter(const kernel *k, int i)
{
    return &k->m->variables[k->f->first_parameter + i];
}

typedef struct number {
    uint64_t size_bytes;
    const char *type;
    char constraint;
} number;

/* Returns the type of number of this size, or NULL. */
static const number *number_of(uint64_t size_bytes)
{
    static const number numbers[] = {
        {2, "unsigned short", 'h'}, {4, "unsigned int", 'r'}, {8, "unsigned long long", 'l'}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].size_bytes == size_bytes)
            return &numbers[i];
    return NULL;
}

/* Returns the kernel parameter that the statement loads as a whole, or NULL. */
static const ptx_variable *parameter_read(const kernel *k, const ptx_statement *s)
{
    ptx_type type;
    if (!ptx_text_begins(s->opcode, "ld.param.") || s->count != 2 ||
        !ptx_opcode_type(s->opcode, &type))
        return NULL;
    const ptx_operand *to = operand(k, s, 0), *from = operand(k, s, 1);
    const ptx_variable *v = variable_of(k, from);
    if (to->kind != PTX_OPERAND_REGISTER || from->kind != PTX_OPERAND_ADDRESS ||
        from->offset != 0 || !v || v < parameter(k, 0) || v >= parameter(k, k->f->parameter_count))
        return NULL;
    uint32_t size_bytes = ptx_type_bytes((ptx_type)k->m->register_types[to->index]);
    return size_bytes == ptx_type_bytes(type) && size_bytes == v->size_bytes ? v : NULL;
}

static bool is_in_body(const kernel *k, const ptx_variable *v)
{
    return v->name.at >= k->f->body.at && v->name.at < k->f->body.at + k->f->body.length;
}

/* Returns whether inline PTX can use the operand: the kernel's body defines it, or it is the start
 * of dynamic shared memory. In this case, marks the variable in `is_dynamic`. */
static bool is_at_hand(const kernel *k, const ptx_statement *s, const ptx_operand *o)
{
    const ptx_variable *v = variable_of(k, o);
    if (o->kind == PTX_OPERAND_FUNCTION)
        return false;
    const ptx_operand *name = o->kind == PTX_OPERAND_ADDRESS ? &k->m->operands[o->first] : o;
    if (name->kind == PTX_OPERAND_LABEL && k->m->labels[name->index].statement == PTX_NONE &&
        k->m->labels[name->index].count == 0)
        return false; /* the declaration is missing or was not understood */
    if (!v || is_in_body(k, v))
        return true;
    if (v->space != PTX_SPACE_SHARED || v->size_bytes > 0)
        return false;
    k->is_dynamic[v - k->m->variables] = true;
    return o->kind == PTX_OPERAND_ADDRESS || (ptx_text_begins(s->opcode, "mov.") && o->offset == 0);
}

static bool are_at_hand(const kernel *k, const ptx_statement *s, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        const ptx_operand *o = &k->m->operands[i];
        bool nested = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_GROUP ||
                      o->kind == PTX_OPERAND_PAIR ||
                      (o->kind == PTX_OPERAND_ADDRESS && o->count > 1);
        if (!is_at_hand(k, s, o) || (nested && !are_at_hand(k, s, o->first, o->count)))
            return false;
    }
    return true;
}

static bool is_launched_plainly(const ptx_launch_limits *l)
{
    return l->required_block[0] == 0 && l->cluster[0] == 0 && l->most_cluster_blocks == 0 &&
           !l->explicit_cluster && !l->blocks_are_clusters && l->most_registers == 0;
}

static bool can_be_written(const kernel *k)
{
    const ptx_function *f = k->f;
    for (int i = 0; i < f->parameter_count; i++)
        if (!number_of(parameter(k, i)->size_bytes))
            return false;
    for (int i = 0; i < f->statement_count; i++) {
        const ptx_statement *s = &k->m->statements[f->first_statement + i];
        if (s->unreadable || (!parameter_read(k, s) && !are_at_hand(k, s, s->first, s->count)))
            return false;
    }
    return is_launched_plainly(&f->limits);
}

/* Ends a string literal: each line of PTX has its own, because clang 22 takes twenty times as long
 * to compile a single raw literal. */
static const char next_line[] = "\\n\"\n    \"";

static void print_text(ptx_text text, FILE *to)
{
    for (uint32_t i = 0; i < text.length; i++) {
        if (text.at[i] == '%')
            fputc('%', to); /* a single '%' would begin an operand */
        if (text.at[i] == '"' || text.at[i] == '\\')
            fputc('\\', to);
        fputc(text.at[i], to);
    }
}

/* Prints the token with its quotes, after a line end or a blank if the source has one there. */
static void print_token(const ptx_token *t, const char *last, FILE *to)
{
    uint32_t quote = t->kind == PTX_TOKEN_STRING;
    const ptx_text whole = {t->text.at - quote, t->text.length + 2 * quote};
    if (memchr(last, '\n', (size_t)(whole.at - last)))
        fputs(next_line, to);
    else if (whole.at > last)
        fputc(' ', to);
    print_text(whole, to);
}

/* Prints a replacement if the statement loads a parameter or takes the 64-bit address of dynamic
 * shared memory, and moves the lexer behind the replaced text. Before the call, the lexer is after
 * the first word of the opcode. Returns false if nothing was printed. */
static bool print_instead(const kernel *k, const ptx_statement *s, ptx_lexer *l, FILE *to)
{
    const ptx_variable *read = parameter_read(k, s);
    if (read) {
        fprintf(to, "%smov.b%u ", next_line, (unsigned)(8 * read->size_bytes));
        print_text(operand(k, s, 0)->text, to);
        fputs(", ", to);
        print_text(read->name, to);
        fputc(';', to);
        for (ptx_token t = ptx_lexer_next(l); !ptx_text_is(t.text, ";");)
            t = ptx_lexer_next(l);
        return true;
    }
    const ptx_operand *from = s->count == 2 ? operand(k, s, 1) : NULL;
    if (!from || from->kind != PTX_OPERAND_VARIABLE || !k->is_dynamic[from->index] ||
        !ptx_text_is((ptx_text){s->opcode.at + s->opcode.length - 2, 2}, "64"))
        return false;
    fprintf(to, "%scvt.u64.u32", next_line);
    l->at = s->opcode.at + s->opcode.length;
    return true;
}

static void skip_line(ptx_lexer *l)
{
    const char *end = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->at = end ? end : l->end;
}

/* Prints the text of the kernel between its braces, without comments and source lines. */
static void print_body(const kernel *k, FILE *to)
{
    const ptx_statement *s = NULL, *past = NULL;
    if (k->f->statement_count > 0) {
        s = &k->m->statements[k->f->first_statement];
        past = s + k->f->statement_count;
    }
    const char *last = k->f->body.at;
    ptx_lexer l;
    ptx_lexer_init(&l, k->f->body.at, k->f->body.length);
    for (ptx_token t = ptx_lexer_next(&l); t.kind != PTX_TOKEN_END; t = ptx_lexer_next(&l)) {
        bool is_opcode = s < past && t.text.at == s->opcode.at;
        if (ptx_text_is(t.text, ".loc"))
            skip_line(&l);
        else if (!is_opcode || !print_instead(k, s, &l, to))
            print_token(&t, last, to);
        if (is_opcode)
            s++;
        last = l.at;
    }
}

/* Declares a register that has the PTX name of a variable outside the kernel's body. */
static void print_register(const ptx_variable *v, uint64_t size_bytes, FILE *to)
{
    fprintf(to, "%s.reg .b%u ", next_line, (unsigned)(8 * size_bytes));
    print_text(v->name, to);
    fputc(';', to);
}

/* Copies the operands into registers with their PTX names, in an outer block, because the kernel's
 * registers may have the same names. Addresses of shared memory have 32 bits. */
static void print_operands(const kernel *k, bool dynamic, FILE *to)
{
    const int count = k->f->parameter_count;
    for (int i = 0; i < count; i++) {
        const ptx_variable *v = parameter(k, i);
        print_register(v, v->size_bytes, to);
        fprintf(to, "%smov.b%u ", next_line, (unsigned)(8 * v->size_bytes));
        print_text(v->name, to);
        fprintf(to, ", %%%d;", i);
    }
    if (dynamic)
        fprintf(to, "%s.reg .b64 dynamic_generic;%scvta.to.shared.u64 dynamic_generic, %%%d;",
                next_line, next_line, count);
    for (size_t i = 0; i < k->m->variable_count; i++)
        if (k->is_dynamic[i]) {
            print_register(&k->m->variables[i], 4, to);
            fprintf(to, "%scvt.u32.u64 ", next_line);
            print_text(k->m->variables[i].name, to);
            fputs(", dynamic_generic;", to);
        }
}

/* Returns the alignment of the kernel's dynamic shared memory in bytes; 0 without such memory. */
static uint32_t dynamic_alignment(const kernel *k)
{
    uint32_t most = 0;
    for (size_t i = 0; i < k->m->variable_count; i++)
        if (k->is_dynamic[i] && k->m->variables[i].alignment > most)
            most = k->m->variables[i].alignment;
    return most;
}

static void print_kernel(const kernel *k, const char *entry, FILE *to)
{
    const ptx_launch_limits *limits = &k->f->limits;
    const int count = k->f->parameter_count;
    const uint32_t alignment = dynamic_alignment(k);
    fputs("__global__ void ", to);
    if (limits->max_threads && limits->least_blocks)
        fprintf(to, "__launch_bounds__(%llu, %u) ", (unsigned long long)limits->max_threads,
                limits->least_blocks);
    else if (limits->max_threads)
        fprintf(to, "__launch_bounds__(%llu) ", (unsigned long long)limits->max_threads);
    fprintf(to, "%s(", entry);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s%s p%d", i ? ", " : "", number_of(parameter(k, i)->size_bytes)->type, i);
    fputs(")\n{\n", to);
    if (alignment)
        fprintf(to, "    extern __shared__ __align__(%u) unsigned char %s_dynamic[];\n", alignment,
                entry);
    fputs("    asm volatile(\"{", to);
    print_operands(k, alignment > 0, to);
    fprintf(to, "%s{", next_line);
    print_body(k, to);
    fprintf(to, "%s}%s}\"\n    ::", next_line, next_line);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s\"%c\"(p%d)", i ? ", " : "",
                number_of(parameter(k, i)->size_bytes)->constraint, i);
    if (alignment)
        fprintf(to, "%s\"l\"(%s_dynamic)", count ? ", " : "", entry);
    fputs(" : \"memory\");\n}\n", to);
}

/* Returns false if the kernel cannot be written as inline PTX. */
static bool write_kernel(const ptx_module *m, const ptx_function *f, const char *entry, FILE *to)
{
    kernel k = {.m = m, .f = f, .is_dynamic = memory_new(m->variable_count, sizeof(bool))};
    bool written = f->has_body && can_be_written(&k);
    if (written)
        print_kernel(&k, entry, to);
    free(k.is_dynamic);
    return written;
}

/* Returns false for names with template arguments or namespaces. */
static bool is_identifier(const char *name)
{
    return name[strspn(name, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static int find_kernel(const ptx_module *m, const char *symbols, size_t place)
{
    size_t length;
    const char *symbol = text_line(symbols, place, &length);
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].is_entry && m->functions[i].name.length == length &&
            memcmp(m->functions[i].name.at, symbol, length) == 0)
            return (int)i;
    return PTX_NONE;
}

at_status export_inline_ptx(const char *ptx, size_t ptx_bytes, const char *symbols,
                            const export_entry *entries, size_t entry_count, char **out,
                            at_error *error)
{
    ptx_module *m = NULL;
    size_t out_bytes, found = 0;
    bool written = true;
    *out = NULL;
    at_status status = ptx_parse(ptx, ptx_bytes, "the PTX of a kernel", &m, error);
    if (status)
        return status;
    FILE *to = memory_open(out, &out_bytes);
    for (size_t i = 0; i < entry_count && written; i++) {
        char own[32];
        const char *name = entries[i].name;
        int index = name ? find_kernel(m, symbols, entries[i].place) : PTX_NONE;
        if (index == PTX_NONE)
            continue;
        found++;
        snprintf(own, sizeof own, "autotune_ptx_%zu", i);
        written = write_kernel(m, &m->functions[index], is_identifier(name) ? name : own, to);
    }
    memory_close(to);
    ptx_module_free(m);
    if (!written || found == 0) {
        free(*out);
        *out = NULL;
    }
    return status;
}
