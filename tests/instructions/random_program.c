#include "random_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers of one width. */
typedef struct bank {
    char letter;
    int first, count;
    const char *kinds; /* kinds of the registers' first values, in turn */
} bank;

static const bank banks[] = {
    {'h', 0, PROGRAM_SHORT, "hHhB"},
    {'r', PROGRAM_SHORT, PROGRAM_WORDS, "rfsrfF"},
    {'x', PROGRAM_SHORT + PROGRAM_WORDS, PROGRAM_LONGS, "xg"},
    {'p', PROGRAM_SHORT + PROGRAM_WORDS + PROGRAM_LONGS, PROGRAM_FLAGS, "p"}};

static const bank *bank_of_kind(char kind)
{
    switch (form_kind_bytes(kind)) {
    case 2:
        return &banks[0];
    case 4:
        return &banks[1];
    case 8:
        return &banks[2];
    default:
        return &banks[3];
    }
}

static const bank *bank_of_register(int number)
{
    const bank *b = banks;
    while (number >= b->first + b->count)
        b++;
    return b;
}

/* Returns whether a source may be a constant. It must be an integer and not the only source. */
static bool takes_constant(const form *f, int source)
{
    static const char *const families[] = {"add.", "sub.", "mul.",  "mad.", "and.",
                                           "or.",  "xor.", "shl.",  "shr.", "shf.",
                                           "min.", "max.", "prmt.", "div.", "rem."};
    if (source == 0 || !strchr("hrxs", f->sources[source]) || strstr(f->name, ".cc") ||
        strstr(f->name, "x2"))
        return false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(f->name, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static int pick_register(char kind, uint64_t *state)
{
    const bank *b = bank_of_kind(kind);
    return b->first + (int)(form_random(state) % (uint64_t)b->count);
}

void random_program_make(random_program *p, const form *const *forms, size_t count, uint64_t seed)
{
    uint64_t state = seed;
    *p = (random_program){0};
    for (int i = 0; i < PROGRAM_STEPS; i++) {
        program_step *s = &p->steps[i];
        uint64_t r = form_random(&state);
        s->guard = -1;
        if (r % 6 == 0) {
            s->result = (int)(form_random(&state) % (PROGRAM_REGISTERS - PROGRAM_FLAGS));
            s->fresh = (int)(form_random(&state) % PROGRAM_FRESH);
            continue;
        }
        const form *f = s->form = forms[form_random(&state) % count];
        s->result = pick_register(f->result, &state);
        for (int k = 0; f->sources[k]; k++) {
            s->sources[k].number = pick_register(f->sources[k], &state);
            if (takes_constant(f, k) && form_random(&state) % 6 == 0)
                s->sources[k] = (program_source){-1, form_random_value(f->sources[k], &state)};
        }
        if (f->body[0] != '{' && r % 5 == 0) {
            s->guard = pick_register('p', &state);
            s->guard_negated = r >> 32 & 1;
        }
    }
}

static void register_name(int number, char *text, size_t size)
{
    const bank *b = bank_of_register(number);
    snprintf(text, size, "%%%c%d", b->letter, number - b->first);
}

static size_t load(int number, int input, char *text, size_t size)
{
    char name[16];
    const bank *b = bank_of_register(number);
    unsigned bytes = form_kind_bytes(b->letter);
    register_name(number, name, sizeof name);
    size_t n = (size_t)snprintf(text, size, "mad.wide.u32 %%v, %%w, %d, %%a; ", 8 * input);
    if (bytes == 0)
        n += (size_t)snprintf(text + n, size - n,
                              "ld.global.b32 %%t, [%%v]; setp.ne.b32 %s, %%t, 0;\n", name);
    else
        n += (size_t)snprintf(text + n, size - n, "ld.global.b%u %s, [%%v];\n", 8 * bytes, name);
    return n;
}

static size_t store(int number, char *text, size_t size)
{
    static const char *const widen[] = {[0] = "selp.b64 %%v, 1, 0, %s; ",
                                        [2] = "cvt.u64.u16 %%v, %s; ",
                                        [4] = "cvt.u64.u32 %%v, %s; ",
                                        [8] = "mov.b64 %%v, %s; "};
    char name[16];
    register_name(number, name, sizeof name);
    size_t n = (size_t)snprintf(text, size,
                                widen[form_kind_bytes(bank_of_register(number)->letter)], name);
    return n + (size_t)snprintf(text + n, size - n,
                                "mad.wide.u32 %%q, %%w, %d, %%o; st.global.b64 [%%q], %%v;\n",
                                8 * number);
}

static size_t write_step(const program_step *s, char *text, size_t size)
{
    char names[FORM_SOURCES + 1][32], body[2 * FORM_BODY_BYTES];
    const char *sources[FORM_SOURCES];
    size_t n = 0;
    if (!s->form)
        return load(s->result, PROGRAM_REGISTERS + s->fresh, text, size);
    register_name(s->result, names[FORM_SOURCES], sizeof names[0]);
    for (int k = 0; s->form->sources[k]; k++) {
        if (s->sources[k].number >= 0)
            register_name(s->sources[k].number, names[k], sizeof names[k]);
        else
            snprintf(names[k], sizeof names[k], "0x%llx", (unsigned long long)s->sources[k].bits);
        sources[k] = names[k];
    }
    if (s->guard >= 0) {
        char guard[16];
        register_name(s->guard, guard, sizeof guard);
        n = (size_t)snprintf(text, size, "@%s%s ", s->guard_negated ? "!" : "", guard);
    }
    form_body(s->form, names[FORM_SOURCES], sources, body, sizeof body);
    return n + (size_t)snprintf(text + n, size - n, "%s\n", body);
}

void random_program_kernel(const random_program *p, const char *entry, char *text, size_t size)
{
    size_t n = (size_t)snprintf(
        text, size,
        ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .b16 %%h<%d>; .reg .b32 %%r<%d>; .reg .b64 %%x<%d>; .reg .pred %%p<%d>, %%end;\n"
        ".reg .b32 %%i, %%w, %%t, %%u; .reg .b64 %%o, %%a, %%v, %%q;\n"
        "ld.param.u64 %%a, [in]; ld.param.u64 %%o, [out]; ld.param.u32 %%w, [n];\n"
        "mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%ntid.x; mul.lo.u32 %%i, %%t, %%u; mov.u32 %%t, "
        "%%tid.x;\n"
        "add.u32 %%i, %%i, %%t; setp.ge.u32 %%end, %%i, %%w; @%%end bra END;\n"
        "mul.wide.u32 %%v, %%i, 8; add.u64 %%a, %%a, %%v; add.u64 %%o, %%o, %%v;\n",
        entry, PROGRAM_SHORT, PROGRAM_WORDS, PROGRAM_LONGS, PROGRAM_FLAGS);
    for (int i = 0; i < PROGRAM_REGISTERS; i++)
        n += load(i, i, text + n, size - n);
    for (int i = 0; i < PROGRAM_STEPS; i++)
        n += write_step(&p->steps[i], text + n, size - n);
    for (int i = 0; i < PROGRAM_REGISTERS; i++)
        n += store(i, text + n, size - n);
    n += (size_t)snprintf(text + n, size - n, "END: ret;\n}\n");
    if (n >= size)
        abort();
}

void random_program_inputs(uint64_t seed, uint64_t thread, uint64_t inputs[PROGRAM_INPUTS])
{
    uint64_t state = (seed << 20 | thread) * 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < PROGRAM_REGISTERS; i++) {
        const bank *b = bank_of_register(i);
        inputs[i] = form_random_value(b->kinds[(size_t)(i - b->first) % strlen(b->kinds)], &state);
    }
    for (int i = PROGRAM_REGISTERS; i < PROGRAM_INPUTS; i++)
        inputs[i] = form_random_value("xfrgHFsB"[i % 8], &state);
}

uint64_t random_program_register(int number, uint64_t word)
{
    unsigned bytes = form_kind_bytes(bank_of_register(number)->letter);
    return bytes == 8   ? word
           : bytes == 0 ? (word & UINT32_MAX) != 0
                        : word & ((1ull << 8 * bytes) - 1);
}
