/* The stack of paths is a tree in preorder: above each path lie the paths that it waits for.
 * Neighbouring paths without common lanes are siblings and form a family. Paths without common
 * lanes may run in any order (CUDA C++ Programming Guide, "Independent Thread Scheduling"). */
#include "sim/machine/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/machine/execute.h"
#include "sim/machine/fault.h"
#include "sim/machine/repeat.h"

static bool are_apart(const sim_path *a, const sim_path *b)
{
    return (a->mask & b->mask) == 0;
}

/* Moves the paths from index `middle` on below the paths `first` ... `middle` - 1. */
static void rotate(sim_warp_flow *f, int first, int middle)
{
    sim_path above[SIM_MAX_PATHS];
    size_t count = (size_t)(f->depth - middle), below = (size_t)(middle - first);
    memcpy(above, &f->paths[middle], count * sizeof *above);
    memmove(&f->paths[(size_t)first + count], &f->paths[first], below * sizeof *above);
    memcpy(&f->paths[first], above, count * sizeof *above);
}

/* Returns the index of the lowest sibling of the path at `at`, where its family starts. */
static int find_siblings(const sim_warp_flow *f, int at)
{
    int first = at;
    while (first > 0 && are_apart(&f->paths[first - 1], &f->paths[at]))
        first--;
    return first;
}

/* Lets lanes of a waiting path run, since other lanes may wait for these. Returns whether any
 * do. */
static bool split_waiting(sim_warp_flow *f)
{
    uint32_t above = 0;
    for (int at = f->depth - 1; at > 0; at--) {
        int first = find_siblings(f, at);
        for (int i = first; i <= at; i++)
            above |= i < at || at == f->depth - 1 ? f->paths[i].mask : 0;
        if (first == 0)
            return false;
        const sim_path parent = f->paths[first - 1];
        uint32_t waiting = parent.mask & ~above;
        at = first;
        if (!waiting || parent.pc == parent.reconverge)
            continue;
        if (f->depth == SIM_MAX_PATHS)
            return false;
        for (int i = first - 1; i < f->depth; i++)
            f->paths[i].mask &= ~waiting;
        f->paths[f->depth++] = (sim_path){parent.pc, parent.reconverge, waiting, parent.frame};
        return true;
    }
    return false;
}

/* Lists the families of the top path and of the paths that wait for it, innermost first, by the
 * index of their highest path. Leaves out families of one path. Returns their number. */
static int find_families(const sim_warp_flow *f, int begins[SIM_MAX_PATHS])
{
    int count = 0;
    for (int at = f->depth - 1; at > 0; at--) {
        int first = find_siblings(f, at);
        if (first < at)
            begins[count++] = at;
        at = first;
    }
    return count;
}

static bool switch_family(sim_block *b, sim_warp *w)
{
    int begins[SIM_MAX_PATHS], count = find_families(&w->flow, begins);
    if (count == 0)
        return false;
    /* Families run in turn, because a path may wait for a path of another family. */
    const uint32_t spread = w->flow.turned++ * 0x9e3779b9u >>
                            16; /* hash of the turn, so that the choice does not depend on parity */
    uint32_t choice =
        b->adverse ? (uint32_t)rng_below(&b->order, (uint64_t)count) : spread % (uint32_t)count;
    rotate(&w->flow, find_siblings(&w->flow, begins[choice]), begins[choice]);
    return true;
}

void sim_paths_switch(sim_block *b, sim_warp *w, bool polls)
{
    enum { SPLITS_ONE_IN = 4 }; /* one turn in this many splits off waiting lanes */
    if (w->flow.depth > 1 && (polls || rng_below(&b->order, SPLITS_ONE_IN) == 0) &&
        split_waiting(&w->flow))
        return;
    switch_family(b, w);
}

/* Merges the top path with siblings that are at the same instruction and wait for no path. Paths
 * that leave a warp operation do not merge with paths that arrive there. Returns whether any
 * merged. */
