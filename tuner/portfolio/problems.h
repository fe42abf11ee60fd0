/* Chooses the problems on which a portfolio is tuned and tested: distinct problems that fill the
 * ranges of the variables evenly on a logarithmic scale. The corners come first (all large, all
 * small, tall, flat), then an additive recurrence of low discrepancy (Roberts, "The unreasonable
 * effectiveness of quasirandom sequences", 2018). The same axes and seed give the same problems.
 *
 * The vectors that a problem allows depend on the divisibility of its variables. So each number is
 * moved to the nearest number of a class: a variable with the divisors 2 and 4 has the classes odd,
 * even and multiple of 4. The first problems go through the classes of all variables together if a
 * quarter of the problems suffices, otherwise through the classes of each variable alone. Later
 * numbers keep their own class. A number of the class without divisors is a prime. Of the numbers
 * that all divisors divide, every second number is round in binary.
 *
 * Real problems often have round or equal numbers. After the corners, one problem in eight has only
 * numbers of the form 2^k or 3 * 2^k, and one in eight has equal numbers, whatever their
 * classes. */
#ifndef AUTOTUNE_PORTFOLIO_PROBLEMS_H
#define AUTOTUNE_PORTFOLIO_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "record/record.h"

enum {
    PORTFOLIO_MAX_AXES = 8, /* axes that are variables */
    PORTFOLIO_MAX_DIVISORS = 16,
    PORTFOLIO_MAX_FEATURES = 32, /* axes after the variables: features of configurations */
    PORTFOLIO_MOST_AXES = PORTFOLIO_MAX_AXES + PORTFOLIO_MAX_FEATURES
};

/* An axis: a variable of a problem; or a feature of a configuration, a number that follows from the
 * problem. Only variables choose problems and measure their distances. */
typedef struct portfolio_axis {
    const char *name;
    const record_feature *feature; /* NULL for a variable; a feature has neither range nor list */
    bool is_of_one;                /* the feature is of configuration `of`, otherwise of none */
    size_t of;
    int64_t least, most;                      /* range: 1 <= least <= most */
    const value *values;                      /* list of values, if not a range; borrowed */
    size_t value_count;                       /* 0 if the axis is a range */
    size_t divisor_count;                     /* 0 if the axis is a list */
    int64_t divisors[PORTFOLIO_MAX_DIVISORS]; /* powers of primes, ascending */
} portfolio_axis;

/* Returns whether a problem, with one value per axis, is valid. Calls may repeat a problem. */
typedef bool (*portfolio_accepts)(void *context, const value *problem);

/* Chooses up to `wanted` problems that `accept` accepts. Every initial part of the list covers the
 * ranges, too. `out` has room for `wanted` problems with one value per axis; *count is the number
 * of problems. AT_USAGE, AT_NO_MEMORY. */
at_status portfolio_choose_problems(const portfolio_axis *axes, size_t axis_count, size_t wanted,
                                    uint64_t seed, portfolio_accepts accept, void *context,
                                    value *out, size_t *count, at_error *error);

/* Returns the distance of two problems, summed over the axes: the doublings between two numbers,
 * plus 1 if their classes differ; 2 for different values of a list. */
double portfolio_distance(const portfolio_axis *axes, size_t axis_count, const value *a,
                          const value *b);

/* Returns the class of a number: 0 if no divisor divides it, portfolio_class_count() - 1 if all
 * divisors do. A list has one class. */
size_t portfolio_class(const portfolio_axis *axis, int64_t v);
size_t portfolio_class_count(const portfolio_axis *axis);

#endif
