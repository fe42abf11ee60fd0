#include "compile/machine_code.h"

#include <elf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/cubin.h"

enum { INSTRUCTION_BYTES = 16, BARRIERS = 6, MOST_LOADS = 256, NOTE_BYTES = 64 };

/* The opcode is the low nine bits of an instruction; the next three give the operands' kinds. */
enum { OPCODES = 512, LOAD_GLOBAL = 0x181 };

typedef enum kind {
    KIND_OTHER,   /* control, uniform registers, constants, special registers */
    KIND_COMMON,  /* operations of PTX, too: float arithmetic, memory, shuffles, matrices */
    KIND_INTEGER, /* additions, logic, comparisons, moves */
    KIND_PRODUCT, /* integer products */
    KIND_SPECIAL, /* special functions and conversions */
    KIND_LOCAL,   /* accesses to local memory */
    KIND_NONE,
    KINDS = KIND_NONE
} kind;

/* clang-format off */
static const unsigned char kinds[OPCODES] = {
    /* FMUL, FADD, FFMA, LDSM */
    [0x020] = KIND_COMMON, [0x021] = KIND_COMMON, [0x023] = KIND_COMMON, [0x03b] = KIND_COMMON,
    /* DMUL, DADD, DFMA, DMMA */
    [0x028] = KIND_COMMON, [0x029] = KIND_COMMON, [0x02b] = KIND_COMMON, [0x03f] = KIND_COMMON,
    /* HADD2, HFMA2, HMUL2, IMMA */
    [0x030] = KIND_COMMON, [0x031] = KIND_COMMON, [0x032] = KIND_COMMON, [0x037] = KIND_COMMON,
    /* HMMA, SHFL */
    [0x03c] = KIND_COMMON, [0x189] = KIND_COMMON,
    /* LD, LDG, LDGSTS, LDS */
    [0x180] = KIND_COMMON, [0x181] = KIND_COMMON, [0x1ae] = KIND_COMMON, [0x184] = KIND_COMMON,
    /* ST, STG, STS, ATOM */
    [0x185] = KIND_COMMON, [0x186] = KIND_COMMON, [0x188] = KIND_COMMON, [0x18a] = KIND_COMMON,
    /* ATOMS, ATOMS.CAS, RED, ATOMG */
    [0x18c] = KIND_COMMON, [0x18d] = KIND_COMMON, [0x18e] = KIND_COMMON, [0x1a8] = KIND_COMMON,
    /* MOV, P2R, R2P, VOTE */
    [0x002] = KIND_INTEGER, [0x003] = KIND_INTEGER, [0x004] = KIND_INTEGER, [0x006] = KIND_INTEGER,
    /* SEL, FSEL, FMNMX, FSETP */
    [0x007] = KIND_INTEGER, [0x008] = KIND_INTEGER, [0x009] = KIND_INTEGER, [0x00b] = KIND_INTEGER,
    /* ISETP, IADD3, LEA, LOP3 */
    [0x00c] = KIND_INTEGER, [0x010] = KIND_INTEGER, [0x011] = KIND_INTEGER, [0x012] = KIND_INTEGER,
    /* IABS, PRMT, IMNMX, SHF */
    [0x013] = KIND_INTEGER, [0x016] = KIND_INTEGER, [0x017] = KIND_INTEGER, [0x019] = KIND_INTEGER,
    /* PLOP3, VIADD, F2FP, I2FP */
    [0x01c] = KIND_INTEGER, [0x036] = KIND_INTEGER, [0x03e] = KIND_INTEGER, [0x045] = KIND_INTEGER,
    /* VIMNMX */
    [0x048] = KIND_INTEGER,
    /* IMAD, IMAD.WIDE, IDP, IMAD.HI */
    [0x024] = KIND_PRODUCT, [0x025] = KIND_PRODUCT, [0x026] = KIND_PRODUCT, [0x027] = KIND_PRODUCT,
    /* FLO, BREV, F2F, F2I */
    [0x100] = KIND_SPECIAL, [0x101] = KIND_SPECIAL, [0x104] = KIND_SPECIAL, [0x105] = KIND_SPECIAL,
    /* I2F, MUFU, POPC */
    [0x106] = KIND_SPECIAL, [0x108] = KIND_SPECIAL, [0x109] = KIND_SPECIAL,
    /* LDL, STL; BAR, NOP */
    [0x183] = KIND_LOCAL, [0x187] = KIND_LOCAL, [0x11d] = KIND_NONE, [0x118] = KIND_NONE,
};
/* clang-format on */

