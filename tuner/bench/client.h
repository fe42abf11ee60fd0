/* The device worker: one process that owns a GPU, and the tuner's asynchronous end of it.
 *
 * In: a problem (buffers, reference kernel) and variants (kernel images and launches). Out: events,
 * one for every request, in the order of the requests. Requests are queued and never block; keep a
 * few in flight so that the GPU never waits for the tuner. The tuner's process never loads a
 * driver.
 *
 * Answers are matched to requests by kind and number, in the worker's messages (bench/wire.h) and
 * here: a caller that waits for one answer claims its question, and only it gets the answer.
 *
 * Survival is hidden here. A worker that dies, exceeds a time limit, reports an unusable context or
 * sends a message that makes no sense is replaced: the request in progress is answered with
 * `crashed` or `timeout`, the set-up is replayed, held variants are loaded again and queued
 * requests are sent again. A request is blamed for a death only if a worker was working on it, and
 * not at once: for the third worker that dies by itself, or the eighth that is killed from outside.
 * DEVICE_FAILED comes only when no worker finishes a set-up any more, or answers anything after it;
 * it is the last event.
 *
 * Ownership: requests are copied, so the caller may free its images and plans at once. Events own
 * their memory (device_event_deinit). A device_worker is used by one thread. */
#ifndef AUTOTUNE_BENCH_CLIENT_H
#define AUTOTUNE_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/trace.h"
#include "bench/energy.h"
#include "device/device.h"
#include "device/outcome.h"
#include "device/plan.h"
#include "process/process.h"

enum {
    DEVICE_SLOTS = 5, /* problems a worker holds: 0 is tuned, up to three are ragged; in proofs one
                         is sampled */
    DEVICE_MAX_SAMPLES = 256, /* a try */
    DEVICE_MAX_BLOCK = 65536, /* variants a block */
    DEVICE_LABEL_BYTES = 160,
    DEVICE_MAX_LAYOUTS = 64,
    DEVICE_MAX_PROBLEMS = DEVICE_MAX_LAYOUTS * DEVICE_SLOTS,
    DEVICE_MAX_METRICS = 256,
    DEVICE_MAX_BEFORE = 4 /* kernels that run before each sample */
};

typedef struct device_worker_options {
    const char *spec;        /* "cuda:0", "sim:sm_90" */
    const worker_host *host; /* where the device is; borrowed; NULL: here */
    bool proves;             /* it times nothing: variants are tried without samples. Its process is
                                listed as "autotune-proof", not "autotune-device" */
    bool waits;              /* it has no process before device_worker_begin() */
    device_cache cache;      /* of every sample */
    double share;            /* of the device's time that it may use; 0: all */
    int64_t watchdog_floor_ns; /* a launch may take this or 100 times the reference's time,
                                  whichever is longer; 0: 2 s */
    trace *trace;              /* borrowed: a lane of its own; NULL: none */
} device_worker_options;

/* A kernel that the program runs before the one that is tuned, on a problem of its own. */
typedef struct device_predecessor {
    char name[DEVICE_LABEL_BYTES]; /* for messages */
    problem_plan plan;             /* the worker has the files that fill its buffers */
    device_image image;
    launch_plan launch;
} device_predecessor;

/* A problem on the device: what to allocate, and the kernel that says what is right: the
 * reference, or the baseline where plan.oracle says so. */
typedef struct device_problem {
    uint32_t layout;                /* variants name the layout that their data has */
    char label[DEVICE_LABEL_BYTES]; /* for messages: "on LABEL: ..."; empty: they do not name it */
    bool sampled; /* too large to be run whole: of each variant some blocks are run, and nothing is
                     timed */
    bool absent;  /* no configuration is valid on it, and no kernel says what is right: nothing of
                     it is made, and no variant is checked on it */
    bool proves;  /* what the baseline does wrong, where that is the oracle, is told of variants:
                     they are run all the same, as it does not concern what else is wrong with
                     them. Else there is no set-up */
    device_whole whole; /* of one that is sampled: when it runs whole all the same */
    bool brief;         /* of what proves: what takes longer than most is left */
    problem_plan plan;
    device_image reference;
    launch_plan reference_launch;
    device_image filler; /* a kernel that fills inputs after the fills; of size 0: none */
    launch_plan filler_launch;
    const device_predecessor *before; /* run before each sample, in this order (bench/context.h);
                                         the same of all problems. Borrowed */
    size_t before_count;
} device_problem;

