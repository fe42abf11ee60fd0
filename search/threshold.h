/* Finds where along a line a yes-or-no response changes, with as few answers as possible.
 *
 * A line has places 0 .. count - 1; the caller finds the answer at a place (does this variant
 * spill?) and tells it. A monotone response is bisected. Then, within the budget, other places are
 * tried, because the response may change back and forth: those beside the change, every few places
 * around it, the wished ones, then the middles of untried ranges. If it does, every place is asked
 * for. Places without an answer (a variant that does not compile) are left out. */
#ifndef AUTOTUNE_SEARCH_THRESHOLD_H
#define AUTOTUNE_SEARCH_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum threshold_answer {
    THRESHOLD_UNKNOWN,
    THRESHOLD_NO,
    THRESHOLD_YES,
    THRESHOLD_GAP /* there is no answer here */
} threshold_answer;

typedef enum threshold_kind {
    THRESHOLD_NOTHING, /* every place is a gap */
    THRESHOLD_NEVER,   /* no everywhere */
    THRESHOLD_ALWAYS,  /* yes everywhere */
    THRESHOLD_RISES,   /* no, then yes from `place` on */
    THRESHOLD_FALLS,   /* yes, then no from `place` on */
    THRESHOLD_MIXED    /* back and forth: every place was asked for */
} threshold_kind;

typedef struct threshold {
    size_t count;
    uint8_t *told;     /* threshold_answer of each place; owned */
    uint8_t *supposed; /* expected from the lines beside this one; owned */
    bool *wished;      /* owned */
    size_t asked;      /* answers told, gaps included */
    size_t budget;     /* answers for finding out that a response is not monotone */
} threshold;

/* A line of `count` places without answers. */
void threshold_init(threshold *t, size_t count, size_t budget);
void threshold_deinit(threshold *t); /* a zeroed one is fine */

/* A place to try after the change and the places around it. */
void threshold_wish(threshold *t, size_t place);

/* The answer expected at a place. Expected answers are used until one is contradicted, then none
 * is. */
void threshold_suppose(threshold *t, size_t place, threshold_answer answer);

/* The next place to ask for; false when the line is decided. */
bool threshold_next(const threshold *t, size_t *place);

void threshold_tell(threshold *t, size_t place, threshold_answer answer);

/* The kind of the line, once threshold_next() is false; *place is where it changes.
 * threshold_mostly() gives for a mixed line the kind and the change with the fewest exceptions (0
 * or `count`: no change). */
threshold_kind threshold_result(const threshold *t, size_t *place);
threshold_kind threshold_mostly(const threshold *t, size_t *place);

#endif
