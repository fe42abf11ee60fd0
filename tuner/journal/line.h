/* One line of a journal: a JSON object whose last member, "check", is the XXH3-64 of everything
 * before it.
 *
 *   {"run":R,"facts":F,"key":K,"outcome":"ok","configuration":"tile=64,...",
 *    "samples_ns":[...],"compile_ns":N,"check_ns":N,"resources":{...},"message":"...","stage":"screen","gpu":"GPU-...",
 *    "code":C,"check":"0123456789abcdef"}
 *      the outcome of the variant K, measured by run R under the facts F
 *   {"run":R,"facts":F,"key":K,"outcome":"ok","configuration":"","samples_ns":[...],
 *    "compile_ns":0,"check_ns":0,"stage":"finals","asked":"block","configurations":[...],"figures":[...],"check":...}
 *      the answer to a question of the race (run/race/race_log.h), or what a check found of a
 * variant that had its outcome (run/variant/course.h), whose key is K
 *   {"run":R,"finished":[R,...],"check":"..."}
 *      the entries of these runs are no longer needed
 *
 * A line that was cut by a crash, or changed, fails its check and is ignored. A line that passes is
 * not trusted either: types and sizes are checked. */
#ifndef AUTOTUNE_JOURNAL_LINE_H
#define AUTOTUNE_JOURNAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/measurement.h"
#include "journal/key.h"

enum {
    JOURNAL_TEXT_BYTES = CONFIGURATION_BYTES, /* longer messages are cut */
    JOURNAL_MAX_SAMPLES = 1 << 20,
    JOURNAL_MAX_FIGURES = 16
};

/* The outcome of a variant, or the answer to a question of the race. */
typedef struct journal_entry {
    measurement found;
    const char *configuration; /* for people; "" unknown */
    const char
        *stage; /* that the run had reached: "screen", "race", "finals", "record"; "" unknown */
    const char *asked;              /* "": a variant; else the question: "search", "block" ... */
    const uint64_t *configurations; /* that the answer names, by their numbers in the space */
    size_t configuration_count;
    const double *figures; /* of the answer; finite */
    size_t figure_count;
    size_t gpu; /* that measured it: 0 the facts' device, then its others; not in the line, but in
                   the hash of its facts */
    const char *uuid; /* of that GPU, for people; "" unknown */
    journal_key code; /* key of the variant's machine code: variants with the same are twins */
    bool has_code;    /* it is known */
} journal_entry;

/* A parsed line. `entry` borrows from the members marked owned. */
typedef struct journal_line {
    uint64_t run;
    bool is_finish;
    journal_key facts, key; /* of an entry */
    journal_entry entry;
    uint64_t *finished; /* of a finish: runs; owned */
    size_t finished_count;
    int64_t *samples_ns;      /* owned */
    uint64_t *configurations; /* owned */
    double *figures;          /* owned */
    void *root;               /* owned */
} journal_line;

/* Writes the entry's line, ending in a newline; the caller frees *out. AT_NO_MEMORY. */
at_status journal_line_of_entry(uint64_t run, journal_key facts, journal_key key,
                                const journal_entry *e, char **out, at_error *error);

/* Writes the line that says that the entries of `runs` are no longer needed. */
at_status journal_line_of_finish(uint64_t run, const uint64_t *runs, size_t count, char **out,
                                 at_error *error);

/* Reads the run and the facts of an entry's line that is whole, without parsing what comes after
 * them; false: it is none, or is spelt in another way. */
bool journal_line_glance(const char *text, size_t size_bytes, uint64_t *run, journal_key *facts);

/* Parses a line (without its newline); false when it is damaged. On true the caller calls
 * journal_line_deinit(). */
bool journal_line_parse(const char *text, size_t size_bytes, journal_line *out);
void journal_line_deinit(journal_line *line);

#endif