/* A variant: for each slot the kernel and its launch. */
typedef struct device_variant {
    uint32_t layout;     /* whose problems it is for */
    bool unchecked;      /* on the slots beyond 0: checked there when it is held */
    int64_t launch_ns;   /* what a launch takes; 0: that is not known */
    int64_t too_slow_ns; /* when it is tried: one whose launch takes longer is left unchecked, as
                            OUTCOME_TOO_SLOW with that one time; 0: none is */
    bool present[DEVICE_SLOTS];        /* false: not checked on that slot; without [0] it
                                           cannot be sampled */
    device_image images[DEVICE_SLOTS]; /* of size 0: the image of slot 0 serves */
    launch_plan launches[DEVICE_SLOTS];
    char once[COVERAGE_TEXT_BYTES]; /* loops that went round once at most where it was tried: it is
                                       tried until these have gone round twice. What goes wrong
                                       where none does is not told. "": on all slots */
} device_variant;

typedef enum device_event_kind {
    DEVICE_OPENED,    /* the device exists and is described; compiling for it can start */
    DEVICE_READY,     /* the set-up is done */
    DEVICE_TRIED,     /* answers device_worker_try */
    DEVICE_HELD,      /* answers device_worker_hold */
    DEVICE_BLOCK,     /* answers device_worker_block */
    DEVICE_RECHECKED, /* answers device_worker_recheck */
    DEVICE_ENERGY,    /* answers device_worker_energy */
    DEVICE_COUNTED,   /* answers device_worker_count */
    DEVICE_RESULTS,   /* answers device_worker_results */
    DEVICE_COMPARED,  /* answers device_worker_compare */
    DEVICE_FAILED     /* for good; `status` and `message` say why */
} device_event_kind;

/* The measurements of the set-up, all under the rules of a sample; 0 where nothing is timed. */
typedef struct device_ready {
    int64_t floor_ns;     /* an empty kernel */
    int64_t tick_ns;      /* the clock's resolution */
    int64_t reference_ns; /* the reference kernel on slot 0, median of three */
    int64_t watchdog_ns;  /* what one launch may take */
    uint32_t batch;       /* launches a sample averages over; 1 unless kernels are short */
    uint32_t buffer_sets; /* copies of the buffers that a batch rotates over */
    double sm_clock_khz;  /* measured; 0 unknown */
} device_ready;

