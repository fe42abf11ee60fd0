#include "sim/decode/unwritten.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/program/program.h"

/* A slot that a block of instructions reads before it writes it is live where the block begins, and
 * from there backwards to the blocks that write it. One that is live where the program begins may
 * be read unwritten. Slot by slot: most live but a few blocks long. */

typedef struct mention { /* of a slot in a block */
    int32_t block;
    int32_t next; /* mention of the same slot; -1: none */
} mention;

typedef struct analysis {
    sim_program *program;
    size_t slot_count, block_count;
    int32_t *block_at; /* instruction: the block that it is in */
    int32_t *before;   /* blocks before a block: from first_before[block] on */
    int32_t *first_before;
    mention *mentions;
    size_t mention_count;
    int32_t *reads, *writes; /* slot: its first mention as one read before it is written, and as one
                                written; -1 */
    int32_t *written_in, *seen_in; /* block: the last slot of which that was found */
    int32_t *due;                  /* blocks where the slot is live */
} analysis;

/* Does a block end with it? */
static bool ends_block(const sim_instruction *c)
{
    return c->kind == SIM_BRANCH || c->kind == SIM_BRANCH_INDEXED || c->kind == SIM_EXIT ||
           c->kind == SIM_CALL || c->kind == SIM_RETURN;
}

static void find_blocks(analysis *a)
{
    const sim_program *p = a->program;
    int32_t *begins = a->block_at;
    memset(begins, 0, (p->code_count + 1) * sizeof *begins);
    begins[0] = 1;
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        if ((c->kind == SIM_BRANCH || c->kind == SIM_CALL) && (size_t)c->target < p->code_count)
            begins[c->target] = 1;
        for (int32_t t = 0; c->kind == SIM_BRANCH_INDEXED && t < c->target_count; t++)
            if ((size_t)p->lists[c->target + t] < p->code_count)
                begins[p->lists[c->target + t]] = 1;
        if (ends_block(c))
            begins[i + 1] = 1;
    }
    int32_t block = -1;
    for (size_t i = 0; i < p->code_count; i++) {
        block += begins[i];
        a->block_at[i] = block;
    }
    a->block_count = (size_t)(block + 1);
}

/* Calls `edge` for each edge between blocks. */
static void walk_edges(analysis *a, void (*edge)(analysis *a, int32_t from, int32_t to))
{
    const sim_program *p = a->program;
    for (size_t i = 0; i < p->code_count; i++) {
        const sim_instruction *c = &p->code[i];
        const int32_t here = a->block_at[i];
        if ((c->kind == SIM_BRANCH || c->kind == SIM_CALL) && (size_t)c->target < p->code_count)
            edge(a, here, a->block_at[c->target]);
        for (int32_t t = 0; c->kind == SIM_BRANCH_INDEXED && t < c->target_count; t++)
            if ((size_t)p->lists[c->target + t] < p->code_count)
                edge(a, here, a->block_at[p->lists[c->target + t]]);
        /* After a call the caller's registers are as before it. */
        bool ends = ends_block(c) && c->kind != SIM_CALL && c->guard == SIM_NO_SLOT;
        if (!ends && i + 1 < p->code_count && a->block_at[i + 1] != here)
            edge(a, here, here + 1);
    }
}

static void count_edge(analysis *a, int32_t from, int32_t to)
{
    (void)from;
    a->first_before[to + 1]++;
}

/* first_before[to] is moved to the end of what is filled, and so to its place in the end. */
static void put_edge(analysis *a, int32_t from, int32_t to)
{
    a->before[a->first_before[to]++] = from;
}

static void find_edges(analysis *a)
{
    a->first_before = memory_new(a->block_count + 2, sizeof *a->first_before);
    walk_edges(a, count_edge);
    for (size_t b = 0; b < a->block_count; b++)
        a->first_before[b + 1] += a->first_before[b];
    a->before = memory_new((size_t)a->first_before[a->block_count], sizeof *a->before);
    walk_edges(a, put_edge);
    memmove(a->first_before + 1, a->first_before, a->block_count * sizeof *a->first_before);
    a->first_before[0] = 0;
}

static void mention_slot(analysis *a, int32_t *first, int32_t block)
{
    a->mentions[a->mention_count] = (mention){block, *first};
    *first = (int32_t)a->mention_count++;
}

