#include "cmd/export/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/text.h"
#include "compile/option.h"
#include "device/field.h"
#include "export/kernels.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "script/launch_c.h"

enum {
    VALUE_BYTES = RECORD_TEXT_BYTES + 8,
    CAPABILITIES = 1000 /* id of a compilation = index of its source * CAPABILITIES + capability */
};

static at_status open_pool(kernel_ptx *k, at_error *error)
{
    at_status status =
        compile_pool_new(&(compile_options){.use_cache = true, .jobs = k->jobs}, &k->pool, error);
    k->unavailable = status == AT_NO_TOOLCHAIN;
    if (k->unavailable)
        fprintf(stderr,
                "autotune: the file has no PTX, so a clang compiles the sources itself: %s\n",
                error->message);
    return error_ignore(status, AT_NO_TOOLCHAIN, error);
}

/* Compiles source `place` for a capability (90 for sm_90), if it was not compiled for a lower one.
 * Messages call the source `name`. Errors are those of compile_pool_new() and submit_source(). */
static at_status compile_for(kernel_ptx *k, export_kernels *kernels, size_t place,
                             const emitted *variant, const char *name, const launch_plan *plan,
                             int capability, at_error *error)
{
    export_source *source = &kernels->sources[place];
    char arch[16];
    at_status status = k->pool || k->unavailable ? AT_OK : open_pool(k, error);
    if (status || k->unavailable)
        return status;
    if (plan->launch_count == 0 || (source->capability > 0 && source->capability <= capability))
        return AT_OK;
    source->capability = capability;
    k->submitted++;
    snprintf(arch, sizeof arch, "sm_%d", capability);
    return submit_source(k->pool, place * CAPABILITIES + (size_t)capability, variant, name, plan,
                         arch, true, error);
}

/* Sets the inline PTX of a source, if the compilation is the one for its lowest capability. */
static at_status keep_ptx(const compile_result *r, const export_launch *launch,
                          export_kernels *kernels, at_error *error)
{
    export_source *source = &kernels->sources[r->id / CAPABILITIES];
    if (r->outcome != COMPILE_OK || source->capability != (int)(r->id % CAPABILITIES))
        return AT_OK;
    at_status status = export_inline_ptx(r->ptx, r->ptx_bytes, r->symbols, source->entries,
                                         launch->entry_count, &source->ptx, error);
    return error_ignore(status, AT_FORMAT, error); /* legal PTX that the parser does not know */
}

/* Waits for all compilations, and sets the inline PTX of sources. Errors as compile_take(). */
static at_status take_all(kernel_ptx *k, const export_launch *launch, export_kernels *kernels,
                          at_error *error)
{
    at_status status = AT_OK;
    size_t refused = 0;
    while (k->pool && compile_pending(k->pool) > 0 && !status) {
        compile_result r = {0};
        status = compile_take(k->pool, -1, &r, error);
        progress_update(k->shown, &(progress_state){.stage = "compiled",
                                                    .done = ++k->taken,
                                                    .total = k->submitted,
                                                    .now_ns = clock_now_ns()});
        if (!status)
            status = keep_ptx(&r, launch, kernels, error);
        if (!status && r.outcome != COMPILE_OK && refused++ == 0)
            fprintf(stderr, "autotune: NVRTC does not compile all of the kernels (%s): %.400s\n",
                    compile_outcome_name(r.outcome), r.log ? r.log : "");
        compile_result_deinit(&r);
    }
    return status;
}

void kernel_ptx_deinit(kernel_ptx *k)
{
    compile_pool_free(k->pool);
    progress_free(k->shown);
    *k = (kernel_ptx){0};
}

/* The relation of a program's GPU to a GPU with records. */
typedef enum relation { SAME_GPU, SAME_CAPABILITY, SAME_MAJOR, UNRELATED, RELATIONS } relation;

static pick_target target_of(const record *r, relation k)
{
    return (pick_target){.gpu = k == SAME_GPU ? r->gpu : "",
                         .major = k == UNRELATED ? -1 : r->major,
                         .minor = k >= SAME_MAJOR ? -1 : r->minor};
}

typedef struct kernel_builder {
    const settings *run;
    pick_table table;
    export_model *m;
    const kernel_problems *problems;
    const record_values *problem; /* one of `problems` */
    arch_limits device;
    script *script;   /* the script for the problem and the device; borrowed */
    script **scripts; /* one script per record, for its device; NULL until it is needed */
    kernel_ptx *ptx;
} kernel_builder;

