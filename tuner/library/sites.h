/* What the parts of libautotune's sites share: library/sites.c has the program's sites and their
 * store, library/site.c the calls of one, library/site_writer.c what both ask, problems and writing
 * decisions.
 *
 * Locks: a call that finds a site's `lock` taken is no trial and does not wait. A thread takes a
 * site's `lock` first, then `reading`, then the lock of its sites. Decisions are written without
 * any. */
#ifndef AUTOTUNE_LIBRARY_SITES_H
#define AUTOTUNE_LIBRARY_SITES_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "autotune.h"
#include "base/array.h"
#include "device/arch.h"
#include "library/site_space.h"
#include "library/site_store.h"
#include "library/site_timer.h"
#include "library/site_tuner.h"

typedef enum sites_mode { SITES_TUNE, SITES_USE, SITES_OFF } sites_mode;

/* Calls between two broadcasts to the ranks. */
enum { SITE_WINDOW = 32 };

/* What rank 0 tells the others: what the next calls use, and the choice beside trials. */
typedef struct site_message {
    uint64_t site; /* its hash, for ranks whose calls are in another order */
    uint32_t incumbent, settled, has_incumbent, state;
    uint32_t configurations[SITE_WINDOW];
} site_message;

/* A call that is timed, from its begin until its time is known. */
typedef struct site_call {
    uint64_t ticket, number; /* number: of the call */
    site_mark *mark;
    int64_t begun_ns, host_ns, overhead_ns; /* host_ns: from begin to end */
    bool ended, hidden;                     /* hidden: the device was busy when it began */
} site_call;

/* The values of a configuration. */
typedef struct site_values {
    uint32_t configuration;
    at_variable items[];
} site_values;

struct at_site {
    at_sites *sites;
    uint64_t hash; /* of name and variables */
    char *name;
    size_t variable_count;
    at_variable *variables;
    site_space space;

    /* NULL while it is tuned; else what all calls use from now on. */
    _Atomic(const site_values *) settled;

    /* A call that finds the lock taken uses this; NULL: it waits. And how many such calls there
     * were that the tuner does not know of. */
    _Atomic(const site_values *) plain;
    atomic_uint_fast64_t plain_calls;

    pthread_mutex_t lock; /* guards the rest */
    at_site_valid *valid;
    void *valid_context;
    bool opened; /* the store was asked, and there is a tuner if need be */
    at_site_state state;
    uint32_t fallback;
    site_tuner *tuner; /* NULL: nothing is to be tuned here */
    keymap refused;    /* configurations that the program said are invalid */
    keymap values;     /* of configurations: the place in `made` */
    site_values **made;
    size_t made_count;
    uint64_t calls;
    site_call open[SITE_MOST_OPEN];
    size_t open_count, asked; /* asked: the place of who was asked last */
    uint64_t lost;            /* calls that did not end while their places were free */
    bool hidden;              /* the device was busy when a call was timed last */

    /* What rank 0 told last; of a process for itself its `incumbent` alone counts. `next` is the
     * place of the next call in the window. */
    site_message told;
    uint64_t tickets[SITE_WINDOW]; /* of rank 0's trials in it */
    size_t next;

    site_decision decision;
    at_site *next_decided; /* of those that are to be written; guarded by sites->lock */
};

struct at_sites {
    pid_t process; /* that opened them */
    sites_mode mode;
    double share;
    site_timer *timer;
    at_site_broadcast *broadcast;
    void *context;
    int rank;

    pthread_mutex_t lock; /* guards the rest */
    site_store *store;    /* what it has read is guarded by `reading` */
    pthread_mutex_t reading;
    keymap found; /* by hash: the place in `all` */
    at_site **all;
    size_t count;
    char **problems;
    size_t problem_count;

    pthread_cond_t wake; /* of the thread that writes */
    pthread_t writer;
    bool has_writer, closing;
    at_site *decided;
};

/* at_sites_open() with a timer (which is taken, also on failure) for a device of that name. */
at_status sites_open_with(const at_sites_options *options, site_timer *timer,
                          const arch_limits *gpu, const char *driver, at_sites **out,
                          at_error *error);

/* AT_USAGE in a fork of the process that opened them: locks may be held there by threads that it
 * does not have, and the driver does not work. */
at_status sites_are_here(const at_sites *sites, const char *function, at_error *error);

/* Notes a problem, unless it is known. */
void sites_say(void *sites, const char *text);

/* Has the site's decision written, by a thread that the program does not wait for. */
void sites_write(at_site *site);

/* Waits until all are written; there is to be no decision after it. */
void sites_finish_writing(at_sites *sites);

site_key site_key_of(const at_site *site);

/* Frees what library/site.c has made of a site, its marks with the timer too. */
void site_end_calls(at_site *site);

#endif
