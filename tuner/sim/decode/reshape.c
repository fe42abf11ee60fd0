#include "sim/decode/reshape.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/decode/addresses.h"

enum { WORD_BYTES = 4, UNIT_BYTES = 16, BASE_VARIABLE = -1 };

typedef struct memory_access {
    int statement;  /* number of the statement in the function */
    int base;       /* register with the address, or BASE_VARIABLE */
    int version;    /* 1 + the statement that set `base` last; 0 if this function does not set it */
    int64_t offset; /* bytes from the base */
    uint32_t element, total; /* bytes of one element; bytes of the access */
    uint32_t wanted;         /* mask of the words that are stored, or are read after the load */
    bool is_store, is_guarded;
    bool done; /* its machine accesses are found */
    ptx_space space;
    ptx_text kind; /* opcode without vector size and type */
    int era;       /* loads: only accesses with the same number may be joined */
    int turn;      /* stores: number of the access among the accesses to the space */
} memory_access;

typedef struct reshaper {
    const ptx_module *module;
    const ptx_function *function;
    const uint64_t *addresses;
    uint8_t *zeros;       /* zero bits of each register: see addresses_find_alignment() */
    int *mentions;        /* for each register: number of operands that name the register */
    int *versions;        /* for each register: 1 + the statement that set it last */
    bool *begins;         /* for each statement: it has a label */
    memory_access *block; /* accesses in the current basic block */
    int block_count;
    int eras[2], turns[2]; /* current `era` and `turn` of global and of shared memory */
    int read_only_era;
    sim_shape *shapes;
} reshaper;

static int number_of(const reshaper *r, int of_module)
{
    return of_module - r->function->first_register;
}

/* Counts the registers that an operand names. */
static void mention(reshaper *r, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REGISTER)
        r->mentions[number_of(r, o->index)]++;
    else if (o->kind == PTX_OPERAND_ADDRESS || o->kind == PTX_OPERAND_VECTOR ||
             o->kind == PTX_OPERAND_GROUP || o->kind == PTX_OPERAND_PAIR)
        for (int i = 0; i < o->count; i++)
            mention(r, &r->module->operands[o->first + i]);
}

static void prepare(reshaper *r)
{
    const ptx_function *f = r->function;
    for (int i = 0; i < f->statement_count; i++) {
        const ptx_statement *s = &r->module->statements[f->first_statement + i];
        for (int o = 0; o < s->count; o++)
            mention(r, &r->module->operands[s->first + o]);
        if (s->guard != PTX_NONE)
            r->mentions[number_of(r, s->guard)]++;
    }
    for (size_t i = 0; i < r->module->label_count; i++) {
        int at = r->module->labels[i].statement - f->first_statement;
        if (r->module->labels[i].statement != PTX_NONE && at >= 0 && at < f->statement_count)
            r->begins[at] = true;
    }
    addresses_find_alignment(r->module, f, r->addresses, r->zeros);
}

static bool has(ptx_text opcode, const char *word)
{
    size_t length = strlen(word);
    for (const char *c = opcode.at, *end = c + opcode.length; c < end;) {
        const char *dot = memchr(c, '.', (size_t)(end - c));
        size_t part = (size_t)((dot ? dot : end) - c);
        if (part == length && memcmp(c, word, length) == 0)
            return true;
        c += part + 1;
    }
    return false;
}

static bool has_one_of(ptx_text opcode, const char *const *words)
{
    for (; *words; words++)
        if (has(opcode, *words))
            return true;
    return false;
}

static bool is_named(ptx_text opcode, const char *const *names)
{
    for (; *names; names++) {
        size_t length = strlen(*names);
        if (opcode.length >= length && memcmp(opcode.at, *names, length) == 0 &&
            (opcode.length == length || opcode.at[length] == '.'))
            return true;
    }
    return false;
}

/* Splits an opcode into kind, bytes and number of elements. Returns false if ptxas does not reshape
 * accesses with this opcode. */
static bool split_opcode(ptx_text opcode, ptx_text *kind, uint32_t *element, int *count)
{
    static const char *const strong[] = {"volatile", "relaxed", "acquire", "release",
                                         "mmio",     "async",   "bulk",    "shared::cluster",
                                         "v8",       NULL};
    ptx_type type;
    uint32_t at = opcode.length;
    if (has_one_of(opcode, strong) || !ptx_opcode_type(opcode, &type))
        return false;
    while (opcode.at[at - 1] != '.')
        at--;
    *element = ptx_type_bytes(type);
    *count = has(opcode, "v4") ? 4 : has(opcode, "v2") ? 2 : 1;
    *kind = (ptx_text){opcode.at, at - 1 - (*count > 1 ? 3 : 0)};
    return (*element == 4 || *element == 8) && *element * (uint32_t)*count <= UNIT_BYTES;
}

