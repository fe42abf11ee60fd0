/* A map of where a pattern's variants spill: along one line by bisection, for every combination of
 * what else is swept.
 *
 * In: a script, an architecture and the sweeps of the command line, of which the first is the line
 * that is bisected; "registers" among them is the cap of registers a thread, for any kernel. Out:
 * each line's threshold and every point that was compiled for it. Lines whose neighbours agree are
 * asked less. Needs NVRTC and no GPU. */
#ifndef AUTOTUNE_CMD_SPACE_SPILL_MAP_H
#define AUTOTUNE_CMD_SPACE_SPILL_MAP_H

#include "cmd/space/inspection.h"
#include "search/threshold.h"

enum { SPILL_MOST_AXES = 3 };

typedef struct spill_axis {
    const char *name;
    const sweep_axis *swept; /* NULL: the cap of registers */
    unsigned *caps;          /* owned */
    size_t count;
    bool ordered; /* its values are numbers: a threshold has a meaning */
} spill_axis;

typedef struct spill_point {
    bool asked;
    inspect_row row;
    inspect_row shared;       /* spilling to shared memory first; `valid` false: not compiled */
    compile_result images[2]; /* of row and of shared; kept when images are wanted */
    launch_plan *launch;      /* owned; likewise */
    double time_ns[2];        /* median; 0: not measured */
    char why_not[128];        /* it has no time */
} spill_point;

typedef struct spill_line {
    threshold search;
    threshold_kind kind;
    size_t place;
    bool solved;
} spill_line;

typedef struct spill_map {
    script *script; /* borrowed, as is what follows */
    compile_pool *pool;
    const arch_limits *arch;
    problem_kind problem;
    sweep sweep;
    spill_axis axes[SPILL_MOST_AXES];
    size_t axis_count, cap_axis; /* SIZE_MAX: no cap */
    size_t line_count, line_length;
    spill_line *lines;
    spill_point *points; /* of line i: points[i * line_length + place] */
    size_t compiled;     /* compilations for the thresholds */
    bool shared_spills, keep_images, want_ptx, whole;
} spill_map;

typedef struct spill_request {
    const char *configuration;
    const script_setting *overs;
    size_t over_count;
    bool shared_spills; /* compile what spills once more, spilling to shared memory */
    bool keep_images, want_ptx;
    bool whole; /* compile every point: no bisection */
} spill_request;

/* Makes the map's axes. Without sweeps the cap alone is one. AT_USAGE as sweep_init(), and for more
 * axes than SPILL_MOST_AXES. The caller calls spill_map_deinit, also after a failure. */
at_status spill_map_init(spill_map *m, script *s, problem_kind problem, const arch_limits *arch,
                         compile_pool *pool, const spill_request *request, at_error *error);
void spill_map_deinit(spill_map *m);

at_status spill_map_solve(spill_map *m, at_error *error);

/* The value of a point on an axis. */
value spill_map_get(const spill_map *m, size_t axis, size_t line, size_t place);

spill_point *spill_map_point(const spill_map *m, size_t line, size_t place);

#endif