typedef struct instruction {
    uint64_t low, high;
} instruction;

static instruction read_instruction(const unsigned char *code, size_t i)
{
    instruction c;
    memcpy(&c.low, code + i * INSTRUCTION_BYTES, sizeof c.low);
    memcpy(&c.high, code + i * INSTRUCTION_BYTES + sizeof c.low, sizeof c.high);
    return c;
}

static unsigned opcode_of(const instruction *c)
{
    return c->low & (OPCODES - 1);
}

static unsigned barrier_set(const instruction *c)
{
    return c->high >> 46 & 7;
}

static unsigned barriers_awaited(const instruction *c)
{
    return c->high >> 52 & 0x3f;
}

/* Returns the 32-bit words of a load. Sizes 0 to 6 are 8, 8, 16, 16, 32, 64 and 128 bits. */
static unsigned words_of(const instruction *c)
{
    const unsigned size = c->high >> 9 & 7;
    return size == 6 ? 4 : size == 5 ? 2 : 1;
}

typedef struct line_note {
    uint32_t counts[KINDS];
    double loads; /* number of the line's loads from global memory */
    double turns; /* sum, over the loads, of 1 / (most words in flight) */
} line_note;

typedef struct notes {
    line_note *lines; /* indexed by line, from 1 on; owned */
    size_t count;
    bool any;
} notes;

/* A load from its instruction to the first instruction that waits for it. */
typedef struct load {
    size_t line;
    unsigned words, barrier;
    unsigned most; /* most words of all loads in flight during this time */
} load;

typedef struct flight {
    load loads[MOST_LOADS];
    size_t count;
} flight;

static void begin_load(flight *f, const instruction *c, size_t line)
{
    unsigned all = words_of(c);
    if (f->count == MOST_LOADS || barrier_set(c) >= BARRIERS)
        return;
    for (size_t i = 0; i < f->count; i++)
        all += f->loads[i].words;
    f->loads[f->count++] = (load){line, words_of(c), barrier_set(c), all};
    for (size_t i = 0; i < f->count; i++)
        f->loads[i].most = all;
}

static void end_loads(notes *n, flight *f, unsigned barriers)
{
    size_t left = 0;
    for (size_t i = 0; i < f->count; i++) {
        const load *l = &f->loads[i];
        if (barriers >> l->barrier & 1) {
            n->lines[l->line].loads++;
            n->lines[l->line].turns += 1.0 / l->most;
        } else {
            f->loads[left++] = *l;
        }
    }
    f->count = left;
}

/* Adds the instructions of a section to the notes. `lines` has each instruction's line, or 0. */
static void note_code(notes *n, const cubin_section *code, const uint32_t *lines)
{
    flight f = {.count = 0};
    size_t before = 0; /* line of the last instruction of KIND_COMMON */
    for (size_t i = 0; i < code->size_bytes / INSTRUCTION_BYTES; i++) {
        const instruction c = read_instruction(code->bytes, i);
        const kind what = kinds[opcode_of(&c)];
        size_t line = lines[i] < n->count ? lines[i] : 0;
        before = what == KIND_COMMON ? line : before;
        /* ptxas gives loads and stores of spilled registers no line or a distant one. */
        line = what == KIND_LOCAL && before > 0 ? before : line;
        end_loads(n, &f, barriers_awaited(&c));
        if (opcode_of(&c) == LOAD_GLOBAL)
            begin_load(&f, &c, line);
        if (what != KIND_NONE)
            n->lines[line].counts[what]++;
        n->any = n->any || line > 0;
    }
}

typedef struct reader {
    const unsigned char *bytes;
    size_t at, end;
    bool failed;
} reader;

static uint64_t get(reader *r, size_t size)
{
    uint64_t v = 0;
    if (r->failed || r->end - r->at < size) {
        r->failed = true;
        return 0;
    }
    memcpy(&v, r->bytes + r->at, size);
    r->at += size;
    return v;
}

static int64_t get_leb(reader *r, bool is_signed)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 63 && !r->failed; shift += 7) {
        const uint64_t byte = get(r, 1);
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return is_signed && byte & 0x40 ? (int64_t)(v | ~0ull << (shift + 7)) : (int64_t)v;
    }
    r->failed = true;
    return 0;
}