static bool merge(sim_warp *w)
{
    const sim_path top = *sim_top(w);
    int first = find_siblings(&w->flow, w->flow.depth - 1), kept = first;
    sim_path sibling = {0};
    uint32_t joined = 0;
    for (int at = first; at < w->flow.depth - 1; at++) {
        const sim_path other = w->flow.paths[at];
        bool is_sibling = are_apart(&other, &sibling);
        if (is_sibling)
            sibling = other;
        if (is_sibling && are_apart(&other, &w->flow.paths[at + 1]) && other.pc == top.pc &&
            other.reconverge == top.reconverge && other.frame == top.frame &&
            !(other.mask & w->meeting.released))
            joined |= other.mask;
        else
            w->flow.paths[kept++] = other;
    }
    w->flow.paths[kept] = top;
    w->flow.paths[kept].mask |= joined;
    w->flow.depth = kept + 1;
    return joined != 0;
}

/* Ends lanes of waiting paths whose next instruction is an exit. Returns whether any ended. */
static bool end_waiting(const sim_block *b, sim_warp *w)
{
    uint32_t above = sim_top(w)->mask, ended = 0;
    for (int i = w->flow.depth - 2; i >= 0; i--) {
        const sim_path *path = &w->flow.paths[i];
        const sim_instruction *c = &b->program->code[path->pc];
        if (c->kind == SIM_EXIT && c->guard == SIM_NO_SLOT)
            ended |= path->mask & ~above;
        above |= path->mask;
    }
    for (int i = 0; ended && i < w->flow.depth; i++)
        w->flow.paths[i].mask &= ~ended;
    w->live &= ~ended;
    if (ended)
        sim_repeat_forget(w);
    return ended != 0;
}

bool sim_paths_yield(sim_block *b, sim_warp *w)
{
    sim_top(w)->pc--;
    sim_repeat_poll(b, w, sim_top(w)->pc, sim_top(w)->mask);
    if (merge(w) || end_waiting(b, w))
        return true;
    if (w->flow.stalled < (uint32_t)w->flow.depth * (uint32_t)w->flow.depth &&
        switch_family(b, w)) {
        w->flow.stalled++;
        return true;
    }
    sim_top(w)->pc++;
    return false;
}

bool sim_paths_let_go(sim_warp *w)
{
    uint32_t above = 0;
    for (int i = w->flow.depth - 1; i >= 0 && w->flow.depth < SIM_MAX_PATHS; i--) {
        sim_path *path = &w->flow.paths[i];
        const uint32_t gone = path->mask & w->meeting.released & ~above;
        above |= path->mask;
        if (!gone)
            continue;
        sim_top(w)->pc--;
        w->flow.stalled = 0;
        if (gone == path->mask) /* the whole path goes on once it is chosen to run */
            return true;
        memmove(path + 2, path + 1, (size_t)(w->flow.depth++ - 1 - i) * sizeof *path);
        path[1] = (sim_path){path->pc + 1, path->reconverge, gone, path->frame};
        path->mask &= ~gone;
        w->meeting.released &= ~gone;
        return true;
    }
    return false;
}

bool sim_has_all_lanes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       bool *out)
{
    if (mask == UINT32_MAX)
        return true;
    *out = sim_paths_yield(b, w) ||
           sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_SHUFFLE,
                    "all lanes of the warp must execute it, but lane %d does not",
                    __builtin_ctz(~mask));
    return false;
}

/* Returns whether the next instruction always follows, so that split lanes may stay split. */
static bool goes_straight(const sim_instruction *c)
{
    return c->kind == SIM_COMPUTE || c->kind == SIM_COMPARE || c->kind == SIM_LOGIC ||
           c->kind == SIM_SELECT || c->kind == SIM_CONVERT || c->kind == SIM_LOAD ||
           c->kind == SIM_STORE || c->kind == SIM_ATOMIC || c->kind == SIM_FENCE;
}

