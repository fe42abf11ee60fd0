/* Everything that an outcome depends on, as a hash: a variant that was measured under the same key
 * is not measured again.
 *
 * All variants of a run share the facts: the device and its driver, NVRTC, the problems and their
 * reference, the way of measuring. A variant's own part is its identity (run/variant/sources.h). A
 * key is the XXH3-128 of these fields, packed as in a message (base/pack.h). */
#ifndef AUTOTUNE_JOURNAL_KEY_H
#define AUTOTUNE_JOURNAL_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "device/device.h"
#include "device/plan.h"

/* Incremented when samples of an older autotune are no longer comparable. */
enum { JOURNAL_MEASURING_VERSION = 3 };

typedef struct journal_key {
    unsigned char bytes[16];
} journal_key;

typedef struct journal_facts {
    const char *pattern; /* name; an identifier */
    const device_properties *device;
    /* GPUs of the same model that share the run, by UUID; "": not known yet. NULL: none. */
    const char *const *others;
    size_t other_count;
    const char *nvrtc_version;
    const problem_plan *problems; /* measured and checked: tuned, ragged ... */
    size_t problem_count;
    const char *reference_hash; /* of the reference kernels and how they are launched; "" without */
    bool warm_cache;
    const char *before_hash; /* of the kernels that run before each sample; NULL or "": none do */
} journal_facts;

/* A request of the race to the device: what, of which variants, in this order. Its answer is an
 * entry. */
typedef struct journal_question {
    const char *asked; /* "block", "check" ... */
    uint64_t number;   /* of the block; of a check its seed */
    const journal_key *variants;
    const uint64_t *configurations; /* their numbers in the space: two may have one kernel */
    size_t count;
} journal_question;

/* The facts without the GPU's UUID. */
journal_key journal_key_of_facts(const journal_facts *f);

/* The key of what was packed; the pack is empty then. */
journal_key journal_key_of_pack(pack *m);

/* The key of both together, in this order. */
journal_key journal_key_of_both(journal_key first, journal_key second);

/* The facts with a GPU's UUID. */
journal_key journal_key_of_gpu(journal_key facts, const char *uuid);

/* `race` is the key of the race that it belongs to. */
journal_key journal_key_of_question(journal_key race, const journal_question *q);

#endif
