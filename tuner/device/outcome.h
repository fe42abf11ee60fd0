/* The verdict on a variant: outcome, coverage of its check, oracle, measurement. Each variant of a
 * run has exactly one outcome, which the summary counts. No outcome ends the run. */
#ifndef AUTOTUNE_DEVICE_OUTCOME_H
#define AUTOTUNE_DEVICE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/arch.h"

typedef enum outcome {
    OUTCOME_OK,
    OUTCOME_REJECTED,      /* excluded by a constraint, or not tried because it is likely to hang */
    OUTCOME_COMPILE_ERROR, /* the compiler rejected the source */
    OUTCOME_LAUNCH_ERROR,  /* the device refused the launch for lack of resources */
    OUTCOME_WRONG_RESULT,  /* outputs, guard bands or inputs are wrong after a launch */
    OUTCOME_CRASHED,       /* the compiler or the device's context crashed */
    OUTCOME_TIMEOUT,       /* the kernel did not end within its time limit */
    OUTCOME_NOT_SIMULATED, /* the simulated device does not support an instruction of the kernel */
    OUTCOME_TOO_SLOW,      /* not checked, because its first launch was too slow to win */
    OUTCOME_COUNT
} outcome;

enum { FAULT_LINES = 5 };

/* A line of source. `column` is 0 if it is unknown. */
typedef struct fault_line {
    char file[128]; /* relative to the script's folder; empty if the line is unknown */
    uint32_t line, column;
} fault_line;

/* The facts in the message of a kernel's fault. Each fact but the kind may be unknown. */
typedef struct device_fault {
    char kind[32];                 /* "data race"; empty without a fault or if only a message
                                    * exists */
    fault_line lines[FAULT_LINES]; /* line of the fault, then of the calls that inlined it */
    bool has_thread;
    uint32_t thread[3], block[3];
    char space[8]; /* memory space of the address: "global"; empty without address */
    uint64_t address;
    char buffer[64]; /* buffer or variable at the address, or the nearest; may be empty */
    bool has_element;
    uint64_t element; /* index in the buffer; the element count or more if past the end */
} device_fault;

/* Returns the name in tables, journals and JSON ("ok" ...), "unknown" for other numbers. */
const char *outcome_name(outcome o);

/* Finds an outcome by its name. Returns false, and leaves `*out` alone, if the name is unknown. */
bool outcome_find(const char *name, outcome *out);

/* ---- coverage: how much of a variant the simulated device ran ---- */

enum { COVERAGE_TEXT_BYTES = 320, COVERAGE_PROBLEMS_BYTES = 1024 };

/* When a proof runs all blocks of a large problem instead of a sample of them. */
typedef enum device_whole {
    DEVICE_WHOLE_CHEAP,  /* if the estimated cost is low */
    DEVICE_WHOLE_NEEDED, /* also at a higher cost, if no result could be compared otherwise */
    DEVICE_WHOLE_ALWAYS
} device_whole;

typedef struct device_coverage {
    char problems[COVERAGE_PROBLEMS_BYTES]; /* the problems that were run, as text; may be empty */
    /* The following members are about the tuned problem, if it is too large to be run whole. */
    uint64_t blocks;   /* blocks of all launches; 0 if the problem was run whole or not at all */
    uint64_t run;      /* blocks that were run */
    uint64_t cut;      /* clusters or blocks that were stopped because they wait for others */
    uint64_t blind;    /* clusters or blocks that read results of blocks that were not run */
    bool whole;        /* all blocks ran, and all results were compared */
    bool smaller;      /* results were compared only for smaller problems */
    uint64_t compared; /* number of compared elements */
    char skipped[COVERAGE_TEXT_BYTES]; /* reason why no block was run or compared; may be empty */
    bool owes;                         /* for the reason in `skipped`, the variant has no proof */
    /* Source lines ("file:line") over all problems, separated by ", ". */
    char never[COVERAGE_TEXT_BYTES];  /* lines without any executed instruction */
    char once[COVERAGE_TEXT_BYTES];   /* loops in which no thread reached a second iteration */
    char stores[COVERAGE_TEXT_BYTES]; /* lines whose stores to global memory were never executed,
                                         with the condition of each */
    bool stored;                      /* some store to global memory was executed */
    char unwritten[2 * COVERAGE_TEXT_BYTES]; /* stores or outputs that no launch reached, so that
                                              * equal results mean nothing; may be empty */
    bool together; /* a block may depend on other blocks or on earlier launches */
    char allowed[COVERAGE_TEXT_BYTES];   /* allowed mismatches: "2 of 4096 elements of dst" */
    char unwatched[COVERAGE_TEXT_BYTES]; /* buffers not, or only partly, searched for races */
} device_coverage;

