#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "sim/device.h"

enum { LINE_RAN = 1, LINE_LOOPS = 2, LINE_WENT_BACK = 4, LINE_STORES = 8, LINE_STORED = 16 };

typedef struct line {
    ptx_text file;
    int number;
    unsigned bits;
    ptx_text guard_file; /* file of the branch that skipped a store of this line */
    int guard;           /* line of that branch; 0 if unknown */
} line;

typedef struct lines {
    line *items;
    size_t count;
} lines;

/* The Toolkit's files have absolute paths. Their coverage is not reported. */
static bool is_of_script(ptx_text file)
{
    return file.length > 0 && file.at[0] != '/';
}

/* Returns whether a loop may wait for other threads, so that timing decides how it repeats. */
static bool waits_for_others(const sim_program *p, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        if (p->code[i].kind == SIM_ATOMIC || p->code[i].kind == SIM_MBARRIER ||
            (p->code[i].kind != SIM_FENCE && p->code[i].scope))
            return true;
    return false;
}

static void add_bits(line *to, const line *from)
{
    to->bits |= from->bits;
    if (to->guard == 0) {
        to->guard = from->guard;
        to->guard_file = from->guard_file;
    }
}

static bool stores(const sim_instruction *c)
{
    return ((c->kind == SIM_STORE || c->kind == SIM_ATOMIC) && sim_reaches_global(c)) ||
           c->kind == SIM_BULK_STORE;
}

/* Returns the conditional branch that ran last before the skipped instruction `at`, or
 * p->code_count if there is none. */
static size_t find_guard(const sim_program *p, const uint8_t *ran, size_t at)
{
    for (size_t steps = 0; steps < p->code_count; steps++) {
        size_t entry = p->code_count;
        while (at > 0 && !(ran[at - 1] & SIM_RAN))
            at--;
        if (at > 0 && p->code[at - 1].kind == SIM_BRANCH && p->code[at - 1].guard != SIM_NO_SLOT)
            return at - 1;
        for (size_t i = 0; i < p->code_count && entry == p->code_count; i++)
            if (p->code[i].kind == SIM_BRANCH && p->code[i].target == (int32_t)at)
                entry = i;
        if (entry == p->code_count || p->code[entry].guard != SIM_NO_SLOT)
            return entry;
        at = entry;
    }
    return p->code_count;
}

/* Notes that a line has a store. If the store did not run, notes the condition that skipped it. */
static void note_store(line *l, const ptx_module *m, const sim_program *p, const uint8_t *ran,
                       size_t at)
{
    if (ran[at] & SIM_RAN) {
        l->bits |= LINE_STORED;
        return;
    }
    const size_t guard = p->code[at].guard != SIM_NO_SLOT ? at : find_guard(p, ran, at);
    l->bits |= LINE_STORES;
    if (guard < p->code_count)
        ptx_source_line(m, p->code[guard].location, &l->guard_file, &l->guard);
}

static bool has_stored(const sim_program *p, const uint8_t *ran)
{
    bool any = false;
    for (size_t i = 0; i < p->code_count; i++)
        any = any || (stores(&p->code[i]) && ran[i] & SIM_RAN);
    return any;
}

static void add_program(lines *all, const ptx_module *m, const sim_program *p, const uint8_t *ran)
{
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        line one = {.bits = ran[i] & SIM_RAN ? LINE_RAN : 0};
        ptx_source_line(m, c->location, &one.file, &one.number);
        if (c->kind == SIM_BRANCH && c->target <= (int32_t)i &&
            !waits_for_others(p, (size_t)c->target, i))
            one.bits |= ran[i] & SIM_RAN_BACK ? LINE_LOOPS | LINE_WENT_BACK : LINE_LOOPS;
        if (stores(c))
            note_store(&one, m, p, ran, i);
        /* Exits do not count, because the last exit often has the line of another statement. */
        if (one.number <= 0 || !is_of_script(one.file) || c->extra || c->kind == SIM_EXIT)
            continue;
        line *before = all->count ? &all->items[all->count - 1] : NULL;
        if (before && before->number == one.number && before->file.at == one.file.at)
            add_bits(before, &one);
        else
            memory_add(&all->items, &all->count, &one, sizeof one);
    }
}

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    int order = ptx_text_compare(x->file, y->file);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Sorts the items and joins items of the same line. */
static void join(lines *all)
{
    size_t kept = 0;
    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, compare_lines);
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && compare_lines(&all->items[kept - 1], &all->items[i]) == 0)
            add_bits(&all->items[kept - 1], &all->items[i]);
        else
            all->items[kept++] = all->items[i];
    }
    all->count = kept;
}

