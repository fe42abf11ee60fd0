/* The state that the files of the race driver share; only they include this header. driver.c gets
 * samples of blocks; others.c lets other GPUs sample some blocks; finalists.c checks and proves the
 * finalists and reads their energy; entrants.c loads entrants, waits for answers and removes
 * entrants that fail. */
#ifndef AUTOTUNE_RUN_RACE_STATE_H
#define AUTOTUNE_RUN_RACE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "run/race/driver.h"

enum { STEP_MS = 100, CEILING_SAMPLES = 512 };

/* ---- clock_watch.c: the chip's clock ----
 *
 * Decides by the clock of every block whether the block counts. Otherwise the whole block is
 * measured again, because repeating single samples would select times by their size. A chip that
 * stays away from its clock is throttled. Its blocks are kept, because their samples still compare
 * with each other, and later blocks are compared with the new clock. */
enum { CLOCK_WATCH_HISTORY = 64, CLOCK_WATCH_TRIES = 3 };

typedef enum clock_verdict {
    CLOCK_KEEP,     /* the block counts */
    CLOCK_REDO,     /* measure the block again */
    CLOCK_THROTTLED /* the block counts, but the chip is throttled */
} clock_verdict;

typedef struct clock_watch {
    double history_khz[CLOCK_WATCH_HISTORY]; /* clocks of the latest blocks that were kept */
    size_t count;                            /* number of blocks that were kept */
    double away_khz[CLOCK_WATCH_TRIES];      /* clocks of the latest blocks in a row that were not
                                              * kept */
    size_t away;
    uint64_t redone, throttled; /* number of verdicts CLOCK_REDO, and of times the chip began to be
                                 * throttled */
} clock_watch;

void clock_watch_init(clock_watch *w);

/* Judges a block by its clock. Keeps a block with an unknown clock (0). */
clock_verdict clock_watch_judge(clock_watch *w, double clock_khz);

/* Returns the median clock of the latest blocks that were kept, or 0 if it is unknown. */
double clock_watch_median_khz(const clock_watch *w);

/* ---- the state ---- */

/* Another GPU of the same model, which samples blocks beside the home GPU (run/setup/workers.h). */
typedef struct race_other {
    device_worker *worker;  /* borrowed */
    bool *held;             /* by entrant: the GPU has loaded the entrant */
    device_question *loads; /* requests that are not answered yet */
    size_t load_count;
    uint32_t *order; /* entrants of the block in progress */
    size_t count;    /* size of that block; 0 without a block */
    bool probes;     /* that block belongs to the probe */
    device_question block;
    clock_watch watch;
} race_other;

typedef struct race_place {
    candidate *who;
    bool held;       /* the home device worker holds the entrant */
    bool in_block;   /* the entrant is in the latest block */
    int64_t home_ns; /* the entrant's latest sample on the home GPU; 0 without a sample */
    energy_estimate energy;
} race_place;

/* Invariants: an entrant that is `held` is on the home device worker. Every entrant of the latest
 * block is `in_block`; other entrants may be held from an earlier block. `blocks` grows with each
 * answer, from journal or device, so a resumed race numbers its questions in the same way. A race
 * goes through `probing` (at most once), blocks, finals, `checked`, `energy_known`. After a failed
 * check it goes back to blocks. */
struct race_driver {
    session *session;
    pipeline *pipeline;
    race_log *log;
    uint64_t seed;
    bool quick; /* only the winner is checked again, and only its proof is waited for */
    race *race;
    race_driver_state state;

    /* Sorted by configuration, not by the order in which they were tried. */
    race_place *entrants;
    size_t count;

    size_t home;       /* the GPU on which the race began */
    candidate **asked; /* candidates of the block in progress, in its order */
    uint64_t *ids;     /* ids of these candidates, for the device worker */
    uint64_t blocks;   /* blocks that were answered */
    int64_t block_ns;  /* wall time of the latest block at home */
    /* A probe's samples do not count later and need no check on ragged problems. */
    bool probing;
    /* Entrants must have passed their ragged problems. False before the finals, so that entrants
     * which are not compiled for ragged problems can race: most of them lose. */
    bool needs_check;
    clock_watch watch;
    int64_t ceiling_ns[CEILING_SAMPLES];
    size_t ceiling_count;
    bool board_asked;

