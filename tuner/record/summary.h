/* The result of a run as plain data: the tuning loop fills it in, reports and records read it.
 *
 * Texts from the script (names, string values) are borrowed and must outlive the summary; it owns
 * all other memory. An unknown field is zero or empty, and is left out of tables and JSON. */
#ifndef AUTOTUNE_RECORD_SUMMARY_H
#define AUTOTUNE_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stats.h"
#include "base/value.h"
#include "device/arch.h"
#include "device/ceiling.h"
#include "device/device.h"
#include "device/outcome.h"
#include "record/record.h"
#include "space/pattern.h"

typedef enum run_verdict {
    VERDICT_NONE,         /* nothing was compared: no time, or only one variant */
    VERDICT_CLEAR,        /* the best is faster than all others */
    VERDICT_TIED,         /* the best is as fast as tied_count others, within the tolerance */
    VERDICT_INCONCLUSIVE, /* the budget ended before the race */
    VERDICT_NOISY         /* the machine's noise exceeds the difference that decided */
} run_verdict;

typedef enum run_end {
    RUN_END_EXHAUSTED,   /* every valid configuration was tried */
    RUN_END_STRATEGY,    /* the strategy proposed no more configurations */
    RUN_END_EVALUATIONS, /* the limit of variants was reached */
    RUN_END_SECONDS,     /* the limit of time was reached */
    RUN_END_TARGET,      /* the requested share of the ceiling was reached */
    RUN_END_GAIN,        /* the search no longer improved the result */
    RUN_END_SETTLED,     /* no variant that was left was likely to win by more than a tie */
    RUN_END_HANGS,       /* too many variants hang */
    RUN_END_RECORDED,    /* a record had the answer: nothing was measured */
    RUN_END_INTERRUPTED  /* the user or SIGTERM stopped the run */
} run_end;

/* The stages of a run. Stages overlap, so the sum of their times exceeds the wall time. The time of
 * STAGE_COMPILE is the sum over all compile workers. */
typedef enum run_stage {
    STAGE_ENUMERATE, /* loading the script, enumerating the space */
    STAGE_OPEN,      /* opening the device: buffers, reference, ceiling */
    STAGE_EMIT,
    STAGE_COMPILE,
    STAGE_CHECK,   /* comparing the results of variants with the reference */
    STAGE_MEASURE, /* the first samples of each variant */
    STAGE_RACE,
    STAGE_FINALS,
    STAGE_COUNT
} run_stage;

/* The result of one variant. */
typedef struct run_result {
    uint64_t index;      /* index of the configuration in the space */
    char *configuration; /* "tile=64,vec=4,..."; owned */
    value *values;       /* one value per parameter; the array is owned, strings are borrowed */
    measurement found;   /* owned */
    /* Time of a launch; count 0 if unknown. Predicted low_ns and high_ns enclose 90 % of times. */
    stats_summary time;
    double ratio; /* time over the time of the fastest in the same blocks; 0 if not raced */
    double rates[WORK_UNITS]; /* work over median time, 10^9 per second; 0 if unknown */
    double ceiling_fraction;  /* rate over the ceiling's rate; 0 if unknown */
    uint32_t block_threads;
    uint32_t dynamic_shared_bytes;
    occupancy occupancy; /* occupancy of the launch on the run's device */
    bool tied;           /* as fast as the best; never set for the best itself */
    bool is_twin;        /* not tried, because its machine code and figures are those of `lead` */
    uint64_t lead; /* index of the configuration that was tried; equal to `index` unless is_twin */
    double energy_j, power_w;  /* energy and power of one launch; 0 if unknown */
    bool proven;               /* a run on the simulated device found no fault */
    char *unproven;            /* reason why the variant is not proven; owned; may be NULL */
    device_coverage *coverage; /* coverage of the proof; owned; may be NULL */
    char source_hash[33];
} run_result;

