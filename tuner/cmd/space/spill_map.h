/* A map of the configurations whose variants spill. A line of the map has one combination of values
 * of all axes but the first; bisection along the first axis finds the line's threshold.
 *
 * Input: a script, an architecture and sweeps; the sweep "registers" caps the registers per thread
 * of any kernel. Output: the threshold of each line, and every compiled point. A line between
 * similar lines needs fewer compilations. Needs NVRTC and no GPU. */
#ifndef AUTOTUNE_CMD_SPACE_SPILL_MAP_H
#define AUTOTUNE_CMD_SPACE_SPILL_MAP_H

#include "cmd/space/inspection.h"
#include "search/threshold.h"

enum { SPILL_MOST_AXES = 3 };

typedef struct spill_axis {
    const char *name;
    const sweep_axis *swept; /* NULL for the cap on registers */
    unsigned *caps;          /* owned */
    size_t count;
    bool ordered; /* the values are numbers, so that a threshold makes sense */
} spill_axis;

typedef struct spill_point {
    bool asked;
    inspect_row row;
    inspect_row
        shared; /* as `row`, but spills go to shared memory first; not `valid` if not compiled */
    compile_result images[2]; /* of `row` and `shared`; kept if images are wanted */
    launch_plan *launch;      /* owned; kept if images are wanted */
    double time_ns[2];        /* median time of both; 0 if not measured */
    char why_not[128];        /* reason for a missing time */
} spill_point;

typedef struct spill_line {
    threshold search;
    threshold_kind kind;
    size_t place;
    bool solved;
} spill_line;

typedef struct spill_map {
    script *script; /* borrowed, like `pool` and `arch` */
    compile_pool *pool;
    const arch_limits *arch;
    problem_kind problem;
    sweep sweep;
    spill_axis axes[SPILL_MOST_AXES];
    size_t axis_count, cap_axis; /* cap_axis is SIZE_MAX without a cap */
    size_t line_count, line_length;
    spill_line *lines;
    spill_point *points; /* points[line * line_length + place] */
    size_t compiled;     /* number of compilations for the thresholds */
    bool shared_spills, keep_images, want_ptx, whole;
} spill_map;

typedef struct spill_request {
    const char *configuration;
    const script_setting *overs;
    size_t over_count;
    bool shared_spills; /* compile variants that spill again, with spills to shared memory */
    bool keep_images, want_ptx;
    bool whole; /* compile every point, without bisection */
} spill_request;

/* Makes the axes of the map; without sweeps the only axis is the cap. AT_USAGE as for sweep_init(),
 * or if there are more than SPILL_MOST_AXES axes. The caller always calls spill_map_deinit(). */
at_status spill_map_init(spill_map *m, script *s, problem_kind problem, const arch_limits *arch,
                         compile_pool *pool, const spill_request *request, at_error *error);
void spill_map_deinit(spill_map *m); /* `m` may be zeroed */

/* Compiles points until every line is solved. Errors as inspect_submit() and compile_take(). */
at_status spill_map_solve(spill_map *m, at_error *error);

/* Returns the value of a point on an axis. */
value spill_map_get(const spill_map *m, size_t axis, size_t line, size_t place);

/* Returns a point, owned by the map. */
spill_point *spill_map_point(const spill_map *m, size_t line, size_t place);

#endif
