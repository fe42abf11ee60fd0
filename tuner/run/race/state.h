/* The state that the files of the race driver share. Only these files include this header.
 *
 * From the top down: driver.c has blocks sampled; others.c has other GPUs sample some; finalists.c
 * checks and proves the finalists and reads their energy; entrants.c loads entrants onto the
 * device, waits for answers and takes out entrants that fail. */
#ifndef AUTOTUNE_RUN_RACE_STATE_H
#define AUTOTUNE_RUN_RACE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "run/race/driver.h"

enum { STEP_MS = 100, CEILING_SAMPLES = 512 };

/* ---- driver.c: the chip's clock ----
 *
 * Watches the chip's clock from block to block and decides which blocks of samples count.
 *
 * Input: the clock of every block. Output: keep the block, or measure the whole block again.
 * (Repeating the sample of one variant alone would select times by their size.) A chip that stays
 * away from its clock is throttled: the block is kept, because its samples still compare with each
 * other, and later blocks are compared with the new clock. Uses no clock and no device, allocates
 * nothing and cannot fail. */
enum { CLOCK_WATCH_HISTORY = 64, CLOCK_WATCH_TRIES = 3 };

typedef enum clock_verdict {
    CLOCK_KEEP,     /* the block counts */
    CLOCK_REDO,     /* measure the block again */
    CLOCK_THROTTLED /* the block counts, and the chip is throttled */
} clock_verdict;

typedef struct clock_watch {
    double history_khz[CLOCK_WATCH_HISTORY]; /* clocks of the latest blocks that were kept */
    size_t count;                            /* number of blocks that were kept */
    double
        away_khz[CLOCK_WATCH_TRIES]; /* clocks of the latest blocks in a row that were not kept */
    size_t away;
    uint64_t redone, throttled; /* number of these verdicts */
} clock_watch;

void clock_watch_init(clock_watch *w);

/* Judges a block by its clock. A clock of 0 is unknown; the block is kept. */
clock_verdict clock_watch_judge(clock_watch *w, double clock_khz);

/* Returns the median clock of the latest blocks that were kept, or 0 if none was known. */
double clock_watch_median_khz(const clock_watch *w);

/* ---- the state ---- */

/* Another GPU of the model, which samples blocks beside the home GPU. */
typedef struct race_other {
    device_worker *worker;  /* borrowed */
    bool *held;             /* by entrant */
    device_question *loads; /* requests without an answer yet */
    size_t load_count;
    uint32_t *order; /* entrants of the block that it was asked for */
    size_t count;    /* size of that block; 0 if there is none */
    bool probes;     /* that block belongs to the probe */
    device_question block;
    clock_watch watch;
} race_other;

/* An entrant on the home GPU. */
typedef struct race_place {
    candidate *who;
    bool held;       /* the device worker holds it */
    bool in_block;   /* it is in the latest block */
    int64_t home_ns; /* its latest sample; 0 if there is none */
    energy_estimate energy;
} race_place;

/* Invariants: an entrant that is `held` is on the home device worker. Every entrant of the latest
 * block is `in_block`; others may be held from an earlier one. `blocks` grows with each answer,
 * from the journal or a device, so that it numbers the questions of a resumed race alike. A race
 * goes through `probing` (at most once, first), blocks, the finals, `checked` and `energy_known`,
 * in this order. An entrant that fails leads back from the check to blocks. */
struct race_driver {
    session *session;
    pipeline *pipeline;
    race_log *log;
    uint64_t seed;
    bool quick; /* only the winner is checked again and its proof waited for */
    race *race;
    race_driver_state state;

    /* In the order of their configurations, whenever they were tried. */
    race_place *entrants;
    size_t count;

    /* Blocks. */
    size_t home;       /* the GPU on which the race began */
    candidate **asked; /* candidates of the block in progress, in its order */
    uint64_t *ids;     /* their numbers, for the device worker */
    uint64_t blocks;   /* blocks that were answered */
    int64_t block_ns;  /* wall time of the latest block at home */
    /* A probe's samples count no further and need no check on ragged problems. */
    bool probing;
    clock_watch watch;
    int64_t ceiling_ns[CEILING_SAMPLES];
    size_t ceiling_count;
    bool board_asked;

    /* Other GPUs that sample blocks. */
    race_other *others;
    size_t other_count;
    rng random;     /* for the order of their blocks */
    double *ratios; /* room for one number an entrant */

