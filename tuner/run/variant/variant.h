/* Candidates: the variants a run knows, from their emission to their outcome.
 *
 * The table owns its candidates; pointers to them stay valid until candidates_deinit(). */
#ifndef AUTOTUNE_RUN_VARIANT_VARIANT_H
#define AUTOTUNE_RUN_VARIANT_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/client.h"
#include "compile/compile.h"
#include "device/coverage.h"
#include "device/measurement.h"
#include "device/plan.h"
#include "journal/journal.h"
#include "run/variant/proof.h"

/* The check on the ragged problems. */
typedef enum candidate_ragged {
    RAGGED_WITH_TUNED, /* together with the tuned problem's, or there is none */
    RAGGED_DEFERRED,   /* until a race wants the candidate, or it leads the search */
    RAGGED_UNPREPARED, /* the same, and it did not compile when that was tried before the race */
    RAGGED_PREPARED,   /* compiled, or submitted, because a race is likely to want it */
    RAGGED_WANTED,     /* compiled, or submitted, because a race wants it or it is being checked */
    RAGGED_PASSED      /* after it was deferred */
} candidate_ragged;

typedef struct candidate {
    uint64_t configuration; /* index into the space */
    uint64_t id;            /* place in the table */
    bool finished;          /* it has an outcome */
    uint8_t parts;          /* compile results that it still waits for */
    bool from_journal;      /* an earlier run measured it */
    measurement found;      /* owned; samples: the first ones, unpaired */
    char source_hash[33];   /* of the tuned problem's source */
    journal_key source,
        code; /* what it is by its sources, and by its machine code (run/variant/identity.h) */
    journal_key key;           /* by its sources, under the journal's facts and on its GPU */
    bool has_code;             /* `code` holds */
    struct candidate *twin_of; /* stands for it, which is not tried; NULL: it stands for itself */
    struct candidate
        *next_twin;   /* of the one that stands for both, or the first that it stands for */
    bool counted;     /* it, or one that it stands for, was an evaluation of the search */
    size_t gpu;       /* of the pipeline: what measured it, or is at it */
    bool under_way;   /* that GPU is at it */
    bool left_behind; /* it is compiled, and nobody waits for it any more */
    struct candidate *next_queued; /* in the pipeline, which has it in one queue at most */
    bool present[DEVICE_SLOTS];    /* problems that it is checked on */
    candidate_ragged ragged;
    uint32_t broken[DEVICE_SLOTS]; /* where it is not present: the constraint that rules it out */
    uint32_t layout;               /* of its data, as the device numbers it */
    launch_plan launches[DEVICE_SLOTS];
    void *images[DEVICE_SLOTS]; /* owned; NULL: that of slot 0 serves; dropped when not needed */
    size_t image_bytes[DEVICE_SLOTS];
    char image_suffixes[DEVICE_SLOTS][COMPILE_SUFFIX_BYTES]; /* of the entry's name in it */
    char codes[DEVICE_SLOTS]
              [33]; /* of each image the code and resources, as a hash; "" not known */
    bool proof_asked;
    proof_verdict verdict;     /* of its proof */
    char *unproven;            /* owned; why it is not proven; may be NULL */
    device_coverage *coverage; /* owned; what its proof covered; NULL: it is not proven */
} candidate;

typedef struct candidates {
    candidate **items;
    size_t count;
} candidates;

/* Appends a zeroed candidate for a configuration. */
at_status candidates_add(candidates *table, uint64_t configuration, candidate **out,
                         at_error *error);
void candidates_deinit(candidates *table);

/* Notes what became of it, with copies of the message and of the samples; what it took and its
 * resources stay. Out of memory drops the copies. */
void candidate_found(candidate *c, outcome o, const char *message, const int64_t *samples_ns,
                     size_t sample_count);

/* The same of one that had worked until then: its samples stay. */
void candidate_reject(candidate *c, outcome o, const char *message);

/* Takes what a proof found (and frees its message); a variant that is convicted has a wrong result,
 * whatever a device finds then. */
void candidate_judge(candidate *c, proof *found);

/* The median of its samples, 0 without one. */
int64_t candidate_median_ns(const candidate *c);

/* What the device worker wants to know of it; borrows the images. */
void candidate_variant(const candidate *c, device_variant *out);

/* Is it still to be compiled for its ragged problems? */
bool candidate_waits(const candidate *c);

/* Is it, or will it be, compiled for ragged problems on which it has not been checked? */
bool candidate_is_unchecked(const candidate *c);

/* Has it been checked on all problems that it accepts? */
bool candidate_is_checked(const candidate *c);

/* Is all machine code there that it needs? One that launches nothing needs none. */
bool candidate_has_code(const candidate *c);

/* What its machine code takes, in bytes. */
size_t candidate_code_bytes(const candidate *c);

/* Frees the machine code; it can be compiled again. */
void candidate_drop_images(candidate *c);

#endif
