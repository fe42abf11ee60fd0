/* Runs the jobs of a prover on its workers, and takes their answers. */
#include "run/variant/proof_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "run/setup/setup.h"

/* Compile ids: bits for the owner and the purpose. */
#define OWN_IDS (UINT64_C(1) << 63)
#define REFERENCE_IDS (UINT64_C(1) << 62)
#define LARGER_IDS (UINT64_C(1) << 61) /* growth 0; growth g has the bit 61 - g */

/* Jobs sent to a worker: one runs, and the next waits at the worker. */
enum { SENT_AHEAD = 2 };

/* If no proof is decided for this long, the user is told the reason. */
static const int64_t EXPLAIN_NS = INT64_C(10) * 1000000000;

void proof_deinit(proof *p)
{
    free(p->message);
    free(p->printed);
    free(p->not_run);
    *p = (proof){0};
}

/* Ends a proof as unknown: results on small problems alone prove nothing about the tuned one. */
static void decide_unproven(prover *p, proof_job *j, const device_coverage *found)
{
    char why[COVERAGE_TEXT_BYTES + 64];
    snprintf(why, sizeof why,
             "no fault was found in the blocks that were run, but of the tuned problem %s",
             found->skipped);
    proof_job_decide(p, j, PROOF_UNKNOWN, why);
}

static at_status start_worker(prover *p, at_error *error)
{
    char spec[32];
    device_worker **started = &p->workers[p->worker_count];
    snprintf(spec, sizeof spec, "sim:%s", p->arch);
    at_status status =
        device_worker_start(&(device_worker_options){.spec = spec, .proves = true}, started, error);
    p->worker_count += !status;
    if (!status && p->set_up)
        status = problem_set_send(&p->problems, *started, NULL, true, error);
    return status;
}

static prover *create(script *s, compile_pool *pool, const char *arch)
{
    prover *p = memory_new(1, sizeof *p);
    p->script = s;
    p->pool = pool;
    p->own_ids = OWN_IDS;
    p->broken = UINT64_MAX;
    snprintf(p->arch, sizeof p->arch, "%s", arch);
    return p;
}

static void give_up_for(prover *p, const at_error *e)
{
    char why[sizeof p->why];
    p->is_script_wrong = p->is_script_wrong || e->status == AT_SCRIPT ||
                         (e->status == AT_USAGE && script_oracle(p->script) == ORACLE_REFERENCE);
    if (!e->file[0])
        proof_jobs_give_up(p, e->message);
    else {
        snprintf(why, sizeof why, "%s:%d: %s", e->file, e->line, e->message);
        proof_jobs_give_up(p, why);
    }
}

static void begin(prover *p)
{
    script *s = p->script;
    at_error trouble = {0};
    at_status status = start_worker(p, &trouble);
    if (!status)
        status =
            problem_set_init(&p->problems, s, NULL, p->chosen.kinds, p->chosen.count, &trouble);
    for (size_t i = 0; !status && i < p->problems.layout_count * p->chosen.count; i++) {
        problem_label(script_pattern(s), p->chosen.kinds[i % p->chosen.count],
                      p->problems.problems[i].label, DEVICE_LABEL_BYTES);
        p->problems.problems[i].sampled = p->chosen.sampled[i % p->chosen.count];
        p->problems.problems[i].proves = true;
        p->problems.problems[i].whole = p->whole;
        p->problems.problems[i].brief = p->chosen.brief;
    }
    if (!status)
        status =
            problem_set_submit(&p->problems, p->pool, p->arch, true, p->own_ids | REFERENCE_IDS,
                               NULL, p->oracle_place, sizeof p->oracle_place, &trouble);
    if (status)
        give_up_for(p, &trouble);
}

prover *prover_new(script *s, compile_pool *pool, const char *arch, bool as_set, device_whole whole)
{
    at_error trouble = {0};
    prover *p = create(s, pool, arch);
    p->whole = whole;
    if (script_pattern(s)->transfers)
        proof_jobs_give_up(
            p,
            "not provable: the driver makes the copies of a transfer, and they are not simulated");
    else if (proof_problems_choose(&p->chosen, s, as_set, &trouble))
        give_up_for(p, &trouble);
    else
        begin(p);
    return p;
}

