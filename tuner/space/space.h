/* The search space: parameters, their values, and constraints among them.
 *
 * In: parameters with explicit value lists, and constraints known only by which parameters they
 * read and a test. Out: the valid configurations, counted, indexed 0 .. space_count()-1 in a fixed
 * order (lexicographic in the order in which the space binds the parameters, which constraints
 * decide), and their neighbours; uniform sampling is drawing an index. A configuration is an array
 * of one value index (uint16_t) a parameter, in the parameters' order. The Cartesian product is
 * never walked: a constraint prunes as soon as its last parameter is bound, and memory grows with
 * the prefix tree of valid configurations, equal subtrees stored once. Knows nothing of Lua, CUDA
 * or time.
 *
 * A space is immutable once made. Names, values and texts are borrowed and must outlive it. */
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
    size_t value_count; /* 1 .. 65535 */
} space_parameter;

typedef struct space_constraint {
    const char *text;         /* as the script spells it */
    int line;                 /* of the script; 0 unknown */
    const size_t *parameters; /* indices of the parameters that it reads; none: decided at once */
    size_t parameter_count;
    bool conditional; /* it says where a parameter keeps one value */
} space_constraint;

/* A question to a constraint: for which of these values of one parameter does it hold? */
typedef struct space_question {
    size_t constraint;
    uint16_t *indices; /* of the other parameters; meaningful for those the constraint reads */
    size_t varied;     /* the parameter; indices[varied] may be overwritten */
    const uint16_t *choices; /* its values to test */
    size_t count;            /* 1 for a constraint that does not read `varied` */
} space_question;

/* Sets holds[i] to whether the constraint holds for choices[i]. May fail (a Lua error inside the
 * expression). Must be a pure function: the space may remember answers, and asks in any order. */
typedef at_status (*space_test)(void *context, const space_question *question, bool *holds,
                                at_error *error);

/* How much of a space is built. */
typedef struct space_progress {
    bool sampling;   /* else: enumerating */
    double share;    /* 0 to 1, roughly: of the Cartesian product, or of the wanted sample */
    uint64_t looked; /* values that were looked at since this was told before */
} space_progress;

typedef struct space_limits {
    uint64_t most_configurations; /* 0: 2^64 - 1 */
    size_t memory_bytes;          /* while it is built; 0: no limit */
    /* Called about every millisecond, but at the same points of the work each time; true stops. May
     * be NULL. */
    bool (*stop)(void *context, const space_progress *progress);
    void *stop_context;
} space_limits;

/* Builds the space: enumerates it under the constraints. On success *out owns the space; free it
 * with space_free. An empty space is not an error here (space_count() is 0). Errors: the test's
 * own, AT_NO_MEMORY, and AT_SCRIPT when more than `limit` (0: 2^64 - 1) valid configurations exist
 * or a parameter has no values or too many. */
at_status space_new(const space_parameter *parameters, size_t parameter_count,
                    const space_constraint *constraints, size_t constraint_count, space_test test,
                    void *context, uint64_t limit, space **out, at_error *error);

/* Like space_new. Beyond the limits it is AT_SCRIPT (too many configurations, too much memory) or
 * AT_INTERRUPTED (`stop` said so, or the test). */
at_status space_new_within(const space_parameter *parameters, size_t parameter_count,
                           const space_constraint *constraints, size_t constraint_count,
                           space_test test, void *context, const space_limits *limits, space **out,
                           at_error *error);

/* Makes a space of at most `most` valid configurations, found by descending the same tree at
 * random: for spaces that cannot be enumerated. Some Hamming neighbours of each are included, so
 * that strategies which move between neighbours can. `known` (NULL: none), which must be valid, is
 * the first. Deterministic but for `limits->stop`, which ends the search and keeps what was found;
 * the other limits are ignored. An empty result is not an error, and no proof that the space is
 * empty. Not uniform: configurations with many neighbours are likelier. */
at_status space_sample(const space_parameter *parameters, size_t parameter_count,
                       const space_constraint *constraints, size_t constraint_count,
                       space_test test, void *context, const space_limits *limits, uint64_t most,
                       const uint16_t *known, space **out, at_error *error);

/* Is the space only a sample of the valid configurations? Then space_count() is the sample's
 * size, and space_removed() is not known (NAN). */
bool space_is_sample(const space *s);

void space_free(space *s); /* NULL is fine */

size_t space_parameter_count(const space *s);
const space_parameter *space_get_parameter(const space *s, size_t parameter);

/* Number of points of the Cartesian product; UINT64_MAX when it is that or more. */
uint64_t space_cartesian(const space *s);

uint64_t space_count(const space *s);

/* The configuration at `index` < space_count(); fills one value index a parameter. */
void space_at(const space *s, uint64_t index, uint16_t *indices);

/* Index of a configuration; false when it is not valid. */
bool space_find(const space *s, const uint16_t *indices, uint64_t *index);

/* Index of a valid configuration close to `wanted`: parameter by parameter, in the order in which
 * the space binds them, the value nearest in index that some valid configuration continues. A
 * valid configuration gives itself. The space must not be empty. */
uint64_t space_project(const space *s, const uint16_t *wanted);

/* The Hamming neighbours of the configuration at `index`: those in which exactly one parameter has
 * another value. Ascending, `capacity` at most; returns how many. space_hamming_limit() is always
 * enough capacity. */
size_t space_neighbours(const space *s, uint64_t index, uint64_t *out, size_t capacity);

/* Most Hamming neighbours that a configuration of the space can have. */
size_t space_hamming_limit(const space *s);

/* Does any valid configuration use this value? */
bool space_uses(const space *s, size_t parameter, uint16_t value_index);

/* How many points of the Cartesian product `constraint` removes. A point counts for the first
 * constraint tested that rejects it (tests happen in the order in which parameters are bound), so
 * that all constraints together and space_count() add up to the product. Exact below 2^53. */
double space_removed(const space *s, size_t constraint);

#endif
