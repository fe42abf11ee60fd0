#include "run/setup/before.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_text.h"
#include "base/memory.h"
#include "base/text.h"
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

static at_status refuse(const pattern *p, const problem_plan *plan, at_error *error)
{
    bool from_files = false;
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        from_files = from_files || plan->buffers[i].fill == FILL_FILE;
    if (p->transfers || from_files)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "--after takes kernels whose buffers are filled on the GPU; this one %s",
                            p->transfers ? "moves data between host and device"
                                         : "reads them from files");
    return AT_OK;
}

static at_status plan(script *s, device_predecessor *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    at_status status = script_check_baseline(s, PROBLEM_TUNED, error);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, p->baseline, 1, &out->plan, error);
    if (!status)
        status = refuse(p, &out->plan, error);
    return status ? status
                  : script_launch_plan(s, PROBLEM_TUNED, p->baseline, &out->launch, error);
}

/* hash := hash of (hash, source, launch, buffers) */
static void extend_hash(char hash[33], const emitted *source, const device_predecessor *p)
{
    pack m = {0};
    pack_put_string(&m, hash);
    pack_put_string(&m, source->hash);
    plan_put_launch(&m, &p->launch);
    plan_put_problem(&m, &p->plan);
    memory_have(m.failed ? NULL : &m);
    hash_text(XXH3_128bits(m.bytes, m.size_bytes), hash);
    pack_deinit(&m);
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
        extend_hash(p->hash, &source, one);
    emitted_deinit(&source);
    one->image = result_image(&p->compiled[p->count], false);
    snprintf(one->name, sizeof one->name, "%s", own->name);
    text_add(p->names, sizeof p->names, "%s%s", p->count ? ", " : "", own->name);
    p->count++;
    return status;
}

static at_status add(predecessors *p, const settings *o, size_t at, const pattern *tuned,
                     const device_properties *target, compile_pool *pool, at_error *error)
{
    settings asked = *o;
    script *s = NULL;
    asked.script = o->after[at];
    asked.variable_count = asked.only_count = 0;
    asked.describe = asked.captured = NULL;
    at_status status = target_load_script(&asked, &target->limits, &s, error);
    if (!status)
        status = give_sizes(s, tuned, error);
    if (!status)
        status = plan(s, &p->list[at], error);
    if (!status)
        status = compile(p, s, target->arch, pool, error);
    script_free(s);
    return status ? error_prefix(error, "--after %s", o->after[at]) : AT_OK;
}

at_status predecessors_init(predecessors *p, const settings *o, script *tuned,
                            const device_properties *target, compile_pool *pool, at_error *error)
{
    *p = (predecessors){0};
    if (o->after_count == 0)
        return AT_OK;
    if (target->predicted)
        return error_set(error, AT_USAGE,
                         "--after takes a GPU: what a kernel leaves in the L2 for another is not "
                         "predicted");
    if (o->energy || o->read_energy)
        return error_set(error, AT_USAGE,
                         "--after and energy do not go together: energy is that of one kernel over "
                         "and over");
    p->list = memory_new(o->after_count, sizeof *p->list);
    p->compiled = memory_new(o->after_count, sizeof *p->compiled);
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < o->after_count; i++)
        status = add(p, o, i, script_pattern(tuned), target, pool, error);
    return status;
}

void predecessors_deinit(predecessors *p)
{
    for (size_t i = 0; i < p->count; i++)
        compile_result_deinit(&p->compiled[i]);
    free(p->list);
    free(p->compiled);
    *p = (predecessors){0};
}
