#include "run/setup/session.h"

#include "base/clock.h"
#include "base/text.h"
#include "record/ceilings.h"
#include "run/setup/proof_problems.h"
#include "run/setup/prototypes.h"
#include "run/setup/setup.h"

enum { STEP_MS = 100 };

/* The share of a budget in seconds that may pass on a usual machine until there is something to
 * try. */
static const double ENUMERATE_SHARE = 0.2, SAMPLE_SHARE = 0.1;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

at_status session_choose_problems(script *s, bool predicted, session_problems *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    proof_problems chosen = {0};
    *out = (session_problems){.count = 1 + p->ragged_count, .kinds = {PROBLEM_TUNED}};
    for (size_t i = 0; i < p->ragged_count; i++)
        out->kinds[1 + i] = (problem_kind)(PROBLEM_RAGGED + i);
    at_status status = predicted ? proof_problems_choose(&chosen, s, false, error) : AT_OK;
    /* A script without a small problem has the tuned one run whole. */
    if (status || !chosen.count || chosen.none_whole || (chosen.count == 1 && chosen.sampled[0]))
        return error_forgive(status, AT_USAGE, error);
    out->count = 1;
    for (size_t i = 0; i < chosen.count; i++) {
        out->predicted_alone = out->predicted_alone || chosen.sampled[i];
        if (chosen.kinds[i] != PROBLEM_TUNED)
            out->kinds[out->count++] = chosen.kinds[i];
    }
    return AT_OK;
}

static at_status load_space(const settings *o, progress *shown, session *s, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    at_status status = target_load_script(o, &s->workers->properties.limits, &s->script, error);
    if (status)
        return status;
    const pattern *p = script_pattern(s->script);
    if (o->results.must_record && !session_measures(s))
        return error_set(
            error, AT_USAGE,
            "--record is refused: %s, and a record holds measurements of a real GPU only",
            s->workers->device ? "the times of a simulated device are predictions"
                               : "--arch measures nothing");
    if ((o->race.energy || o->race.read_energy) && !session_measures(s))
        return error_set(
            error, AT_USAGE, "--%s is refused: %s", o->race.energy ? "objective energy" : "energy",
            s->workers->device
                ? "a simulated device knows no energy, only a real GPU's board tells it"
                : "--arch measures nothing");
    if (s->workers->device && script_oracle(s->script) == ORACLE_NONE)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "oracle = false says that results are not compared, so nothing is "
                            "tuned or recorded; 'autotune check' works on it. To tune the kernel, "
                            "leave the field out or give the script a reference");
    if (s->workers->device && !p->measurable)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "the pattern has no buffers, or no reference and no results "
                            "(at.output, at.inout) that a "
                            "baseline could say are right, so nothing can be measured; "
                            "'autotune inspect' and 'autotune emit' work on it, and --arch sm_XX "
                            "compiles its space");
    if (p->transfers && s->workers->other_count > 0)
        return error_set(
            error, AT_USAGE,
            "%s moves data between host and device, and several GPUs would share the host's memory "
            "and the way there: choose one (--device cuda:0)",
            p->name);
    if (s->workers->device && s->workers->properties.predicted && p->transfers)
        return error_set(
            error, AT_NO_DEVICE,
            "%s moves data between host and device, and a transfer has no simulated device: "
            "it takes a GPU (--device cuda:0)%s%s",
            p->name, *s->workers->driver_less ? "; " : "", s->workers->driver_less);
    script_space_limits limits = script_space_defaults();
    if (o->search.budget_s > 0) {
        limits.enumerate_s = smaller(limits.enumerate_s, ENUMERATE_SHARE * o->search.budget_s);
        limits.sample_s = smaller(limits.sample_s, SAMPLE_SHARE * o->search.budget_s);
    }
    limits.show = setup_show_space;
    limits.show_context = shown;
    limits.timed_out = &s->space_timed_out;
    status = script_space_within(s->script, PROBLEM_TUNED, &limits, &s->space, error);
    s->enumerate_ns = clock_now_ns() - start_ns;
    return status;
}