/* Returns the index after the straight code (goes_straight) that follows `pc`, at most
 * `reconverge`. Sets *shared to whether this code has atomics or strong accesses. */
static int32_t find_end(const sim_program *p, int32_t pc, int32_t reconverge, bool *shared)
{
    *shared = false;
    while (++pc != reconverge && (size_t)pc < p->code_count && goes_straight(&p->code[pc])) {
        const sim_instruction *c = &p->code[pc];
        *shared = *shared || c->kind == SIM_ATOMIC ||
                  ((c->kind == SIM_LOAD || c->kind == SIM_STORE) && c->scope != 0);
    }
    return pc;
}

/* Returns whether the warp polls at `pc` and has just found the same values again. */
static bool is_polling_at(const sim_warp *w, int32_t pc)
{
    enum { RECENT = 64 };
    return w->polls.last > 0 && w->polls.pc == pc && w->executed - w->polls.last < RECENT;
}

bool sim_paths_split(sim_block *b, sim_warp *w)
{
    enum {
        SPLITS_ONE_IN = 4,
        IN_STEP_ONE_IN = 2, /* replaces SPLITS_ONE_IN where lanes may rely on running in step */
        FAR_ONE_IN = 4,     /* one split in this many lasts until the lanes have to meet */
        MOST_FAR = 2,       /* most long splits between two barriers */
        MOST_PATHS = 6 /* most paths that splits may make, since each path costs the time of its
                          code */
    };
    const sim_path top = *sim_top(w);
    const uint32_t some = (uint32_t)rng_next(&b->order) & top.mask;
    const uint8_t *ran = b->launch->ran;
    const bool asks = b->program->code[top.pc].kind == SIM_ACTIVE_MASK;
    const bool in_step =
        ran && !asks && __atomic_load_n(&ran[top.pc], __ATOMIC_RELAXED) & SIM_RAN_IN_STEP;
    bool shared;
    if (!some || some == top.mask || w->flow.depth >= MOST_PATHS || is_polling_at(w, top.pc) ||
        rng_below(&b->order, in_step ? IN_STEP_ONE_IN : SPLITS_ONE_IN))
        return false;
    int32_t end = find_end(b->program, top.pc, top.reconverge, &shared);
    if (w->flow.split_far < MOST_FAR &&
        (rng_below(&b->order, FAR_ONE_IN) == 0 || (in_step && !shared))) {
        w->flow.split_far++;
        end = top.reconverge;
    } else if (!shared && !asks) {
        return false;
    }
    if (asks && ran)
        __atomic_fetch_or(&b->launch->ran[top.pc], SIM_RAN_IN_STEP, __ATOMIC_RELAXED);
    if (end == top.reconverge)
        w->flow.depth--;
    else
        sim_top(w)->pc = end;
    w->flow.paths[w->flow.depth++] = (sim_path){top.pc, end, top.mask & ~some, top.frame};
    w->flow.paths[w->flow.depth++] = (sim_path){top.pc, end, some, top.frame};
    return true;
}

/* The frame of a call of a function that may be recursive: it keeps the caller's state. All lanes
 * of a path call together and share a frame. They may return at different times. */

struct sim_frame {
    const sim_instruction *call; /* NULL if the call has ended and the entry is free */
    uint32_t outer;              /* the caller's frame, as sim_path.frame */
    uint32_t level;              /* depth of the call, from 1 on */
    uint32_t mask;               /* lanes that have not returned */
    int32_t reconverge;          /* sim_path.reconverge of the calling path */
    uint8_t *saved;   /* registers of the caller; NULL if the kernel is the caller; owned */
    uint8_t *missing; /* sim_warp.missing of these registers, in `saved`; NULL if all had a value */
    uint16_t *origin_of; /* sim_warp.origin_of of these registers, stored in `saved` */
};