typedef struct run_summary {
    const char *pattern; /* name of the pattern */
    bool resumable;      /* the measurements are in a journal, so that the same run can resume */
    bool compiled_only;  /* --arch without a device: resources, but no times */
    device_properties device; /* if compiled only: kind "", arch and limits of the architecture */
    oracle_kind oracle;       /* source of the expected results */
    bool warm_cache;          /* samples were taken without a flush of the L2 cache */
    char after[RECORD_AFTER_BYTES]; /* patterns run before each sample, "a, b"; or "" */
    const char *objective;          /* "time" or "energy"; NULL means "time" */

    size_t problem_count;
    const pattern_variable *problem;
    size_t parameter_count;
    const char **parameters; /* names of the parameters; the array is owned */

    uint64_t space_cartesian, space_valid;
    bool space_sampled; /* space_valid counts a sample; the total is unknown */
    uint64_t counts[OUTCOME_COUNT];
    uint64_t unraced; /* working variants that were checked on the tuned problem alone: too slow, or
                         interrupted */
    uint64_t twins;   /* variants that were not tried because another has the same machine code */

    /* Working variants come first, ranked by the race, fastest first (in any order if only
     * compiled). Then come the others. Twins follow their lead. If best_found is set, results[0] is
     * the best. */
    size_t result_count;
    run_result *results;
    bool best_found;
    bool has_baseline;
    size_t baseline; /* index of the baseline in `results` */
    double speedup;  /* baseline's time over the best's; 0 if unknown */
    run_verdict verdict;
    size_t tied_count; /* if VERDICT_TIED: number of variants tied with the best */

    uint64_t work[WORK_UNITS]; /* work of a launch: bytes that it must move, flops, items */
    const char *item;          /* name of an item; "" if the pattern has no items */
    ceiling_kind ceiling;      /* the ceiling of ceiling_rate and of all ceiling_fraction */
    double ceiling_rate;       /* 10^9 bytes, flops or items per second; 0 if unknown */
    double wall_s;
    double stage_s[STAGE_COUNT];

    uint64_t seed;
    const char *strategy;
    uint64_t budget_evaluations; /* 0 if unlimited */
    double budget_s;             /* 0 if unlimited */
    run_end end;
    const char *effort; /* effort of the run, "quick" ... "exhaustive"; may be NULL */

    char script_hash[33], template_hash[33];
    char nvrtc_version[16];
    char date[32];          /* ISO 8601, UTC: 2026-01-31T12:00:00Z */
    char record_path[4096]; /* empty if no record was written */

    size_t warning_count;
    char **warnings; /* one line each; owned */
} run_summary;

/* Writes the current date and time as in `date`; "" if the system does not know it. */
void run_summary_date(char *out, size_t size_bytes);

/* Makes an empty summary for a pattern's `problem`, with names, variables and date. AT_NO_MEMORY.
 * The caller calls run_summary_deinit() in any case. */
at_status run_summary_init(run_summary *s, const pattern *p, problem_kind problem, at_error *error);
void run_summary_deinit(run_summary *s);

/* Appends a result with a copy of `configuration` and room for all parameter values, and counts its
 * outcome. `*out` is valid until the next call. AT_NO_MEMORY. */
at_status run_summary_add(run_summary *s, const char *configuration, outcome o, run_result **out,
                          at_error *error);

/* Appends a line of warning. Drops the line if memory ran out: a warning is not worth a run. */
void run_summary_warn(run_summary *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the unit in which the speed of variants is given: the ceiling's unit, or the first unit
 * for which the pattern states work. */
work_unit run_summary_unit(const run_summary *s);

/* Returns the variant that was tried in place of the twin `r`, or NULL if `r` is no twin. */
const run_result *run_summary_lead(const run_summary *s, const run_result *r);

/* Return the best variant, or the baseline; NULL if there is none. */
const run_result *run_summary_best(const run_summary *s);
const run_result *run_summary_baseline(const run_summary *s);

/* Return the names that tables and JSON use, such as "enumerate". */
const char *run_stage_name(run_stage stage);
const char *run_verdict_name(run_verdict verdict);
const char *run_end_name(run_end end);

#endif