typedef struct device_event {
    device_event_kind kind;
    uint64_t id; /* TRIED, HELD, RECHECKED, COUNTED: the request's. BLOCK that is not OUTCOME_OK:
                    the variant to blame; after a crash or timeout it is no longer held */
    outcome outcome;     /* TRIED, HELD, RECHECKED, BLOCK, COUNTED */
    uint32_t slot;       /* TRIED: the problem on which it is not OUTCOME_OK */
    at_status status;    /* FAILED */
    char *message;       /* owned; why the outcome is not OUTCOME_OK; "" otherwise */
    device_fault fault;  /* TRIED: the same as fields */
    char *printed;       /* owned; TRIED: what the variant's kernels printed; NULL: nothing */
    uint64_t *ids;       /* owned; BLOCK: the variants in the order sampled */
    int64_t *samples_ns; /* owned; READY: the ceiling's; TRIED: in order (also of TOO_SLOW); BLOCK:
                            one for each of `ids`, present only with OUTCOME_OK */
    size_t sample_count;
    int64_t ceiling_ns;  /* BLOCK: the copy's sample, 0 when not asked for; READY: their median */
    double sm_clock_khz; /* TRIED, BLOCK: SM clock during the samples; 0 unknown */
    int64_t check_ns, measure_ns; /* TRIED: wall time that the worker spent */
    int restarts;                 /* workers replaced since the start */
    device_properties properties; /* OPENED */
    energy_estimate energy;       /* ENERGY */
    uint64_t throttle;            /* ENERGY: reasons, as board_throttle_text() spells them */
    uint32_t others;              /* ENERGY: other processes that compute on the GPU */
    double *counters; /* owned; COUNTED: for each launch all metrics, NAN for those that the
                         device lacks; NULL: `message` says why */
    void *results;    /* owned; RESULTS: what the oracle made, buffer after buffer; NULL: nothing
                         that can be told */
    size_t results_bytes;
    device_ready ready; /* READY */
    device_coverage
        coverage; /* TRIED, where nothing was wrong: what was run, on a device that sees it */
} device_event;

/* A question to the worker: what identifies its answer. No two have the same number. */
typedef struct device_question {
    device_event_kind kind; /* of the answer */
    uint64_t number;
} device_question;

void device_event_deinit(device_event *e);

typedef struct device_worker device_worker;

/* Starts the worker and returns while it opens the device. Fails only if no process can be started
 * (AT_IO); everything else becomes an event. */
at_status device_worker_start(const device_worker_options *options, device_worker **out,
                              at_error *error);

/* Starts the process of a worker that waits; requests may be queued before. Others are as they
 * were. If it cannot be started DEVICE_FAILED says so. */
void device_worker_begin(device_worker *w);
bool device_worker_waits(const device_worker *w);

/* Does its process open the device just now? */
bool device_worker_opens(const device_worker *w);

/* Kills the worker and waits for its end. NULL is fine. */
void device_worker_free(device_worker *w);

/* Kills the worker's process: device_worker_free() waits less then, and who takes events instead
 * finds it replaced, as after any other death. NULL is fine. */
void device_worker_kill(const device_worker *w);

/* How many thousandths of a launch of all of the tuned problem have run; 0: none runs. */
uint64_t device_worker_permille(const device_worker *w);

/* Adds what an event loop has to wait for before it calls device_worker_take() again: the worker's
 * socket (none once the device failed), and the longest time that the watchdog allows; no time at
 * all if an event may be waiting. */
void device_worker_poll(const device_worker *w, poll_set *set);

/* Requests that are not answered yet, the set-up included. */
size_t device_worker_pending(const device_worker *w);

/* Like device_worker_take(), without waiting and without taking an event: for a caller that is busy
 * with something else for long, so that the watchdog sees the worker's messages. */
void device_worker_watch(device_worker *w);

/* Takes one event; waits for it up to `timeout_ms` (0: not at all; < 0: until there is one).
 * AT_NOT_FOUND: none yet. After a DEVICE_FAILED its status and message are the result. All other
 * work is done in this call: sending, watching, restarting. */
at_status device_worker_take(device_worker *w, int timeout_ms, device_event *out, at_error *error);

/* Claims the answer to the latest request: it comes from device_worker_await(), not from
 * device_worker_take(). */
device_question device_worker_claim(device_worker *w);

/* Takes the answer to a claimed question, as device_worker_take() takes any other event. */
at_status device_worker_await(device_worker *w, device_question question, int timeout_ms,
                              device_event *out, at_error *error);

/* Allocates and fills the buffers of `count` problems (DEVICE_MAX_PROBLEMS at most), runs the
 * references, and measures floor, ceiling and reference. Layouts are numbered from 0 and come one
 * after the other. The problems of each layout are its slots: the tuned one, then the ragged ones,
 * the same number for each layout. Answered by DEVICE_READY or DEVICE_FAILED. It may be called
 * again for other problems when nothing is pending; held variants are dropped then. `support`: the
 * device-side helpers compiled for this device, the same each time; of size 0 where there are none
 * (sim). */