/* The entries of a call in sim_program.lists, from sim_instruction.list on (SIM_CALL). */
enum { LIST_CALLEE, LIST_CALLER, LIST_PARAMETERS, LIST_RESULTS, LIST_COPIES };

/* Returns the address of a frame in local memory. Level 0 has the kernel's own variables. */
static uint64_t base_of(const sim_program *p, uint32_t level)
{
    return level ? p->frames_at + (uint64_t)(level - 1) * p->frame_bytes : 0;
}

static uint32_t level_of(const sim_warp *w, uint32_t frame)
{
    return frame ? w->flow.frames[frame - 1].level : 0;
}

static void put_base(const sim_program *p, sim_warp *w, const sim_instruction *c, uint32_t level,
                     uint32_t mask)
{
    SIM_EACH_OF(l, mask) sim_lanes64(w, c->d)[l] = base_of(p, level);
}

/* Marks the memory of a frame as not written. */
static void forget(const sim_program *p, sim_warp *w, uint32_t level, uint32_t mask)
{
    SIM_EACH_OF(l, w->local_valid ? mask : 0)
    memset(w->local_valid + (size_t)l * p->local_bytes + base_of(p, level), SIM_NEVER_WRITTEN,
           p->frame_bytes);
}

static void copy_variable(const sim_block *b, sim_warp *w, uint64_t from, uint64_t to, size_t bytes,
                          uint32_t mask)
{
    SIM_EACH_OF(l, mask)
    {
        const size_t lane = (size_t)l * b->program->local_bytes;
        memcpy(w->local + lane + to, w->local + lane + from, bytes);
        if (!w->local_valid)
            continue;
        memcpy(w->local_valid + lane + to, w->local_valid + lane + from, bytes);
        uint8_t *origin = b->origin_in ? b->origin_in + (w->local_valid - b->local_valid) : NULL;
        if (origin)
            memcpy(origin + lane + to, origin + lane + from, bytes);
    }
}

static void save(sim_warp *w, const sim_body *caller, sim_frame *f)
{
    const size_t first = (size_t)caller->first_slot, bytes = (size_t)caller->slot_bytes;
    const size_t origins = bytes / SIM_SLOT_STEP * sizeof *w->origin_of;
    f->saved = memory_require(malloc(w->missing ? 2 * bytes + origins + 1 : bytes + 1));
    memcpy(f->saved, w->registers + first, bytes);
    if (w->missing) {
        f->missing = f->saved + bytes;
        f->origin_of = (uint16_t *)(void *)(f->missing + bytes);
        memcpy(f->missing, w->missing + first, bytes);
        memcpy(f->origin_of, w->origin_of + first / SIM_SLOT_STEP, origins);
    }
}

/* Fills a body's registers in the lanes of `mask` from `saved`, or with `value` if that is NULL. */
static void put_lanes(const sim_program *p, const sim_body *body, uint8_t *registers,
                      const uint8_t *saved, uint8_t value, uint32_t mask)
{
    const size_t first = (size_t)body->first_slot, bytes = (size_t)body->slot_bytes;
    for (size_t at = 0; at < bytes; at += SIM_SLOT_STEP) {
        const uint32_t width = p->slot_lanes[(first + at) / SIM_SLOT_STEP];
        uint8_t *to = registers + first + at;
        const uint8_t *from = saved ? saved + at : NULL;
        if (width == SIM_LANE_OF_PREDICATE) {
            uint32_t now, then = value ? UINT32_MAX : 0;
            memcpy(&now, to, sizeof now);
            if (from)
                memcpy(&then, from, sizeof then);
            now = (now & ~mask) | (then & mask);
            memcpy(to, &now, sizeof now);
        } else if (width != 0) {
            SIM_EACH_OF(l, mask)
            {
                if (from)
                    memcpy(to + (size_t)l * width, from + (size_t)l * width, width);
                else
                    memset(to + (size_t)l * width, value, width);
            }
        }
    }
}

