/* The tuning sites of a program (docs/glossary.md), which autotune.h declares. site_space.c has the
 * configurations of a site, site_timer.c times its calls, site_tuner.h decides which configuration
 * each call uses, site_store.c keeps decisions, site.c has the calls of one site, sites.c all
 * sites.
 *
 * Locks: a call that finds a site's `lock` taken does not wait: it uses the incumbent and is not
 * timed. A thread takes a site's `lock` first, then `reading`, then the lock of its at_sites.
 * Decisions are written while no lock is held. */
#ifndef AUTOTUNE_LIBRARY_SITES_H
#define AUTOTUNE_LIBRARY_SITES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "autotune.h"
#include "base/array.h"
#include "base/error.h"
#include "base/stats.h"
#include "device/arch.h"
#include "library/site_tuner.h"
#include "record/record.h"
#include "record/summary.h"

/* ---- configurations of a site ---- A site has a list of values for each parameter. A
 * configuration is a number below `count`, in mixed radix. Configuration 0, the default, has the
 * first value of each list. The space owns copies of all names and values. */

typedef struct site_list {
    char *name;
    size_t count;
    at_variable *values; /* each value has the list's name */
    uint64_t hash;       /* sum of the values' hashes, the same in any order */
} site_list;

typedef struct site_space {
    size_t list_count;
    site_list lists[RECORD_MAX_VALUES];
    uint32_t count;             /* number of configurations */
    char hash[HASH_TEXT_BYTES]; /* hash of names and values */
} site_space;

/* Makes the space of these parameters. AT_USAGE if a parameter has no values or there are more than
 * 2^31 configurations; AT_NO_MEMORY. The caller calls site_space_deinit() in any case. */
at_status site_space_init(site_space *s, const at_parameter *parameters, size_t count,
                          at_error *error);
void site_space_deinit(site_space *s);

/* Returns whether these parameters span the space, whatever the order of their values. */
bool site_space_is_of(const site_space *s, const at_parameter *parameters, size_t count);

/* Checks and copies a named value. `what` is the word for the value in messages: "variable". The
 * caller calls site_variable_deinit() after AT_OK. AT_USAGE, AT_NO_MEMORY. */
at_status site_variable_copy(const at_variable *v, const char *what, at_variable *out,
                             at_error *error);
void site_variable_deinit(at_variable *v);

/* Writes the values of a configuration, one for each list; they borrow from the space. */
void site_space_values(const site_space *s, uint32_t configuration, at_variable *out);

/* Finds a recorded configuration. Returns false if it is not in the space. */
bool site_space_find(const site_space *s, const record_values *values, uint32_t *out);

/* Proposes the configurations of a round, as site_proposer does. A space of at most `most`
 * configurations is proposed whole in the first round. Of a larger space, the first round proposes
 * neighbours of the default and a random sample, and later rounds propose neighbours of the
 * incumbent. Neighbours differ in one parameter, by at most two positions if it has many values. */
size_t site_space_propose(const site_space *s, size_t round, uint32_t incumbent, uint32_t *out,
                          size_t most);

/* ---- timers ---- */

typedef struct site_timer site_timer;
typedef struct site_mark site_mark; /* the measurement of one call */

/* The functions of a timer: pairs of CUDA events in the program's stream, which are polled later,
 * or the host's clock, or a timer of a test. Several threads may use a timer at once. A pair of
 * events belongs to the context that was current when it was made, and is reused only in that
 * context. */
typedef struct site_timer_api {
    /* Begins to time a call. Returns NULL if that is impossible (its stream is being captured into
     * a graph, memory ran out). `*hidden` says whether the device still has earlier work, so that
     * the host's time before the launch costs nothing. */
    site_mark *(*begin)(site_timer *timer, void *stream, bool *hidden);
    /* Ends timing a call, at `now_ns` of the host's clock. Returns false if that fails. */
    bool (*end)(site_timer *timer, site_mark *mark, void *stream, int64_t now_ns);
    /* Returns 1 if *time_ns is known, 0 if it is not known yet, -1 if it never will be. */
    int (*ask)(site_timer *timer, site_mark *mark, int64_t *time_ns);
    /* Returns the mark to the timer, whatever its state. */
    void (*give)(site_timer *timer, site_mark *mark);
    int64_t (*host_ns)(site_timer *timer); /* reads the host's clock */
    void (*close)(site_timer *timer);      /* frees the timer; all marks must have been returned */
} site_timer_api;

struct site_timer {
    const site_timer_api *api;
    bool at_once;      /* the time of a call is known when the call ends */
    int64_t device_ns; /* device time that timing a call takes */
};

/* Make a timer, of events or the host's clock. The caller closes it. AT_NO_DEVICE, AT_NO_MEMORY. */
at_status site_timer_events(site_timer **out, at_error *error);
at_status site_timer_host(site_timer **out, at_error *error);

/* ---- the store of decisions ---- Decisions are kept as records: one file for each GPU and name of
 * a site, one entry for each problem, driver and version of the program's code. Driver and code are
 * two more variables of the recorded problem, `at_driver` and `at_code`. An entry of another
 * driver, code or list of values is not used, and is reported. Files are changed under the lock of
 * their folder and replaced whole. A file that is not JSON is renamed to FILE.damaged before a new
 * file is written. One thread at a time may read, and one may write. */

typedef struct site_store site_store;