/* Lists the lines whose bits under `mask` are `wanted` ("a.cu:3, a.cu:7, and 9 more"). */
static void list_lines(const lines *all, unsigned mask, unsigned wanted, bool with_guard,
                       char text[COVERAGE_TEXT_BYTES])
{
    size_t listed = 0, left = 0;
    text[0] = '\0';
    for (size_t i = 0; i < all->count; i++) {
        char place[COVERAGE_TEXT_BYTES];
        const line *l = &all->items[i];
        if ((l->bits & mask) != wanted)
            continue;
        snprintf(place, sizeof place, "%.*s:%d", (int)l->file.length, l->file.at, l->number);
        if (with_guard && l->guard > 0)
            text_add(place, sizeof place, " (the condition at %.*s:%d was never met)",
                     (int)l->guard_file.length, l->guard_file.at, l->guard);
        if (strlen(text) + strlen(place) + sizeof ", and 1000000 more" > COVERAGE_TEXT_BYTES) {
            left++;
            continue;
        }
        text_add(text, COVERAGE_TEXT_BYTES, "%s%s", listed++ ? ", " : "", place);
    }
    if (left > 0)
        text_add(text, COVERAGE_TEXT_BYTES, "%sand %zu more", listed ? ", " : "", left);
}

/* Removes the loops that repeated in this run from `text`, a list of loops that never repeated. */
static void remove_repeated(const lines *all, char text[COVERAGE_TEXT_BYTES])
{
    char left[COVERAGE_TEXT_BYTES] = "";
    for (char *rest = text, *place; (place = strtok_r(rest, ",", &rest));) {
        bool twice = false;
        place += strspn(place, " ");
        for (size_t i = 0; i < all->count && !twice; i++) {
            char own[COVERAGE_TEXT_BYTES];
            const line *l = &all->items[i];
            snprintf(own, sizeof own, "%.*s:%d", (int)l->file.length, l->file.at, l->number);
            twice = l->bits & LINE_WENT_BACK && strcmp(own, place) == 0;
        }
        if (!twice)
            text_add(left, sizeof left, "%s%s", left[0] ? ", " : "", place);
    }
    memcpy(text, left, sizeof left);
}

at_status sim_find_coverage(const device *d, const device_kernel *const *kernels, size_t count,
                            device_coverage *coverage, at_error *error)
{
    (void)d;
    lines all = {0};
    (void)error;
    coverage->together = coverage->stored = false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < kernels[i]->kernel.program_count; k++) {
            coverage->together |= k > 0 || kernels[i]->kernel.programs[k]->communicates;
            coverage->stored |= has_stored(kernels[i]->kernel.programs[k], kernels[i]->ran[k]);
            add_program(&all, kernels[i]->kernel.module, kernels[i]->kernel.programs[k],
                        kernels[i]->ran[k]);
        }
    join(&all);
    if (coverage->once[0]) {
        remove_repeated(&all, coverage->once);
    } else {
        list_lines(&all, LINE_RAN, 0, false, coverage->never);
        /* Lines that ran count, even if the loop's branch did not run: of an unrolled loop, only
         * the copy for the remaining iterations may have run. */
        list_lines(&all, LINE_RAN | LINE_LOOPS | LINE_WENT_BACK, LINE_RAN | LINE_LOOPS, false,
                   coverage->once);
    }
    list_lines(&all, LINE_STORES | LINE_STORED, LINE_STORES, true, coverage->stores);
    free(all.items);
    return AT_OK;
}

void sim_suggest_cause(const device_kernel *k, char *text, size_t bytes)
{
    const struct {
        uint8_t bits;
        const char *what, *why;
    } causes[] = {
        {SIM_RAN_BLOCKS, "because of the accesses",
         "blocks have no order, and volatile gives none"},
        {SIM_RAN_WARPS, "a __syncthreads() is missing",
         "warps of a block have no order, and volatile gives none"},
        {SIM_RAN_IN_STEP, "a __syncwarp() is missing",
         "lanes of a warp need not go in step, and volatile does not order them"},
    };
    text[0] = '\0';
    for (size_t c = 0; c < sizeof causes / sizeof *causes; c++)
        for (size_t i = 0; i < k->kernel.program_count; i++) {
            const sim_program *p = k->kernel.programs[i];
            for (size_t n = 0; n < p->code_count; n++) {
                char place[PTX_LOCATION_BYTES];
                if (!(k->ran[i][n] & causes[c].bits) || p->code[n].location == PTX_NONE)
                    continue;
                ptx_format_location(p->module, p->code[n].location, place, sizeof place);
                const bool asks = p->code[n].kind == SIM_ACTIVE_MASK;
                snprintf(text, bytes, "; perhaps %s at %s: %s",
                         asks ? "for the __activemask()" : causes[c].what, place,
                         asks ? "lanes that went the same way need not be together"
                              : causes[c].why);
                return;
            }
        }
}
