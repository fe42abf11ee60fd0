/* The messages between the tuner and its device worker.
 *
 * The tuner sends requests, each with a number that no other has. The worker answers them in order,
 * one answer each, which repeats kind and number, so that it cannot be taken for the answer to
 * another request. Before anything that may hang the worker sends a note that says what it does,
 * for which request, and how long that may take. Formats are private to one build of the program:
 * both ends are the same binary. */
#ifndef AUTOTUNE_BENCH_WIRE_H
#define AUTOTUNE_BENCH_WIRE_H

#include "base/pack.h"
#include "bench/client.h"
#include "bench/contents.h"

typedef enum device_message {
    /* requests, which bench/child.c answers; the first fields are the number and the id */
    REQUEST_SETUP = 1, /* id 0, support images, slot count, problems, predecessors */
    REQUEST_TRY,       /* id, sample count, variant */
    REQUEST_HOLD,      /* id, variant */
    REQUEST_RELEASE,   /* id */
    REQUEST_BLOCK,     /* id 0, with_copy, count, ids */
    REQUEST_RECHECK,   /* id, seed */
    REQUEST_ENERGY,    /* id, chunks */
    REQUEST_COUNT,     /* id, count, names of metrics */
    REQUEST_DATA,      /* id 0, device_chunk */
    REQUEST_RESULTS,   /* id 0, layout, slot */
    REQUEST_COMPARE,   /* id 0, layout, slot, bytes */
    /* replies, which bench/supervise.c takes */
    REPLY_OPENED, /* properties */
    REPLY_NOTE,   /* device_note */
    REPLY_ANSWER, /* device_answer */
    REPLY_FAILED, /* status, message: the device cannot be opened */
    REPLY_LIST    /* count, properties */
} device_message;

/* The step that the worker is about to do. */
/* The text of a note about a launch of all of a problem. The note's index then counts the
 * thousandths of the launch that have run. */
#define DEVICE_RUNS_ALL "running all of the tuned problem"

typedef struct device_note {
    uint64_t number;  /* of the request; 0: of none, it waits for one */
    const char *what; /* "checking", "sampling the ragged problem" ...; a view of the message */
    uint64_t index;   /* of the variant, in a block */
    int64_t limit_ns; /* it may take this long; 0: it waits for a request */
} device_note;

/* The longest limit that a note may ask for. One above it is damaged, and nothing would end a
 * hang. */
#define DEVICE_NOTE_MOST_NS (INT64_C(86400) * 1000000000)

typedef struct device_answer {
    uint64_t number;      /* the request's */
    uint32_t kind;        /* the request's device_message */
    bool usable;          /* false: the context is gone, the worker ends after this answer */
    const char *message;  /* a view of the message that it came in */
    const char *printed;  /* TRY: likewise, by the variant's kernels */
    size_t counter_count; /* COUNT */
    const void *results;  /* RESULTS: a view likewise, or borrowed; found.results_bytes of them */
    device_event found;   /* without its kind, ids and message; id: the request's, of a BLOCK the
                             variant to   blame; status: why, where the outcome is not OUTCOME_OK */
} device_answer;

void device_put_chunk(pack *m, const device_chunk *chunk);
void device_put_image(pack *m, const device_image *image);
void device_put_problem(pack *m, const device_problem *problem);
void device_put_predecessors(pack *m, const device_predecessor *all, size_t count);
void device_put_variant(pack *m, const device_variant *variant);
void device_put_properties(pack *m, const device_properties *p);
void device_put_note(pack *m, const device_note *note);
void device_put_answer(pack *m, const device_answer *answer);

/* Images are views of the message. m->failed is set for a message that is too short or holds
 * impossible values. */
void device_get_chunk(pack *m, device_chunk *out);
void device_get_image(pack *m, device_image *out);
void device_get_problem(pack *m, device_problem *out);
/* Into an array of the caller's (free), NULL for none; returns how many. */
size_t device_get_predecessors(pack *m, device_predecessor **out);
void device_get_variant(pack *m, device_variant *out);
void device_get_properties(pack *m, device_properties *out);
void device_get_note(pack *m, device_note *out);
/* out->found is the caller's (device_event_deinit). False for an answer that makes no sense;
 * nothing is allocated then. */
bool device_get_answer(pack *m, device_answer *out);

#endif