bool session_measures(const session *s)
{
    return s->workers->device && !s->workers->properties.predicted;
}

at_status session_check_time(const session *s, at_error *error)
{
    return s->end_ns > 0 && clock_now_ns() >= s->end_ns
               ? error_set(error, AT_INTERRUPTED, "the time was up, which --budget sets")
               : AT_OK;
}

uint64_t session_work(const session *s, work_unit unit)
{
    return s->problems.plans ? plan_work(&s->problems.plans[0], unit) : 0;
}

int64_t session_ceiling_ns(const session *s, int64_t measured_ns)
{
    const ceiling_info *ceiling = ceiling_get(s->ceiling);
    if (ceiling->in_run || s->ceiling_rate <= 0)
        return ceiling->in_run ? measured_ns : 0;
    return (int64_t)((double)session_work(s, ceiling->unit) / s->ceiling_rate);
}

/* A simulated device predicts copies alone, and what a GPU reaches is nothing to it. */
static at_status find_ceiling(const settings *o, session *s, at_error *error)
{
    s->ceiling = plan_ceiling(&s->problems.plans[0]);
    const bool in_run = ceiling_get(s->ceiling)->in_run;
    if (s->workers->properties.predicted && in_run)
        s->ceiling = CEILING_COPY;
    if (s->workers->properties.predicted || in_run)
        return AT_OK;
    ceiling_rates kept;
    at_status status =
        ceilings_read(o->results.results_dir, s->workers->properties.limits.name, &kept, error);
    if (!status)
        s->ceiling_rate = kept.rates[s->ceiling];
    return status;
}

/* The id of the first compile result of the device's own kernels; no candidate has such ids. */
static const uint64_t SUPPORT_ID = UINT64_C(1) << 62;
static const uint64_t PROTOTYPE_ID = UINT64_C(3) << 61;

static at_status send_to(session *s, device_worker *w, at_error *error)
{
    at_status status = predecessors_send(&s->before, w, error);
    return status ? status
                  : problem_set_send(&s->problems, w, &s->support, s->workers->properties.predicted,
                                     error);
}

/* Everything is there that the set-up needs. */
static at_status send_to_all(session *s, at_error *error)
{
    at_status status = send_to(s, s->workers->device, error);
    for (size_t i = 0; !status && i < s->workers->other_count; i++)
        status = send_to(s, s->workers->others[i], error);
    problem_set_sent(&s->problems);
    problem_support_deinit(&s->support);
    return status;
}

bool session_owns(uint64_t compile_id)
{
    return compile_id == PROTOTYPE_ID || problem_support_owns(SUPPORT_ID, compile_id);
}

at_status session_take(session *s, compile_result *r, at_error *error)
{
    if (r->id == PROTOTYPE_ID) {
        s->prototype_waiting = false;
        return prototypes_take(s->script, PROBLEM_TUNED, s->prototype, r, prototypes_warn, NULL,
                               error);
    }
    at_status status = problem_support_take(&s->support, r, error);
    return status || s->support.waiting > 0 || s->problems.waiting > 0 ? status
                                                                       : send_to_all(s, error);
}

/* Takes the references and, if the session is to be settled, the device's own kernels; a simulated
 * device waits for the prototype, too, which takes less time than a variant. */
static at_status take_results(session *s, bool settled, at_error *error)
{
    at_status status = AT_OK;
    const bool predicted = s->workers->properties.predicted;
    while (!status && (s->problems.waiting > 0 || (settled && s->support.waiting > 0) ||
                       ((settled || predicted) && s->prototype_waiting))) {
        compile_result r = {0};
        status = compile_take(s->workers->pool, STEP_MS, &r, error);
        if (status)
            status = error_forgive(status, AT_NOT_FOUND, error);
        else
            status = session_owns(r.id) ? session_take(s, &r, error)
                                        : problem_set_take(&s->problems, r.id, &r, error);
        compile_result_deinit(&r);
    }
    return status;
}

