#include "run/setup/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "record/ceilings.h"
#include "run/setup/captured.h"
#include "run/setup/problems.h"
#include "run/setup/proof_problems.h"
#include "run/setup/setup.h"
#include "script/emit.h"

/* ---- kernels before the tuned one: the buffers of captured launches ---- */

static at_status give_sizes(script *s, const pattern *tuned, at_error *error)
{
    pattern_variable values[PATTERN_MAX_VARIABLES];
    const pattern *own = script_pattern(s);
    size_t count = 0;
    for (size_t i = 0; i < own->problem_count; i++)
        for (size_t k = 0; k < tuned->problem_count; k++)
            if (strcmp(own->problems[PROBLEM_TUNED][i].name,
                       tuned->problems[PROBLEM_TUNED][k].name) == 0)
                values[count++] = tuned->problems[PROBLEM_TUNED][k];
    return script_set_problem(s, PROBLEM_TUNED, values, count, error);
}

typedef struct addresses {
    size_t count;
    char names[PLAN_MAX_BUFFERS][PLAN_NAME_BYTES];
    uint64_t at[PLAN_MAX_BUFFERS];
} addresses;

static at_status find_addresses(const char *captured, const launch_plan *launch,
                                const problem_plan *plan, addresses *out, at_error *error)
{
    captured_script c;
    out->count = 0;
    at_status status = captured_script_read(captured, &c, error);
    if (status)
        return status;
    const kernel_launch *k = &launch->launches[0];
    for (uint32_t i = 0; i < k->argument_count && i < c.launch.argument_count; i++) {
        const argument_plan *a = &launch->arguments[k->first_argument + i];
        if (!a->is_buffer || c.launch.arguments[i].pointer_count != 1 ||
            out->count == PLAN_MAX_BUFFERS)
            continue;
        snprintf(out->names[out->count], PLAN_NAME_BYTES, "%s", plan->buffers[a->buffer].name);
        out->at[out->count++] = c.launch.arguments[i].pointers[0].address;
    }
    captured_script_deinit(&c);
    return AT_OK;
}

static const uint64_t *address_of(const addresses *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->names[i], name) == 0)
            return &a->at[i];
    return NULL;
}

/* Gives a buffer the name of the known buffer at the same address, otherwise a new name. */
static void rename_buffer(buffer_plan *b, const addresses *own, addresses *known, size_t number)
{
    const uint64_t *at = address_of(own, b->name);
    if (!at)
        return;
    for (size_t i = 0; i < known->count; i++)
        if (known->at[i] == *at) {
            snprintf(b->name, sizeof b->name, "%s", known->names[i]);
            return;
        }
    char name[PLAN_NAME_BYTES];
    snprintf(name, sizeof name, "%zu %.40s", number, b->name);
    snprintf(b->name, sizeof b->name, "%s", name);
    if (known->count == PLAN_MAX_BUFFERS)
        return;
    snprintf(known->names[known->count], PLAN_NAME_BYTES, "%s", name);
    known->at[known->count++] = *at;
}

static at_status rename_buffers(device_predecessor *p, const char *captured, size_t number,
                                addresses *known, at_error *error)
{
    addresses own;
    at_status status = find_addresses(captured, &p->launch, &p->plan, &own, error);
    for (uint32_t i = 0; !status && i < p->plan.buffer_count; i++)
        rename_buffer(&p->plan.buffers[i], &own, known, number);
    return status;
}

static at_status find_tuned_addresses(const settings *o, script *tuned, addresses *out,
                                      at_error *error)
{
    launch_plan launch;
    problem_plan plan;
    const uint16_t *baseline = script_pattern(tuned)->baseline;
    out->count = 0;
    if (!o->pattern.captured)
        return AT_OK;
    at_status status = script_launch_plan(tuned, PROBLEM_TUNED, baseline, &launch, error);
    if (!status)
        status = script_problem_plan(tuned, PROBLEM_TUNED, baseline, 1, &plan, error);
    return status ? status : find_addresses(o->pattern.captured, &launch, &plan, out, error);
}

/* ---- kernels before the tuned one: loading ---- */

