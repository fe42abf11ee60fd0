#include "sim/machine/execute.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "sim/machine/fault.h"
#include "sim/machine/run.h"

/* Most bytes of a format or a string; largest width or precision; most bytes of one conversion. */
enum { MOST_TEXT = 1024, MOST_FIELD = 400, MOST_NUMBER = 1600 };

void sim_prints_init(sim_prints *p)
{
    *p = (sim_prints){0};
    pthread_mutex_init(&p->lock, NULL);
}

void sim_prints_deinit(sim_prints *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->blocks[i].text);
    free(p->blocks);
    pthread_mutex_destroy(&p->lock);
}

/* Takes a block's text. Drops the texts of the last blocks if all have too many bytes. Any host
 * thread may call it. */
static void add_block(sim_prints *p, const sim_printed *block, bool cut)
{
    pthread_mutex_lock(&p->lock);
    sim_printed *grown = memory_require(array_grow(p->blocks, p->count, sizeof *grown));
    size_t at = p->count;
    p->blocks = grown;
    while (at > 0 && grown[at - 1].order > block->order)
        at--;
    memmove(&grown[at + 1], &grown[at], (p->count - at) * sizeof *grown);
    grown[at] = *block;
    p->count++;
    p->bytes += block->bytes;
    p->cut = p->cut || cut;
    /* Drops the texts of the last blocks, so that the order in which blocks end does not matter. */
    while (p->count > 0 && p->bytes - p->blocks[p->count - 1].bytes >= SIM_PRINT_BYTES) {
        p->count--;
        p->bytes -= p->blocks[p->count].bytes;
        free(p->blocks[p->count].text);
        p->cut = true;
    }
    pthread_mutex_unlock(&p->lock);
}

char *sim_prints_text(const sim_prints *p, uint64_t last)
{
    static const char more[] = "... (and more)\n";
    char *text = memory_require(malloc(p->bytes + sizeof more));
    size_t used = 0;
    for (size_t i = 0; i < p->count && p->blocks[i].order <= last; i++) {
        memcpy(text + used, p->blocks[i].text, p->blocks[i].bytes);
        used += p->blocks[i].bytes;
    }
    bool cut = used > SIM_PRINT_BYTES || (p->cut && used > 0);
    if (used == 0) {
        free(text);
        return NULL;
    }
    used = used > SIM_PRINT_BYTES ? SIM_PRINT_BYTES : used;
    size_t whole = used; /* bytes up to the end of the last whole line */
    while (cut && whole > 0 && text[whole - 1] != '\n')
        whole--;
    used = whole > 0 ? whole : used;
    memcpy(text + used, cut ? more : "", cut ? sizeof more : 1);
    return text;
}

/* Reads memory at a thread's generic address, unchecked. Returns false outside all memory. */
static bool peek(const sim_block *b, const sim_warp *w, int lane, uint64_t address, void *to,
                 uint32_t bytes)
{
    const uint64_t window = address & ~(SIM_WINDOW_BYTES - 1), offset = address - window;
    const uint8_t *from;
    if (window == SIM_LOCAL_WINDOW || window == SIM_SHARED_WINDOW) {
        const uint64_t size =
            window == SIM_LOCAL_WINDOW ? b->program->local_bytes : b->shared_bytes;
        if (offset >= size || bytes > size - offset)
            return false;
        from = (window == SIM_LOCAL_WINDOW ? w->local + (size_t)lane * b->program->local_bytes
                                           : b->shared) +
               offset;
    } else {
        const sim_region *r = sim_memory_find(b->launch->memory, address);
        if (!r || bytes > r->size_bytes - (address - r->base))
            return false;
        if (r->made)
            sim_region_make(r, address - r->base, bytes);
        from = r->bytes + (address - r->base);
    }
    memcpy(to, from, bytes);
    return true;
}

static const char *peek_string(const sim_block *b, const sim_warp *w, int lane, uint64_t address,
                               char *text)
{
    size_t n = 0;
    while (n < MOST_TEXT - 1 && peek(b, w, lane, address + n, &text[n], 1) && text[n])
        n++;
    text[n] = '\0';
    return text;
}

/* Returns argument `i` of a call, which has `bytes` bytes. */
static uint64_t argument(const sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                         int i, uint32_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, w->local + sim_local_at(b, w, c, lane) + (uint32_t)b->program->lists[c->target + i],
           bytes);
    return v;
}

bool sim_assertion(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    char text[MOST_TEXT], file[MOST_TEXT], function[MOST_TEXT];
    const int lane = __builtin_ctz(mask);
    peek_string(b, w, lane, argument(b, w, c, lane, 0, 8), text);
    peek_string(b, w, lane, argument(b, w, c, lane, 1, 8), file);
    peek_string(b, w, lane, argument(b, w, c, lane, 3, 8), function);
    return sim_fail(b, w, c, lane, SIM_FAULT_ASSERTION, "%.240s (%.100s:%u, %.120s)", text, file,
                    (unsigned)argument(b, w, c, lane, 2, 4), function);
}

/* A printf() of one lane that is being executed. */
typedef struct printing {
    sim_block *block;
    const sim_warp *warp;
    int lane;
    uint64_t values; /* address of the argument values */
    uint64_t at;     /* offset of the next value from `values` */
} printing;

static void put(sim_block *b, const char *text, size_t bytes)
{
    if (!b->launch->prints)
        return;
    size_t room = SIM_PRINT_BYTES - b->printed.bytes;
    if (!b->printed.text)
        b->printed.text = memory_require(malloc(SIM_PRINT_BYTES));
    b->print_cut = b->print_cut || bytes > room;
    bytes = bytes > room ? room : bytes;
    memcpy(b->printed.text + b->printed.bytes, text, bytes);
    b->printed.bytes += bytes;
}