/* Refuses problems that a simulated device would have to run whole for minutes. */
static at_status check_sizes(const session *s, at_error *error)
{
    static const uint64_t most_bytes = UINT64_C(1) << 30;
    for (size_t i = 0; i < s->problems.slot_count * s->problems.layout_count; i++) {
        const uint64_t bytes =
            s->problems.problems[i].timed ? 0 : plan_problem_bytes(&s->problems.plans[i]);
        char label[DEVICE_LABEL_BYTES], has[UNITS_BYTES], most[UNITS_BYTES];
        if (bytes <= most_bytes)
            continue;
        problem_label(script_pattern(s->script), s->problems.kinds[i % s->problems.slot_count],
                      label, sizeof label);
        return error_set_at(error, AT_USAGE, script_pattern(s->script)->path, 0,
                            "%s has %s of buffers, and simulated devices run problems of up to %s: "
                            "give the script a smaller simulated = { ... }, or use --set",
                            label, units_size(bytes, has), units_size(most_bytes, most));
    }
    return AT_OK;
}

/* Submits the baseline's or, where that is not in the space, the first configuration's. */
static at_status submit_prototype(session *s, at_error *error)
{
    const pattern *p = script_pattern(s->script);
    uint64_t place = 0;
    if (p->baseline && !space_find(s->space, p->baseline, &place))
        place = 0;
    space_at(s->space, place, s->prototype);
    return prototypes_submit(s->script, PROBLEM_TUNED, s->prototype, s->workers->pool,
                             s->workers->properties.arch, PROTOTYPE_ID, &s->prototype_waiting,
                             error);
}

/* Compiles the references and sends the set-up, once the support code is there as well; its answer
 * (DEVICE_READY) is the pipeline's. */
static at_status send_setup(const settings *o, session *s, at_error *error)
{
    session_problems chosen;
    bool ptx = s->workers->properties.predicted;
    at_status status = predecessors_init(&s->before, o, s->script, &s->workers->properties,
                                         s->workers->pool, error);
    if (!status)
        status = session_choose_problems(s->script, ptx, &chosen, error);
    if (!status)
        status =
            problem_set_init(&s->problems, s->script, s->space, chosen.kinds, chosen.count, error);
    for (size_t i = 0; !status && i < s->problems.slot_count * s->problems.layout_count; i++) {
        device_problem *one = &s->problems.problems[i];
        one->before = s->before.list;
        one->before_count = s->before.count;
        one->sampled = one->timed = chosen.predicted_alone && i % chosen.count == 0;
    }
    if (!status && ptx)
        status = check_sizes(s, error);
    if (!status)
        status = find_ceiling(o, s, error);
    if (!status && !ptx)
        status = problem_support_submit(&s->support, s->workers->pool, s->workers->properties.arch,
                                        SUPPORT_ID, error);
    if (!status)
        status = problem_set_submit(&s->problems, s->workers->pool, s->workers->properties.arch,
                                    ptx, 0, s->reference_hash, s->reference_place,
                                    sizeof s->reference_place, error);
    if (!status)
        status = submit_prototype(s, error);
    if (!status)
        status = take_results(s, false, error);
    s->slots = status ? 0 : chosen.count;
    return status || s->support.waiting > 0 ? status : send_to_all(s, error);
}

at_status session_settle(session *s, at_error *error)
{
    return take_results(s, true, error);
}

at_status session_init(const settings *o, progress *shown, session *out, at_error *error)
{
    at_status status = session_open(o, shown, out, error);
    return status ? status : session_settle(out, error);
}

at_status session_open(const settings *o, progress *shown, session *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *out = (session){.workers = o->machine.workers ? o->machine.workers : &out->own,
                     .trace = o->trace};
    at_status status = target_check_script(o, error);
    if (!status)
        status = workers_settle(out->workers, o, error);
    out->open_ns = clock_now_ns() - start_ns;
    if (!status)
        status = load_space(o, shown, out, error);
    if (!status && out->workers->device)
        status = send_setup(o, out, error);
    return status;
}

void session_deinit(session *s)
{
    problem_set_deinit(&s->problems);
    problem_support_deinit(&s->support);
    predecessors_deinit(&s->before);
    space_free(s->space);
    script_free(s->script);
    workers_close(&s->own);
    *s = (session){0};
}