static prover *new_larger(prover *p, proof_growth growth)
{
    prover *larger = create(p->script, p->pool, p->arch);
    larger->is_larger = true;
    larger->own_ids = OWN_IDS | LARGER_IDS >> growth;
    proof_problems_enlarge(&larger->chosen, p->script, p->chosen.kinds[0], growth);
    if (larger->chosen.count == 0)
        proof_jobs_give_up(larger, "none of the pattern's problems can be made larger");
    else
        begin(larger);
    return larger;
}

void prover_free(prover *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < GROWTH_COUNT; i++)
        prover_free(p->larger[i]);
    for (size_t i = 0; i < p->worker_count; i++)
        device_worker_free(p->workers[i]);
    for (size_t i = 0; i < p->job_count; i++) {
        proof_job_free_images(p->jobs[i]);
        proof_deinit(&p->jobs[i]->proof);
        free(p->jobs[i]->indices);
        free(p->jobs[i]);
    }
    for (size_t i = 0; i < p->results_count; i++)
        free(p->results[i].bytes);
    free(p->results);
    problem_set_deinit(&p->problems);
    free(p->jobs);
    free(p);
}

void prover_problems(const prover *p, char *text, size_t size_bytes)
{
    char label[DEVICE_LABEL_BYTES];
    text[0] = '\0';
    for (size_t i = 0; i < p->chosen.count; i++) {
        problem_label(script_pattern(p->script), p->chosen.kinds[i], label, sizeof label);
        text_add(text, size_bytes, "%s%s%s", i ? ", " : "",
                 p->chosen.sampled[i] ? "blocks of " : "", label);
        if (p->proven_on[i] < p->proven)
            text_add(text, size_bytes, " (for %zu of %zu variant%s)", p->proven_on[i], p->proven,
                     p->proven == 1 ? "" : "s");
    }
}

at_status prover_add(prover *p, uint64_t id, const uint16_t *indices, at_error *error)
{
    return proof_job_add(p, id, indices, "", error);
}

bool prover_owns(uint64_t compile_id)
{
    return compile_id & OWN_IDS;
}

static at_status send(prover *p, size_t number, size_t to, at_error *error)
{
    proof_job *j = p->jobs[number];
    j->worker = to;
    for (size_t i = 0; i < p->chosen.count; i++)
        if (j->variant.present[i])
            j->variant.images[i] = result_image(&j->compiled[j->same[i]], true);
    at_status status = device_worker_try(p->workers[to], number, &j->variant, 0, error);
    j->sent = true;
    if (p->first_sent_ns == 0)
        p->first_sent_ns = clock_now_ns();
    p->sent[to]++;
    proof_job_free_images(j);
    return status;
}

static size_t most_workers(void)
{
    const size_t most = cores_usable() / CORES_A_WORKER;
    return most < 1 ? 1 : most > MOST_WORKERS ? MOST_WORKERS : most;
}

/* Sends jobs to the workers that have room, each to the worker with the fewest jobs. Starts workers
 * for jobs that would wait. */
static at_status feed(prover *p, at_error *error)
{
    at_status status = AT_OK;
    while (!status && p->set_up && !p->why[0]) {
        size_t idlest = 0, number = proof_jobs_most_urgent(p);
        for (size_t i = 1; i < p->worker_count; i++)
            if (p->sent[i] < p->sent[idlest])
                idlest = i;
        const bool full = p->sent[idlest] >= SENT_AHEAD;
        if (number == p->job_count || (full && p->worker_count == most_workers()))
            break;
        if (full) {
            idlest = p->worker_count;
            status = start_worker(p, error);
        }
        if (!status)
            status = send(p, number, idlest, error);
    }
    return status;
}

static at_status ask_results(prover *p, at_error *error)
{
    at_status status = AT_OK;
    const size_t count = p->problems.layout_count * p->chosen.count;
    for (; !status && p->results_asked < count; p->results_asked++)
        status =
            device_worker_results(p->workers[0], (uint32_t)(p->results_asked / p->chosen.count),
                                  (uint32_t)(p->results_asked % p->chosen.count), error);
    return status;
}