typedef struct site_key {
    const char *name;
    const at_variable *variables;
    size_t variable_count;
    const site_space *space;
} site_key;

/* Receives a problem to report, as one line. */
typedef void site_reporter(void *context, const char *text);

/* Makes a store. `folder` NULL means the user's cache folder. Reads and creates no file yet. AT_IO
 * if there is no folder, AT_NO_MEMORY, AT_USAGE if `code` is not a short line. */
at_status site_store_open(const char *folder, const arch_limits *gpu, const char *driver,
                          const char *code, site_store **out, at_error *error);
void site_store_close(site_store *s); /* `s` may be NULL */

/* Finds the decision for the key. Returns false without a decision; reports why an entry does not
 * apply. Reads the records of a name once. */
bool site_store_find(site_store *s, const site_key *key, site_reporter *report, void *context,
                     uint32_t *out);

typedef struct site_decision {
    uint32_t configuration, fallback; /* the decided configuration; the default */
    stats_summary time, baseline;     /* times of the two; baseline.count is 0 if unknown */
    run_verdict verdict;
} site_decision;

/* Writes a decision, in place of an earlier entry of the same key. AT_IO, AT_FORMAT, AT_NO_MEMORY
 * leave the file as it was. */
at_status site_store_put(site_store *s, const site_key *key, const site_decision *d,
                         at_error *error);

/* ---- sites ---- */

typedef enum sites_mode { SITES_TUNE, SITES_USE, SITES_OFF } sites_mode;

/* The number of calls that one broadcast to the ranks serves. */
enum { SITE_WINDOW = 32 };

/* The message that rank 0 broadcasts: the configurations of the next calls, and the incumbent. */
typedef struct site_message {
    uint64_t site; /* hash of the site; detects ranks that make their calls in another order */
    uint32_t incumbent, settled, has_incumbent, state;
    uint32_t configurations[SITE_WINDOW];
} site_message;

/* A timed call, from its begin until its time is known. */
typedef struct site_call {
    uint64_t ticket, number; /* number of the call, from 1 */
    site_mark *mark;
    int64_t begun_ns, host_ns, overhead_ns; /* host_ns: host time from begin to end */
    bool ended, hidden;                     /* hidden: the device was busy at the begin */
} site_call;

/* The values of a configuration, made once and kept as long as the site. */
typedef struct site_values {
    uint32_t configuration;
    at_variable items[];
} site_values;

struct at_site {
    at_sites *sites;
    uint64_t hash; /* hash of name and variables */
    char *name;
    size_t variable_count;
    at_variable *variables;
    site_space space;

    /* The values that all calls use once the site is decided; NULL during tuning. */
    _Atomic(const site_values *) settled;

    /* The values of a call that finds the lock taken. If NULL, the call waits for the lock. */
    _Atomic(const site_values *) plain;
    atomic_uint_fast64_t plain_calls; /* calls that used `plain`, not yet known to the tuner */

    pthread_mutex_t lock; /* guards the following members */
    at_site_valid *valid;
    void *valid_context;
    bool opened; /* the store was searched, and the tuner made if necessary */
    at_site_state state;
    uint32_t fallback;
    site_tuner *tuner; /* NULL if the site is not tuned in this process */
    keymap refused;    /* configurations that the program called invalid */
    keymap values;     /* index in `made`, by configuration */
    site_values **made;
    size_t made_count;
    uint64_t calls;
    site_call open[SITE_MOST_OPEN];
    size_t open_count, asked; /* asked: index of the next call to poll */
    uint64_t lost;            /* number of calls that were given up because they did not end */
    bool hidden;              /* the device was busy when the last call was timed */

    /* The last message of rank 0; without ranks, only `incumbent` and `has_incumbent` are used.
     * `next` is the index of the next call in the message. */
    site_message told;
    uint64_t tickets[SITE_WINDOW]; /* tickets of rank 0's trials */
    size_t next;

    site_decision decision;
    at_site *next_decided; /* next in the list of decisions to write; guarded by sites->lock */
};

struct at_sites {
    pid_t process; /* the process that opened the sites */
    sites_mode mode;
    double share;
    site_timer *timer;
    at_site_broadcast *broadcast;
    void *context;
    int rank;

    pthread_mutex_t lock; /* guards the following members */
    site_store *store;    /* its loaded records are guarded by `reading` */
    pthread_mutex_t reading;
    keymap found; /* index in `all`, by hash */
    at_site **all;
    size_t count;
    char **problems;
    size_t problem_count;

    pthread_cond_t wake; /* wakes the thread that writes */
    pthread_t writer;
    bool has_writer, closing;
    at_site *decided;
};

/* Opens sites, like at_sites_open(), with a given timer. Takes over the timer, also on failure. */
at_status sites_open_with(const at_sites_options *options, site_timer *timer,
                          const arch_limits *gpu, const char *driver, at_sites **out,
                          at_error *error);

/* Returns AT_USAGE in a fork of the process that opened the sites. In a fork, locks may be held by
 * threads that do not exist, and the CUDA driver does not work. */
at_status sites_check_process(const at_sites *sites, const char *function, at_error *error);

/* Adds a problem to the list of at_sites_problem(), once. `sites` is an at_sites. */
void sites_note_problem(void *sites, const char *text);

/* Queues the site's decision for the thread that writes decisions. */
void sites_write_decision(at_site *site);

/* Returns the site's key in the store; borrows from the site. */
site_key site_key_of(const at_site *site);

#endif
