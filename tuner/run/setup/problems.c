#include "run/setup/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "compile/kernel_names.h"
#include "compile/log.h"
#include "run/setup/setup.h"
#include "script/emit.h"

enum { PART_REFERENCE, PART_FILLER, PART_COUNT };

static size_t problem_count(const problem_set *set)
{
    return set->layout_count * set->slot_count;
}

static void layout_indices(const problem_set *set, size_t layout, uint16_t *indices)
{
    const pattern *p = script_pattern(set->script);
    memcpy(indices, p->baseline, p->parameter_count * sizeof *indices);
    script_set_layout(set->script, set->layouts[layout], indices);
}

/* Chooses the oracle's configuration. If there is none, no variant is checked on the problem. */
static at_status choose_oracle(problem_set *set, size_t number, problem_kind kind, at_error *error)
{
    uint16_t *indices = set->oracles[number];
    bool found = true;
    layout_indices(set, number / set->slot_count, indices);
    at_status status = script_oracle(set->script) != ORACLE_REFERENCE
                           ? script_oracle_configuration(set->script, kind, indices, &found, error)
                           : AT_OK;
    set->problems[number].absent = !found;
    if (!found)
        layout_indices(set, number / set->slot_count, indices);
    return status;
}

/* Fills in the problem of a slot, with the plans of its buffers, reference and filler. */
static at_status plan_problem(problem_set *set, size_t layout, size_t slot, at_error *error)
{
    const size_t number = layout * set->slot_count + slot;
    device_problem *p = &set->problems[number];
    problem_kind kind = set->kinds[slot];
    *p = (device_problem){.layout = (uint32_t)layout};
    if (slot > 0)
        problem_label(script_pattern(set->script), kind, p->label, sizeof p->label);
    at_status status = choose_oracle(set, number, kind, error);
    const uint16_t *indices = set->oracles[number];
    if (!status)
        status = script_problem_plan(set->script, kind, indices, 1, &p->plan, error);
    if (!status && !p->absent)
        status = script_reference_plan(set->script, kind, indices, &p->reference_launch, error);
    if (!status && script_has_filler(set->script))
        status = script_filler_plan(set->script, kind, indices, &p->filler_launch, error);
    set->plans[number] = p->plan;
    return status;
}

static at_status add_layout(problem_set *set, size_t number, const space *sp, at_error *error)
{
    bool baseline = number == script_layout_of(set->script, script_pattern(set->script)->baseline);
    if (sp && !script_layout_occurs(set->script, sp, number))
        return AT_OK;
    at_status status = AT_OK;
    set->layouts[set->layout_count] = number;
    for (size_t slot = 0; !status && slot < set->slot_count; slot++)
        status = plan_problem(set, set->layout_count, slot, error);
    if (!status)
        set->layout_count++;
    if (!status || sp || baseline || status == AT_NO_MEMORY)
        return status;
    error_clear(error);
    return AT_OK;
}

at_status problem_set_init(problem_set *set, script *s, const space *sp, const problem_kind *kinds,
                           size_t slot_count, at_error *error)
{
    *set = (problem_set){.script = s, .slot_count = slot_count};
    memcpy(set->kinds, kinds, slot_count * sizeof *kinds);
    size_t most = script_layout_count(s) * slot_count;
    set->problems = memory_new(most, sizeof *set->problems);
    set->plans = memory_new(most, sizeof *set->plans);
    set->oracles = memory_new(most, sizeof *set->oracles);
    set->compiled = memory_new(PART_COUNT * most, sizeof *set->compiled);
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < script_layout_count(s); i++)
        status = add_layout(set, i, sp, error);
    return status;
}

void problem_set_deinit(problem_set *set)
{
    for (size_t i = 0; set->compiled && i < PART_COUNT * problem_count(set); i++)
        compile_result_deinit(&set->compiled[i]);
    free(set->problems);
    free(set->plans);
    free(set->oracles);
    free(set->compiled);
    *set = (problem_set){0};
}

size_t problem_set_layout(const problem_set *set, const uint16_t *indices)
{
    size_t number = script_layout_of(set->script, indices);
    for (size_t i = 0; i < set->layout_count; i++)
        if (set->layouts[i] == number)
            return i;
    return DEVICE_MAX_LAYOUTS;
}

static const char *oracle_path(const problem_set *set)
{
    const pattern *p = script_pattern(set->script);
    return p->reference_path ? p->reference_path : p->template_path;
}

static void find_place(const problem_set *set, const emitted *source, const launch_plan *launch,
                       char *place, size_t place_bytes)
{
    char kernel[KERNEL_NAME_BYTES + 1];
    kernel_name_of_entry(plan_entry(launch, 0), kernel);
    text_add(kernel, sizeof kernel, "(");
    if (!compile_source_place(source->source, kernel, place, place_bytes))
        snprintf(place, place_bytes, "%s", oracle_path(set));
}

