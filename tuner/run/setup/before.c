#include "run/setup/before.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "run/setup/captured.h"
#include "run/setup/setup.h"
#include "script/emit.h"

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

/* ---- captured launches ---- */

/* The buffers of a captured launch: what they are called in the script, and where they lay. */
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

/* Calls a buffer as those at the same address are called, and as none where there are none. */
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

/* ---- loading ---- */

static at_status plan(script *s, device_predecessor *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    at_status status = script_check_baseline(s, PROBLEM_TUNED, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, p->baseline, 1, &out->plan, error);
    if (!status && script_has_filler(s))
        status = error_set_at(error, AT_SCRIPT, p->path, 0,
                              "a kernel prepares its inputs, which --after does not run: have "
                              "them filled by a rule or from a file, fill = at.file \"x.npy\"");
    if (!status && p->transfers)
        status = error_set_at(error, AT_SCRIPT, p->path, 0,
                              "it moves data between host and device: --after takes kernels alone");
    return status ? status : script_launch_plan(s, PROBLEM_TUNED, p->baseline, &out->launch, error);
}

static at_status compile(predecessors *p, script *s, const char *arch, compile_pool *pool,
                         at_error *error)
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

/* FILE@CAPTURE; a file may have that in its name. */
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

static at_status add(predecessors *p, const settings *o, const pattern *tuned,
                     const device_properties *target, compile_pool *pool, addresses *known,
                     at_error *error)
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
        status = plan(s, &p->list[at], error);
    if (!status && asked.pattern.captured)
        status = rename_buffers(&p->list[at], asked.pattern.captured, at + 1, known, error);
    if (!status)
        status = compile(p, s, target->arch, pool, error);
    return status ? error_prefix(error, "--after %s", o->race.after[at]) : AT_OK;
}

at_status predecessors_init(predecessors *p, const settings *o, script *tuned,
                            const device_properties *target, compile_pool *pool, at_error *error)
{
    *p = (predecessors){0};
    if (o->race.after_count == 0)
        return AT_OK;
    if (target->predicted)
        return error_set(error, AT_USAGE,
                         "--after takes a GPU: what a kernel leaves in the L2 for another is not "
                         "predicted");
    if (o->race.energy || o->race.read_energy)
        return error_set(error, AT_USAGE,
                         "--after and energy do not go together: energy is that of one kernel over "
                         "and over");
    addresses known;
    p->script_count = o->race.after_count;
    p->scripts = memory_new(o->race.after_count, sizeof *p->scripts);
    p->list = memory_new(o->race.after_count, sizeof *p->list);
    p->compiled = memory_new(o->race.after_count, sizeof *p->compiled);
    at_status status = find_tuned_addresses(o, tuned, &known, error);
    for (size_t i = 0; !status && i < o->race.after_count; i++)
        status = add(p, o, script_pattern(tuned), target, pool, &known, error);
    return status;
}

void predecessors_deinit(predecessors *p)
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

at_status predecessors_send(const predecessors *p, device_worker *w, at_error *error)
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
