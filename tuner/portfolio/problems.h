/* Chooses the problems on which a portfolio is tuned and tested.
 *
 * In: the variables, each with a range or a list, and the divisors that constraints ask of it. Out:
 * different problems that fill the ranges, evenly by their logarithms: the corners first (all
 * large, all small, tall, flat), then an additive recurrence of low discrepancy (Roberts, "The
 * unreasonable effectiveness of quasirandom sequences", 2018). Which vectors a problem allows
 * depends on what its variables are divisible by, so numbers are moved to the nearest of a class: a
 * variable whose constraints ask for 2 and 4 has the classes odd, even and multiple of 4. The first
 * problems go through the classes of all variables together, as far as a quarter of the problems
 * does for that, else through those of each; then numbers are of the class that they happen to be.
 * A number that nothing divides is a prime; of those that all divisors divide, every other one is
 * round in binary. After the corners one in eight problems has only powers of two and three times
 * such, and one in eight has equal numbers, whatever their classes: people's problems often do.
 * Deterministic: the same axes and seed give the same problems. */
#ifndef AUTOTUNE_PORTFOLIO_PROBLEMS_H
#define AUTOTUNE_PORTFOLIO_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "record/record.h"

enum {
    PORTFOLIO_MAX_AXES = 8, /* variables */
    PORTFOLIO_MAX_DIVISORS = 16,
    PORTFOLIO_MAX_FEATURES = 32, /* axes after those: each of each configuration, as far as there
                                    is room */
    PORTFOLIO_MOST_AXES = PORTFOLIO_MAX_AXES + PORTFOLIO_MAX_FEATURES
};

/* A variable of a problem; or a feature of one of the configurations, a number that follows from
 * the problem. Problems are chosen, and their distances measured, by variables alone. */
typedef struct portfolio_axis {
    const char *name;
    const record_feature *feature; /* NULL: a variable; else there is no range, no list */
    bool is_of_one;                /* it is that of the configuration at place `of`; else of any */
    size_t of;
    int64_t least, most;                      /* of a range: 1 <= least <= most; unless there is */
    const value *values;                      /* a list; borrowed */
    size_t value_count;                       /* 0: a range */
    size_t divisor_count;                     /* 0 of a list */
    int64_t divisors[PORTFOLIO_MAX_DIVISORS]; /* powers of primes, ascending */
} portfolio_axis;

/* Is the problem valid? It has one value for each axis. May be called again for the same
 * problem. */
typedef bool (*portfolio_accepts)(void *context, const value *problem);

/* Chooses `wanted` problems that `accept` takes, or as many as there are. `out` has room for one
 * value an axis of each; *count is how many. Any first part of them covers the ranges, too.
 * AT_NO_MEMORY. */
at_status portfolio_choose_problems(const portfolio_axis *axes, size_t axis_count, size_t wanted,
                                    uint64_t seed, portfolio_accepts accept, void *context,
                                    value *out, size_t *count, at_error *error);

/* The distance of two problems: doublings, summed over the axes; plus 1 for each axis on which
 * other vectors are possible; 2 for a value of a list that differs. */
double portfolio_distance(const portfolio_axis *axes, size_t axis_count, const value *a,
                          const value *b);

/* The class of a number, from 0, which no divisor divides, to portfolio_classes() - 1, which all
 * do. A list has one. */
size_t portfolio_class(const portfolio_axis *axis, int64_t v);
size_t portfolio_classes(const portfolio_axis *axis);

#endif