/* Returns the next value. Values are aligned to their size. Returns 0 outside all memory. */
static uint64_t take(printing *p, uint32_t bytes)
{
    uint64_t v = 0;
    p->at = (p->at + bytes - 1) / bytes * bytes;
    peek(p->block, p->warp, p->lane, p->values + p->at, &v, bytes);
    p->at += bytes;
    return v;
}

/* Reads a width or precision: digits, or the next value for a '*'. */
static int take_field(printing *p, const char **at)
{
    int n = 0;
    if (**at == '*') {
        ++*at;
        n = (int)(int32_t)take(p, 4);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        n = n > MOST_FIELD ? n : n * 10 + (**at - '0');
    return n > MOST_FIELD ? MOST_FIELD : n < -MOST_FIELD ? -MOST_FIELD : n;
}

/* Prints the conversion at `at`, behind its '%'. Returns the text after the conversion. All
 * conversions of C work, except 'n'. Other letters are printed as they are, as in CUDA. */
static const char *convert(printing *p, const char *at)
{
    const char *begin = at;
    char form[48] = "%", text[MOST_NUMBER], string[MOST_TEXT];
    size_t n = 1;
    int precision = -1, longs = 0, halves = 0, written = 0;
    for (; *at && strchr("-+ #0", *at); at++)
        if (n < 8)
            form[n++] = *at;
    int width = take_field(p, &at);
    if (*at == '.') {
        at++;
        precision = take_field(p, &at);
    }
    for (; *at && strchr("hlLjzt", *at); at++) {
        longs += *at != 'h';
        halves += *at == 'h';
    }
    const char kind = *at;
    const bool is_signed = kind == 'd' || kind == 'i', is_unsigned = kind && strchr("uoxX", kind);
    const char *length =
        is_signed || is_unsigned ? PRId64 : "d"; /* "ld", of which only the 'l' is used */
    snprintf(form + n, sizeof form - n, "*.*%.*s%c",
             is_signed || is_unsigned ? (int)strlen(length) - 1 : 0, length, kind);
    if (is_signed) {
        int64_t v = longs ? (int64_t)take(p, 8) : (int32_t)take(p, 4);
        v = halves == 1 ? (int16_t)v : halves > 1 ? (int8_t)v : v;
        written = snprintf(text, sizeof text, form, width, precision, v);
    } else if (is_unsigned) {
        uint64_t v = longs ? take(p, 8) : take(p, 4);
        v = halves == 1 ? (uint16_t)v : halves > 1 ? (uint8_t)v : v;
        written = snprintf(text, sizeof text, form, width, precision, v);
    } else if (kind && strchr("fFeEgGaA", kind)) {
        const uint64_t bits = take(p, 8);
        double v;
        memcpy(&v, &bits, sizeof v);
        written = snprintf(text, sizeof text, form, width, precision, v);
    } else if (kind == 's') {
        peek_string(p->block, p->warp, p->lane, take(p, 8), string);
        written = snprintf(text, sizeof text, form, width, precision, string);
    } else if (kind == 'c') {
        written = snprintf(text, sizeof text, "%*c", width, (int)take(p, 4));
    } else if (kind == 'p') {
        written = snprintf(text, sizeof text, "0x%" PRIx64, take(p, 8));
    } else if (kind == '%') {
        written = snprintf(text, sizeof text, "%%");
    } else {
        written = snprintf(text, sizeof text, "%%%.*s", (int)(at - begin) + (kind != '\0'), begin);
    }
    put(p->block, text,
        written < 0                     ? 0
        : (size_t)written < sizeof text ? (size_t)written
                                        : sizeof text - 1);
    return kind ? at + 1 : at;
}

/* Prints a format for one lane. Returns the number of conversions, as CUDA's printf() does. */
static uint32_t print(sim_block *b, const sim_warp *w, int lane, uint64_t format, uint64_t values)
{
    uint32_t conversions = 0;
    printing p = {.block = b, .warp = w, .lane = lane, .values = values};
    char text[MOST_TEXT];
    for (const char *at = peek_string(b, w, lane, format, text); *at;) {
        const size_t plain = strcspn(at, "%");
        put(b, at, plain);
        at += plain;
        if (!*at)
            break;
        conversions += at[1] != '%';
        at = convert(&p, at + 1);
    }
    return conversions;
}

bool sim_print(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const uint32_t result = (uint32_t)b->program->lists[c->target + 2];
    SIM_EACH_OF(l, mask)
    {
        const size_t at = sim_local_at(b, w, c, l) + result;
        const uint32_t conversions =
            print(b, w, l, argument(b, w, c, l, 0, 8), argument(b, w, c, l, 1, 8));
        memcpy(w->local + at, &conversions, sizeof conversions);
        if (w->local_valid)
            memset(w->local_valid + at, 1, sizeof conversions);
    }
    return true;
}

uint64_t sim_print_order(const sim_launch *launch, const uint32_t block[3])
{
    uint64_t cluster = 0, rank = 0;
    for (int k = 3; k-- > 0;) {
        const uint32_t side = launch->cluster[k] ? launch->cluster[k] : 1;
        cluster = cluster * (launch->grid[k] / side) + block[k] / side;
        rank = rank * side + block[k] % side;
    }
    return cluster * sim_launch_cluster_blocks(launch) + rank;
}

void sim_print_end(sim_block *b)
{
    if (b->printed.bytes > 0) {
        b->printed.order = sim_print_order(b->launch, b->block);
        add_block(b->launch->prints, &b->printed, b->print_cut);
    } else {
        free(b->printed.text);
    }
    b->printed = (sim_printed){0};
    b->print_cut = false;
}
