/* The device worker: a process that owns a GPU, and the tuner's asynchronous interface to it.
 *
 * Input is a set of problems (buffers, reference kernel) and variants (kernel images and launches).
 * Output are events, one for every request, in the order of the requests. Requests are queued and
 * never block; keep a few in flight so that the GPU never waits for the tuner. The tuner's process
 * never loads a driver.
 *
 * Answers are matched to requests by kind and number. A caller that waits for a particular answer
 * claims its question, and then only this caller gets the answer.
 *
 * A worker is replaced if it dies, exceeds a time limit, reports an unusable context or sends an
 * invalid message. The request in progress is answered with `crashed` or `timeout`, the set-up is
 * replayed, held variants are loaded again and queued requests are sent again. A request is blamed
 * only for deaths of workers that were working on it: for the third that dies by itself, or the
 * eighth that is killed from outside. For a held variant, these are deaths in a row; a later
 * request that names the lost variant is answered with `crashed`. DEVICE_FAILED is the last event.
 * It says that new workers cannot complete the set-up, or answer no request after the set-up.
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
#include "device/device.h"
#include "device/outcome.h"
#include "device/plan.h"
#include "process/process.h"

enum {
    DEVICE_SLOTS = 5, /* problems per layout, called slots: slot 0 is the tuned problem, up to three
                         are ragged. In proofs, one may be `sampled` (device_problem) */
    DEVICE_MAX_SAMPLES = 256, /* samples of a try */
    DEVICE_MAX_BLOCK = 65536, /* variants in a block of a race */
    DEVICE_LABEL_BYTES = 160,
    DEVICE_MAX_LAYOUTS = 64,
    DEVICE_MAX_PROBLEMS = DEVICE_MAX_LAYOUTS * DEVICE_SLOTS,
    DEVICE_MAX_METRICS = 256,
    DEVICE_MAX_BEFORE = 4 /* kernels that run before each sample */
};

typedef struct device_worker_options {
    const char *spec;        /* "cuda:0", "sim:sm_90" */
    const worker_host *host; /* host of the device; borrowed; NULL for this host */
    bool proves; /* proofs only: nothing is timed, and variants are tried without samples. The
                    process is then called "autotune-proof" instead of "autotune-device" */
    bool waits;  /* starts no process before device_worker_begin() */
    device_cache cache;        /* state of the cache before every sample */
    double share;              /* share of the device's time that the worker may use; 0 means all */
    int64_t watchdog_floor_ns; /* shortest time limit of a launch, in ns; the limit is 100 times the
                                  reference's time if that is longer. 0 means 2 s */
} device_worker_options;

typedef struct device_predecessor {
    char name[DEVICE_LABEL_BYTES]; /* name of the kernel, for messages */
    problem_plan plan;             /* the worker already has the files that fill its buffers */
    device_image image;
    launch_plan launch;
} device_predecessor;

/* A problem on the device: the buffers, and the kernel that makes the expected results, which is
 * the reference or, if plan.oracle says so, the baseline. */
typedef struct device_problem {
    uint32_t layout;                /* number of the layout; a variant is for one layout */
    char label[DEVICE_LABEL_BYTES]; /* for messages: "on LABEL: ..."; may be "" */
    bool sampled; /* too large to run completely: only some blocks of each variant run, and nothing
                     is timed */
    bool timed;   /* if `sampled`, on a device that predicts: variants are timed by a sample of
                     blocks, and no results are compared */
    bool absent;  /* no configuration is valid for it, and no kernel makes expected results: it gets
                     no buffers, and no variant is checked on it */
    bool proves;  /* for proofs: an error of a baseline oracle is reported for each variant. The
                     variant still runs, because it may have other errors. Without `proves`, such an
                     error fails the set-up */
    device_whole whole; /* if `sampled`: when the problem is run completely anyway */
    bool brief;         /* if `proves`: launches have a smaller limit of work */
    problem_plan plan;
    device_image reference;
    launch_plan reference_launch;
    device_image filler; /* kernel that changes inputs after the fills; size 0 if there is none */
    launch_plan filler_launch;
    const device_predecessor *before; /* kernels that run before each sample, in this order
                                         (bench/meter.h); the same for all problems. Borrowed */
    size_t before_count;
} device_problem;