static void restore(const sim_program *p, sim_warp *w, const sim_body *caller, const sim_frame *f,
                    uint32_t mask)
{
    put_lanes(p, caller, w->registers, f->saved, 0, mask);
    if (w->missing)
        put_lanes(p, caller, w->missing, f->missing, 0, mask);
    if (w->missing && f->missing)
        memcpy(w->origin_of + caller->first_slot / SIM_SLOT_STEP, f->origin_of,
               (size_t)caller->slot_bytes / SIM_SLOT_STEP * sizeof *w->origin_of);
}

static void end_frame(sim_warp *w, sim_frame *f)
{
    free(f->saved);
    *f = (sim_frame){0};
    while (w->flow.frame_count > 0 && !w->flow.frames[w->flow.frame_count - 1].call)
        w->flow.frame_count--;
}

bool sim_frames_call(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const sim_program *p = b->program;
    const int32_t *list = &p->lists[c->list], *place = list + LIST_COPIES;
    sim_path *top = sim_top(w);
    const uint32_t outer = level_of(w, top->frame), level = outer + 1;
    sim_frame f = {.call = c,
                   .outer = top->frame,
                   .level = level,
                   .mask = mask,
                   .reconverge = top->reconverge};
    if (level > p->most_levels)
        return sim_fail(b, w, c, __builtin_ctz(mask), SIM_FAULT_UNKNOWN,
                        "calls nest %u levels deep with %u bytes of local memory each, but the "
                        "simulator follows only %u levels",
                        level, p->frame_bytes, p->most_levels);
    if (list[LIST_CALLER] >= 0)
        save(w, &p->bodies[list[LIST_CALLER]], &f);
    memory_add(&w->flow.frames, &w->flow.frame_count, &f, sizeof f);
    forget(p, w, level, mask);
    if (w->missing && p->reads_unwritten)
        put_lanes(p, &p->bodies[list[LIST_CALLEE]], w->missing, NULL, 0xff, mask);
    for (int32_t i = 0; i < list[LIST_PARAMETERS]; i++, place += 3)
        copy_variable(b, w, base_of(p, outer) + (uint32_t)place[0],
                      base_of(p, level) + (uint32_t)place[1], (size_t)place[2], mask);
    put_base(p, w, c, level, mask);
    top->frame = (uint32_t)w->flow.frame_count;
    top->reconverge = SIM_EXIT_PC;
    top->pc = c->target;
    sim_repeat_forget(w);
    return true;
}

bool sim_frames_return(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask)
{
    const sim_program *p = b->program;
    sim_path *top = sim_top(w);
    sim_frame *f = &w->flow.frames[top->frame - 1];
    const int32_t *list = &p->lists[f->call->list],
                  *place = list + LIST_COPIES + 3 * (size_t)list[LIST_PARAMETERS];
    const uint32_t outer = level_of(w, f->outer);
    for (int32_t i = 0; i < list[LIST_RESULTS]; i++, place += 3)
        copy_variable(b, w, base_of(p, f->level) + (uint32_t)place[1],
                      base_of(p, outer) + (uint32_t)place[0], (size_t)place[2], mask);
    forget(p, w, f->level, mask);
    if (list[LIST_CALLER] >= 0)
        restore(p, w, &p->bodies[list[LIST_CALLER]], f, mask);
    put_base(p, w, c, outer, mask);
    top->pc = (int32_t)(f->call - p->code) + 1;
    top->reconverge = f->reconverge;
    top->frame = f->outer;
    f->mask &= ~mask;
    if (f->mask == 0)
        end_frame(w, f);
    sim_repeat_forget(w);
    return true;
}

void sim_frames_drop(const sim_block *b, sim_warp *w)
{
    for (size_t i = w->flow.frame_count; i-- > 0;) {
        forget(b->program, w, w->flow.frames[i].level,
               w->flow.frames[i].call ? w->flow.frames[i].mask : 0);
        free(w->flow.frames[i].saved);
    }
    w->flow.frame_count = 0;
}
