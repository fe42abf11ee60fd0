/* The state that the files of the race driver share; no other file includes this.
 *
 * From the top down: driver.c has blocks sampled; others.c has other GPUs sample some; finalists.c
 * checks, proves and reads the energy of the finalists; entrants.c loads entrants onto the device,
 * waits for answers, takes those out that fail, and says how the log knows a question. */
#ifndef AUTOTUNE_RUN_RACE_STATE_H
#define AUTOTUNE_RUN_RACE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "run/race/driver.h"

enum { STEP_MS = 100, CEILING_SAMPLES = 512 };

/* ---- driver.c: the chip's clock ----
 *
 * Watches the chip's clock from block to block, and says which blocks of samples count.
 *
 * In: for every block, the clock at which it was sampled. Out: whether to keep the block or to
 * measure it again as a whole (repeating the sample of one variant alone would select times by
 * their size). If the chip stays away from its clock it is throttled: the block is kept, because
 * its samples still compare with each other, and later blocks are compared with the new clock.
 * Pure: no clock, no device, no allocation, no failure. */
enum { CLOCK_WATCH_HISTORY = 64, CLOCK_WATCH_TRIES = 3 };

typedef enum clock_verdict {
    CLOCK_KEEP,     /* the block counts */
    CLOCK_REDO,     /* measure the block again */
    CLOCK_THROTTLED /* the block counts; say that the chip is throttled */
} clock_verdict;

typedef struct clock_watch {
    double history_khz[CLOCK_WATCH_HISTORY]; /* of blocks that were kept, the latest ones */
    size_t count;                            /* ever put there */
    double away_khz[CLOCK_WATCH_TRIES];      /* of the tries in a row that were not */
    size_t away;
    uint64_t redone, throttled; /* verdicts given */
} clock_watch;

void clock_watch_init(clock_watch *w);

/* Judges a block by its clock; 0 (not known) is kept. */
clock_verdict clock_watch_judge(clock_watch *w, double clock_khz);

/* The median clock of the latest blocks that were kept; 0: none was known. */
double clock_watch_median_khz(const clock_watch *w);

/* ---- the state ---- */

/* Another GPU of the model, which samples blocks beside home. */
typedef struct race_other {
    device_worker *worker;  /* borrowed */
    bool *held;             /* entrants */
    device_question *loads; /* not answered yet, or not looked at */
    size_t load_count;
    uint32_t *order; /* of the block that it was asked for */
    size_t count;    /* of that block; 0: there is none */
    bool probes;     /* that block is a probe's */
    device_question block;
    clock_watch watch;
} race_other;

/* An entrant, at home. */
typedef struct race_place {
    candidate *who;
    bool held;       /* by the device worker */
    bool in_block;   /* the latest */
    int64_t home_ns; /* its latest sample; 0: none */
    energy_estimate energy;
} race_place;

/* Invariants: an entrant that is `held` is on the device worker at home; every entrant of the
 * latest block is `in_block`, others may be held from an earlier one; `blocks` grows with each
 * answer, from the journal or a device, so that it numbers the questions of a resumed race alike. A
 * race goes through `probing` (at most once, first), blocks, the finals, `checked` and
 * `energy_known`, in this order; an entrant that fails leads back from the check to blocks. */
struct race_driver {
    session *session;
    pipeline *pipeline;
    race_log *log;
    uint64_t seed;
    bool quick; /* the winner alone is checked again and its proof waited for */
    race *race;
    race_driver_state state;

    /* The entrants, by their numbers in the space, whenever they were tried. */
    race_place *entrants;
    size_t count;

    /* Blocks. */
    size_t home;       /* the GPU that it began on */
    candidate **asked; /* of the block in progress, in its order */
    uint64_t *ids;     /* the same, for the device worker */
    uint64_t blocks;   /* that were answered */
    int64_t block_ns;  /* wall time of the latest at home */
    /* A probe's samples count no further, and need no check on ragged problems. */
    bool probing;
    clock_watch watch;
    int64_t ceiling_ns[CEILING_SAMPLES];
    size_t ceiling_count;
    bool board_asked;

    /* Other GPUs that sample blocks. */
    race_other *others;
    size_t other_count;
    rng random;     /* of their blocks' orders */
    double *ratios; /* scratch, one for each entrant */

