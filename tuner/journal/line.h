/* The entries of a journal: their keys, and the lines that hold them.
 *
 * A key is the XXH3-128 of everything that an outcome depends on, packed as in a message
 * (base/pack.h): a variant whose key has an entry is not measured again. All variants of a run
 * share the facts: the device and its driver, NVRTC, the problems and their reference, the way of
 * measuring. The key of a variant covers these facts and its identity (run/variant/sources.h).
 *
 * A line is a JSON object whose last member, "check", is the XXH3-64 of everything before it.
 *
 *   {"run":R,"facts":F,"key":K,"outcome":"ok","configuration":"tile=64,...",
 *    "samples_ns":[...],"compile_ns":N,"check_ns":N,"resources":{...},"message":"...",
 *    "stage":"screen","gpu":"GPU-...","code":C,"check":"0123456789abcdef"}
 *      the outcome of the variant K, measured by run R under the facts F
 *   {"run":R,"facts":F,"key":K,"outcome":"ok","configuration":"","samples_ns":[...],
 *    "compile_ns":0,"check_ns":0,"stage":"finals","asked":"block","configurations":[...],
 *    "figures":[...],"check":...}
 *      the answer K to a question of the race (run/race/race_log.h), or a later check of a variant
 *      that already has an outcome (run/variant/course.h)
 *   {"run":R,"finished":[R,...],"check":"..."}
 *      the entries of these runs are no longer needed
 *
 * A cut line fails its check and is ignored. The parser checks types and sizes of other lines. */
#ifndef AUTOTUNE_JOURNAL_LINE_H
#define AUTOTUNE_JOURNAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pack.h"
#include "device/device.h"
#include "device/outcome.h"
#include "device/plan.h"

/* ---- keys ---- */

/* Increment this version if samples of an older autotune are no longer comparable. */
enum { JOURNAL_MEASURING_VERSION = 3 };

typedef struct journal_key {
    unsigned char bytes[16];
} journal_key;

typedef struct journal_facts {
    const char *pattern; /* name of the pattern; an identifier */
    const device_properties *device;
    /* UUIDs of other GPUs of the same model that share the run; "" if unknown. May be NULL. */
    const char *const *others;
    size_t other_count;
    const char *nvrtc_version;
    const problem_plan *problems; /* the tuned problem, the ragged problems ... */
    size_t problem_count;
    const char *reference_hash; /* hash of the reference kernels and their launches; may be "" */
    bool warm_cache;
    const char *before_hash; /* hash of the kernels of --after; may be NULL or "" */
} journal_facts;

/* A question of the race to the device. The order of the variants counts. The answer is an entry of
 * the journal. */
typedef struct journal_question {
    const char *asked; /* kind of question: "block", "check" ... */
    uint64_t number;   /* number of the block, or seed of the check */
    const journal_key *variants;
    const uint64_t *configurations; /* numbers in the space; twins have the same variant key */
    size_t count;
} journal_question;

/* Returns the key of the facts, without the UUID of the GPU. */
journal_key journal_key_of_facts(const journal_facts *f);

/* Returns the key of the packed fields in `m`, and frees `m`. */
journal_key journal_key_of_pack(pack *m);

/* Returns the key of the pair; the order of both counts. */
journal_key journal_key_of_both(journal_key first, journal_key second);

/* Returns the key of the facts together with the UUID of a GPU. */
journal_key journal_key_of_gpu(journal_key facts, const char *uuid);

/* Returns the key of a question. `race` is the key of its race. */
journal_key journal_key_of_question(journal_key race, const journal_question *q);

/* ---- lines ---- */

enum {
    JOURNAL_TEXT_BYTES = CONFIGURATION_BYTES, /* size of a message; longer messages are cut */
    JOURNAL_MAX_SAMPLES = 1 << 20,
    JOURNAL_MAX_FIGURES = 16
};

/* The outcome of a variant, or the answer to a question of the race. */
typedef struct journal_entry {
    measurement found;
    const char *configuration; /* text for people; "" if unknown */
    const char *stage; /* stage of the run: "screen", "race", "finals", "record"; may be "" */
    const char *asked; /* kind of question: "search", "block" ...; "" for a variant's outcome */
    const uint64_t *configurations; /* configurations in the answer, as numbers in the space */
    size_t configuration_count;
    const double *figures; /* numbers in the answer; all finite */
    size_t figure_count;
    size_t gpu; /* GPU that measured: 0 is journal_facts.device, i is others[i - 1]. The number is
                   not written; the facts of the line identify the GPU. */
    const char *uuid; /* UUID of this GPU, for people; "" if unknown */
    journal_key code; /* key of the machine code; variants with the same code are twins */
    bool has_code;    /* `code` is known */
} journal_entry;

/* A parsed line. `entry` borrows from the members that are marked as owned. */
typedef struct journal_line {
    uint64_t run;
    bool is_finish;
    journal_key facts, key; /* set for an entry only */
    journal_entry entry;
    uint64_t *finished; /* set for a finish only: the finished runs; owned */
    size_t finished_count;
    int64_t *samples_ns;      /* owned */
    uint64_t *configurations; /* owned */
    double *figures;          /* owned */
    void *root;               /* owned */
} journal_line;

/* Writes the line of an entry, ending in a newline; the caller frees *out. Returns AT_NO_MEMORY. */
at_status journal_line_of_entry(uint64_t run, journal_key facts, journal_key key,
                                const journal_entry *e, char **out, at_error *error);

/* Writes the line that says that `runs` are finished. Otherwise like journal_line_of_entry(). */
at_status journal_line_of_finish(uint64_t run, const uint64_t *runs, size_t count, char **out,
                                 at_error *error);

/* Reads only the run and the facts of an entry whose check passes. Returns false for other lines,
 * and if the first fields are spelled in another way than journal_line_of_entry() writes them. */
bool journal_line_glance(const char *text, size_t size_bytes, uint64_t *run, journal_key *facts);

/* Parses a line without its newline. Returns false if the line is damaged. After true the caller
 * calls journal_line_deinit(). */
bool journal_line_parse(const char *text, size_t size_bytes, journal_line *out);
void journal_line_deinit(journal_line *line);

#endif
