/* The messages of races: the operation, the address, the other thread, the missing order. */
#include "sim/machine/race.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "sim/machine/fault.h"
#include "sim/machine/order.h"

/* Writes the name of the accessed byte: "dst[1] (byte 4 of dst)". */
static void describe_address(const sim_race_access *a, char *text, size_t bytes)
{
    const sim_block *owner = a->owner;
    if (a->region)
        sim_region_name(a->region, a->offset, text, bytes);
    else
        sim_shared_name(owner, (uint32_t)a->offset, text, bytes);
    if (!a->region && owner != a->block)
        text_add(text, bytes, " of block (%u,%u,%u)", owner->block[0], owner->block[1],
                 owner->block[2]);
}

/* Returns a thread that made access `s`: if possible, a thread that `a` does not follow. */
static uint32_t thread_of(const sim_race_access *a, const sim_stamp *s)
{
    if (s->unit >= SIM_UNIT_PRODUCTS)
        return s->epoch;
    uint32_t lanes = s->lanes;
    if (!sim_is_by_thread(s))
        return (s->unit - SIM_UNIT_COPIES) * SIM_LANES + (uint32_t)__builtin_ctz(lanes);
    bool same_warp = s->block == a->block->number && s->unit == a->stamp.unit;
    for (uint32_t m = same_warp ? lanes & ~(1u << a->lane) : lanes; m; m &= m - 1) {
        sim_stamp one = *s;
        one.lanes = m & -m;
        if (!sim_order_follows(a->block, a->warp, a->lane, &one))
            return s->unit * SIM_LANES + (uint32_t)__builtin_ctz(m);
    }
    return s->unit * SIM_LANES + (uint32_t)__builtin_ctz(lanes);
}

static bool is_this_thread(const sim_race_access *a, const sim_stamp *s)
{
    return s->block == a->block->number &&
           thread_of(a, s) == a->warp->first_thread + (uint32_t)a->lane;
}

/* Writes "thread (1,0,0) of block (2,0,0)", without the block if no other block has the memory. */
static void describe_thread(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const uint32_t *grid = a->block->launch->grid;
    uint32_t at[3], block = s->block - 1;
    sim_thread_position(a->block, thread_of(a, s), at);
    int n = snprintf(text, bytes, "thread (%u,%u,%u)", at[0], at[1], at[2]);
    if ((a->region || s->block != a->block->number) && n > 0 && (size_t)n < bytes)
        snprintf(text + n, bytes - (size_t)n, " of block (%u,%u,%u)", block % grid[0],
                 block / grid[0] % grid[1], block / grid[0] / grid[1]);
}

/* Writes "; the other access is at FILE:LINE" if this line is known and is not the line of `a`. */
static void describe_line(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const sim_program *p = a->block->program;
    char place[PTX_LOCATION_BYTES];
    text[0] = '\0';
    if (s->pc < 0 || &p->code[s->pc] == a->instruction || p->code[s->pc].location == PTX_NONE)
        return;
    ptx_format_location(p->module, p->code[s->pc].location, place, sizeof place);
    snprintf(text, bytes, "; the other access is at %s", place);
}

typedef struct report_parts {
    char place[SIM_ADDRESS_TEXT_BYTES], thread[96], line[PTX_LOCATION_BYTES + 32];
} report_parts;

static report_parts describe_all(const sim_race_access *a, const sim_stamp *s)
{
    report_parts parts;
    describe_address(a, parts.place, sizeof parts.place);
    describe_thread(a, s, parts.thread, sizeof parts.thread);
    describe_line(a, s, parts.line, sizeof parts.line);
    return parts;
}

static bool add_accessed_address(const sim_race_access *a)
{
    return a->region ? sim_fault_add_address(a->block, NULL, PTX_SPACE_GLOBAL,
                                             a->region->base + a->offset)
                     : sim_fault_add_address(a->block, a->owner, PTX_SPACE_SHARED, a->offset);
}

bool sim_race_report_under_way(const sim_race_access *a, const sim_stamp *s, bool reads, bool to)
{
    const report_parts parts = describe_all(a, s);
    const char *copy = s->flags & SIM_STAMP_BULK ? "a bulk copy" : "a copy";
    if (a->block->program->code[s->pc].kind == SIM_WARPGROUP_PRODUCT)
        copy = "a product (wgmma)";
    bool own = is_this_thread(a, s);
    return sim_fail(a->block, a->warp, a->instruction, a->lane,
                    reads && !a->region ? SIM_FAULT_UNINITIALISED : SIM_FAULT_RACE,
                    "%s is %s while %s %s it by %s is on its way%s", parts.place,
                    reads ? "read" : "written", copy, to ? "to" : "from",
                    own ? "this thread" : parts.thread, parts.line) ||
           add_accessed_address(a);
}

