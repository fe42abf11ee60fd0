/* Finds which of many points are nearest to a problem, without a look at all of them.
 *
 * A k-d tree: the points stand in an order whose halves, and their halves in turn, are each as much
 * together as they may; of each half is known between which values its points are. A search leaves
 * out what cannot be nearer than what it has. Its result does not depend on the order, which may be
 * any: sums are rounded alike in both, so that the distance of a half is never more than those of
 * its points. */
#ifndef AUTOTUNE_RECORD_PICK_NEAR_H
#define AUTOTUNE_RECORD_PICK_NEAR_H

#include "record/pick_points.h"

typedef struct pick_spot {
    uint32_t point, place; /* its place among those that the tree was made of */
} pick_spot;

/* The values of a column in a half. */
typedef struct pick_span {
    double least, most; /* of those that are numbers */
    bool lacks;         /* some are none */
    uint32_t other;     /* as in pick_points, where all are the same; else UINT32_MAX */
} pick_span;

typedef struct pick_near {
    const pick_points *points;
    size_t count;
    unsigned depth;   /* the halves are halved so often */
    pick_spot *spots; /* the n-th part of level l begins at n * count >> l */
    pick_span *spans; /* of the whole, of its halves, of theirs; each of all columns */
} pick_near;

/* Points up to this number are not halved. */
enum { PICK_NEAR_FEW = 16 };

/* Makes a tree of `count` points, which stand `stride_bytes` apart, and of which one may be there
 * several times. `order`, if given, is the places of the points in the order that such a tree had;
 * one in which not each place is there once is not used. False: no memory. `points` must outlive
 * the tree; the caller calls pick_near_deinit() in any case. */
bool pick_near_make(pick_near *to, const pick_points *points, const uint32_t *which,
                    size_t stride_bytes, size_t count, const uint32_t *order);
void pick_near_deinit(pick_near *n);

enum { PICK_MOST_ALIKE = 64 };

/* The points that searches have found: those at the least distance beyond another. */
typedef struct pick_nearest {
    double beyond;   /* in: -1: any */
    double distance; /* INFINITY: there is none */
    size_t count;    /* may be more than there is room for */
    struct {
        uint32_t tree, point; /* `tree` is what the search was told */
    } found[PICK_MOST_ALIKE];
    uint32_t first_place; /* of those of the last tree that had any */
} pick_nearest;

void pick_nearest_begin(pick_nearest *n, double beyond);

/* Searches one more tree. */
void pick_near_search(const pick_near *n, const pick_aim *aim, uint32_t tree, pick_nearest *out);

#endif
