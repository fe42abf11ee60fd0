/* Candidates: the variants a run knows, from their emission to their outcome.
 *
 * The table owns its candidates; pointers to them stay valid until candidates_deinit(). */
#ifndef AUTOTUNE_RUN_VARIANT_H
#define AUTOTUNE_RUN_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compile/compile.h"
#include "bench/client.h"
#include "base/error.h"
#include "journal/journal.h"
#include "device/outcome.h"
#include "device/plan.h"
#include "run/proof.h"

typedef struct candidate {
    uint64_t configuration; /* index into the space */
    uint64_t id;            /* place in the table */
    bool finished;          /* `outcome` holds */
    bool from_journal;      /* an earlier run measured it */
    outcome outcome;
    char *message;          /* owned; why it is not ok; may be NULL */
    char source_hash[33];   /* of the tuned problem's source */
    journal_key key;        /* everything its outcome depends on */
    bool has_resources;
    kernel_resources resources;
    int64_t compile_ns, check_ns; /* what it took, whenever that was */
    bool present[DEVICE_SLOTS]; /* problems that it is checked on */
    uint32_t broken[DEVICE_SLOTS]; /* where not: the constraint that rules it out */
    launch_plan launches[DEVICE_SLOTS];
    void *images[DEVICE_SLOTS]; /* owned; NULL: that of slot 0 serves; dropped when not needed */
    size_t image_bytes[DEVICE_SLOTS];
    char image_suffixes[DEVICE_SLOTS][COMPILE_SUFFIX_BYTES]; /* of the entry's name in it */
    bool proof_asked;
    proof_verdict verdict;  /* of its proof */
    char *unproven;         /* owned; why it is not proven; may be NULL */
    int64_t *samples_ns;    /* owned; first samples, unpaired */
    size_t sample_count;
} candidate;

typedef struct candidates {
    candidate **items;
    size_t count, capacity;
} candidates;

/* Appends a zeroed candidate for a configuration. */
at_status candidates_add(candidates *table, uint64_t configuration, candidate **out,
                         at_error *error);
void candidates_deinit(candidates *table);

/* The outcome, with a copy of `message` (NULL: none). Out of memory drops the message. */
void candidate_finish(candidate *c, outcome o, const char *message);

/* Takes what a proof found (and frees its message); a variant that is convicted has a wrong result. */
void candidate_judge(candidate *c, proof *found);

/* Takes a copy of its samples. Out of memory keeps none. */
void candidate_keep_samples(candidate *c, const int64_t *samples_ns, size_t count);

/* The fastest of its samples, 0 without one. */
int64_t candidate_fastest_ns(const candidate *c);

/* The median of its samples, 0 without one. */
int64_t candidate_median_ns(const candidate *c);

/* What the device worker wants to know of it; borrows the images. */
void candidate_variant(const candidate *c, device_variant *out);

/* Frees the machine code; it can be compiled again. */
void candidate_drop_images(candidate *c);

#endif