/* A variant: for each slot a kernel and its launch. */
typedef struct device_variant {
    uint32_t layout;   /* layout that the variant is for */
    bool unchecked;    /* a try checks only slot 0; device_worker_hold() checks the other slots */
    int64_t launch_ns; /* time of a launch, in ns; 0 if unknown */
    /* limit in ns for a try: a variant whose launch takes longer is not checked and is answered
     * with OUTCOME_TOO_SLOW and the time of this launch as its only sample; 0 means no limit */
    int64_t too_slow_ns;
    bool present[DEVICE_SLOTS]; /* the variant is checked on the slot; without slot 0 it is not
                                   sampled */
    device_image images[DEVICE_SLOTS]; /* an image of size 0 stands for the image of slot 0 */
    launch_plan launches[DEVICE_SLOTS];
    char once[COVERAGE_TEXT_BYTES]; /* loops that had at most one iteration in an earlier try. Slots
                                     * are tried until all these loops have had two iterations.
                                     * Errors on a slot where none of them has two iterations are
                                     * not reported. "" means that all slots are tried */
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
    DEVICE_FAILED     /* the worker failed permanently; see `status` and `message` */
} device_event_kind;

/* Measurements of the set-up, taken like samples; all 0 if nothing is timed. */
typedef struct device_ready {
    int64_t floor_ns;     /* time of an empty kernel */
    int64_t tick_ns;      /* resolution of the clock */
    int64_t reference_ns; /* time of the reference kernel on slot 0, median of three */
    int64_t watchdog_ns;  /* time limit of a launch */
    uint32_t batch;       /* launches per sample; 1 unless kernels are short */
    uint32_t buffer_sets; /* copies of the buffers that a batch rotates over */
    double sm_clock_khz;  /* measured SM clock; 0 if unknown */
} device_ready;

/* Chunks of an energy measurement (bench/meter.h). */
enum { ENERGY_LEAST_CHUNKS = 3, ENERGY_CHUNKS = 8 };

typedef struct energy_estimate {
    double launch_j;      /* energy of one launch, in J; 0 if unknown */
    double low_j, high_j; /* 95 % confidence interval */
    double power_w;       /* mean power over all launches */
    size_t chunks;        /* number of chunks in the estimate */
} energy_estimate;

typedef struct device_event {
    device_event_kind kind;
    /* TRIED, HELD, RECHECKED, COUNTED: id of the request. BLOCK that is not OUTCOME_OK: the variant
     * to blame; after a crash or timeout it is no longer held */
    uint64_t id;
    outcome outcome;     /* TRIED, HELD, RECHECKED, BLOCK, COUNTED */
    uint32_t slot;       /* TRIED: slot whose check failed */
    at_status status;    /* FAILED */
    char *message;       /* owned; reason if the outcome is not OUTCOME_OK, otherwise "" */
    device_fault fault;  /* TRIED: the reason as fields */
    char *printed;       /* owned; TRIED: output of the variant's printf calls, or NULL */
    uint64_t *ids;       /* owned; BLOCK: the variants in the order of the samples */
    int64_t *samples_ns; /* owned; READY: samples of the ceiling; TRIED: samples in order (one for
                            TOO_SLOW); BLOCK: one for each of `ids`, only with OUTCOME_OK */
    size_t sample_count;
    int64_t ceiling_ns;  /* BLOCK: sample of the copy, 0 if not requested; READY: median of the
                            ceiling */
    double sm_clock_khz; /* TRIED, BLOCK: SM clock during the samples; 0 if unknown */
    int64_t check_ns, measure_ns; /* TRIED: wall time spent by the worker */
    int64_t low_ns, high_ns; /* TRIED: for predicted samples, the interval that holds the real time
                                in nine of ten cases; otherwise 0 */
    int restarts;            /* number of workers replaced so far */
    device_properties properties; /* OPENED */
    energy_estimate energy;       /* ENERGY */
    uint64_t throttle;            /* ENERGY: reasons, in the form of board_throttle_text() */
    uint32_t others;              /* ENERGY: number of other processes that compute on the GPU */
    double *counters; /* owned; COUNTED: all metrics of each launch, NAN for metrics that the device
                         lacks; NULL if they cannot be read, with the reason in `message` */
    void *results; /* owned; RESULTS: results of the oracle, buffer after buffer; NULL if they are
                      not available */
    size_t results_bytes;
    device_ready ready;       /* READY */
    device_coverage coverage; /* TRIED with OUTCOME_OK: the code that ran, if the device knows it */
} device_event;

