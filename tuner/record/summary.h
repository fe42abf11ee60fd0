/* The findings of a run as plain data: the tuning loop fills it in, the report and the record read
 * it.
 *
 * Texts that come from the script (names, string values) are borrowed and must outlive the summary;
 * the summary owns everything that the functions below make, and run_summary_deinit() frees it. A
 * field that is not known is zero (or empty) and is left out of tables and JSON. */
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
#include "device/measurement.h"
#include "device/outcome.h"
#include "record/record.h"
#include "space/pattern.h"

typedef enum run_verdict {
    VERDICT_NONE,         /* nothing was compared (no time, or one variant) */
    VERDICT_CLEAR,        /* the best is faster than all others */
    VERDICT_TIED,         /* not to be told apart from tied_count others */
    VERDICT_INCONCLUSIVE, /* the budget ended before the race did */
    VERDICT_NOISY         /* the machine's noise exceeds the difference that decided */
} run_verdict;

typedef enum run_end {
    RUN_END_EXHAUSTED,   /* every valid configuration had its turn */
    RUN_END_STRATEGY,    /* the strategy had nothing more to ask */
    RUN_END_EVALUATIONS, /* as many variants as allowed */
    RUN_END_SECONDS,     /* the time was up */
    RUN_END_TARGET,      /* the wanted share of the ceiling was reached */
    RUN_END_GAIN,        /* the search had stopped paying */
    RUN_END_HANGS,       /* variants do not end, whatever they are */
    RUN_END_RECORDED,    /* a record answered: nothing was measured */
    RUN_END_INTERRUPTED  /* by the user, or by SIGTERM */
} run_end;

/* The stages on which a run's time is spent. They overlap (compiling runs ahead of measuring), so
 * that they add up to more than the wall time; compile is the sum over all compile workers. */
typedef enum run_stage {
    STAGE_ENUMERATE, /* loading the script, and the space */
    STAGE_OPEN,      /* the device, its buffers, reference and ceiling */
    STAGE_EMIT,
    STAGE_COMPILE,
    STAGE_CHECK,   /* of every variant against the reference */
    STAGE_MEASURE, /* screening samples */
    STAGE_RACE,
    STAGE_FINALS,
    STAGE_COUNT
} run_stage;

/* One variant. */
typedef struct run_result {
    uint64_t index;      /* of the configuration in the space */
    char *configuration; /* "tile=64,vec=4,..."; owned */
    value *values;       /* one a parameter; the array is owned, strings are borrowed */
    measurement found;   /* owned */
    stats_summary time;  /* of one launch; count 0: not measured */
    double ratio; /* time over the fastest's, from samples of the same blocks; 0: not raced */
    double rates[WORK_UNITS]; /* work over median time, 10^9 a second; 0 not given */
    double ceiling_fraction;  /* the rate over the ceiling's; 0 not known */
    uint32_t block_threads;
    uint32_t dynamic_shared_bytes;
    occupancy occupancy; /* of this variant's launch on the run's device */
    bool tied;           /* with the best; never set for the best itself */
    bool is_twin; /* not tried: it has the machine code and the launch of `lead`, and its figures */
    uint64_t lead;   /* configuration whose figures these are: its own unless it is a twin */
    double tuned_ns; /* predicted of the tuned problem, where `time` is of a smaller one;
                        0: not predicted */
    double energy_j, power_w;  /* of one launch; 0 unknown */
    bool proven;               /* it did nothing wrong on a simulated device */
    char *unproven;            /* why not, where that was to be shown; owned; may be NULL */
    device_coverage *coverage; /* what the proof covered; owned; NULL: there is none */
    char source_hash[33];
} run_result;

typedef struct run_summary {
    const char *pattern; /* name */
    bool resumable;      /* what was measured is in a journal: the same run goes on from there */
    bool compiled_only;  /* --arch without a device: resources, no times */
    device_properties device; /* when compiled only: kind "", arch and limits of the architecture */
    oracle_kind oracle;       /* what says which results are right */
    bool warm_cache;          /* samples without the flush of the L2 */
    char after[RECORD_AFTER_BYTES]; /* patterns whose kernels ran before each sample, "a, b"; "":
                                       none did */
    const char *objective;          /* "time" or "energy"; NULL: time */

    size_t problem_count;
    const pattern_variable *problem;
    const pattern_variable *tuned; /* what `problem` stands in for, or the same; NULL: not known */
    size_t parameter_count;
    const char **parameters; /* names; the array is owned */

    uint64_t space_cartesian, space_valid;
    bool space_sampled; /* space_valid counts a sample; how many there are is not known */
    uint64_t counts[OUTCOME_COUNT];
    uint64_t unraced; /* of those that worked, checked on the tuned problem alone: they were too
                         slow to race, or the run was interrupted */
    uint64_t
        twins; /* of those counted, variants with the machine code of another, which was tried */

    /* Ranked: those that are ok by what the race decided, fastest first (compiled only: in no
     * order), then the rest, twins after the one that was tried. results[0] is the best where
     * best_found. */
    size_t result_count;
    run_result *results;
    bool best_found;
    bool has_baseline;
    size_t baseline; /* its place in `results` */
    double speedup;  /* baseline's time over the best's; 0: not known */
    run_verdict verdict;
    size_t tied_count; /* VERDICT_TIED: variants other than the best */

    uint64_t work[WORK_UNITS]; /* of a launch: bytes that a perfect kernel must move, flops, items;
                                  0 not given */
    const char *item;          /* what items are, "" for none */
    ceiling_kind ceiling;      /* what the shares are of */
    double ceiling_rate;       /* its 10^9 bytes, flops or items a second; 0 not known */
    double wall_s;
    double stage_s[STAGE_COUNT];

    uint64_t seed;
    const char *strategy;
    uint64_t budget_evaluations; /* 0: no limit */
    double budget_s;             /* 0: no limit */
    run_end end;
    const char *effort; /* that the run amounts to, "quick" ... "exhaustive"; NULL: none */

    char script_hash[33], template_hash[33];
    char nvrtc_version[16];
    char date[32];          /* ISO 8601, UTC: 2026-01-31T12:00:00Z */
    char record_path[4096]; /* empty: no record was written */

    size_t warning_count;
    char **warnings; /* one line each; owned */
} run_summary;

/* The date and time, as records have it; empty where the system has none. */
void run_summary_date(char *out, size_t size_bytes);

/* An empty summary for a pattern's `problem`: names, variables and the date are set. */
at_status run_summary_init(run_summary *s, const pattern *p, problem_kind problem, at_error *error);
void run_summary_deinit(run_summary *s);

/* Appends a result with room for every parameter's value and a copy of `configuration`, and counts
 * its outcome. *out is valid until the next call. */
at_status run_summary_add(run_summary *s, const char *configuration, outcome o, run_result **out,
                          at_error *error);

/* Appends a copy of one line of warning. Out of memory drops the line: a warning is not worth a
 * run. */
void run_summary_warn(run_summary *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The unit in which the speed of a variant is best stated: the ceiling's, or the first that the
 * pattern gives. */
work_unit run_summary_unit(const run_summary *s);

/* The variant that was tried in place of a twin; NULL when r is none. */
const run_result *run_summary_lead(const run_summary *s, const run_result *r);

/* The best and the baseline; NULL where there is none. */
const run_result *run_summary_best(const run_summary *s);
const run_result *run_summary_baseline(const run_summary *s);

/* "enumerate", "compile" ...; static storage. */
const char *run_stage_name(run_stage stage);
/* The name in tables and JSON; static storage. */
const char *run_verdict_name(run_verdict verdict);
const char *run_end_name(run_end end);

#endif
