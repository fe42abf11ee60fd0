/* Where along a line a yes-or-no response changes, with as few answers as possible.
 *
 * A line has places 0 .. count - 1; somebody else finds the answer at a place (does this variant spill?)
 * and tells it. A monotone response is bisected; then up to the budget other places are tried: those beside the
 * change, then every few places around it, then the wished ones, then the middles of what is untried, so that
 * a response which goes back and forth is likely to show. One that does is asked for everywhere. Places without an answer
 * (what does not compile) are left out. Nothing here knows what is asked. */
#ifndef AUTOTUNE_SEARCH_THRESHOLD_H
#define AUTOTUNE_SEARCH_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum threshold_answer {
    THRESHOLD_UNKNOWN,
    THRESHOLD_NO,
    THRESHOLD_YES,
    THRESHOLD_GAP /* no answer is to be had here */
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
    uint8_t *supposed; /* as lines beside this one let expect; owned */
    bool *wished;      /* owned */
    size_t asked;      /* answers told, gaps included */
    size_t budget;     /* answers that may be spent on looking for a response that is not monotone */
} threshold;

/* A line of `count` places of which nothing is known. False when memory ran out. */
bool threshold_init(threshold *t, size_t count, size_t budget);
void threshold_deinit(threshold *t); /* a zeroed one is fine */

/* A place to try once the change is found and those around it. */
void threshold_wish(threshold *t, size_t place);

/* What is expected at a place. It is believed until an answer contradicts it; then nothing supposed is. */
void threshold_suppose(threshold *t, size_t place, threshold_answer answer);

/* The next place to ask for; false when the line is decided. */
bool threshold_next(const threshold *t, size_t *place);

void threshold_tell(threshold *t, size_t place, threshold_answer answer);

/* What the line is, once threshold_next() is false; *place is where it changes: of a mixed line the change that
 * leaves the fewest exceptions (0 or `count`: it has none), and the kind that it is but for those. */
threshold_kind threshold_result(const threshold *t, size_t *place);
threshold_kind threshold_mostly(const threshold *t, size_t *place);

#endif
