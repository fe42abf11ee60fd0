/* The settings of a run: plain data that configures everything in this room.
 *
 * The command line fills one (cmd/line/options.h); strings are borrowed. */
#ifndef AUTOTUNE_RUN_SETUP_SETTINGS_H
#define AUTOTUNE_RUN_SETUP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace.h"
#include "script/script.h"
#include "search/stopping.h"

enum { SETTINGS_MAX_VARIABLES = 64, SETTINGS_MAX_AFTER = 4 };

/* The pattern that a command is about. */
typedef struct pattern_settings {
    const char *script;   /* name or path, as paths_find_script() takes it */
    const char *describe; /* what stands for the comment of a kernel's file; NULL: it has one */
    const char *captured; /* a launch, as captured_read() takes it; NULL: none */
    script_setting
        variables[SETTINGS_MAX_VARIABLES]; /* of the problem, that replace the script's */
    size_t variable_count;
    script_setting only[SETTINGS_MAX_VARIABLES]; /* NAME=V1,V2,...: only these values are tried */
    size_t only_count;
    const char *includes[SCRIPT_INCLUDES_MAX]; /* folders of headers */
    size_t include_count;
} pattern_settings;

/* The workers of a run. */
typedef struct machine_settings {
    const char *device; /* "cuda:0"; "cuda:0,2", GPUs of one model; NULL: the default */
    const char *arch;   /* compile for it alone, without a device; NULL: do not. "sm_80,sm_90" for
                         * a command that takes several */
    double share;       /* of the GPU's time that it may use; 0: all */
    int jobs;           /* compile workers; 0: one a core */
    bool use_cache;     /* of compiled kernels */
    struct workers *workers; /* of earlier runs (run/setup/workers.h); borrowed, NULL: its own */
} machine_settings;

/* The configurations that are tried, and how many. */
typedef struct search_settings {
    const char *strategy;        /* NULL: the default */
    uint64_t budget_evaluations; /* 0: no limit */
    double budget_s;             /* 0: no limit */
    bool has_effort;             /* `effort` holds */
    effort effort;
    double stop_at;            /* share of the ceiling; 0: go on */
    const char *warm_start;    /* file of earlier measurements; NULL: none */
    const char *const *starts; /* configurations ("tile=64,vec=4,...") to try right after the
                                * default, if they are valid */
    size_t start_count;
    uint64_t seed;     /* of the race, too */
    bool counts_twins; /* against budget_evaluations: nothing is tried in their place */
} search_settings;

/* How times are measured and compared. */
typedef struct race_settings {
    size_t fixed_samples;                  /* 0: race */
    size_t finals_blocks;                  /* 0: the protocol's */
    double tie_margin;                     /* relative; negative: the protocol's */
    bool energy;                           /* the objective: energy instead of time */
    bool read_energy;                      /* read the winner's energy, although time decides */
    bool verify_all;                       /* race the winner on the other GPUs, too */
    bool warm_cache;                       /* sample without the flush of the L2 */
    const char *after[SETTINGS_MAX_AFTER]; /* scripts of kernels that run before each sample */
    size_t after_count;
} race_settings;

/* What becomes of a run's findings. */
typedef struct result_settings {
    const char *results_dir;
    bool record;      /* write a record if a GPU was measured */
    bool must_record; /* refuse to run if no record can be written */
    bool is_part;     /* of something longer, which can resume it until that is complete:
                       * see tune_take_journal() */
} result_settings;

typedef struct settings {
    pattern_settings pattern;
    machine_settings machine;
    search_settings search;
    race_settings race;
    result_settings results;
    bool prove_all;      /* prove every variant that works, not only the finalists */
    bool leave_unproven; /* prove none */
    bool quiet;          /* no progress on stderr */
    trace *trace;        /* where the time goes; borrowed, NULL: not asked for */
} settings;

/* --effort quick: an answer within seconds is worth more than the last percent. */
static inline bool settings_are_quick(const settings *s)
{
    return s->search.has_effort && s->search.effort == EFFORT_QUICK;
}

#endif