at_status problem_set_submit(problem_set *set, compile_pool *pool, const char *arch, bool ptx,
                             uint64_t first_id, char hash[33], char *place, size_t place_bytes,
                             at_error *error)
{
    bool filled = script_has_filler(set->script);
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < PART_COUNT * problem_count(set); i++) {
        size_t number = i / PART_COUNT;
        bool reference = i % PART_COUNT == PART_REFERENCE;
        const uint16_t *indices = set->oracles[number];
        emitted source = {0};
        const device_problem *p = &set->problems[number];
        const launch_plan *launch = reference ? &p->reference_launch : &p->filler_launch;
        problem_kind kind = set->kinds[number % set->slot_count];
        const char *path = reference ? oracle_path(set) : script_pattern(set->script)->filler_path;
        if (p->absent || (!reference && !filled))
            continue;
        status = reference ? emit_reference(set->script, kind, indices, true, &source, error)
                           : emit_filler(set->script, kind, indices, true, &source, error);
        if (!status)
            status =
                ptx ? submit_ptx(pool, first_id + i, &source, path, launch, arch, error)
                    : submit_source(pool, first_id + i, &source, path, launch, arch, false, error);
        if (!status && i == 0 && place)
            find_place(set, &source, &p->reference_launch, place, place_bytes);
        set->waiting += !status;
        if (!status && hash)
            extend_hash(hash, &source, launch, NULL);
        emitted_deinit(&source);
    }
    return status;
}

/* Returns the variable of the problem that the compiler's log calls undefined, or NULL. */
static const char *undefined_variable(const pattern *p, const char *log)
{
    char text[256];
    for (size_t i = 0; log && i < p->problem_count; i++) {
        const char *name = p->problems[PROBLEM_TUNED][i].name;
        snprintf(text, sizeof text, "identifier \"%s\" is undefined", name);
        if (strstr(log, text))
            return name;
    }
    return NULL;
}

at_status problem_set_take(problem_set *set, uint64_t id, compile_result *r, at_error *error)
{
    at_status status = AT_OK;
    bool ragged = id / PART_COUNT % set->slot_count > 0;
    if (r->outcome != COMPILE_OK) {
        const char *name = undefined_variable(script_pattern(set->script), r->log);
        status =
            error_set(error, AT_SCRIPT, "%s%s cannot be compiled (%s):\n%s%s%s%s",
                      id % PART_COUNT == PART_REFERENCE ? oracle_kernel(script_oracle(set->script))
                                                        : "the kernel that prepares inputs",
                      ragged ? " for a ragged problem" : "", compile_outcome_name(r->outcome),
                      r->log ? r->log : "",
                      name ? "\nA template has no macros of the kernel's file: write ${" : "",
                      name ? name : "", name ? "}" : "");
    }
    set->compiled[id] = *r;
    *r = (compile_result){0};
    set->waiting--;
    return status;
}

/* Sends each data file once, with as many bytes as the largest problem needs. */
static at_status send_data(const problem_set *set, device_worker *w, at_error *error)
{
    struct wanted {
        data_file *file;
        uint64_t size_bytes;
    } *wanted = NULL;
    size_t count = 0;
    for (size_t i = 0; i < problem_count(set); i++) {
        const problem_plan *plan = &set->problems[i].plan;
        for (uint32_t b = 0; !set->problems[i].absent && b < 2 * plan->buffer_count; b++) {
            const buffer_plan *buffer = &plan->buffers[b / 2];
            const bool answers = b % 2,
                       used = answers ? plan->oracle == ORACLE_FILE && plan_is_compared(buffer)
                                      : buffer->fill == FILL_FILE;
            if (!used)
                continue;
            data_file *f = script_data(set->script, answers ? &buffer->expected : &buffer->data);
            const uint64_t size = plan_buffer_bytes(buffer);
            size_t at = 0;
            while (at < count && wanted[at].file != f)
                at++;
            if (at == count)
                memory_add(&wanted, &count, &(struct wanted){.file = f}, sizeof *wanted);
            if (size > wanted[at].size_bytes)
                wanted[at].size_bytes = size;
        }
    }
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = device_worker_data(w, wanted[i].file, wanted[i].size_bytes, error);
    free(wanted);
    return status;
}

at_status problem_set_send(problem_set *set, device_worker *w, const problem_support *support,
                           bool ptx, at_error *error)
{
    device_image own[DEVICE_SUPPORT_PARTS] = {{0}};
    for (size_t i = 0; support && i < DEVICE_SUPPORT_PARTS; i++)
        own[i] = result_image(&support->parts[i], false);
    for (size_t i = 0; i < problem_count(set); i++) {
        set->problems[i].reference =
            result_image(&set->compiled[PART_COUNT * i + PART_REFERENCE], ptx);
        if (script_has_filler(set->script) && !set->problems[i].absent)
            set->problems[i].filler =
                result_image(&set->compiled[PART_COUNT * i + PART_FILLER], ptx);
    }
    at_status status = send_data(set, w, error);
    return status ? status : device_worker_setup(w, own, set->problems, problem_count(set), error);
}

