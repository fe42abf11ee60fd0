/* Problems as points, a coordinate for each variable, and how far each is from a problem at hand.
 *
 * The distance of two problems is the sum over all variables of both of pick_value_distance(). */
#ifndef AUTOTUNE_RECORD_PICK_POINTS_H
#define AUTOTUNE_RECORD_PICK_POINTS_H

#include "base/keymap.h"
#include "record/record.h"

/* The distance of two values: for numbers the difference of their pick_scale(); else 0, or, where
 * they differ, PICK_UNLIKE, which a missing one is apart from any, too. */
double pick_value_distance(value a, value b);

/* The distance of what is not alike: more than any two numbers' is. */
#define PICK_UNLIKE 256.0

/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by their ratio,
 * and nothing but arithmetic is needed. */
double pick_scale(double x);

enum { PICK_MISSING, PICK_NUMBER, PICK_FIRST_OTHER };

/* A variable of problems. */
typedef struct pick_column {
    const char *name; /* borrowed of the first problem that has it */
    bool same;        /* all problems have the same value, which is no number */
} pick_column;

typedef struct pick_points {
    size_t count, column_count;
    pick_column *columns;
    /* Those of a point stand together, in the order of the columns. */
    double *numbers;  /* pick_scale() of the value; NAN: it is no number */
    uint32_t *others; /* PICK_MISSING, PICK_NUMBER, or the number of a value that is none */
    size_t other_count;
    value *other_values; /* from PICK_FIRST_OTHER on */
    keymap other_places; /* by hash */
} pick_points;

/* Makes a point of each problem. False: no memory. The caller calls pick_points_deinit() in any
 * case. */
bool pick_points_make(pick_points *to, const record_classes *problems);
void pick_points_deinit(pick_points *p);

/* The values of a column are compared with this. */
typedef struct pick_axis {
    size_t column;
    bool is_number;
    double from;   /* a number: pick_scale() of it */
    uint32_t same; /* else: like those with this number */
} pick_axis;

/* A problem, for points to be compared with. */
typedef struct pick_aim {
    const pick_points *points;
    double alone; /* for variables that no point has */
    size_t axis_count;
    pick_axis *axes; /* in the order of the columns; what makes no difference is left out */
} pick_aim;

/* False: no memory. The points must outlive it; the caller calls pick_aim_deinit(). */
bool pick_aim_make(pick_aim *to, const pick_points *points, const record_values *problem);
void pick_aim_deinit(pick_aim *a);

double pick_aim_distance(const pick_aim *a, size_t point);

#endif
