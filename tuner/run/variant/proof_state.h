/* The state of a prover, which proof.c and proof_jobs.c share; no other file includes this header.
 * proof_jobs.c makes jobs and decides them. proof.c runs them on workers. */
#ifndef AUTOTUNE_RUN_VARIANT_PROOF_STATE_H
#define AUTOTUNE_RUN_VARIANT_PROOF_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "bench/client.h"
#include "compile/compile.h"
#include "run/setup/problems.h"
#include "run/setup/proof_problems.h"
#include "run/variant/proof.h"
#include "script/script.h"

/* Limits of the simulating processes: at most eight, and at most one for two cores. Several
 * finalists are then proven at a time, which takes less time than more threads for each
 * (sim/machine/run.c). Each process runs the references itself, so a further process starts only
 * for a job that would wait. */
enum { MOST_WORKERS = 8, CORES_A_WORKER = 2 };

/* One variant to prove. A job is sent to a worker when `parts` is 0. It is decided once, by an
 * answer or because it cannot be proven, and then joins the queue `decided`. */
typedef struct proof_job {
    queue_item item; /* in `decided` */
    uint64_t id;
    size_t parts;  /* number of compile results that have not arrived */
    size_t worker; /* index of the worker to which the job was sent */
    bool sent, decided;
    prover *further;     /* the prover of larger problems that tries the variant; may be NULL */
    proof_growth growth; /* how the larger problems grow */
    uint16_t *indices;
    uint64_t urgency;       /* the job with the highest urgency is sent first */
    device_variant variant; /* its images borrow from `compiled` */
    compile_result compiled[DEVICE_SLOTS];
    char texts[DEVICE_SLOTS][33]; /* hashes of the compiled texts */
    size_t same[DEVICE_SLOTS];    /* the first slot with the same text */
    proof proof;
} proof_job;

/* larger[g] is the prover of the larger problems of proof_growth g, or NULL until it is needed. A
 * prover of larger problems has no larger[]. It tries a job's variant under the job's number in two
 * cases. If no result of the tuned problem was compared, it runs the largest possible whole
 * problems. If a loop never had two iterations, it runs blocks of larger problems, or whole larger
 * problems if blocks depend on each other. */
struct prover {
    prover *larger[GROWTH_COUNT];
    bool is_larger;
    uint64_t own_ids;
    script *script;
    compile_pool *pool;
    char arch[16];
    device_worker *workers[MOST_WORKERS];
    size_t worker_count, sent[MOST_WORKERS]; /* jobs without an answer, by worker */
    uint64_t last_urgency;
    device_whole whole;
    proof_problems chosen;
    problem_set problems; /* the chosen problems, in the form for workers */
    bool set_up;
    bool tells_results;
    size_t results_asked, results_told; /* requested results; received results */
    proof_results *results;             /* results that the caller has not taken; owned */
    size_t results_count;
    char oracle_place[1024]; /* "file:line" of the reference kernel */
    char why[1024];          /* reason why nothing can be proven; "" if proofs are possible */
    uint64_t broken; /* lowest compile id of a reference that does not compile; UINT64_MAX if all
                        compile */
    char broken_why[1024];
    bool is_script_wrong; /* `why` is an error of the script */
    proof_job **jobs;
    size_t job_count, undecided;
    size_t answered; /* number of first jobs that are all decided */
    queue decided;   /* decided jobs that the caller has not taken, oldest first */
    size_t taken;
    size_t proven, proven_on[DEVICE_SLOTS]; /* proven variants; those that ran on each problem */
    int64_t first_sent_ns; /* time of the first job, as clock_now_ns(); 0 before it */
    bool told_wait;        /* the user was told that the reference takes long */
};

/* ---- proof_jobs.c ---- */

/* Adds a job, with its requests to the compilers. `once` names the loops that never had two
 * iterations (device_variant). Returns AT_SCRIPT if the variant cannot be emitted. */
at_status proof_job_add(prover *p, uint64_t id, const uint16_t *indices, const char *once,
                        at_error *error);

/* Returns the index of the most urgent job that can be sent to a worker, or p->job_count. */
size_t proof_jobs_most_urgent(prover *p);

/* Decides a job, unless it is decided. The second function also sets the coverage. */
void proof_job_decide(prover *p, proof_job *j, proof_verdict verdict, const char *message);
void proof_job_decide_covered(prover *p, proof_job *j, proof_verdict verdict, const char *message,
                              const device_coverage *coverage);

/* Ends all undecided proofs as unknown, for the reason `why`, and later proofs as well. */
void proof_jobs_give_up(prover *p, const char *why);

/* Frees the compile results of a job. */
void proof_job_free_images(proof_job *j);

#endif
