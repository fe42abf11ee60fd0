#include "sim/machine/pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, HEAD_BYTES = 16 };

static void lock(sim_pool *pool)
{
    while (__atomic_test_and_set(&pool->lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(sim_pool *pool)
{
    __atomic_clear(&pool->lock, __ATOMIC_RELEASE);
}

/* The first bytes of a chunk, and of a piece in a list, point to the next one. */
static void *pop(void **list)
{
    void *first = *list;
    if (first)
        memcpy(list, first, sizeof *list);
    return first;
}

static void push(void **list, void *piece)
{
    memcpy(piece, list, sizeof *list);
    *list = piece;
}

static void *cut(sim_pool *pool, size_t bytes)
{
    if (bytes > pool->left_bytes) {
        size_t whole = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        char *chunk = malloc(HEAD_BYTES + whole);
        if (!chunk)
            return NULL;
        push(&pool->chunks, chunk);
        pool->at = chunk + HEAD_BYTES;
        pool->left_bytes = whole;
    }
    void *piece = pool->at;
    pool->at += bytes;
    pool->left_bytes -= bytes;
    return piece;
}

void *sim_pool_take(sim_pool *pool, int class)
{
    lock(pool);
    void *piece = pop(&pool->free[class]);
    if (!piece)
        piece = cut(pool, (size_t)1 << class);
    unlock(pool);
    return piece;
}

void sim_pool_give(sim_pool *pool, void *piece, int class)
{
    lock(pool);
    push(&pool->free[class], piece);
    unlock(pool);
}

void sim_pool_deinit(sim_pool *pool)
{
    void *chunk;
    while ((chunk = pop(&pool->chunks)))
        free(chunk);
    *pool = (sim_pool){0};
}