    /* Proofs, and the check of the finalists on fresh data. */
    size_t likely_proofs; /* that have begun because a finalist is likely to need them */
    int64_t until_ns;     /* race_driver_hurry(); 0: as long as is usual */
    int64_t check_ns;     /* of the check that took longest */
    bool impatient;       /* a proof was waited for in vain */
    bool checked;         /* the finalists */

    /* Energy. */
    bool energy_wanted;     /* it ranks the finalists */
    bool read_energy;       /* the winner's alone */
    bool energy_known;      /* what is wanted of it was measured */
    race_standing *ranking; /* by energy, when energies are known */
    race_result result;     /* what points to it */
};

/* A question about an entrant, and as the journal knows it. */
typedef struct race_request {
    uint32_t entrant;
    device_question question;
    race_question logged;
    bool is_load; /* which is done again when it is needed: only a failure is worth a line */
} race_request;

/* ---- entrants.c: questions ---- */

/* Waits for the answer to a question, or to what was asked of the device last. */
at_status question_await(race_driver *d, device_question question, device_event *out,
                         at_error *error);
at_status question_await_latest(race_driver *d, device_event *out, at_error *error);

/* A question about one entrant, as the log knows it; the stage that its answer is logged with. */
race_question question_of(const race_driver *d, const char *what, uint64_t number,
                          uint32_t entrant);
const char *question_stage(const race_driver *d);

/* Notes how many other processes compute on the GPU. */
void question_note_others(race_driver *d, uint32_t others);

/* ---- others.c ---- */

/* Finds the other GPUs that are ready. */
void others_join(race_driver *d);

/* Has them load the entrants of the next block (d->in_block), and drop others, without waiting.
 * They need not check on ragged problems if home does. */
void others_load(race_driver *d, const uint32_t *order, size_t count);

/* While home samples the next block: asks each for a further one of the same entrants, as far as
 * the race wants any. */
void others_ask(race_driver *d, const uint32_t *order, size_t count);

/* Sends them what they are to do, and hears them, without waiting; has a poll wake up for those
 * that are at something. */
void others_watch(race_driver *d);
void others_poll(const race_driver *d, poll_set *set);

/* *found: one has sampled the same entrants. The event, the caller's, is as if home had: in that
 * order, with times in home's measure. Waits for it no longer than is worth it. */
void others_take(race_driver *d, const uint32_t *order, size_t count, bool *found,
                 device_event *out);

/* They have nothing more to do in this race: drops what they hold. */
void others_leave(race_driver *d);

/* ---- entrants.c: loading ---- */

/* Releases the kernels of entrants that are not in a block: the race drops entrants for good. */
at_status entrants_release_dropped(race_driver *d, const uint32_t *order, size_t count,
                                   at_error *error);

/* Machine code that was dropped, that a journal stood for, or that is missing for ragged problems,
 * is compiled (again, from the cache), without waiting for it. */
at_status entrants_submit(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Has entrants compiled, loaded, and checked on their ragged problems unless this is for a probe.
 * One that fails is out. AT_DEVICE when the GPU of the race is lost. */
at_status entrants_load(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Waits for the answers to requests about entrants, and keeps them in the log: one that fails is
 * out. */
at_status entrants_await(race_driver *d, const race_request *waiting, size_t count,
                         at_error *error);

/* Takes an entrant out: with an outcome, or one that has its outcome. */
void entrants_exclude(race_driver *d, uint32_t entrant, outcome o, const char *message);
void entrants_leave_out(race_driver *d, uint32_t entrant);

/* ---- finalists.c ---- */

/* Checks the finalists: each is right on fresh data and was not convicted by a proof, or is out.
 * Sets d->checked once the winner is checked. */
at_status finalists_check(race_driver *d, at_error *error);

/* Measures the energies that the settings ask for: the winner's, or all finalists'. It takes longer
 * than the race. */
at_status finalists_measure_energy(race_driver *d, at_error *error);

/* Sets d->result to the result with its finalists ranked by energy, the least first; those without
 * one follow in their order. */
void finalists_rank_by_energy(race_driver *d, const race_result *by_time);

#endif
