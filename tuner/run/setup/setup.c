#include "run/setup/setup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/paths.h"
#include "base/text.h"
#include "bench/client.h"
#include "device/plan.h"
#include "process/interrupt.h"
#include "record/ceilings.h"
#include "record/record.h"
#include "report/progress.h"
#include "run/setup/captured.h"
#include "sim/chip.h"

at_status target_here(arch_limits *out, at_error *error)
{
    device_properties first;
    size_t count;
    at_error none = {0};
    if (device_worker_list("cuda", &first, 1, &count, &none) == AT_OK && count > 0) {
        *out = first.limits;
        return AT_OK;
    }
    return arch_find("sm_90", out, error);
}

at_status target_find(const char *arch, arch_limits *out, at_error *error)
{
    at_status status = arch ? arch_find(arch, out, error) : target_here(out, error);
    sim_chip chip;
    if (arch && status && sim_chip_find(arch, &chip, NULL) == AT_OK) {
        *out = chip.limits;
        return error_ignore(status, AT_USAGE, error);
    }
    /* Replaces the name of a GPU by the name of its architecture. */
    if (!arch && !status)
        snprintf(out->name, sizeof out->name, "sm_%d%d", out->major, out->minor);
    return status;
}

at_status target_check_script(const settings *o, at_error *error)
{
    paths p;
    char path[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    return status ? status : paths_find_script(&p, o->pattern.script, path, sizeof path, error);
}

/* Returns true if an interrupt is pending: interrupts are blocked during a run and between runs. */
static bool interrupt_asked(void *context)
{
    (void)context;
    return interrupt_is_pending();
}

/* A pool of one worker, which starts when the script asks the compiler about a kernel file. */
typedef struct asking {
    compile_pool *pool;
    bool use_cache;
    char arch[32];
} asking;

static at_status ask_compiler(void *context, const script_source *source, char **ptx, char **log,
                              at_error *error)
{
    asking *a = context;
    compile_result r = {0};
    at_status status = AT_OK;
    if (!a->pool)
        status = compile_pool_new(&(compile_options){.jobs = 1, .use_cache = a->use_cache},
                                  &a->pool, error);
    if (!status)
        status = compile_submit(a->pool,
                                &(compile_request){.source = source->text,
                                                   .name = source->name,
                                                   .entry = "",
                                                   .arch = a->arch,
                                                   .options = source->options,
                                                   .option_count = source->option_count,
                                                   .headers = source->headers,
                                                   .header_count = source->header_count,
                                                   .want_ptx = true,
                                                   .ptx_alone = true},
                                error);
    if (!status)
        status = compile_take(a->pool, -1, &r, error);
    if (!status) {
        *ptx = r.ptx;
        *log = r.log;
        r.ptx = r.log = NULL;
    }
    compile_result_deinit(&r);
    return status;
}

static void tell_warnings(const script *s)
{
    int line;
    const char *text;
    for (size_t i = 0; (text = script_warning_text(s, i, &line)); i++)
        fprintf(stderr, "autotune: warning: %s:%d: %s\n", script_pattern(s)->path, line, text);
}

static script_options script_options_of(const settings *o, const paths *p,
                                        const arch_limits *limits, asking *a,
                                        const script_captured *captured)
{
    snprintf(a->arch, sizeof a->arch, "sm_%d%d", limits->major, limits->minor);
    return (script_options){.lua_dir = p->lua_dir,
                            .template_dir = p->template_dir,
                            .settings = o->pattern.variables,
                            .setting_count = o->pattern.variable_count,
                            .includes = o->pattern.includes,
                            .include_count = o->pattern.include_count,
                            .only = o->pattern.only,
                            .only_count = o->pattern.only_count,
                            .describe = o->pattern.describe,
                            .compiler = {ask_compiler, a},
                            .captured = captured,
                            .device = *limits,
                            .stop = interrupt_asked};
}

/* Refuses a problem without possible data, before a constraint divides by one of its sizes. */
static at_status check_problem(const settings *o, script **s, at_error *error)
{
    problem_plan plan;
    if (o->pattern.variable_count == 0 || !script_pattern(*s)->measurable)
        return AT_OK;
    at_status status = script_problem_plan(*s, PROBLEM_TUNED, NULL, 1, &plan, error);
    if (status) {
        script_free(*s);
        *s = NULL;
    }
    return status;
}

at_status target_load_script(const settings *o, const arch_limits *limits, script **out,
                             at_error *error)
{
    paths p;
    char path[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    if (!status)
        status = paths_find_script(&p, o->pattern.script, path, sizeof path, error);
    if (status)
        return status;
    asking a = {.use_cache = o->machine.use_cache};
    captured_script captured = {0};
    if (o->pattern.captured)
        status = captured_script_read(o->pattern.captured, &captured, error);
    if (status)
        return status;
    const script_options with =
        script_options_of(o, &p, limits, &a, o->pattern.captured ? &captured.launch : NULL);
    status = script_load(path, &with, out, error);
    compile_pool_free(a.pool);
    if (!status && o->pattern.captured)
        status = captured_script_compare(&captured, *out, error);
    captured_script_deinit(&captured);
    if (!status && error)
        tell_warnings(*out);
    return status ? status : check_problem(o, out, error);
}

at_status target_sketch(const settings *o, const script_sketch_of *of, const arch_limits *limits,
                        char **comment, at_error *error)
{
    paths p;
    asking a = {.use_cache = o->machine.use_cache};
    *comment = NULL;
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    const script_options with = script_options_of(o, &p, limits, &a, NULL);
    status = script_sketch(o->pattern.script, of, &with, comment, error);
    compile_pool_free(a.pool);
    return status;
}

bool target_feature(script *s, problem_kind problem, const record_feature *feature,
                    const record_values *configuration, double *out)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    size_t place = pattern_find_feature(script_pattern(s), feature->name, feature->definition);
    if (place == SIZE_MAX || !record_indices(script_pattern(s), configuration, indices))
        return false;
    if (script_feature(s, problem, place, indices, out, NULL))
        *out = INFINITY;
    return true;
}

/* Writes the values that differ from the configuration `asked`, each after a blank. */
static void changed_text(const script *s, const uint16_t *asked, const uint16_t *indices, char *out,
                         size_t size_bytes)
{
    const pattern *p = script_pattern(s);
    out[0] = '\0';
    for (size_t i = 0; i < p->parameter_count; i++) {
        char text[64];
        if (asked[i] == indices[i])
            continue;
        value_format(p->parameters[i].values[indices[i]], text, sizeof text);
        text_add(out, size_bytes, " %s=%s", p->parameters[i].name, text);
    }
}

at_status setup_choose_configuration(script *s, problem_kind problem, const char *text,
                                     const bool *is_swept, uint16_t *indices, at_error *error)
{
    bool is_given[PATTERN_MAX_PARAMETERS], changed = false;
    uint16_t asked[PATTERN_MAX_PARAMETERS];
    at_status status = script_check_baseline(s, problem, error);
    if (!status)
        status = script_parse_given(s, text ? text : "", indices, is_given, error);
    if (status)
        return status;
    memcpy(asked, indices, script_pattern(s)->parameter_count * sizeof *asked);
    status =
        script_complete_configuration(s, problem, is_given, is_swept, indices, &changed, error);
    if (!status && changed) {
        char more[CONFIGURATION_BYTES];
        changed_text(s, asked, indices, more, sizeof more);
        fprintf(stderr, "autotune: the nearest valid configuration has%s as well\n", more);
    }
    return status;
}

static at_status refuse_broken(script *s, problem_kind problem, const uint16_t *indices,
                               size_t broken, at_error *error)
{
    const pattern *p = script_pattern(s);
    const bool none[PATTERN_MAX_PARAMETERS] = {false};
    char derived[512], values[512], near[512];
    uint16_t nearest[PATTERN_MAX_PARAMETERS];
    bool changed = false;
    memcpy(nearest, indices, p->parameter_count * sizeof *nearest);
    if (script_complete_configuration(s, problem, none, NULL, nearest, &changed, NULL))
        changed = false;
    changed_text(s, indices, nearest, near, sizeof near);
    script_describe_derived(s, broken, derived, sizeof derived);
    script_describe_values(s, broken, problem, indices, values, sizeof values);
    return error_set_at(
        error, AT_USAGE, p->path, p->constraints[broken].line,
        "no valid configuration has these values, because they break a constraint: %s%s%s%s%s",
        p->constraints[broken].text, derived, values, changed ? "; the nearest valid one has" : "",
        changed ? near : "");
}

at_status setup_choose_valid(script *s, problem_kind problem, const char *text, uint16_t *indices,
                             at_error *error)
{
    bool valid = true;
    size_t broken = 0;
    at_status status = setup_choose_configuration(s, problem, text, NULL, indices, error);
    if (!status)
        status = script_valid(s, problem, indices, &valid, &broken, error);
    return !status && !valid ? refuse_broken(s, problem, indices, broken, error) : status;
}

void problem_label(const pattern *p, problem_kind kind, char *text, size_t size_bytes)
{
    /* If another problem can replace the tuned problem, the text names all of its variables. */
    const bool has_stand_in =
        p->has_problem[PROBLEM_SIMULATED] || p->has_problem[PROBLEM_SMALL] || p->ragged_count > 0;
    const char *adjective = kind >= PROBLEM_LARGER   ? "larger"
                            : kind >= PROBLEM_RAGGED ? "ragged"
                            : kind == PROBLEM_TUNED  ? "tuned"
                                                     : "small";
    int used = snprintf(text, size_bytes, "the %s problem", adjective);
    for (size_t i = 0; i < p->problem_count && used > 0 && (size_t)used < size_bytes; i++) {
        char given[64], tuned[64];
        value_format(p->problems[kind][i].value, given, sizeof given);
        value_format(p->problems[PROBLEM_TUNED][i].value, tuned, sizeof tuned);
        if (kind == PROBLEM_TUNED ? has_stand_in : strcmp(given, tuned) != 0)
            used += snprintf(text + used, size_bytes - (size_t)used, " %s=%s",
                             p->problems[kind][i].name, given);
    }
}

void setup_show_space(void *context, const space_progress *s)
{
    progress_update(context, &(progress_state){.stage = s->sampling ? "% sampled" : "% enumerated",
                                               .done = (uint64_t)(100 * s->share),
                                               .now_ns = clock_now_ns()});
}

static compile_request request_of(uint64_t id, const emitted *source, const char *name,
                                  const char *entries, const char *arch)
{
    return (compile_request){.id = id,
                             .source = source->source,
                             .name = name,
                             .entry = entries,
                             .arch = arch,
                             .options = source->options,
                             .option_count = source->option_count,
                             .headers = source->includes.headers,
                             .header_count = source->includes.count};
}

at_status submit_source(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                        const launch_plan *launch, const char *arch, bool want_ptx, at_error *error)
{
    char entries[PLAN_ENTRIES_BYTES];
    plan_entries(launch, entries);
    compile_request r = request_of(id, source, name, entries, arch);
    r.want_ptx = want_ptx;
    return compile_submit(pool, &r, error);
}

at_status submit_ptx(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                     const launch_plan *launch, const char *arch, at_error *error)
{
    char entries[PLAN_ENTRIES_BYTES] = "";
    if (launch)
        plan_entries(launch, entries);
    compile_request r = request_of(id, source, name, entries, arch);
    r.want_ptx = r.ptx_alone = true;
    return compile_submit(pool, &r, error);
}

at_status compile_source(compile_pool *pool, const emitted *source, const char *name,
                         const launch_plan *launch, const char *arch, bool want_ptx,
                         compile_result *out, at_error *error)
{
    *out = (compile_result){0};
    at_status status = submit_source(pool, 0, source, name, launch, arch, want_ptx, error);
    if (!status)
        status = compile_take(pool, -1, out, error);
    if (!status && out->outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "the variant does not compile (%s):\n%s",
                           compile_outcome_name(out->outcome), out->log ? out->log : "");
    return status;
}

at_status compile_filler(script *s, problem_kind problem, const uint16_t *indices,
                         const launch_plan *launch, compile_pool *pool, const char *arch,
                         compile_result *out, at_error *error)
{
    emitted source = {0};
    *out = (compile_result){0};
    if (!script_has_filler(s))
        return AT_OK;
    at_status status = emit_filler(s, problem, indices, true, &source, error);
    if (!status)
        status = compile_source(pool, &source, script_pattern(s)->filler_path, launch, arch, true,
                                out, error);
    if (status == AT_COMPILE)
        status = error_prefix(error, "the kernel that prepares inputs");
    emitted_deinit(&source);
    return status;
}

void extend_hash(char hash[33], const emitted *source, const launch_plan *launch,
                 const problem_plan *buffers)
{
    pack m = {0};
    pack_put_string(&m, hash);
    pack_put_string(&m, source->hash);
    plan_put_launch(&m, launch);
    if (buffers)
        plan_put_problem(&m, buffers);
    memory_require(m.failed ? NULL : &m);
    hash_text(XXH3_128bits(m.bytes, m.size_bytes), hash);
    pack_deinit(&m);
}

device_image result_image(const compile_result *r, bool ptx)
{
    device_image image = {.bytes = ptx ? (const void *)r->ptx : r->cubin,
                          .size_bytes = ptx ? r->ptx_bytes : r->cubin_bytes,
                          .registers = r->resources.registers,
                          .static_shared_bytes = r->resources.static_shared_bytes,
                          .stack_bytes = r->resources.stack_bytes,
                          .spill_bytes =
                              r->resources.spill_load_bytes + r->resources.spill_store_bytes,
                          .symbols = r->symbols,
                          .shared = r->grouped};
    return image;
}

at_status chips_wanted(const settings *o, sim_chip *out, at_error *error)
{
    arch_limits here;
    ceiling_rates kept;
    char arch[32];
    if (o->machine.arch)
        return sim_chip_find(o->machine.arch, out, error);
    if (o->machine.device)
        return sim_chip_of_device(o->machine.device, out, error);
    at_status status = target_here(&here, error);
    if (status)
        return status;
    snprintf(arch, sizeof arch, "sm_%d%d", here.major, here.minor);
    if (strcmp(arch, here.name) == 0)
        return sim_chip_find(arch, out, error);
    status = sim_chip_of_gpu(here.name, &here, arch, out, error);
    if (!status)
        status = ceilings_read(o->results.results_dir, here.name, &kept, error);
    if (!status)
        sim_chip_measured(out, kept.rates);
    return status;
}

json_t *pattern_json_problem(const pattern *p, problem_kind which)
{
    json_t *object = json_object();
    for (size_t i = 0; i < p->problem_count; i++)
        json_put(&object, p->problems[which][i].name, json_from_value(p->problems[which][i].value));
    return object;
}

json_t *pattern_json_configuration(const pattern *p, const uint16_t *indices)
{
    json_t *object = json_object();
    for (size_t i = 0; i < p->parameter_count; i++)
        json_put(&object, p->parameters[i].name,
                 json_from_value(p->parameters[i].values[indices[i]]));
    return object;
}
