/* Finds the point on a line at which a yes-or-no response changes, with as few answers as possible.
 *
 * The line has the points 0 to count - 1. The caller finds the answer at a point, for example
 * whether a variant spills. A monotone response is bisected. Then, within the budget, other points
 * are tried, because the response may change back: beside the change, every few points around it,
 * the preferred points, the middles of untried ranges. If the response does change back, every
 * point is asked for. Points without an answer (a variant that does not compile) are ignored. */
#ifndef AUTOTUNE_SEARCH_THRESHOLD_H
#define AUTOTUNE_SEARCH_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum threshold_answer {
    THRESHOLD_UNKNOWN,
    THRESHOLD_NO,
    THRESHOLD_YES,
    THRESHOLD_GAP /* the point has no answer */
} threshold_answer;

typedef enum threshold_kind {
    THRESHOLD_NOTHING, /* no point has an answer */
    THRESHOLD_NEVER,   /* every answer is "no" */
    THRESHOLD_ALWAYS,  /* every answer is "yes" */
    THRESHOLD_RISES,   /* "no" before `place`, "yes" from there on */
    THRESHOLD_FALLS,   /* "yes" before `place`, "no" from there on */
    THRESHOLD_MIXED    /* several changes; every point was asked for */
} threshold_kind;

typedef struct threshold {
    size_t count;
    uint8_t *told;     /* threshold_answer of each point; owned */
    uint8_t *supposed; /* expected answer of each point, from neighbouring lines; owned */
    bool *wished;      /* points to prefer in the search for further changes; owned */
    size_t asked;      /* number of points told, including points without an answer */
    size_t budget;     /* most points told in the search for further changes */
} threshold;

/* Makes a line of `count` points. */
void threshold_init(threshold *t, size_t count, size_t budget);
void threshold_deinit(threshold *t);

/* Prefers a point in the search for further changes. */
void threshold_prefer(threshold *t, size_t place);

/* Sets the expected answer at a point. A contradiction drops all expected answers. */
void threshold_expect(threshold *t, size_t place, threshold_answer answer);

/* Finds the next point to ask for. Returns false if the line is decided. */
bool threshold_next(const threshold *t, size_t *place);

void threshold_tell(threshold *t, size_t place, threshold_answer answer);

/* Returns the kind of a decided line, and its change in `*place`. */
threshold_kind threshold_result(const threshold *t, size_t *place);

/* Returns, for a mixed line, the kind and the change with the fewest exceptions. `*place` is 0 or
 * the count if that kind has no change. */
threshold_kind threshold_best_fit(const threshold *t, size_t *place);

#endif