static const char *missing_order(const sim_race_access *a, const sim_stamp *s)
{
    sim_reach reach = sim_order_reach(a->block, s);
    if (a->stamp.scope && s->scope && (a->stamp.scope <= (int)reach || s->scope <= (int)reach))
        return "a scope that includes both";
    return reach == SIM_REACH_BLOCK              ? "a barrier between"
           : a->region && reach == SIM_REACH_GPU ? "a fence and an atomic between"
                                                 : "a barrier of the cluster between";
}

/* The matrix element that a thread probably accesses first. Threads with the same y access a row;
 * if the launch has x only, each block does. `step` is the distance to the next column. */
typedef struct coord {
    uint64_t column, row, step;
} coord;

static coord find_coord(const sim_block *b, uint32_t block, uint32_t thread)
{
    const uint32_t *grid = b->launch->grid, *size = b->launch->block;
    uint32_t at[3];
    sim_thread_position(b, thread, at);
    if (grid[1] == 1 && size[1] == 1)
        return (coord){at[0], block, size[0]};
    return (coord){(uint64_t)(block % grid[0]) * size[0] + at[0],
                   (uint64_t)(block / grid[0] % grid[1]) * size[1] + at[1],
                   (uint64_t)grid[0] * size[0]};
}

/* Writes "; perhaps an index runs past its row ..." if the element is in one thread's row and also
 * lies just beyond the end of the other thread's row. */
static void describe_overrun(const sim_race_access *a, const sim_stamp *s, char *text, size_t bytes)
{
    const sim_instruction *c = a->instruction;
    const uint64_t unit = (uint64_t)ptx_type_bytes((ptx_type)c->type) * (c->vector ? c->vector : 1),
                   index = unit ? a->offset / unit : 0;
    text[0] = '\0';
    if (!a->region || !sim_is_by_thread(s) || index == 0 || a->offset % unit)
        return;
    coord within =
              find_coord(a->block, a->block->number - 1, a->warp->first_thread + (uint32_t)a->lane),
          beyond = find_coord(a->block, s->block - 1, thread_of(a, s));
    if (beyond.row > within.row) {
        const coord other = beyond;
        beyond = within;
        within = other;
    }
    if (beyond.row == within.row || index < within.column ||
        (index - within.column) % within.row != 0)
        return;
    const uint64_t width = (index - within.column) / within.row,
                   column = index - beyond.row * width;
    if (width > within.column && column >= beyond.column &&
        (column - beyond.column) % beyond.step == 0)
        snprintf(text, bytes,
                 "; perhaps an index runs past its row: column %" PRIu64 " of row %" PRIu64
                 " is column %" PRIu64 " of row %" PRIu64 " where a row has %" PRIu64,
                 column, beyond.row, within.column, within.row, width);
}

bool sim_race_report(const sim_race_access *a, const sim_stamp *s, const char *what)
{
    const report_parts parts = describe_all(a, s);
    char overrun[200];
    describe_overrun(a, s, overrun, sizeof overrun);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "%s: %s %s without %s%s%s", parts.place, what, parts.thread,
                    missing_order(a, s), parts.line, overrun) ||
           add_accessed_address(a);
}

bool sim_race_report_noncoherent(const sim_race_access *a, const sim_stamp *s, bool reads)
{
    const bool surface = a->instruction->is_surface;
    const char *const path = surface ? "as a surface" : "through the read-only path";
    const report_parts parts = describe_all(a, s);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "%s: %s by this thread%s%s and %s by %s%s%s; this way of reading is only for "
                    "memory that the launch %s%s",
                    parts.place, reads ? "read" : "written", reads ? " " : "", reads ? path : "",
                    reads ? "written" : "read", is_this_thread(a, s) ? "itself" : parts.thread,
                    reads ? "" : " ", reads ? "" : path,
                    surface ? "has not written before"
                            : "does not write (__ldg(), const __restrict__)",
                    parts.line) ||
           add_accessed_address(a);
}

bool sim_race_report_proxy(const sim_race_access *a, const sim_stamp *s)
{
    const report_parts parts = describe_all(a, s);
    return sim_fail(a->block, a->warp, a->instruction, a->lane, SIM_FAULT_RACE,
                    "%s: %s after a write by %s without a fence.proxy.async between%s", parts.place,
                    a->instruction->kind == SIM_WARPGROUP_PRODUCT ? "read by wgmma"
                                                                  : "copied by the engine",
                    is_this_thread(a, s) ? "this thread" : parts.thread, parts.line) ||
           add_accessed_address(a);
}