/* Returns the mask of the words of an access that are stored, or are read after the load. */
static uint32_t wanted_words(const reshaper *r, const ptx_operand *data, bool is_store,
                             uint32_t element)
{
    int parts = data->kind == PTX_OPERAND_VECTOR ? data->count : 1;
    uint32_t words = element / WORD_BYTES, wanted = 0;
    for (int i = 0; i < parts; i++) {
        const ptx_operand *o =
            data->kind == PTX_OPERAND_VECTOR ? &r->module->operands[data->first + i] : data;
        bool read = o->kind == PTX_OPERAND_REGISTER && r->mentions[number_of(r, o->index)] > 1;
        if (is_store || read)
            wanted |= ((1u << words) - 1) << ((uint32_t)i * words);
    }
    return wanted;
}

/* Adds the statement to the block if it can be reshaped. */
static void add_access(reshaper *r, int statement, bool is_shared, bool is_store)
{
    const ptx_statement *s = &r->module->statements[r->function->first_statement + statement];
    if (s->count != 2)
        return;
    const ptx_operand *o = &r->module->operands[s->first], *address = &o[is_store ? 0 : 1];
    memory_access a = {.statement = statement,
                       .is_store = is_store,
                       .is_guarded = s->guard != PTX_NONE,
                       .space = is_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL,
                       .turn = r->turns[is_shared],
                       .era = r->eras[is_shared]};
    int count;
    if (address->kind != PTX_OPERAND_ADDRESS || address->count != 1 ||
        !split_opcode(s->opcode, &a.kind, &a.element, &count))
        return;
    const ptx_operand *base = &r->module->operands[address->first], *data = &o[is_store ? 1 : 0];
    if (data->kind == PTX_OPERAND_VECTOR ? data->count != count : count != 1)
        return;
    a.total = a.element * (uint32_t)count;
    a.offset = address->offset;
    if (has(s->opcode, "nc"))
        a.era = r->read_only_era;
    if (base->kind == PTX_OPERAND_REGISTER) {
        a.base = number_of(r, base->index);
        a.version = r->versions[a.base];
    } else if (base->kind == PTX_OPERAND_VARIABLE && is_shared) {
        a.base = BASE_VARIABLE;
        a.offset =
            (int64_t)((uint64_t)a.offset + (uint64_t)base->offset + r->addresses[base->index]);
    } else {
        return;
    }
    a.wanted = wanted_words(r, data, is_store, a.element);
    r->block[r->block_count++] = a;
}

/* Returns whether the addresses of two accesses differ only by a constant. */
static bool same_base(const memory_access *a, const memory_access *b)
{
    return a->space == b->space && a->base == b->base && a->version == b->version;
}

/* Returns the size of the aligned unit around an access, at most UNIT_BYTES. */
static uint32_t unit_of(const reshaper *r, const memory_access *a)
{
    uint32_t unit = a->base == BASE_VARIABLE ? UNIT_BYTES : 1u << r->zeros[a->base];
    for (int i = 0; i < r->block_count && unit < UNIT_BYTES; i++) {
        uint32_t implied = r->block[i].total;
        while (r->block[i].offset % implied != 0)
            implied /= 2;
        if (same_base(a, &r->block[i]) && implied > unit)
            unit = implied;
    }
    return unit < UNIT_BYTES ? unit : UNIT_BYTES;
}

static int64_t unit_start(int64_t offset, uint32_t unit)
{
    return offset & ~(int64_t)(unit - 1);
}

/* Returns the number of words that a machine access at `word` covers. */
static uint32_t words_at(uint32_t wanted, uint32_t word, bool is_store)
{
    uint32_t count = (uint32_t)__builtin_popcount(wanted);
    if (word == 0 && (count == 4 || (count == 3 && !is_store)))
        return 4;
    return word % 2 == 0 && (wanted >> word & 3) == 3 ? 2 : 1;
}

/* Divides the words of a unit among machine accesses. Each machine access is counted at the first
 * of `members` that needs one of its words. */
static void divide(reshaper *r, memory_access *const *members, int count, int64_t start,
                   uint32_t wanted, bool is_store)
{
    for (int m = 0; m < count; m++) {
        r->shapes[members[m]->statement].reshaped = true;
        members[m]->done = true;
    }
    for (uint32_t word = 0, words; word < UNIT_BYTES / WORD_BYTES; word += words) {
        words = words_at(wanted, word, is_store);
        uint32_t piece = ((1u << words) - 1) << word;
        if (!(wanted & piece))
            continue;
        for (int m = 0; m < count; m++) {
            const memory_access *a = members[m];
            int64_t inside = a->offset - start;
            if (!(a->wanted << (inside / WORD_BYTES) & piece))
                continue;
            sim_shape *shape = &r->shapes[a->statement];
            shape->pieces[shape->count++] = (sim_piece){
                (int8_t)((int64_t)word * WORD_BYTES - inside), (uint8_t)(words * WORD_BYTES)};
            break;
        }
    }
}

