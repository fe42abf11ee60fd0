/* The jobs of a prover: what to compile and run for each variant, and the verdicts. */
#include "run/variant/proof_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "run/setup/setup.h"
#include "script/emit.h"

void proof_job_free_images(proof_job *j)
{
    for (size_t i = 0; i < DEVICE_SLOTS; i++)
        compile_result_deinit(&j->compiled[i]);
}

void proof_job_decide_covered(prover *p, proof_job *j, proof_verdict verdict, const char *message,
                              const device_coverage *coverage)
{
    if (j->decided)
        return;
    j->decided = true;
    j->proof.id = j->id;
    j->proof.verdict = verdict;
    j->proof.message = memory_text(message);
    j->proof.coverage = *coverage;
    proof_job_free_images(j);
    p->proven += verdict == PROOF_PROVEN;
    for (size_t i = 0; i < p->chosen.count; i++)
        p->proven_on[i] += verdict == PROOF_PROVEN && j->variant.present[i];
    p->undecided--;
    queue_push(&p->decided, j);
}

void proof_job_decide(prover *p, proof_job *j, proof_verdict verdict, const char *message)
{
    proof_job_decide_covered(p, j, verdict, message, &(device_coverage){0});
}

void proof_jobs_give_up(prover *p, const char *why)
{
    if (!p->why[0])
        snprintf(p->why, sizeof p->why, "%s", why);
    for (size_t i = 0; i < p->job_count; i++)
        proof_job_decide(p, p->jobs[i], PROOF_UNKNOWN, p->why);
}

static proof_job *add_job(prover *p, uint64_t id, const uint16_t *indices)
{
    const size_t count = script_pattern(p->script)->parameter_count;
    proof_job *j = memory_new(1, sizeof *j);
    j->indices = memory_new(count + 1, sizeof *indices);
    memcpy(j->indices, indices, count * sizeof *indices);
    memory_add(&p->jobs, &p->job_count, &j, sizeof j);
    j->id = id;
    p->undecided++;
    return j;
}

/* Sets j->same[slot]. Returns true if no earlier slot has the same text with these entries. */
static bool is_new(proof_job *j, size_t slot, const emitted *source)
{
    memcpy(j->texts[slot], source->hash, sizeof j->texts[slot]);
    j->same[slot] = slot;
    for (size_t i = 0; i < slot && j->same[slot] == slot; i++) {
        if (!j->variant.present[i] || strcmp(j->texts[i], source->hash) != 0)
            continue;
        if (plan_same_entries(&j->variant.launches[slot], &j->variant.launches[i]))
            j->same[slot] = j->same[i];
    }
    return j->same[slot] == slot;
}

/* Notes that the variant is not run on a problem, because it breaks constraint `broken` there. */
static void note_not_run(prover *p, proof_job *j, size_t slot, size_t broken)
{
    const pattern *described = script_pattern(p->script);
    const space_constraint *c = &described->constraints[broken];
    char label[DEVICE_LABEL_BYTES], text[2048] = "";
    problem_label(described, p->chosen.kinds[slot], label, sizeof label);
    if (j->proof.not_run)
        text_add(text, sizeof text, "%s; ", j->proof.not_run);
    text_add(text, sizeof text, "%s: the variant breaks %s:%d, \"%s\"", label, described->path,
             c->line, c->text);
    free(j->proof.not_run);
    j->proof.not_run = memory_text(text);
}