/* Keeps the answer to the earliest request for results. Problems run in blocks have no results. */
static void keep_results(prover *p, device_event *e)
{
    const size_t number = p->results_told++;
    const proof_results one = {.kind = p->chosen.kinds[number % p->chosen.count],
                               .layout = p->problems.layouts[number / p->chosen.count],
                               .bytes = e->results,
                               .size_bytes = e->results_bytes};
    e->results = NULL;
    if (one.bytes)
        memory_add(&p->results, &p->results_count, &one, sizeof one);
}

/* Sends the set-up when all references are compiled, and then the jobs that waited for it. */
static at_status set_up(prover *p, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < p->worker_count; i++)
        status = problem_set_send(&p->problems, p->workers[i], NULL, true, error);
    p->set_up = !status;
    if (!status && p->tells_results)
        status = ask_results(p, error);
    return status ? status : feed(p, error);
}

void prover_tell_results(prover *p)
{
    p->tells_results = true;
}

bool prover_has_results(const prover *p)
{
    return p->tells_results && !p->why[0] &&
           (!p->set_up || p->results_told < p->results_asked || p->results_count > 0);
}

bool prover_take_results(prover *p, proof_results *out)
{
    if (p->results_count == 0)
        return false;
    *out = p->results[--p->results_count];
    return true;
}

static at_status take_reference(prover *p, uint64_t id, compile_result *r, at_error *error)
{
    at_error trouble = {0};
    at_status status = problem_set_take(&p->problems, id, r, &trouble);
    if (status == AT_SCRIPT && id < p->broken) {
        p->broken = id;
        snprintf(p->broken_why, sizeof p->broken_why, "%s", trouble.message);
    }
    if (p->problems.waiting == 0 && p->broken < UINT64_MAX) {
        p->is_script_wrong = true;
        proof_jobs_give_up(p, p->broken_why);
    }
    return p->problems.waiting == 0 && !p->why[0] ? set_up(p, error) : AT_OK;
}

at_status prover_compiled(prover *p, compile_result *r, at_error *error)
{
    for (size_t i = 0; i < GROWTH_COUNT; i++)
        if (r->id & LARGER_IDS >> i && !p->is_larger)
            return prover_compiled(p->larger[i], r, error);
    uint64_t id = r->id & ~p->own_ids;
    if (id & REFERENCE_IDS)
        return take_reference(p, id & ~REFERENCE_IDS, r, error);
    size_t number = (size_t)(id / DEVICE_SLOTS);
    proof_job *j = p->jobs[number];
    j->parts--;
    if (j->decided)
        return AT_OK;
    if (r->outcome != COMPILE_OK) {
        char why[1600];
        snprintf(why, sizeof why,
                 "the variant does not compile for the simulated device (%s):\n%.1500s",
                 compile_outcome_name(r->outcome), r->log ? r->log : "");
        j->proof.uncompiled = r->outcome == COMPILE_ERROR;
        proof_job_decide(p, j, PROOF_UNKNOWN, why);
        return AT_OK;
    }
    j->compiled[id % DEVICE_SLOTS] = *r;
    *r = (compile_result){0};
    return j->parts == 0 ? feed(p, error) : AT_OK;
}

/* Returns true if no result of the tuned problem was compared. In a smaller problem, elements may
 * be missing that only the tuned problem's many blocks add. */
static bool is_uncompared(const prover *p, const device_coverage *covered)
{
    bool tried = false;
    if (script_oracle(p->script) == ORACLE_NONE)
        return false;
    for (size_t i = 0; i < p->chosen.count; i++)
        tried = tried || p->chosen.kinds[i] == PROBLEM_TUNED;
    return !tried || (covered->blocks > 0 && covered->compared == 0);
}

/* Tries a proven variant on larger problems, because loops never had two iterations or results were
 * not compared. A variant that cannot be emitted for these problems keeps its verdict. */
static void try_larger_problems(prover *p, proof_job *j, size_t number, proof_growth growth)
{
    prover **to = &p->larger[growth];
    if (!*to)
        *to = new_larger(p, growth);
    j->further = *to;
    j->growth = growth;
    if (proof_job_add(*to, number, j->indices, growth == GROWTH_BRIEF ? "" : j->proof.coverage.once,
                      NULL))
        proof_job_decide(*to, (*to)->jobs[(*to)->job_count - 1], PROOF_UNKNOWN, "");
}