static at_status load(const kernel_builder *k, script **out, at_error *error)
{
    char texts[RECORD_MAX_VALUES][VALUE_BYTES];
    settings run = *k->run;
    run.pattern.variable_count = k->problem->count;
    for (size_t i = 0; i < k->problem->count; i++) {
        value_format(k->problem->pairs[i].value, texts[i], VALUE_BYTES);
        run.pattern.variables[i] = (script_setting){k->problem->pairs[i].name, texts[i]};
    }
    return target_load_script(&run, &k->device, out, error);
}

/* Sets *kept to the script for the problem. The problems of a portfolio need no check, because they
 * were measured: a script that is loaded already only gets their values. */
static at_status ready_script(kernel_builder *k, script **kept, at_error *error)
{
    pattern_variable values[RECORD_MAX_VALUES];
    if (k->problem->count > SETTINGS_MAX_VARIABLES)
        return error_set(error, AT_USAGE,
                         "a problem with more than %d variables cannot be exported",
                         SETTINGS_MAX_VARIABLES);
    if (!*kept || k->problem < k->problems->problems + k->problems->wanted) {
        script_free(*kept);
        *kept = NULL;
        return load(k, kept, error);
    }
    for (size_t i = 0; i < k->problem->count; i++)
        values[i] = (pattern_variable){k->problem->pairs[i].name, k->problem->pairs[i].value};
    return script_set_problem(*kept, PROBLEM_TUNED, values, k->problem->count, error);
}

/* Returns whether nvcc works without the option: it is nvcc's default, or changes no results. */
static bool is_harmless(const char *option)
{
    static const char *const harmless[] = {
        "std=c++",          "lineinfo", "generate-line-info", "diag-suppress", "minimal",
        "disable-warnings", "w"};
    const char *name = option + strspn(option, "-");
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return strcmp(name, "std=c++20") != 0;
    return option[0] == '\0';
}

/* Returns NAME=VALUE of -DNAME=VALUE, which a #define can replace; NULL for other options. */
static const char *definition_in(const char *option)
{
    static const char longer[] = "--define-macro=";
    if (strncmp(option, "-D", 2) == 0)
        return option + 2;
    return strncmp(option, longer, sizeof longer - 1) == 0 ? option + sizeof longer - 1 : NULL;
}

/* Writes the options as lines before the source. AT_USAGE if one would apply to the whole file. */
static at_status put_options(const kernel_builder *k, const emitted *variant, pack *text,
                             at_error *error)
{
    char option[COMPILE_OPTION_BYTES];
    for (size_t i = variant->own_option_count; i < variant->option_count; i++) {
        at_status status = compile_option_read(variant->options[i], option, error);
        const char *definition = status ? NULL : definition_in(option);
        if (status)
            return status;
        if (definition) {
            const size_t name = strcspn(definition, "=");
            pack_append_text(text, "#define ");
            pack_append(text, definition, name);
            pack_append_text(text, " ");
            pack_append_text(text, definition[name] ? definition + name + 1 : "1");
            pack_append_text(text, "\n");
        } else if (!is_harmless(option)) {
            return error_set_at(error, AT_USAGE, script_pattern(k->script)->path, 0,
                                "the kernels of '%s' need the compiler option %s, which an "
                                "exported file cannot set for each kernel: write it into the "
                                "template (__maxnreg__, intrinsics), or use 'autotune emit --best'",
                                k->m->pattern, variant->options[i]);
        }
    }
    return AT_OK;
}

static at_status note_entries(const kernel_builder *k, const uint16_t *indices,
                              const launch_plan *plan, export_source *to, at_error *error)
{
    int places[PLAN_MAX_LAUNCHES];
    char names[PLAN_ENTRIES_BYTES];
    launch_c launch = {.entry_count = k->m->launch.entry_count};
    memcpy(launch.entries, k->m->launch.entries, sizeof launch.entries);
    at_status status =
        script_entry_places(k->script, PROBLEM_TUNED, indices, plan, &launch, places, error);
    plan_entries(plan, names);
    for (size_t e = 0; e < launch.entry_count && !status; e++) {
        size_t length;
        if (places[e] < 0)
            continue;
        const char *name = text_line(names, (size_t)places[e], &length);
        to->entries[e] = (export_entry){memory_require(strndup(name, length)), (size_t)places[e]};
    }
    return status;
}