/* A cubin and its sections for line information; bytes is NULL for a missing section. */
typedef struct tables {
    const void *cubin;
    size_t cubin_bytes;
    cubin_section lines, relocations, symbols, names;
} tables;

static tables find_tables(const void *cubin, size_t cubin_bytes)
{
    tables t = {.cubin = cubin, .cubin_bytes = cubin_bytes};
    cubin_section s;
    for (unsigned i = 0; cubin_read_section(cubin, cubin_bytes, i, &s); i++)
        if (strcmp(s.name, ".nv_debug_line_sass") == 0)
            t.lines = s;
        else if (strcmp(s.name, ".rela.nv_debug_line_sass") == 0)
            t.relocations = s;
        else if (strcmp(s.name, ".strtab") == 0)
            t.names = s;
        else if (s.type == SHT_SYMTAB)
            t.symbols = s;
    return t;
}

static bool read_symbol(const tables *t, uint64_t number, Elf64_Sym *out)
{
    if (!t->symbols.bytes || number >= t->symbols.size_bytes / sizeof *out)
        return false;
    memcpy(out, t->symbols.bytes + number * sizeof *out, sizeof *out);
    return true;
}

/* Finds the code section to which the relocation at `at`, an offset in the line program, refers. */
static bool find_code(const tables *t, uint64_t at, cubin_section *out)
{
    for (size_t i = 0; t->relocations.bytes && i < t->relocations.size_bytes / sizeof(Elf64_Rela);
         i++) {
        Elf64_Rela r;
        Elf64_Sym symbol;
        memcpy(&r, t->relocations.bytes + i * sizeof r, sizeof r);
        if (r.r_offset != at || !read_symbol(t, ELF64_R_SYM(r.r_info), &symbol))
            continue;
        return cubin_read_section(t->cubin, t->cubin_bytes, symbol.st_shndx, out) && out->bytes &&
               strncmp(out->name, ".text.", 6) == 0;
    }
    return false;
}

/* A sequence of the line program: it assigns lines to the code of one section. */
typedef struct sequence {
    cubin_section code;
    uint32_t *lines; /* line of each instruction; owned */
    size_t count;
    uint64_t address;
    int64_t line;
} sequence;

static void begin_sequence(sequence *s, const tables *t, uint64_t at)
{
    free(s->lines);
    *s = (sequence){.line = s->line};
    if (!find_code(t, at, &s->code))
        return;
    s->count = s->code.size_bytes / INSTRUCTION_BYTES;
    s->lines = calloc(s->count + 1, sizeof *s->lines);
}

/* Assigns the current line to the instructions from here on, until the next row. */
static void add_row(sequence *s)
{
    const uint32_t line = s->line > 0 && s->line < INT32_MAX ? (uint32_t)s->line : 0;
    for (size_t i = s->address / INSTRUCTION_BYTES; s->lines && i < s->count; i++)
        s->lines[i] = line;
}

/* Removes the lines of the functions that ptxas adds for rare operands of divisions and roots
 * (denormal numbers, quotients of more than 32 bits), because they have no lines of their own. */
static void skip_internal(const tables *t, sequence *s)
{
    static const char prefix[] = "$__internal_";
    cubin_section code;
    Elf64_Sym f;
    for (uint64_t i = 0; t->names.bytes && read_symbol(t, i, &f); i++) {
        if (ELF64_ST_TYPE(f.st_info) != STT_FUNC || f.st_name >= t->names.size_bytes ||
            t->names.size_bytes - f.st_name < sizeof prefix ||
            memcmp(t->names.bytes + f.st_name, prefix, sizeof prefix - 1) != 0 ||
            !cubin_read_section(t->cubin, t->cubin_bytes, f.st_shndx, &code) ||
            code.bytes != s->code.bytes)
            continue;
        for (uint64_t at = f.st_value / INSTRUCTION_BYTES, left = f.st_size / INSTRUCTION_BYTES;
             at < s->count && left > 0; at++, left--)
            s->lines[at] = 0;
    }
}

static void end_sequence(sequence *s, notes *n, const tables *t)
{
    if (s->lines) {
        skip_internal(t, s);
        note_code(n, &s->code, s->lines);
    }
    free(s->lines);
    *s = (sequence){.line = 1};
}

