/* The messages between the tuner and its device worker, and the files that come in them.
 *
 * The tuner sends requests, each with a unique number. The worker answers them in order; an answer
 * repeats kind and number, so that it cannot be mistaken for another. Before anything that may
 * hang, the worker sends a note with its next step, its request, and a time limit. Both ends are
 * the same build of the program. */
#ifndef AUTOTUNE_BENCH_WIRE_H
#define AUTOTUNE_BENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/pack.h"
#include "bench/client.h"

/* ---- files ---- */

typedef struct device_content device_content;

/* Copies of files that fill buffers or contain expected results. The worker cannot open the files
 * itself, and may be on another host. A file arrives in chunks, in order, before the set-up that
 * needs it; it is known by the hash of its contents (base/data_file.h) and kept as long as the
 * worker lives. Initialise with zeroes. */
typedef struct device_contents {
    device_content *items; /* owned */
    size_t count;
} device_contents;

typedef struct device_chunk {
    const unsigned char *key;
    uint64_t all_bytes; /* bytes of the file that are sent in total, from its start */
    uint64_t offset;    /* offset of this chunk */
    const void *bytes;  /* borrowed */
    size_t size_bytes;
    const char *trouble; /* reason why the file cannot be read; otherwise "" */
} device_chunk;

void device_contents_deinit(device_contents *c);

/* Copies a chunk. Returns AT_FORMAT if the chunk does not follow the previous chunk or exceeds the
 * file. device_contents_find() reports a lack of memory and a file that cannot be read. */
at_status device_contents_take(device_contents *c, const device_chunk *chunk, at_error *error);

/* Finds the first `size_bytes` of a file; the address stays valid. Returns AT_SCRIPT with the
 * reason if the tuner could not read the file, AT_INTERNAL if it was not sent. */
at_status device_contents_find(const device_contents *c, const unsigned char *key,
                               uint64_t size_bytes, const void **out, at_error *error);

/* ---- messages ---- */

typedef enum device_message {
    /* requests, for bench/worker.c; the first fields are the number and the id */
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
    /* replies, for bench/supervise.c */
    REPLY_OPENED, /* properties */
    REPLY_NOTE,   /* device_note */
    REPLY_ANSWER, /* device_answer */
    REPLY_FAILED, /* status, message: the device cannot be opened */
    REPLY_LIST    /* count, properties */
} device_message;

/* Text of the notes while the complete tuned problem runs. The index is in thousandths. */
#define DEVICE_RUNS_ALL "running all of the tuned problem"

typedef struct device_note {
    uint64_t number;  /* number of the request; 0 if the worker waits for a request */
    const char *what; /* the next step: "checking", "sampling" ...; a view of the message */
    uint64_t index;   /* position of the variant in a block */
    int64_t limit_ns; /* time limit of the step; 0 if the worker waits for a request */
} device_note;

/* The longest valid limit of a note. A damaged limit above it would allow a worker to hang. */
#define DEVICE_NOTE_MOST_NS (INT64_C(86400) * 1000000000)

typedef struct device_answer {
    uint64_t number;      /* number of the request */
    uint32_t kind;        /* device_message of the request */
    bool usable;          /* false if the context is lost: the worker ends after this answer */
    const char *message;  /* a view of the message */
    const char *printed;  /* TRY: output of the variant's kernels; a view of the message */
    size_t counter_count; /* number of counters; COUNT only */
    const void *results;  /* RESULTS: found.results_bytes bytes; borrowed or a view */
    device_event found; /* kind, ids and message are not used. id: of the request, or the variant to
                         * blame in a BLOCK; status: the reason if the outcome is not OUTCOME_OK */
} device_answer;

/* The functions below append a value to a message, or read it. The getters return texts and images
 * as views, and set m->failed if the message is too short or contains invalid values. */

void device_put_chunk(pack *m, const device_chunk *chunk);
void device_put_image(pack *m, const device_image *image);
void device_put_problem(pack *m, const device_problem *problem);
void device_put_predecessors(pack *m, const device_predecessor *all, size_t count);
void device_put_variant(pack *m, const device_variant *variant);
void device_put_properties(pack *m, const device_properties *p);
void device_put_note(pack *m, const device_note *note);
void device_put_answer(pack *m, const device_answer *answer);

void device_get_chunk(pack *m, device_chunk *out);
void device_get_image(pack *m, device_image *out);
void device_get_problem(pack *m, device_problem *out);
/* Stores an array in *out, which the caller frees (NULL if it is empty), and returns its length. */
size_t device_get_predecessors(pack *m, device_predecessor **out);
void device_get_variant(pack *m, device_variant *out);
void device_get_properties(pack *m, device_properties *out);
void device_get_note(pack *m, device_note *out);
/* Reads an answer; the caller calls device_event_deinit() for out->found. Returns false for an
 * invalid answer, and then allocates nothing. */
bool device_get_answer(pack *m, device_answer *out);

#endif