/* Returns whether the template read variable `i` of the problem, whose order is the header's. */
static bool reads_variable(const kernel_builder *k, const emit_reads *reads, size_t i)
{
    const pattern *p = script_pattern(k->script);
    for (size_t v = 0; v < p->problem_count; v++)
        if (strcmp(p->problems[PROBLEM_TUNED][v].name, k->problem->pairs[i].name) == 0)
            return reads->problem[v];
    return false;
}

/* Lists a condition for each variable and device field that the template read. */
static void list_conditions(const kernel_builder *k, const emit_reads *reads, export_use *use)
{
    size_t fields;
    device_fields(&fields);
    use->conditions = memory_new(k->problem->count + fields, sizeof *use->conditions);
    for (size_t i = 0; i < k->problem->count; i++)
        if (reads_variable(k, reads, i))
            use->conditions[use->condition_count++] = (export_condition){false, i};
    for (size_t i = 0; i < fields; i++)
        if (reads->device[i])
            use->conditions[use->condition_count++] = (export_condition){true, i};
}

/* Returns whether no other problem can use the kernel of a portfolio's problem: the kernel contains
 * values of variables in which the problems of the portfolio differ. */
static bool is_sample_only(const kernel_builder *k, const emit_reads *reads)
{
    const size_t at = (size_t)(k->problem - k->problems->problems);
    for (size_t i = 0; at >= k->problems->wanted && i < k->problem->count; i++)
        for (size_t j = k->problems->wanted; j < k->problems->count; j++)
            if (reads_variable(k, reads, i) &&
                !value_equal(k->problems->problems[j].pairs[i].value, k->problem->pairs[i].value))
                return true;
    return false;
}

/* Adds the source of a variant, and sets *place to the index of the source. */
static at_status add_source(kernel_builder *k, const uint16_t *indices, const emitted *variant,
                            size_t *place, at_error *error)
{
    export_source source = {0};
    launch_plan plan;
    pack text = {0};
    at_status status = put_options(k, variant, &text, error);
    if (!status)
        status = script_launch_plan(k->script, PROBLEM_TUNED, indices, &plan, error);
    if (status) {
        pack_deinit(&text);
        return status;
    }
    pack_append_text(&text, variant->source);
    source.text = memory_require(pack_take_text(&text));
    source.headers = memory_require(json_array());
    for (size_t i = 0; i < variant->includes.count; i++) {
        const source_header *h = &variant->includes.headers[i];
        json_t *header = json_object();
        json_put(&header, "name", json_string_nocheck(h->name));
        json_put(&header, "text", json_string_nocheck(h->text));
        json_append(&source.headers, header);
    }
    status = note_entries(k, indices, &plan, &source, error);
    if (status) {
        export_source_deinit(&source);
        return status;
    }
    *place = export_kernels_add_source(&k->m->kernels, source);
    return compile_for(k->ptx, &k->m->kernels, *place, variant,
                       script_pattern(k->script)->template_path, &plan,
                       10 * k->device.major + k->device.minor, error);
}

static at_status add_configuration(kernel_builder *k, const uint16_t *indices,
                                   const record_values *configuration, at_error *error)
{
    emit_reads reads;
    emitted variant;
    export_use use = {.configuration = configuration, .problem = k->problem, .device = k->device};
    at_status status =
        emit_variant_tracking(k->script, PROBLEM_TUNED, indices, &reads, &variant, error);
    if (status)
        return status;
    const bool sample_only = is_sample_only(k, &reads);
    if (!sample_only)
        status = add_source(k, indices, &variant, &use.source, error);
    emitted_deinit(&variant);
    if (status || sample_only)
        return status;
    list_conditions(k, &reads, &use);
    export_kernels_add_use(&k->m->kernels, use);
    return AT_OK;
}

/* Adds the kernels that a program on the target GPU may pick. */
static at_status add_for_target(kernel_builder *k, pick_target target, at_error *error)
{
    uint16_t indices[RECORD_MAX_VALUES];
    library_check check = {.script = k->script};
    pick_candidate found;
    target.problem = k->problem;
    target.fits = library_fits;
    target.ask = library_feature;
    target.context = &check;
    target.fallback = &k->m->defaults;
    if (pick_from(&k->table, &target, &found) == PICK_NONE ||
        !record_indices(script_pattern(k->script), found.configuration, indices))
        return AT_OK;
    return add_configuration(k, indices, found.configuration, error);
}