static at_status plan_predecessor(script *s, device_predecessor *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    at_status status = script_check_baseline(s, PROBLEM_TUNED, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, p->baseline, 1, &out->plan, error);
    if (!status && script_has_filler(s))
        status = error_set_at(error, AT_SCRIPT, p->path, 0,
                              "a kernel prepares its inputs, which --after does not run: fill them "
                              "by a rule or from a file, fill = at.file \"x.npy\"");
    if (!status && p->transfers)
        status = error_set_at(
            error, AT_SCRIPT, p->path, 0,
            "--after takes kernels only, but this pattern moves data between host and device");
    return status ? status : script_launch_plan(s, PROBLEM_TUNED, p->baseline, &out->launch, error);
}

static at_status compile_predecessor(predecessors *p, script *s, const char *arch,
                                     compile_pool *pool, at_error *error)
{
    device_predecessor *one = &p->list[p->count];
    const pattern *own = script_pattern(s);
    emitted source = {0};
    at_status status = emit_variant(s, PROBLEM_TUNED, own->baseline, true, &source, error);
    if (!status)
        status = compile_source(pool, &source, own->template_path, &one->launch, arch, false,
                                &p->compiled[p->count], error);
    if (!status)
        extend_hash(p->hash, &source, &one->launch, &one->plan);
    emitted_deinit(&source);
    one->image = result_image(&p->compiled[p->count], false);
    snprintf(one->name, sizeof one->name, "%s", own->name);
    text_add(p->names, sizeof p->names, "%s%s", p->count ? ", " : "", own->name);
    p->count++;
    return status;
}

/* Cuts FILE@CAPTURE at the last @; FILE may contain an @, too. */
static const char *cut_captured(const char *after, char *script_name, size_t bytes)
{
    const char *at = strrchr(after, '@');
    struct stat s;
    snprintf(script_name, bytes, "%s", after);
    if (!at || stat(after, &s) == 0 || (size_t)(at - after) >= bytes)
        return NULL;
    script_name[at - after] = '\0';
    return at + 1;
}

static at_status add_predecessor(predecessors *p, const settings *o, const pattern *tuned,
                                 const device_properties *target, compile_pool *pool,
                                 addresses *known, at_error *error)
{
    char name[4096];
    const size_t at = p->count;
    settings asked = *o;
    asked.pattern.captured = cut_captured(o->race.after[at], name, sizeof name);
    asked.pattern.script = name;
    asked.pattern.variable_count = asked.pattern.only_count = 0;
    asked.pattern.describe = NULL;
    at_status status = target_load_script(&asked, &target->limits, &p->scripts[at], error);
    script *s = p->scripts[at];
    if (!status && !asked.pattern.captured)
        status = give_sizes(s, tuned, error);
    if (!status)
        status = plan_predecessor(s, &p->list[at], error);
    if (!status && asked.pattern.captured)
        status = rename_buffers(&p->list[at], asked.pattern.captured, at + 1, known, error);
    if (!status)
        status = compile_predecessor(p, s, target->arch, pool, error);
    return status ? error_prefix(error, "--after %s", o->race.after[at]) : AT_OK;
}

static at_status predecessors_init(predecessors *p, const settings *o, script *tuned,
                                   const device_properties *target, compile_pool *pool,
                                   at_error *error)
{
    *p = (predecessors){0};
    if (o->race.after_count == 0)
        return AT_OK;
    if (target->predicted)
        return error_set(error, AT_USAGE,
                         "--after needs a real GPU: simulated devices do not predict what a kernel "
                         "leaves in the L2 cache");
    if (o->race.energy || o->race.read_energy)
        return error_set(error, AT_USAGE,
                         "--after cannot be combined with energy, which is measured over many "
                         "launches of one kernel: leave out one");
    addresses known;
    p->script_count = o->race.after_count;
    p->scripts = memory_new(o->race.after_count, sizeof *p->scripts);
    p->list = memory_new(o->race.after_count, sizeof *p->list);
    p->compiled = memory_new(o->race.after_count, sizeof *p->compiled);
    at_status status = find_tuned_addresses(o, tuned, &known, error);
    for (size_t i = 0; !status && i < o->race.after_count; i++)
        status = add_predecessor(p, o, script_pattern(tuned), target, pool, &known, error);
    return status;
}