at_status device_worker_setup(device_worker *w, const device_image support[DEVICE_SUPPORT_PARTS],
                              const device_problem *problems, size_t count, at_error *error);

/* Sends the first `size_bytes` of a file, unless the worker has them: before the set-up whose
 * problems name it by its hash, which is known. What cannot be read then is told of the set-up. No
 * event. */
at_status device_worker_data(device_worker *w, data_file *f, uint64_t size_bytes, at_error *error);

/* Checks a variant on all its slots, then takes `sample_count` samples (DEVICE_MAX_SAMPLES at most;
 * 0: only check, however slow it is). */
at_status device_worker_try(device_worker *w, uint64_t id, const device_variant *variant,
                            size_t sample_count, at_error *error);

/* Loads a variant and keeps it for blocks, under `id`, which must not be held already. */
at_status device_worker_hold(device_worker *w, uint64_t id, const device_variant *variant,
                             at_error *error);
/* Unloads it, once all requests before this one are done. No event. Unknown ids are fine. */
at_status device_worker_release(device_worker *w, uint64_t id, at_error *error);

/* One sample of each held variant in the given order, and first one of the ceiling when
 * `with_copy`. A variant may be named more than once. */
at_status device_worker_block(device_worker *w, const uint64_t *ids, size_t count, bool with_copy,
                              at_error *error);

/* Checks a held variant on data made from another seed. */
at_status device_worker_recheck(device_worker *w, uint64_t id, uint64_t seed, at_error *error);

/* Measures the energy of a launch of a held variant over `chunks` of a fifth of a second each, and
 * one before them: ENERGY_LEAST_CHUNKS to ENERGY_CHUNKS; more are more precise. 0: only asks the
 * board what throttles it and which other processes use it. Answered by DEVICE_ENERGY. If nothing
 * measures it (no NVML, a simulated device), the outcome is ok, the energy is unknown, and the
 * event's message says why. */
at_status device_worker_energy(device_worker *w, uint64_t id, uint32_t chunks, at_error *error);

/* Reads hardware counters of each launch of a held variant, by Nsight Compute's names
 * (DEVICE_MAX_METRICS at most). Answered by DEVICE_COUNTED. If they cannot be read (no library, no
 * permission, a simulated device), the outcome is ok, there are no counters, and the event's
 * message says why. */
at_status device_worker_count(device_worker *w, uint64_t id, const char *const *metrics,
                              size_t count, at_error *error);

/* Asks for what the oracle made of a problem, as it lies in the buffers that are compared. Only of
 * a simulated device. Answered by DEVICE_RESULTS. */
at_status device_worker_results(device_worker *w, uint32_t layout, uint32_t slot, at_error *error);

/* Compares what the oracle made of a problem with what it made of the same problem on another
 * device, as DEVICE_RESULTS brought it. Answered by DEVICE_COMPARED: OUTCOME_OK, or
 * OUTCOME_WRONG_RESULT and where they differ. */
at_status device_worker_compare(device_worker *w, uint32_t layout, uint32_t slot,
                                const void *results, size_t results_bytes, at_error *error);

/* Describes the devices of one kind ("cuda", "sim"; NULL: of all), in a process that ends with the
 * call. AT_NO_DEVICE says in one line why there are none. */
at_status device_worker_list(const char *kind, device_properties *out, size_t capacity,
                             size_t *count, at_error *error);

/* The same for who needs spec and limits.name alone: GPUs are not waked up for it where they are
 * all of one model. */
at_status device_worker_list_names(const char *kind, device_properties *out, size_t capacity,
                                   size_t *count, at_error *error);

/* The whole list on a host; NULL: here. */
at_status device_worker_list_on(const worker_host *host, const char *kind, device_properties *out,
                                size_t capacity, size_t *count, at_error *error);

#endif