/* Continues with a variant that has no fault so far: on larger problems, or with its verdict. */
static void continue_proof(prover *p, size_t number)
{
    proof_job *j = p->jobs[number];
    device_coverage covered = j->proof.coverage;
    if (!p->is_larger && !j->further && is_uncompared(p, &covered))
        try_larger_problems(p, j, number, GROWTH_BRIEF);
    else if (!p->is_larger && covered.once[0] && (!j->further || j->growth == GROWTH_BRIEF))
        try_larger_problems(p, j, number, covered.together ? GROWTH_WHOLE : GROWTH_BLOCKS);
    else {
        covered.smaller = is_uncompared(p, &covered);
        proof_job_decide_covered(p, j, PROOF_PROVEN, "", &covered);
    }
}

/* Decides a variant after larger problems. A fault on a problem up to the size of the tuned problem
 * makes the variant wrong. A fault on a larger problem leaves the variant without a proof. */
static void conclude(prover *p, const proof *further)
{
    proof_job *j = p->jobs[further->id];
    device_coverage *covered = &j->proof.coverage;
    char elsewhere[COVERAGE_TEXT_BYTES + 96] = "of larger problems no result was compared",
                                         why[2048];
    if (further->verdict == PROOF_WRONG &&
        proof_problems_within(script_pattern(p->script), further->wrong_on)) {
        j->proof.fault = further->fault;
        proof_job_decide(p, j, PROOF_WRONG, further->message);
        return;
    }
    if (further->verdict == PROOF_WRONG) {
        if (j->growth != GROWTH_BRIEF)
            snprintf(elsewhere, sizeof elsewhere,
                     "on other problems the loop at %s, as compiled, never had two iterations",
                     covered->once);
        snprintf(why, sizeof why,
                 "%s\n(%s. If this size is not allowed, exclude it by a constraint)",
                 further->message, elsewhere);
        j->proof.fault = further->fault;
        proof_job_decide(p, j, PROOF_UNKNOWN, why);
        return;
    }
    if (further->verdict == PROOF_PROVEN) {
        if (j->growth != GROWTH_BRIEF)
            memcpy(covered->once, further->coverage.once, sizeof covered->once);
        if (further->coverage.problems[0])
            text_add(covered->problems, sizeof covered->problems, ", %s",
                     further->coverage.problems);
    }
    continue_proof(p, (size_t)further->id);
}

static at_status step_larger(prover *p, prover *larger, at_error *error)
{
    proof found;
    at_status status = prover_step(larger, error);
    while (!status && prover_take(larger, &found)) {
        conclude(p, &found);
        proof_deinit(&found);
    }
    return status;
}

/* Returns true if a reference kernel failed. A baseline that fails is a variant that fails. */
static bool blames_reference(const prover *p, const device_event *e)
{
    return e->status == AT_SCRIPT && script_oracle(p->script) == ORACLE_REFERENCE;
}

/* Writes a worker's message, after the place of the reference if the reference failed. */
static void place_message(const prover *p, const device_event *e, char *text, size_t size_bytes)
{
    snprintf(text, size_bytes, "%s%s%s", blames_reference(p, e) ? p->oracle_place : "",
             blames_reference(p, e) ? ": " : "", e->message);
}

/* Takes a worker's answer. An answer with an error status leaves the variant unknown. */
static void judge(prover *p, device_event *e)
{
    proof_job *j = p->jobs[e->id];
    j->proof.is_script_wrong = blames_reference(p, e);
    p->sent[j->worker]--;
    j->proof.fault = e->fault;
    j->proof.wrong_on = p->chosen.kinds[e->slot % DEVICE_SLOTS];
    if (e->outcome == OUTCOME_OK && p->chosen.none_whole)
        proof_job_decide(
            p, j, PROOF_UNKNOWN,
            "no fault was found in the blocks that were run, but all problems are too large to "
            "be simulated completely: give the script a smaller one, simulated = { ... } or "
            "ragged = { ... }");
    else if (e->outcome == OUTCOME_OK && e->coverage.owes)
        decide_unproven(p, j, &e->coverage);
    else if (e->outcome == OUTCOME_OK && e->coverage.unwritten[0] && !p->is_larger)
        proof_job_decide(p, j, PROOF_UNKNOWN, e->coverage.unwritten);
    else if (e->outcome == OUTCOME_OK) {
        j->proof.coverage = e->coverage;
        continue_proof(p, (size_t)e->id);
    } else if (e->status == AT_OK && e->outcome != OUTCOME_TIMEOUT &&
               e->outcome != OUTCOME_NOT_SIMULATED)
        proof_job_decide(p, j, PROOF_WRONG, e->message);
    else {
        char text[sizeof p->why];
        place_message(p, e, text, sizeof text);
        proof_job_decide(p, j, PROOF_UNKNOWN, text);
    }
    j->proof.timed_out = e->status == AT_OK && e->outcome == OUTCOME_TIMEOUT;
    j->proof.printed = e->printed;
    e->printed = NULL;
}

