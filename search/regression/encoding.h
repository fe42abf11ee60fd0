/* The data of a model that predicts costs: configurations as points, costs as scores.
 *
 * A parameter with numbers becomes two features: its position from 0 to 1, for effects that grow
 * with the value, and its category, for effects of a single value. A parameter with texts, or with
 * two values, becomes one feature. Only values of valid configurations count, so a parameter with
 * one such value has no feature. */
#ifndef AUTOTUNE_ENCODING_H
#define AUTOTUNE_ENCODING_H

#include "base/error.h"
#include "space/space.h"

typedef struct encoding {
    const space *space; /* borrowed */
    size_t features;
    bool *is_category; /* for each feature: only equality matters, not distance */
    size_t parameter_count;
    struct encoded_parameter *parameters;
    uint16_t *indices; /* scratch: value indices of a configuration */
} encoding;

/* Makes an encoding with up to `most` features, at most 64. Further parameters have no feature. */
void encoding_init(encoding *e, const space *s, size_t most);
void encoding_deinit(encoding *e);

/* Writes the features of a configuration. */
void encoding_point(encoding *e, uint64_t configuration, float *point);

/* Returns the squared distance of two points by positions. Different texts have the distance 1. */
double encoding_distance(const encoding *e, const float *a, const float *b);

/* Returns how many parameters with three or more numbers have their least value. A parameter that
 * another parameter's value forces to its least value does not count. */
size_t encoding_least(encoding *e, uint64_t configuration);

/* ---- costs ----
 * Costs on a scale that suits a Gaussian process. A score is the mean of two numbers: the logarithm
 * of the cost, scaled to a standard deviation of 1, and the normal quantile of its rank. The
 * logarithm keeps ratios; the rank distinguishes good costs, however bad the worst ones are.
 * Between and below the costs from which it was made, the scale is linear in the logarithm. Rank
 * transforms: Salinas, Shen & Perrone, "A quantile-based approach for hyperparameter transfer
 * learning" (2020). */

typedef struct cost_scale {
    double *logarithms, *scores; /* of the different costs, ascending; owned */
    size_t count;                /* number of different costs */
    double slope;                /* slope of the scale below the lowest cost */
} cost_scale;

/* Makes the scale for `count` costs, at least one; they are positive and finite. Replaces `*s`. */
void cost_scale_set(cost_scale *s, const double *costs, size_t count);
void cost_scale_deinit(cost_scale *s);

/* Returns the score of a cost, about -2 to 2, lower is better. */
double cost_scale_score(const cost_scale *s, double cost);

#endif