/* Records why a part of the check was left out. Keeps the first reason. */
void coverage_set_skipped(device_coverage *c, const char *what, const char *why);

/* Records why a part that the proof needs was left out. Replaces an earlier reason. */
void coverage_set_unproven(device_coverage *c, const char *what, const char *why);

/* Returns a copy that the caller frees. Returns NULL if `c` is NULL or memory ran out. */
device_coverage *coverage_copy(const device_coverage *c);

/* ---- oracles ----
 * The oracle is the source of the expected results. A reference kernel is independent of the
 * variants. Without a reference kernel, the results of the baseline are expected, so a variant that
 * agrees may share the baseline's mistakes. Files hold the results of another program. Races and
 * invalid accesses are found with any oracle. */

typedef enum oracle_kind {
    ORACLE_REFERENCE, /* a kernel that shares no code with the variants */
    ORACLE_BASELINE,  /* the baseline of the pattern */
    ORACLE_FILE,      /* results in files; the baseline for problems without a file */
    ORACLE_NONE,      /* results are not compared */
    ORACLE_KINDS
} oracle_kind;

/* Returns the name in records and JSON: "reference", "baseline", "file", "none". */
const char *oracle_name(oracle_kind kind);

/* Returns how messages name the kernel that computes the expected results. */
const char *oracle_kernel(oracle_kind kind);

/* Returns whether the baseline computes expected results, at least for some problems. */
bool oracle_is_own(oracle_kind kind);

/* Returns the words for elements that differ from the expected elements: "are wrong". */
const char *oracle_blame(oracle_kind kind);

/* Finds an oracle by its name. Returns false if the name is unknown. */
bool oracle_find(const char *name, oracle_kind *out);

/* The most bytes of a configuration as text ("tile=64,vec=4,..."), with its NUL. Reading a script
 * checks this limit. */
enum { CONFIGURATION_BYTES = 16 * 1024 };

typedef struct measurement {
    outcome outcome;
    const char *message;       /* reason of an outcome that is not ok; may be NULL or empty */
    const int64_t *samples_ns; /* in the order of measurement */
    size_t sample_count;
    int64_t low_ns, high_ns;      /* interval of 90 % of predicted times; 0 if measured */
    int64_t compile_ns, check_ns; /* duration of compilation (0 if not compiled) and of the check */
    bool has_resources;           /* `resources` is set: the variant was compiled */
    kernel_resources resources;
} measurement;

/* Replaces message and samples by copies that `*m` owns. Returns false if memory ran out; the
 * members without a copy are then empty. */
bool measurement_own(measurement *m);

/* Frees the copies made by measurement_own(). */
void measurement_deinit(measurement *m);

/* Returns the fastest sample in ns, 0 without samples. */
int64_t measurement_fastest_ns(const measurement *m);

/* The state of a GPU's board. Unknown figures are 0. */
typedef struct board_reading {
    double sm_clock_khz;
    uint64_t throttle;  /* bits of throttle reasons: board_throttle_text() */
    double power_w;     /* power, averaged by the board over up to a second */
    uint64_t energy_mj; /* energy since the driver was loaded */
} board_reading;

/* Writes the reasons for throttling ("power cap, thermal limit"), "" without any. Idleness and
 * clocks set by the user are not throttling. Returns `out`. */
char *board_throttle_text(uint64_t throttle, char *out, size_t size_bytes);

#endif