/* A question to the worker, which identifies its answer. Numbers are unique. */
typedef struct device_question {
    device_event_kind kind; /* kind of the answer */
    uint64_t number;
} device_question;

void device_event_deinit(device_event *e);

typedef struct device_worker device_worker;

/* Starts the worker and returns while it opens the device. Returns AT_IO if no process can be
 * started; all other failures become events. The caller calls device_worker_free(). */
at_status device_worker_start(const device_worker_options *options, device_worker **out,
                              at_error *error);

/* Starts the process of a worker with options.waits, whose requests may be queued before; otherwise
 * does nothing. If the process cannot be started, DEVICE_FAILED follows. */
void device_worker_begin(device_worker *w);
bool device_worker_is_unstarted(const device_worker *w);

/* Returns true if the process has started but does not wait for requests yet. */
bool device_worker_is_opening(const device_worker *w);

/* Kills the worker and waits for its end. `w` may be NULL. */
void device_worker_free(device_worker *w);

/* Kills the process without waiting, so that a later device_worker_free() waits less. If the caller
 * takes events instead, the process is replaced as after any other death. `w` may be NULL. */
void device_worker_kill(const device_worker *w);

/* Returns the progress of a launch of the complete tuned problem in thousandths, or 0. */
uint64_t device_worker_permille(const device_worker *w);

/* Adds the sockets and deadlines to wait for before the next device_worker_take(): the worker's
 * socket (unless DEVICE_FAILED has come) and deadline. If an event may be waiting, the wait becomes
 * 0. */
void device_worker_poll(const device_worker *w, poll_set *set);

/* Returns the number of unanswered requests, including the set-up. */
size_t device_worker_pending(const device_worker *w);

/* Does the work of device_worker_take() without waiting and without taking an event. A caller that
 * is busy for long calls it, so that the watchdog sees the messages of the worker. */
void device_worker_watch(device_worker *w);

/* Takes an event. Waits up to `timeout_ms` (0 does not wait, < 0 waits without a limit). Returns
 * AT_NOT_FOUND if there is no event; after DEVICE_FAILED returns its status and message. All work
 * is done in this call: sending, watching, restarting. */
at_status device_worker_take(device_worker *w, int timeout_ms, device_event *out, at_error *error);

/* Claims the answer to the latest request: only device_worker_await() then returns it. */
device_question device_worker_claim(device_worker *w);

/* Takes the answer to a claimed question. Otherwise like device_worker_take(). */
at_status device_worker_await(device_worker *w, device_question question, int timeout_ms,
                              device_event *out, at_error *error);

/* Allocates and fills the buffers of `count` problems (at most DEVICE_MAX_PROBLEMS), runs the
 * references, and measures floor, ceiling and reference. Layouts are numbered from 0, in order. A
 * layout's problems are its slots: the tuned problem, then the ragged problems, equally many in all
 * layouts. The answer is DEVICE_READY or DEVICE_FAILED. May be called again for other problems if
 * nothing is pending; held variants are then dropped. `support` contains the device-side helpers
 * for this device, the same each time; their size is 0 on a device without helpers (sim). */