static at_status submit_part(prover *p, size_t number, size_t slot, const uint16_t *indices,
                             at_error *error)
{
    proof_job *j = p->jobs[number];
    const pattern *described = script_pattern(p->script);
    emitted source = {0};
    size_t broken;
    launch_plan *launch = &j->variant.launches[slot];
    at_status status = script_valid(p->script, p->chosen.kinds[slot], indices,
                                    &j->variant.present[slot], &broken, error);
    if (!status && !j->variant.present[slot])
        note_not_run(p, j, slot, broken);
    if (status || !j->variant.present[slot])
        return status;
    status = script_launch_plan(p->script, p->chosen.kinds[slot], indices, launch, error);
    if (status == AT_USAGE && p->is_larger) {
        /* The script did not ask for this size, so the variant need not have a launch for it. */
        j->variant.present[slot] = false;
        return error_ignore(status, AT_USAGE, error);
    }
    if (!status)
        status = emit_variant(p->script, p->chosen.kinds[slot], indices, true, &source, error);
    if (!status && is_new(j, slot, &source)) {
        status = submit_source(p->pool, p->own_ids | (number * DEVICE_SLOTS + slot), &source,
                               described->template_path, launch, p->arch, true, error);
        j->parts += !status;
    }
    emitted_deinit(&source);
    return status;
}

/* Returns true if the variant has a launch, on one of the script's problems, that no GPU can make.
 */
static bool is_impossible(prover *p, const uint16_t *indices, at_error *why)
{
    bool valid;
    size_t broken;
    launch_plan plan;
    for (size_t slot = 0; slot < p->chosen.count; slot++)
        if (!script_valid(p->script, p->chosen.kinds[slot], indices, &valid, &broken, NULL) &&
            valid &&
            script_launch_plan(p->script, p->chosen.kinds[slot], indices, &plan, why) == AT_USAGE)
            return true;
    return false;
}

at_status proof_job_add(prover *p, uint64_t id, const uint16_t *indices, const char *once,
                        at_error *error)
{
    proof_job *j = add_job(p, id, indices);
    snprintf(j->variant.once, sizeof j->variant.once, "%s", once);
    at_status status = AT_OK;
    at_error impossible = {0};
    if (!p->is_larger && is_impossible(p, indices, &impossible)) {
        char why[sizeof p->why];
        snprintf(why, sizeof why, "no GPU can make the launch: %s:%d: %s", impossible.file,
                 impossible.line, impossible.message);
        proof_job_decide(p, j, PROOF_WRONG, why);
        return AT_OK;
    }
    if (p->why[0]) {
        proof_job_decide(p, j, PROOF_UNKNOWN, p->why);
        return AT_OK;
    }
    size_t layout = problem_set_layout(&p->problems, indices);
    j->variant.layout = (uint32_t)layout;
    if (layout == DEVICE_MAX_LAYOUTS) {
        proof_job_decide(
            p, j, PROOF_UNKNOWN,
            "the variant's data layout is not possible on the problems that are small enough to "
            "be simulated");
        return AT_OK;
    }
    for (size_t slot = 0; !status && slot < p->chosen.count; slot++)
        status = submit_part(p, p->job_count - 1, slot, indices, error);
    if (!status && j->parts == 0)
        proof_job_decide(
            p, j, PROOF_UNKNOWN,
            "the variant breaks a constraint on every problem that is small enough to be "
            "simulated");
    return status;
}

void prover_hurry(prover *p, uint64_t id)
{
    p->last_urgency++;
    for (size_t i = 0; i < p->job_count; i++)
        if (p->jobs[i]->id == id) {
            p->jobs[i]->urgency = p->last_urgency;
            if (p->jobs[i]->further)
                prover_hurry(p->jobs[i]->further, i);
        }
}

void prover_withdraw(prover *p, uint64_t id, const char *why)
{
    for (size_t i = p->answered; i < p->job_count; i++)
        if (p->jobs[i]->id == id && !p->jobs[i]->sent)
            proof_job_decide(p, p->jobs[i], PROOF_UNKNOWN, why);
}

size_t proof_jobs_most_urgent(prover *p)
{
    size_t found = p->job_count;
    while (p->answered < p->job_count && p->jobs[p->answered]->decided)
        p->answered++;
    for (size_t i = p->answered; i < p->job_count; i++) {
        const proof_job *j = p->jobs[i];
        if (!j->sent && !j->decided && !j->parts &&
            (found == p->job_count || j->urgency > p->jobs[found]->urgency))
            found = i;
    }
    return found;
}