static bool is_last_in(const analysis *a, int32_t first, int32_t block)
{
    return first >= 0 && a->mentions[first].block == block;
}

static void find_mentions(analysis *a)
{
    const sim_program *p = a->program;
    for (size_t i = 0; i < p->code_count; i++) {
        const int32_t here = a->block_at[i];
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        for (int k = 0; k < o.read_count; k++) {
            int32_t slot = o.reads[k] / SIM_SLOT_STEP;
            if (!is_last_in(a, a->writes[slot], here) && !is_last_in(a, a->reads[slot], here))
                mention_slot(a, &a->reads[slot], here);
        }
        /* A write under a guard may not happen. */
        for (int k = 0; k < o.write_count && p->code[i].guard == SIM_NO_SLOT; k++) {
            int32_t slot = o.writes[k] / SIM_SLOT_STEP;
            if (!is_last_in(a, a->writes[slot], here))
                mention_slot(a, &a->writes[slot], here);
        }
    }
}

/* Is the slot live where the program begins? */
static bool is_live_first(analysis *a, int32_t slot)
{
    size_t count = 0;
    for (int32_t m = a->writes[slot]; m >= 0; m = a->mentions[m].next)
        a->written_in[a->mentions[m].block] = slot + 1;
    for (int32_t m = a->reads[slot]; m >= 0; m = a->mentions[m].next) {
        a->seen_in[a->mentions[m].block] = slot + 1;
        a->due[count++] = a->mentions[m].block;
    }
    while (count > 0) {
        int32_t block = a->due[--count];
        if (block == 0)
            return true;
        for (int32_t e = a->first_before[block]; e < a->first_before[block + 1]; e++) {
            int32_t from = a->before[e];
            if (a->written_in[from] == slot + 1 || a->seen_in[from] == slot + 1)
                continue;
            a->seen_in[from] = slot + 1;
            a->due[count++] = from;
        }
    }
    return false;
}

/* Constants and special registers are there from the begin: nothing is asked about them. */
static void leave_out_given(analysis *a)
{
    const sim_program *p = a->program;
    for (size_t i = 0; i < p->constant_count; i++)
        a->reads[p->constants[i].slot / SIM_SLOT_STEP] = -1;
    for (int i = 0; i < SIM_SPECIAL_COUNT; i++)
        if (p->special_slots[i] != SIM_NO_SLOT)
            a->reads[p->special_slots[i] / SIM_SLOT_STEP] = -1;
}

static size_t count_operands(const sim_program *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->code_count; i++) {
        sim_operands o;
        sim_operands_of(p, &p->code[i], &o);
        count += (size_t)(o.read_count + o.write_count);
    }
    return count;
}

static void make_room(analysis *a)
{
    size_t slots = a->slot_count + 1, blocks = a->block_count + 1;
    a->mentions = memory_new(count_operands(a->program), sizeof *a->mentions);
    a->reads = memory_new(slots, sizeof *a->reads);
    a->writes = memory_new(slots, sizeof *a->writes);
    a->written_in = memory_new(blocks, sizeof *a->written_in);
    a->seen_in = memory_new(blocks, sizeof *a->seen_in);
    a->due = memory_new(blocks, sizeof *a->due);
    memset(a->reads, 0xff, slots * sizeof *a->reads);
    memset(a->writes, 0xff, slots * sizeof *a->writes);
}

void unwritten_find(sim_program *p)
{
    analysis a = {.program = p, .slot_count = p->register_bytes / SIM_SLOT_STEP};
    a.block_at = memory_new(p->code_count + 1, sizeof *a.block_at);
    find_blocks(&a);
    find_edges(&a);
    make_room(&a);
    find_mentions(&a);
    leave_out_given(&a);
    for (size_t slot = 0; slot < a.slot_count && !p->reads_unwritten; slot++)
        if (a.reads[slot] >= 0)
            p->reads_unwritten = is_live_first(&a, (int32_t)slot);
    free(a.block_at);
    free(a.before);
    free(a.first_before);
    free(a.mentions);
    free(a.reads);
    free(a.writes);
    free(a.written_in);
    free(a.seen_in);
    free(a.due);
}