at_status device_worker_setup(device_worker *w, const device_image support[DEVICE_SUPPORT_PARTS],
                              const device_problem *problems, size_t count, at_error *error);

/* Sends the first `size_bytes` of a file, unless the worker has them, before the set-up whose
 * problems refer to the file by its hash. There is no event: a read error fails that set-up. */
at_status device_worker_data(device_worker *w, data_file *f, uint64_t size_bytes, at_error *error);

/* Checks a variant on all its slots, then takes `sample_count` samples (at most
 * DEVICE_MAX_SAMPLES). With 0 samples only checks the variant, however slow it is. */
at_status device_worker_try(device_worker *w, uint64_t id, const device_variant *variant,
                            size_t sample_count, at_error *error);

/* Loads a variant and keeps it for blocks, under an `id` that is not in use. */
at_status device_worker_hold(device_worker *w, uint64_t id, const device_variant *variant,
                             at_error *error);
/* Unloads a held variant after all earlier requests. Unknown ids are ignored. There is no event. */
at_status device_worker_release(device_worker *w, uint64_t id, at_error *error);

/* Takes a sample of each held variant in the given order, and with `with_copy` one of the ceiling
 * before them. A variant may occur more than once. */
at_status device_worker_block(device_worker *w, const uint64_t *ids, size_t count, bool with_copy,
                              at_error *error);

/* Checks a held variant on data of another seed. */
at_status device_worker_recheck(device_worker *w, uint64_t id, uint64_t seed, at_error *error);

/* Measures the energy of a launch of a held variant over `chunks` periods of a fifth of a second
 * (ENERGY_LEAST_CHUNKS to ENERGY_CHUNKS; more are more precise). One period before them is not
 * counted. With 0 chunks, only reads from the board why it throttles and which other processes use
 * it. The answer is DEVICE_ENERGY. If the energy cannot be measured (no NVML, a simulated device),
 * the outcome is ok, the energy is unknown, and the message has the reason. */
at_status device_worker_energy(device_worker *w, uint64_t id, uint32_t chunks, at_error *error);

/* Reads hardware counters of each launch of a held variant, by the names of Nsight Compute (at most
 * DEVICE_MAX_METRICS). The answer is DEVICE_COUNTED. If they cannot be read (no library, no
 * permission, a simulated device), the outcome is ok, there are no counters, and the message has
 * the reason. */
at_status device_worker_count(device_worker *w, uint64_t id, const char *const *metrics,
                              size_t count, at_error *error);

/* Requests the results of the oracle for a problem from a simulated device, in the order of the
 * compared buffers. The answer is DEVICE_RESULTS. */
at_status device_worker_results(device_worker *w, uint32_t layout, uint32_t slot, at_error *error);

/* Compares the results of the oracle for a problem with the results in another device's
 * DEVICE_RESULTS. The answer is DEVICE_COMPARED: OUTCOME_OK, or OUTCOME_WRONG_RESULT with the
 * difference. */
at_status device_worker_compare(device_worker *w, uint32_t layout, uint32_t slot,
                                const void *results, size_t results_bytes, at_error *error);

/* Lists the devices of a kind ("cuda", "sim"; NULL means all kinds) by a process that ends with
 * this call. Returns AT_NO_DEVICE with a one-line reason if there is no device. */
at_status device_worker_list(const char *kind, device_properties *out, size_t capacity,
                             size_t *count, at_error *error);

/* Like device_worker_list(), but sets only spec and limits.name. Wakes no GPU up if all are of one
 * model. */
at_status device_worker_list_names(const char *kind, device_properties *out, size_t capacity,
                                   size_t *count, at_error *error);

/* Like device_worker_list(), on `host`; NULL means this host. */
at_status device_worker_list_on(const worker_host *host, const char *kind, device_properties *out,
                                size_t capacity, size_t *count, at_error *error);

#endif