/* Returns whether the access `other` joins the unit of `a`, whose latest member is `last`. */
static bool joins(const memory_access *a, const memory_access *last, const memory_access *other,
                  uint32_t unit, uint32_t wanted)
{
    if (!same_base(a, other) || other->is_store != a->is_store || other->element != a->element ||
        a->is_guarded || other->is_guarded || other->done ||
        unit_start(other->offset, unit) != unit_start(a->offset, unit) ||
        a->kind.length != other->kind.length ||
        memcmp(a->kind.at, other->kind.at, a->kind.length) != 0)
        return false;
    uint32_t words = other->wanted << ((other->offset - unit_start(a->offset, unit)) / WORD_BYTES);
    return a->is_store ? other->turn == last->turn + 1 && !(wanted & words) : other->era == a->era;
}

/* Finds the machine accesses of a basic block at its end. */
static void end_block(reshaper *r)
{
    for (int i = 0; i < r->block_count; i++) {
        memory_access *a = &r->block[i], *members[UNIT_BYTES / WORD_BYTES * 8] = {a};
        uint32_t unit = unit_of(r, a);
        if (a->done)
            continue;
        if (unit < a->total || a->offset % a->total != 0) {
            /* Only the sum of base and offset is aligned, so the access joins no other access. */
            divide(r, members, 1, a->offset, a->wanted, a->is_store);
            continue;
        }
        int64_t start = unit_start(a->offset, unit);
        uint32_t wanted = a->wanted << ((a->offset - start) / WORD_BYTES);
        int count = 1, most = (int)(sizeof members / sizeof *members);
        for (int j = i + 1; j < r->block_count && count < most && unit > WORD_BYTES; j++) {
            memory_access *other = &r->block[j];
            if (!joins(a, members[count - 1], other, unit, wanted))
                continue;
            members[count++] = other;
            wanted |= other->wanted << ((other->offset - start) / WORD_BYTES);
        }
        divide(r, members, count, start, wanted, a->is_store);
    }
    r->block_count = 0;
}

/* Visits a statement: ends the block, adds its access, or prevents a join across the statement. */
static void visit_statement(reshaper *r, int i)
{
    static const char *const ends[] = {"bra", "brx", "ret", "exit", "trap", NULL};
    static const char *const walls[] = {"bar", "barrier", "membar",         "fence", "mbarrier",
                                        "cp",  "call",    "griddepcontrol", NULL};
    static const char *const memory[] = {"ld", "ldu", "st", "atom", "red", NULL};
    static const char *const loads[] = {"ld", "ldu", NULL}, *const stores[] = {"st", NULL};
    static const char *const elsewhere[] = {"local",       "param", "param::entry",
                                            "param::func", "const", NULL};
    const ptx_statement *s = &r->module->statements[r->function->first_statement + i];
    if (r->begins[i])
        end_block(r);
    if (is_named(s->opcode, memory) && !has_one_of(s->opcode, elsewhere)) {
        bool global = has(s->opcode, "global"), generic = !global && !has(s->opcode, "shared") &&
                                                          !has(s->opcode, "shared::cta") &&
                                                          !has(s->opcode, "shared::cluster");
        bool is_load = is_named(s->opcode, loads), is_store = is_named(s->opcode, stores);
        for (int shared = 0; shared < 2; shared++) {
            if (!generic && shared == global)
                continue;
            r->turns[shared]++;
            r->eras[shared] += !is_load;
            if (!generic && (is_load || is_store))
                add_access(r, i, shared, is_store);
        }
    } else if (is_named(s->opcode, walls)) {
        for (int shared = 0; shared < 2; shared++) {
            r->eras[shared]++;
            r->turns[shared] += 2;
        }
    }
    if (s->count > 0 && !is_named(s->opcode, stores)) {
        const ptx_operand *o = &r->module->operands[s->first];
        int parts = o->kind == PTX_OPERAND_REGISTER ? 1
                    : o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_PAIR ||
                            o->kind == PTX_OPERAND_GROUP
                        ? o->count
                        : 0;
        for (int p = 0; p < parts; p++) {
            const ptx_operand *set =
                o->kind == PTX_OPERAND_REGISTER ? o : &r->module->operands[o->first + p];
            if (set->kind == PTX_OPERAND_REGISTER)
                r->versions[number_of(r, set->index)] = i + 1;
        }
    }
    if (is_named(s->opcode, ends))
        end_block(r);
}

sim_shape *reshape_accesses(const ptx_module *module, const ptx_function *function,
                            const uint64_t *addresses)
{
    size_t registers = (size_t)function->register_count + 1,
           statements = (size_t)function->statement_count + 1;
    reshaper r = {.module = module, .function = function, .addresses = addresses};
    r.zeros = memory_new(registers, sizeof *r.zeros);
    r.mentions = memory_new(registers, sizeof *r.mentions);
    r.versions = memory_new(registers, sizeof *r.versions);
    r.begins = memory_new(statements, sizeof *r.begins);
    r.block = memory_new(statements, sizeof *r.block);
    r.shapes = memory_new(statements, sizeof *r.shapes);
    prepare(&r);
    for (int i = 0; i < function->statement_count; i++)
        visit_statement(&r, i);
    end_block(&r);
    free(r.zeros);
    free(r.mentions);
    free(r.versions);
    free(r.begins);
    free(r.block);
    return r.shapes;
}
