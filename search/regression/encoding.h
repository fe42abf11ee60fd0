/* Configurations as points of a feature space, for models that measure distances.
 *
 * A parameter of numbers becomes two features: its position from 0 to 1, for effects that grow with
 * the value, and its value as a category, for effects of a single value (hardware favours some
 * numbers). A parameter of texts, or of two values, becomes one. Only values that occur in valid
 * configurations count; a parameter with one such value has no feature. The encoding owns its
 * tables; the space is borrowed. */
#ifndef AUTOTUNE_ENCODING_H
#define AUTOTUNE_ENCODING_H

#include "base/error.h"
#include "space/space.h"

typedef struct encoding {
    const space *space;
    size_t features;
    bool *is_category; /* for each feature: equal or different is all that counts */
    size_t parameter_count;
    struct encoded_parameter *parameters;
    uint16_t *indices; /* scratch: of one configuration */
} encoding;

/* At most `most` features, which is at most 64: the last parameters have none. */
void encoding_init(encoding *e, const space *s, size_t most);
void encoding_deinit(encoding *e); /* a zeroed one is fine */

/* Fills `features` numbers. */
void encoding_point(encoding *e, uint64_t configuration, float *point);

/* Squared distance of two points by positions; parameters without one count 1 when they differ. */
double encoding_distance(const encoding *e, const float *a, const float *b);

/* How many of the parameters of three numbers or more have their least value, though no value of
 * another parameter holds them there. */
size_t encoding_least(encoding *e, uint64_t configuration);

#endif