void problem_set_sent(problem_set *set)
{
    for (size_t i = 0; i < PART_COUNT * problem_count(set); i++)
        compile_result_deinit(&set->compiled[i]);
}

static at_status submit_part(compile_pool *pool, const char *source, size_t part, const char *arch,
                             uint64_t id, at_error *error)
{
    static const char *const entries[DEVICE_SUPPORT_PARTS] = {"at_fill", "at_empty"};
    size_t size_bytes = strlen(source) + 64;
    char *text = memory_new(size_bytes, 1);
    snprintf(text, size_bytes, "#define SUPPORT_PART %zu\n#line 1\n%s", part + 1, source);
    at_status status = compile_submit(pool,
                                      &(compile_request){.id = id,
                                                         .source = text,
                                                         .name = "device_support.cu",
                                                         .entry = entries[part],
                                                         .arch = arch},
                                      error);
    free(text);
    return status;
}

at_status problem_support_submit(problem_support *s, compile_pool *pool, const char *arch,
                                 uint64_t first_id, at_error *error)
{
    paths p;
    char path[PATHS_BYTES + 64];
    char *source = NULL;
    size_t size_bytes;
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    *s = (problem_support){.first_id = first_id};
    snprintf(path, sizeof path, "%s/device_support.cu", p.template_dir);
    status = file_read(path, 1 << 20, &source, &size_bytes, error);
    for (; !status && s->waiting < DEVICE_SUPPORT_PARTS; s->waiting += !status)
        status = submit_part(pool, source, s->waiting, arch, first_id + s->waiting, error);
    free(source);
    return status;
}

bool problem_support_owns(uint64_t first_id, uint64_t id)
{
    return id >= first_id && id - first_id < DEVICE_SUPPORT_PARTS;
}

at_status problem_support_take(problem_support *s, compile_result *r, at_error *error)
{
    compile_result *part = &s->parts[r->id - s->first_id];
    *part = *r;
    *r = (compile_result){0};
    s->waiting--;
    return part->outcome == COMPILE_OK
               ? AT_OK
               : error_set(error, AT_SCRIPT,
                           "the device's helper kernels cannot be compiled (%s):\n%s",
                           compile_outcome_name(part->outcome), part->log ? part->log : "");
}

void problem_support_deinit(problem_support *s)
{
    for (size_t i = 0; i < DEVICE_SUPPORT_PARTS; i++)
        compile_result_deinit(&s->parts[i]);
    *s = (problem_support){0};
}

at_status prototypes_submit(script *s, prototype_of of, problem_kind problem,
                            const uint16_t *indices, compile_pool *pool, const char *arch,
                            uint64_t id, bool *asked, at_error *error)
{
    emitted source = {0};
    launch_plan plan;
    const struct kernel_file *file;
    const char *const *defines;
    size_t define_count;
    const bool reference = of == PROTOTYPE_REFERENCE;
    *asked = false;
    if (reference ? script_oracle(s) != ORACLE_REFERENCE
                  : script_file(s, &file, &defines, &define_count))
        return AT_OK;
    at_status status =
        (reference ? script_reference_plan : script_launch_plan)(s, problem, indices, &plan, error);
    if (!status)
        status = prototype_emit(s, of, problem, indices, &plan, &source, error);
    if (!status) {
        status = submit_ptx(pool, id, &source,
                            reference ? script_pattern(s)->reference_path
                                      : script_pattern(s)->template_path,
                            NULL, arch, error);
        *asked = !status;
    } else if (reference)
        /* The run of the reference reports that its template emits nothing. */
        status = error_ignore(status, AT_SCRIPT, error);
    emitted_deinit(&source);
    return status;
}

at_status prototypes_take(script *s, prototype_of of, problem_kind problem, const uint16_t *indices,
                          const compile_result *r, prototype_warning *doubt, void *context,
                          at_error *error)
{
    launch_plan plan;
    if (r->outcome != COMPILE_OK || !r->ptx)
        return AT_OK;
    at_status status = (of == PROTOTYPE_REFERENCE ? script_reference_plan : script_launch_plan)(
        s, problem, indices, &plan, error);
    return status
               ? status
               : prototype_compare(s, of, problem, indices, &plan, r->ptx, doubt, context, error);
}

at_status prototypes_check(script *s, problem_kind problem, const uint16_t *indices,
                           compile_pool *pool, const char *arch, prototype_warning *doubt,
                           void *context, at_error *error)
{
    at_status status = AT_OK;
    for (prototype_of of = 0; of < PROTOTYPE_COUNT && !status; of++) {
        bool asked;
        compile_result r = {0};
        status = prototypes_submit(s, of, problem, indices, pool, arch, of, &asked, error);
        if (!status && asked)
            status = compile_take(pool, -1, &r, error);
        if (!status && asked)
            status = prototypes_take(s, of, problem, indices, &r, doubt, context, error);
        compile_result_deinit(&r);
    }
    return status;
}

void prototypes_warn(void *context, const char *path, int line, const char *text)
{
    (void)context;
    fprintf(stderr, "autotune: warning: %s:%d: %s\n", path, line, text);
}