static at_status add_default(kernel_builder *k, at_error *error)
{
    bool valid;
    size_t broken;
    const pattern *p = script_pattern(k->script);
    at_status status = script_valid(k->script, PROBLEM_TUNED, p->baseline, &valid, &broken, error);
    if (status || !valid)
        return status;
    return add_configuration(k, p->baseline, &k->m->defaults, error);
}

/* Adds the kernels for the GPU of record `r`, for related GPUs, and of the default. `r` is NULL if
 * there are no records. */
static at_status add_for_record(kernel_builder *k, const record *r, size_t place, at_error *error)
{
    /* No kernel can be made for a capability that this version does not know. */
    if (r ? arch_of_gpu(r->gpu, r->major, r->minor, &k->device, NULL)
          : arch_find("sm_90", &k->device, NULL))
        return AT_OK;
    at_status status = ready_script(k, &k->scripts[place], error);
    if (status)
        return status;
    k->script = k->scripts[place];
    for (relation i = SAME_GPU; r && i < RELATIONS && !status; i++)
        status = add_for_target(k, target_of(r, i), error);
    return status ? status : add_default(k, error);
}

static at_status add_launch(const script *s, export_model *m, at_error *error)
{
    launch_c c;
    at_status status = script_launch_c(s, exported_spell, m, &c, error);
    if (status)
        return status;
    m->launch = (export_launch){.statements = c.statements,
                                .entry_count = c.entry_count,
                                .constant_count = c.constant_count};
    for (size_t i = 0; i < c.constant_count; i++)
        if (!c.is_input[c.constants[i].buffer])
            return error_set(
                error, AT_USAGE,
                "'%s' has results in the variable %s, which exported launches cannot read: write "
                "the results to a buffer, or launch the kernel by the library",
                m->pattern, c.constants[i].name);
    memcpy(m->launch.entries, c.entries, sizeof c.entries);
    memcpy(m->launch.constants, c.constants, sizeof c.constants);
    for (size_t i = 0; i < c.buffer_count; i++)
        m->launch.buffer_names[i] = c.buffers[i];
    memcpy(m->launch.is_input, c.is_input, sizeof c.is_input);
    m->launch.buffer_count = c.buffer_count;
    return AT_OK;
}

at_status exported_kernels(const options *o, const settings *run, const record_set *records,
                           const script *s, export_model *m, kernel_problems *problems,
                           kernel_ptx *ptx, at_error *error)
{
    kernel_builder k = {.run = run, .m = m, .problems = problems, .ptx = ptx};
    const size_t scripts = records->count ? records->count : 1;
    if (m->variable_count > RECORD_MAX_VALUES || m->parameter_count > RECORD_MAX_VALUES)
        return error_set(error, AT_SCRIPT, "records hold at most %d variables and parameters",
                         RECORD_MAX_VALUES);
    if (script_pattern(s)->transfers)
        return error_set(
            error, AT_USAGE,
            "'%s' moves data between host and device, which no kernel does by itself: use "
            "another format",
            m->pattern);
    k.scripts = memory_new(scripts, sizeof *k.scripts);
    at_status status = pick_table_make(records, &k.table, error);
    if (!status)
        status = add_launch(s, m, error);
    if (!status)
        status = exported_problems(o, m, records, s, problems, error);
    if (!status)
        status = export_model_add_problems(m, problems->problems, problems->count, error);
    for (size_t i = 0; i < problems->count && !status; i++) {
        k.problem = &problems->problems[i];
        progress_update(ptx->shown, &(progress_state){.stage = "problems",
                                                      .done = i,
                                                      .total = problems->count,
                                                      .now_ns = clock_now_ns()});
        for (size_t r = 0; r < scripts && !status; r++)
            status = add_for_record(&k, records->count ? &records->records[r] : NULL, r, error);
    }
    if (!status)
        status = take_all(ptx, &m->launch, &m->kernels, error);
    for (size_t r = 0; r < scripts; r++)
        script_free(k.scripts[r]);
    pick_table_deinit(&k.table);
    free(k.scripts);
    return status;
}