/* Reads a unit of the line program: DWARF Debugging Information Format, version 2, section 6.2. */
static void read_unit(reader *r, notes *n, const tables *t)
{
    enum { EXTENDED, COPY, ADVANCE_ADDRESS, ADVANCE_LINE, ADD_CONSTANT = 8, FIXED_ADVANCE };
    enum { END_SEQUENCE = 1, SET_ADDRESS, ADDRESS_BYTES = 8 };
    get(r, 2); /* the version */
    const uint64_t header = get(r, 4), program = r->at + header;
    const uint64_t step = get(r, 1);
    get(r, 1);
    const int line_base = (int8_t)get(r, 1);
    const uint64_t line_range = get(r, 1), opcode_base = get(r, 1);
    const unsigned char *lengths = r->bytes + r->at;
    if (r->failed || program < r->at || program > r->end || line_range == 0 || opcode_base == 0 ||
        opcode_base > program - r->at)
        return;
    sequence s = {.line = 1};
    r->at = program;
    while (r->at < r->end && !r->failed) {
        const uint64_t o = get(r, 1);
        if (o >= opcode_base) {
            s.address += (o - opcode_base) / line_range * step;
            s.line += line_base + (int64_t)((o - opcode_base) % line_range);
            add_row(&s);
        } else if (o == EXTENDED) {
            const uint64_t size = (uint64_t)get_leb(r, false);
            const size_t next = r->at + size;
            if (r->failed || size == 0 || size > r->end - r->at)
                break;
            const uint64_t what = get(r, 1);
            if (what == SET_ADDRESS && size == ADDRESS_BYTES + 1)
                begin_sequence(&s, t, r->at);
            else if (what == END_SEQUENCE)
                end_sequence(&s, n, t);
            r->at = next;
        } else if (o == COPY) {
            add_row(&s);
        } else if (o == ADVANCE_ADDRESS) {
            s.address += (uint64_t)get_leb(r, false) * step;
        } else if (o == ADVANCE_LINE) {
            s.line += get_leb(r, true);
        } else if (o == ADD_CONSTANT) {
            s.address += (255 - opcode_base) / line_range * step;
        } else if (o == FIXED_ADVANCE) {
            s.address += get(r, 2);
        } else {
            for (unsigned i = 0; i < lengths[o - 1]; i++)
                get_leb(r, false);
        }
    }
    free(s.lines);
}

static char *write_notes(const notes *n, const char *ptx)
{
    char *out = malloc(strlen(ptx) + n->count * NOTE_BYTES + 1), *to = out;
    for (size_t line = 1; out && *ptx; line++) {
        const size_t length = strcspn(ptx, "\n");
        const line_note *note = &n->lines[line < n->count ? line : 0];
        const uint32_t *c = note->counts;
        memcpy(to, ptx, length);
        to += length;
        if (line < n->count && c[KIND_OTHER] + c[KIND_COMMON] + c[KIND_INTEGER] + c[KIND_PRODUCT] +
                                       c[KIND_SPECIAL] + c[KIND_LOCAL] >
                                   0)
            to += snprintf(to, NOTE_BYTES, " //@ %u %u %u %u %u %u %.0f", c[KIND_COMMON] % 10000,
                           c[KIND_INTEGER] % 10000, c[KIND_PRODUCT] % 10000,
                           c[KIND_SPECIAL] % 10000, c[KIND_LOCAL] % 10000, c[KIND_OTHER] % 10000,
                           note->turns > 0 ? fmin(note->loads / note->turns, 999) : 0);
        ptx += length;
        if (*ptx == '\n')
            *to++ = *ptx++;
    }
    if (out)
        *to = '\0';
    return out;
}

char *machine_code_annotate(const void *cubin, size_t cubin_bytes, const char *ptx)
{
    notes n = {.count = 2};
    char *out = NULL;
    if (!cubin_is_whole(cubin, cubin_bytes))
        return NULL;
    for (const char *at = ptx; *at; at++)
        n.count += *at == '\n';
    n.lines = calloc(n.count, sizeof *n.lines);
    if (!n.lines)
        return NULL;
    const tables t = find_tables(cubin, cubin_bytes);
    reader r = {.bytes = t.lines.bytes, .end = t.lines.bytes ? t.lines.size_bytes : 0};
    while (r.at < r.end && !r.failed) {
        const uint64_t size = get(&r, 4);
        reader unit = {.bytes = r.bytes, .at = r.at, .end = r.at + size};
        if (r.failed || size > r.end - r.at)
            break;
        read_unit(&unit, &n, &t);
        r.at += size;
    }
    if (n.any)
        out = write_notes(&n, ptx);
    free(n.lines);
    return out;
}