    /* Proofs, and the check of the finalists on fresh data. */
    size_t likely_proofs; /* proofs that began early because their candidate is likely to become a
                             finalist */
    int64_t until_ns;     /* set by race_driver_hurry(); 0 if it was not called */
    int64_t check_ns;     /* time of the longest check */
    bool impatient;       /* a proof was not decided in time */
    bool checked;         /* the finalists are checked */

    /* Energy. */
    bool energy_wanted;     /* energy ranks the finalists */
    bool read_energy;       /* the winner's energy is read */
    bool energy_known;      /* the wanted energies were measured */
    race_standing *ranking; /* by energy, if energies are known */
    race_result result;     /* the result that points to `ranking` */
};

/* A question about an entrant, as the device and the journal know it. */
typedef struct race_request {
    uint32_t entrant;
    device_question question;
    race_question logged;
    bool is_load; /* a load, which is repeated when it is needed: only a failure is written to the
                     journal */
} race_request;

/* ---- entrants.c: questions ---- */

/* Wait for the answer to a question, or to the latest request to the device. Return AT_INTERRUPTED
 * when the run must end. */
at_status question_await(race_driver *d, device_question question, device_event *out,
                         at_error *error);
at_status question_await_latest(race_driver *d, device_event *out, at_error *error);

/* Return a question about one entrant, as the log knows it, and the stage that its answer is logged
 * with. */
race_question question_of(const race_driver *d, const char *what, uint64_t number,
                          uint32_t entrant);
const char *question_stage(const race_driver *d);

/* Notes how many other processes compute on the GPU. */
void question_note_others(race_driver *d, uint32_t others);

/* ---- others.c ---- */

/* Finds the other GPUs that are ready. */
void others_join(race_driver *d);

/* Has the other GPUs load the entrants of the next block (d->in_block) and release others, without
 * waiting. They need not check on ragged problems if the home GPU does. */
void others_load(race_driver *d, const uint32_t *order, size_t count);

/* Asks each other GPU for a further block of the same entrants while the home GPU samples, if the
 * race wants more. */
void others_ask(race_driver *d, const uint32_t *order, size_t count);

/* Sends requests to the other GPUs and takes their answers, without waiting. others_poll() adds the
 * busy ones to a poll. */
void others_watch(race_driver *d);
void others_poll(const race_driver *d, poll_set *set);

/* Takes a block that another GPU has sampled of the same entrants. Sets *found. The event belongs
 * to the caller; its samples are in that order and in the home GPU's measure. Waits only as long as
 * that saves time. */
void others_take(race_driver *d, const uint32_t *order, size_t count, bool *found,
                 device_event *out);

/* Ends the work of the other GPUs for this race and releases what they hold. */
void others_leave(race_driver *d);

/* ---- entrants.c: loading ---- */

/* Releases the kernels of entrants that are not in a block. The race drops entrants for good. */
at_status entrants_release_dropped(race_driver *d, const uint32_t *order, size_t count,
                                   at_error *error);

/* Submits missing machine code of entrants for compilation, without waiting: code that was dropped,
 * that only the journal knew, or that is missing for ragged problems. */
at_status entrants_submit(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Has entrants compiled, loaded, and checked on their ragged problems unless the block belongs to a
 * probe. An entrant that fails is taken out. Returns AT_DEVICE if the GPU of the race is lost,
 * AT_INTERRUPTED when the run must end. */
at_status entrants_load(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Waits for the answers to requests about entrants and keeps them in the log. An entrant that fails
 * is taken out. */
at_status entrants_await(race_driver *d, const race_request *waiting, size_t count,
                         at_error *error);

/* Take an entrant out of the race: with an outcome, or one that has its outcome already. */
void entrants_exclude(race_driver *d, uint32_t entrant, outcome o, const char *message);
void entrants_leave_out(race_driver *d, uint32_t entrant);

/* ---- finalists.c ---- */

/* Checks the finalists: each is right on fresh data and was not rejected by a proof, or is taken
 * out. Sets d->checked once the winner is checked. */
at_status finalists_check(race_driver *d, at_error *error);

/* Measures the energies that the settings ask for, the winner's or all finalists'. Takes longer
 * than the race. */
at_status finalists_measure_energy(race_driver *d, at_error *error);

/* Sets d->result to the result with its finalists ranked by energy, least first. Entrants without
 * an energy follow in their order. */
void finalists_rank_by_energy(race_driver *d, const race_result *by_time);

#endif
