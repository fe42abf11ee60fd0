#include "script/expression/tree.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 256 };

/* A node is in the first free slot from that of its hash on; at least half of the slots are free.
 */
struct tree {
    node **slots;      /* NULL: free; what is not is owned */
    size_t slot_count; /* a power of two */
    uint32_t count;
    bool lacks_memory;
};

tree *tree_new(void)
{
    tree *t = malloc(sizeof *t);
    if (t)
        *t = (tree){.slots = calloc(FIRST_SLOTS, sizeof *t->slots), .slot_count = FIRST_SLOTS};
    if (t && t->slots)
        return t;
    free(t);
    return NULL;
}

void tree_free(tree *t)
{
    for (size_t i = 0; t && i < t->slot_count; i++)
        free(t->slots[i]);
    if (t)
        free(t->slots);
    free(t);
}

uint32_t tree_count(const tree *t)
{
    return t->count;
}

bool tree_lacks_memory(const tree *t)
{
    return t->lacks_memory;
}

static uint64_t hash_of(const node *n)
{
    uint64_t parts[2 + NODE_MOST_OPERANDS] = {2 * (uint64_t)n->op + n->fails, (uint64_t)n->bits};
    for (size_t i = 0; i < n->count; i++)
        parts[2 + i] = n->of[i]->id;
    uint64_t hash = XXH3_64bits(parts, sizeof parts);
    return n->length ? XXH3_64bits_withSeed(n->name, n->length, hash) : hash;
}

static bool is_alike(const node *a, const node *b)
{
    return a->op == b->op && a->fails == b->fails && a->bits == b->bits && a->count == b->count &&
           a->length == b->length && !a->name == !b->name &&
           memcmp(a->of, b->of, a->count * sizeof *a->of) == 0 &&
           (!a->name || memcmp(a->name, b->name, a->length) == 0);
}

/* The slot of the node that is alike, or the free one that it would get. */
static node **find_slot(const tree *t, const node *like)
{
    size_t i = hash_of(like) & (t->slot_count - 1);
    while (t->slots[i] && !is_alike(t->slots[i], like))
        i = (i + 1) & (t->slot_count - 1);
    return &t->slots[i];
}

static bool add_slots(tree *t)
{
    tree larger = *t;
    larger.slot_count *= 2;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i])
            *find_slot(&larger, t->slots[i]) = t->slots[i];
    free(t->slots);
    *t = larger;
    return true;
}

const node *tree_add(tree *t, const node *like)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < like->count; i++) {
        if (!like->of[i])
            return NULL;
        if (like->of[i]->depth > depth)
            depth = like->of[i]->depth;
    }
    node **slot = find_slot(t, like);
    if (*slot)
        return *slot;
    node *added = NULL;
    if (t->count < UINT32_MAX && (2 * (t->count + 1) <= t->slot_count || add_slots(t)))
        added = malloc(sizeof *added + like->length + 1);
    if (!added) {
        t->lacks_memory = true;
        return NULL;
    }
    *added = *like;
    added->id = t->count++;
    added->depth = depth + 1;
    if (like->name) {
        char *name = (char *)(added + 1);
        memcpy(name, like->name, like->length);
        name[like->length] = '\0';
        added->name = name;
    }
    *find_slot(t, added) = added;
    return added;
}