static at_status take_from(prover *p, device_worker *w, at_error *error)
{
    at_status status = AT_OK;
    while (!status && !p->why[0]) {
        device_event e;
        status = device_worker_take(w, 0, &e, error);
        if (status)
            break;
        if (e.kind == DEVICE_TRIED)
            judge(p, &e);
        else if (e.kind == DEVICE_RESULTS)
            keep_results(p, &e);
        else if (e.kind == DEVICE_FAILED) {
            char text[sizeof p->why];
            place_message(p, &e, text, sizeof text);
            p->is_script_wrong = blames_reference(p, &e);
            proof_jobs_give_up(p, text);
        }
        device_event_deinit(&e);
    }
    return error_ignore(status, AT_NOT_FOUND, error);
}

at_status prover_step(prover *p, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < p->worker_count; i++)
        status = take_from(p, p->workers[i], error);
    for (size_t i = 0; !status && i < GROWTH_COUNT; i++)
        if (p->larger[i])
            status = step_larger(p, p->larger[i], error);
    return status ? status : feed(p, error);
}

void prover_poll(const prover *p, poll_set *set)
{
    for (size_t i = 0; i < p->worker_count && !p->why[0]; i++)
        device_worker_poll(p->workers[i], set);
    for (size_t i = 0; i < GROWTH_COUNT; i++)
        if (p->larger[i])
            prover_poll(p->larger[i], set);
}

at_status prover_work(prover *p, int timeout_ms, at_error *error)
{
    compile_result r;
    at_status status;
    while (!(status = compile_take(p->pool, 0, &r, error))) {
        status = prover_compiled(p, &r, error);
        compile_result_deinit(&r);
        if (status)
            return status;
    }
    status = error_ignore(status, AT_NOT_FOUND, error);
    if (!status)
        status = prover_step(p, error);
    if (status || p->decided.count)
        return status;
    poll_set set;
    poll_set_start(&set, timeout_ms);
    compile_poll(p->pool, &set);
    prover_poll(p, &set);
    poll_set_wait(&set);
    return AT_OK;
}

uint64_t prover_permille(const prover *p)
{
    uint64_t most = 0;
    for (size_t i = 0; i < p->worker_count; i++)
        if (device_worker_permille(p->workers[i]) > most)
            most = device_worker_permille(p->workers[i]);
    return most;
}

size_t prover_pending(const prover *p)
{
    return p->job_count - p->taken;
}

bool prover_take(prover *p, proof *out)
{
    proof_job *j = queue_pop(&p->decided);
    if (!j)
        return false;
    *out = j->proof;
    out->is_script_wrong |= p->is_script_wrong;
    j->proof = (proof){0};
    p->taken++;
    return true;
}

void prover_tell_wait(prover *p, progress *shown)
{
    if (p->told_wait || p->first_sent_ns == 0 || clock_now_ns() - p->first_sent_ns < EXPLAIN_NS ||
        p->taken > 0 || p->undecided < p->job_count || script_oracle(p->script) != ORACLE_REFERENCE)
        return;
    p->told_wait = true;
    progress_clear(shown);
    fputs(
        "autotune: no variant is decided yet: the reference runs first. --set NAME=VALUE takes a "
        "smaller problem. If each element needs its whole row, a reference with a thread for each "
        "row is faster ('autotune help scripts')\n",
        stderr);
}
