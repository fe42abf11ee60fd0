/* The search space: parameters, their values, and constraints among them.
 *
 * A space knows only the parameters and a test function of each constraint. It counts the valid
 * configurations and gives them indices from 0 to space_count() - 1, in lexicographic order of the
 * parameters as the space binds them. A uniformly drawn index is a uniformly drawn configuration. A
 * configuration is an array with one value index (uint16_t) per parameter. A constraint prunes as
 * soon as its last parameter is bound, so the Cartesian product is never walked. Memory grows with
 * the prefix tree of valid configurations, in which equal subtrees are stored once.
 *
 * A space does not change. Names, values and texts are borrowed and must outlive it. */
#ifndef AUTOTUNE_SPACE_SPACE_H
#define AUTOTUNE_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

typedef struct space space;

typedef struct space_parameter {
    const char *name;
    const value *values;
    size_t value_count; /* 1 to 65535 */
} space_parameter;

typedef struct space_constraint {
    const char *text;         /* as in the script */
    int line;                 /* line of the script; 0 if unknown */
    const size_t *parameters; /* indices of the parameters that it reads */
    size_t parameter_count;
    bool conditional; /* the constraint fixes a parameter to one value if a condition is false */
} space_constraint;

/* A request to test a constraint for several values of one parameter. */
typedef struct space_question {
    size_t constraint;
    uint16_t *indices;       /* values of the other parameters that the constraint reads */
    size_t varied;           /* the parameter; indices[varied] may be overwritten */
    const uint16_t *choices; /* values of the parameter to test */
    size_t count;            /* 1 for a constraint that does not read `varied` */
} space_question;

/* Sets holds[i] to whether the constraint holds for choices[i]. May fail, for example by a Lua
 * error. Must be a pure function: the space may keep answers, and asks in any order. */
typedef at_status (*space_test)(void *context, const space_question *question, bool *holds,
                                at_error *error);

/* The progress of building a space. */
typedef struct space_progress {
    bool sampling;   /* the space is sampled, otherwise enumerated */
    double share;    /* approximate share, 0 to 1, of the Cartesian product, or of the sample */
    uint64_t looked; /* number of values tested since the previous report */
} space_progress;

typedef struct space_limits {
    uint64_t most_configurations; /* 0 for 2^64 - 1 */
    size_t memory_bytes;          /* limit while the space is built; 0 for no limit */
    /* Called about every millisecond, always at the same points of the work. Returns whether to
     * stop. May be NULL. */
    bool (*stop)(void *context, const space_progress *progress);
    void *stop_context;
} space_limits;

/* Enumerates the space. space_free() frees it. An empty space is not an error. Errors: those of the
 * test; AT_NO_MEMORY; AT_SCRIPT if more than `limit` (0 for 2^64 - 1) valid configurations exist,
 * or a parameter has no value or too many. */
at_status space_new(const space_parameter *parameters, size_t parameter_count,
                    const space_constraint *constraints, size_t constraint_count, space_test test,
                    void *context, uint64_t limit, space **out, at_error *error);

/* Like space_new(), with further limits. AT_SCRIPT if there are too many configurations or too much
 * memory is needed; AT_INTERRUPTED if `stop` or the test stopped it. */
at_status space_new_limited(const space_parameter *parameters, size_t parameter_count,
                            const space_constraint *constraints, size_t constraint_count,
                            space_test test, void *context, const space_limits *limits, space **out,
                            at_error *error);

/* Makes a space of up to `most` valid configurations, for spaces that cannot be enumerated. Random
 * descents of the tree find configurations, and some Hamming neighbours of each are added. `known`
 * is the first; it must be valid, or NULL. Deterministic unless `limits->stop` ends the search,
 * which keeps the configurations found so far; the other limits are ignored. An empty result does
 * not prove that the space is empty. The sample is not uniform: configurations with many neighbours
 * are more likely. */
at_status space_sample(const space_parameter *parameters, size_t parameter_count,
                       const space_constraint *constraints, size_t constraint_count,
                       space_test test, void *context, const space_limits *limits, uint64_t most,
                       const uint16_t *known, space **out, at_error *error);

/* Returns whether the space is a sample. If so, space_count() is the size of the sample, and
 * space_removed() is NAN. */
bool space_is_sample(const space *s);

/* Frees a space. `s` may be NULL. */
void space_free(space *s);

/* Return the number of parameters, and a parameter by its index in the script. */
size_t space_parameter_count(const space *s);
const space_parameter *space_get_parameter(const space *s, size_t parameter);

/* Returns the number of points of the Cartesian product, at most UINT64_MAX. */
uint64_t space_cartesian(const space *s);

/* Returns the number of configurations. */
uint64_t space_count(const space *s);

/* Writes the configuration at `index` < space_count(): one value index per parameter. */
void space_at(const space *s, uint64_t index, uint16_t *indices);

/* Finds the index of a configuration. Returns false if the configuration is not valid. */
bool space_find(const space *s, const uint16_t *indices, uint64_t *index);

/* Lists the Hamming neighbours of the configuration at `index`, which differ in exactly one
 * parameter: up to `capacity`, ascending. Returns their number. */
size_t space_neighbours(const space *s, uint64_t index, uint64_t *out, size_t capacity);

/* Returns whether any valid configuration has this value. */
bool space_uses(const space *s, size_t parameter, uint16_t value_index);

/* Returns how many points of the Cartesian product `constraint` removes, exact below 2^53. A point
 * counts for the first constraint tested that rejects it. The sum over all constraints and
 * space_count() is the size of the product. */
double space_removed(const space *s, size_t constraint);

#endif