    race_other *others;
    size_t other_count;
    rng random;     /* for the order of the entrants in blocks of other GPUs */
    double *ratios; /* one number for each entrant */

    size_t likely_proofs; /* proofs that began early, of likely finalists */
    int64_t until_ns;     /* set by race_driver_hurry(); 0 if it was not called */
    int64_t check_ns;     /* time of the longest check */
    bool timed_out;       /* a proof was not decided in time */
    bool checked;         /* the finalists are checked */

    bool energy_wanted;     /* energy ranks the finalists */
    bool read_energy;       /* the winner's energy is read */
    bool energy_known;      /* the wanted energies were measured */
    race_standing *ranking; /* sorted by energy, if energies are known */
    race_result result;     /* result of the race, with `ranking` */
};

/* A question about an entrant, as the device and the journal know it. */
typedef struct race_request {
    uint32_t entrant;
    device_question question;
    race_question logged;
    bool is_load; /* a load; only its failure is logged, because a load is repeated if necessary */
} race_request;

/* ---- entrants.c: questions ---- */

/* Wait for the answer to a question, or to the latest request. May return AT_INTERRUPTED. */
at_status question_await(race_driver *d, device_question question, device_event *out,
                         at_error *error);
at_status question_await_latest(race_driver *d, device_event *out, at_error *error);

/* Return a question about one entrant for the log, or the stage with which its answer is logged. */
race_question question_of(const race_driver *d, const char *what, uint64_t number,
                          uint32_t entrant);
const char *question_stage(const race_driver *d);

/* Notes the number of other processes on the GPU, if it is the highest so far. */
void question_note_others(race_driver *d, uint32_t others);

/* ---- others.c ---- */

/* Makes all ready GPUs besides the home GPU take part in the race. */
void others_join(race_driver *d);

/* Makes the other GPUs load the entrants of the next block (d->in_block) and release other
 * entrants, without waiting. The home GPU alone checks entrants on ragged problems. */
void others_load(race_driver *d, const uint32_t *order, size_t count);

/* If the race wants more blocks, asks the other GPUs for blocks of these entrants while the home
 * GPU samples. */
void others_ask(race_driver *d, const uint32_t *order, size_t count);

/* Sends requests to the other GPUs and takes their answers, without waiting. */
void others_watch(race_driver *d);
void others_poll(const race_driver *d, poll_set *set);

/* Takes another GPU's block of the same entrants; sets *found. The event belongs to the caller; its
 * samples are in the given order and on the home GPU's scale. Waits only while that saves time. */
void others_take_block(race_driver *d, const uint32_t *order, size_t count, bool *found,
                       device_event *out);

/* Ends the work of the other GPUs for this race and releases the kernels that they hold. */
void others_leave(race_driver *d);

/* ---- entrants.c: loading ---- */

/* Releases the kernels of entrants that the block `order` lacks. The race dropped them for good. */
at_status entrants_release_dropped(race_driver *d, const uint32_t *order, size_t count,
                                   at_error *error);

/* Submits entrants' missing code for compilation, without waiting: code that was dropped, that only
 * the journal knew, or that is missing for ragged problems and needed for a check. */
at_status entrants_submit(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Compiles and loads entrants, and checks them on the ragged problems for which they are compiled,
 * unless `probing`. Removes entrants that fail. Returns AT_DEVICE if the home GPU is lost, or
 * AT_INTERRUPTED. */
at_status entrants_load(race_driver *d, const uint32_t *order, size_t count, at_error *error);

/* Waits for answers about entrants and keeps them in the log. Removes entrants that fail. */
at_status entrants_await(race_driver *d, const race_request *waiting, size_t count,
                         at_error *error);

/* Remove an entrant from the race: with a new outcome, or with its candidate's outcome. */
void entrants_exclude(race_driver *d, uint32_t entrant, outcome o, const char *message);
void entrants_leave_out(race_driver *d, uint32_t entrant);

/* ---- finalists.c ---- */

/* Checks each finalist on fresh data and waits for its proof; removes it if one fails. Sets
 * d->checked once the winner is checked. */
at_status finalists_check(race_driver *d, at_error *error);

/* Measures the energies that the settings ask for. Takes longer than the race. */
at_status finalists_measure_energy(race_driver *d, at_error *error);

/* Sets d->result to a ranking by energy, least first. Entrants without a known energy come last. */
void finalists_rank_by_energy(race_driver *d, const race_result *by_time);

#endif
