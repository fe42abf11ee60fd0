/* The settings of a run: plain data, filled in by cmd/line/options.h. Strings are borrowed. */
#ifndef AUTOTUNE_RUN_SETUP_SETTINGS_H
#define AUTOTUNE_RUN_SETUP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/script.h"
#include "search/stopping.h"

enum { SETTINGS_MAX_VARIABLES = 64, SETTINGS_MAX_AFTER = 4 };

typedef struct pattern_settings {
    const char *script;   /* name or path, as paths_find_script() takes it */
    const char *describe; /* text in place of the comment of a kernel file; may be NULL */
    const char *captured; /* a captured launch, as captured_read() takes it; may be NULL */
    script_setting variables[SETTINGS_MAX_VARIABLES]; /* variables with values other than the
                                                       * script's */
    size_t variable_count;
    script_setting only[SETTINGS_MAX_VARIABLES]; /* NAME=V1,V2,...: the only values to try */
    size_t only_count;
    const char *includes[SCRIPT_INCLUDES_MAX]; /* folders of headers */
    size_t include_count;
} pattern_settings;

typedef struct machine_settings {
    const char *device; /* "cuda:0"; "cuda:0,2" for GPUs of one model; NULL for the default */
    const char *arch;   /* architecture to compile for without a device ("sm_80", or several with
                           commas); may be NULL */
    double share;       /* share of the GPU's time that the run may use; 0 for all */
    int jobs;           /* number of compile workers; 0 for one per core */
    bool use_cache;     /* use the cache of compiled kernels */
    struct workers *workers; /* workers of earlier runs; borrowed; if NULL the run opens its own */
} machine_settings;

/* The configurations to try, and their number. */
typedef struct search_settings {
    const char *strategy;        /* NULL for the default */
    uint64_t budget_evaluations; /* 0 if there is no limit */
    double budget_s;             /* 0 if there is no limit */
    bool has_effort;             /* `effort` is set */
    effort effort;
    double stop_at;         /* share of the ceiling at which the search stops; 0 if it does not */
    const char *warm_start; /* file of earlier measurements; may be NULL */
    const char *const
        *starts; /* configurations ("tile=64,vec=4,...") to try right after the default, if valid */
    size_t start_count;
    uint64_t seed;     /* seed of search and race */
    bool counts_twins; /* twins count against budget_evaluations */
} search_settings;

/* How times are measured and compared. */
typedef struct race_settings {
    size_t fixed_samples; /* number of samples of each variant without a race; 0 for a race */
    size_t finals_blocks; /* blocks of the finals; 0 for the protocol's number */
    double tie_margin;    /* relative margin of a tie; negative for the protocol's margin */
    bool energy;          /* rank by energy instead of time */
    bool read_energy;     /* read the winner's energy, although time decides */
    bool verify_all;      /* race the winner on the other GPUs, too */
    bool warm_cache;      /* take samples without the flush of the L2 */
    const char *after[SETTINGS_MAX_AFTER]; /* scripts of kernels that run before each sample */
    size_t after_count;
} race_settings;

typedef struct result_settings {
    const char *results_dir;
    bool record;      /* write a record if a GPU was measured */
    bool must_record; /* do not run if no record can be written */
    bool is_part;     /* part of a longer run, which can resume it until that run is complete
                         (tune_take_journal) */
} result_settings;

typedef struct settings {
    pattern_settings pattern;
    machine_settings machine;
    search_settings search;
    race_settings race;
    result_settings results;
    bool prove_all;      /* prove every variant that works, not only the finalists */
    bool leave_unproven; /* prove no variant */
    bool quiet;          /* no progress on stderr */
} settings;

/* Returns true for --effort quick: an answer within seconds is worth more than the last percent. */
static inline bool settings_are_quick(const settings *s)
{
    return s->search.has_effort && s->search.effort == EFFORT_QUICK;
}

#endif