static void predecessors_deinit(predecessors *p)
{
    for (size_t i = 0; i < p->count; i++)
        compile_result_deinit(&p->compiled[i]);
    for (size_t i = 0; i < p->script_count; i++)
        script_free(p->scripts[i]);
    free(p->scripts);
    free(p->list);
    free(p->compiled);
    *p = (predecessors){0};
}

static at_status predecessors_send(const predecessors *p, device_worker *w, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; !status && k < p->list[i].plan.buffer_count; k++) {
            const buffer_plan *b = &p->list[i].plan.buffers[k];
            if (b->fill == FILL_FILE)
                status = device_worker_data(w, script_data(p->scripts[i], &b->data),
                                            plan_buffer_bytes(b), error);
        }
    return status;
}

enum { STEP_MS = 100 };

/* The shares of a budget in seconds that enumerating a space, or sampling it, may take. */
static const double ENUMERATE_SHARE = 0.2, SAMPLE_SHARE = 0.1;

at_status session_choose_problems(script *s, bool predicted, session_problems *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    proof_problems chosen = {0};
    *out = (session_problems){.count = 1 + p->ragged_count, .kinds = {PROBLEM_TUNED}};
    for (size_t i = 0; i < p->ragged_count; i++)
        out->kinds[1 + i] = (problem_kind)(PROBLEM_RAGGED + i);
    at_status status = predicted ? proof_problems_choose(&chosen, s, false, error) : AT_OK;
    /* Without a small problem the tuned problem runs whole. */
    if (status || !chosen.count || chosen.none_whole || (chosen.count == 1 && chosen.sampled[0]))
        return error_ignore(status, AT_USAGE, error);
    out->count = 1;
    for (size_t i = 0; i < chosen.count; i++) {
        if (chosen.kinds[i] == PROBLEM_TUNED)
            out->predicted_alone = out->predicted_alone || chosen.sampled[i];
        else if (!chosen.sampled[i])
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
        return error_set(error, AT_USAGE, "--%s is refused: %s",
                         o->race.energy ? "objective energy" : "energy",
                         s->workers->device ? "energy can be measured on a real GPU only"
                                            : "--arch measures nothing");
    if (s->workers->device && script_oracle(s->script) == ORACLE_NONE)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "the script has oracle = false, so results are not compared and "
                            "nothing can be tuned or recorded; only 'autotune check' is possible. "
                            "To tune the kernel, remove the field or give the script a reference");
    if (s->workers->device && !p->measurable)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "nothing can be measured: the pattern has no buffers, or neither a "
                            "reference nor results (at.output, at.inout). 'autotune inspect', "
                            "'autotune emit' and --arch sm_XX still work on it");
    if (p->transfers && s->workers->other_count > 0)
        return error_set(
            error, AT_USAGE,
            "%s moves data between host and device, and several GPUs would share the host's memory "
            "and its link to them: choose one (--device cuda:0)",
            p->name);
    if (s->workers->device && s->workers->properties.predicted && p->transfers)
        return error_set(
            error, AT_NO_DEVICE,
            "%s moves data between host and device, and transfers are not simulated: use a "
            "GPU (--device cuda:0)%s%s",
            p->name, *s->workers->driver_less ? "; " : "", s->workers->driver_less);
    script_space_limits limits = script_space_defaults();
    if (o->search.budget_s > 0) {
        limits.enumerate_s = fmin(limits.enumerate_s, ENUMERATE_SHARE * o->search.budget_s);
        limits.sample_s = fmin(limits.sample_s, SAMPLE_SHARE * o->search.budget_s);
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
               ? error_set(error, AT_INTERRUPTED, "the time budget ended: raise --budget")
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

/* Finds the ceiling and its recorded rate. A simulated device only predicts copies. */
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

/* First compile id of the device's helper kernels. No candidate has such an id. */
static const uint64_t SUPPORT_ID = UINT64_C(1) << 62;
static const uint64_t PROTOTYPE_ID = UINT64_C(3) << 61;

static at_status send_to(session *s, device_worker *w, at_error *error)
{
    at_status status = predecessors_send(&s->before, w, error);
    return status ? status
                  : problem_set_send(&s->problems, w, &s->support, s->workers->properties.predicted,
                                     error);
}

static at_status send_to_all(session *s, at_error *error)
{
    at_status status = send_to(s, s->workers->device, error);
    for (size_t i = 0; !status && i < s->workers->other_count; i++)
        status = send_to(s, s->workers->others[i], error);
    problem_set_sent(&s->problems);
    problem_support_deinit(&s->support);
    return status;
}

static void free_prototypes(session *s)
{
    for (size_t i = 0; i < PROTOTYPE_COUNT; i++)
        compile_result_deinit(&s->prototypes[i]);
}

bool session_owns(uint64_t compile_id)
{
    return compile_id - PROTOTYPE_ID < PROTOTYPE_COUNT ||
           problem_support_owns(SUPPORT_ID, compile_id);
}

/* Compares the prototypes when all have arrived, so that the order of compilation does not decide
 * which mistake is reported. */
static at_status take_prototype(session *s, compile_result *r, at_error *error)
{
    at_status status = AT_OK;
    s->prototypes[r->id - PROTOTYPE_ID] = *r;
    *r = (compile_result){0};
    if (--s->prototypes_waiting > 0)
        return AT_OK;
    for (prototype_of of = 0; of < PROTOTYPE_COUNT && !status; of++)
        status = prototypes_take(s->script, of, PROBLEM_TUNED, s->prototype, &s->prototypes[of],
                                 prototypes_warn, NULL, error);
    free_prototypes(s);
    return status;
}

at_status session_take(session *s, compile_result *r, at_error *error)
{
    if (r->id - PROTOTYPE_ID < PROTOTYPE_COUNT)
        return take_prototype(s, r, error);
    at_status status = problem_support_take(&s->support, r, error);
    return status || s->support.waiting > 0 || s->problems.waiting > 0 ? status
                                                                       : send_to_all(s, error);
}

/* Takes the references, and the helper kernels if `settled`. A simulated device also waits for the
 * prototype, which takes less time than a variant. */
static at_status take_results(session *s, bool settled, at_error *error)
{
    at_status status = AT_OK;
    const bool predicted = s->workers->properties.predicted;
    while (!status && (s->problems.waiting > 0 || (settled && s->support.waiting > 0) ||
                       ((settled || predicted) && s->prototypes_waiting > 0))) {
        compile_result r = {0};
        status = compile_take(s->workers->pool, STEP_MS, &r, error);
        if (status)
            status = error_ignore(status, AT_NOT_FOUND, error);
        else
            status = session_owns(r.id) ? session_take(s, &r, error)
                                        : problem_set_take(&s->problems, r.id, &r, error);
        compile_result_deinit(&r);
    }
    return status;
}

/* Refuses problems that a simulated device would run whole for minutes. */
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

/* Submits the baseline's prototype, or the first configuration's if the space has no baseline. */
static at_status submit_prototype(session *s, at_error *error)
{
    const pattern *p = script_pattern(s->script);
    uint64_t place = 0;
    if (p->baseline && !space_find(s->space, p->baseline, &place))
        place = 0;
    space_at(s->space, place, s->prototype);
    at_status status = AT_OK;
    for (prototype_of of = 0; of < PROTOTYPE_COUNT && !status; of++) {
        bool asked;
        status = prototypes_submit(s->script, of, PROBLEM_TUNED, s->prototype, s->workers->pool,
                                   s->workers->properties.arch, PROTOTYPE_ID + of, &asked, error);
        s->prototypes_waiting += asked;
    }
    return status;
}

/* Compiles the references; sends the set-up once the support code is there. The pipeline takes the
 * answer (DEVICE_READY). */
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

at_status session_init(const settings *o, progress *shown, session *out, at_error *error)
{
    at_status status = session_open(o, shown, out, error);
    return status ? status : take_results(out, true, error);
}

at_status session_open(const settings *o, progress *shown, session *out, at_error *error)
{
    int64_t start_ns = clock_now_ns();
    *out = (session){.workers = o->machine.workers ? o->machine.workers : &out->own};
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
    free_prototypes(s);
    space_free(s->space);
    script_free(s->script);
    workers_close(&s->own);
    *s = (session){0};
}
