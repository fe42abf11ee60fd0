/* autotune space, lint: the search space of a script, and likely mistakes in the script. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "report/progress.h"
#include "run/setup/problems.h"
#include "run/setup/setup.h"
#include "run/variant/sources.h"
#include "script/emit.h"
#include "space/space.h"

/* Counts the configurations of `sp` that every ragged problem forbids; 0 without ragged problems.
 * Errors are those of script_space(). */
static at_status count_unchecked(script *s, const space *sp, uint64_t *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    space *ragged[PATTERN_MAX_RAGGED] = {0};
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    at_status status = AT_OK;
    *out = 0;
    for (size_t i = 0; !status && i < p->ragged_count; i++) {
        at_error none = {0};
        status = script_space(s, (problem_kind)(PROBLEM_RAGGED + i), &ragged[i], &none);
        /* An empty space allows no configuration. */
        if (status == AT_SCRIPT)
            status = AT_OK;
        else if (status)
            *error = none;
    }
    for (uint64_t i = 0; !status && p->ragged_count > 0 && i < space_count(sp); i++) {
        bool checked = false;
        uint64_t at;
        space_at(sp, i, indices);
        for (size_t k = 0; !checked && k < p->ragged_count; k++)
            checked = ragged[k] && space_find(ragged[k], indices, &at);
        *out += !checked;
    }
    for (size_t i = 0; i < PATTERN_MAX_RAGGED; i++)
        space_free(ragged[i]);
    return status;
}

static void warn_unchecked(const script *s, const space *sp, uint64_t unchecked)
{
    const pattern *p = script_pattern(s);
    if (p->ragged_count == 0 && !script_has_field(s, "ragged"))
        fprintf(stderr,
                "autotune: warning: %s has no ragged problem, so the edges of its variants are "
                "never checked: give one, ragged = { ... }\n",
                p->name);
    if (unchecked > 0)
        fprintf(stderr,
                "autotune: warning: %" PRIu64 " of %" PRIu64
                " configurations break a constraint on every ragged problem, so their edges are "
                "never checked: give another ragged problem, ragged = { { ... }, { ... } }\n",
                unchecked, space_count(sp));
}

static at_status print_space(const options *o, const script *s, const space *sp, double enumerate_s,
                             uint64_t unchecked, at_error *error)
{
    const pattern *p = script_pattern(s);
    const bool sampled = space_is_sample(sp);
    json_t *parameters = json_array(), *constraints = json_array();
    for (size_t i = 0; i < p->parameter_count; i++) {
        json_t *values = json_array();
        for (size_t v = 0; v < p->parameters[i].value_count; v++)
            json_append(&values, json_from_value(p->parameters[i].values[v]));
        json_append(&parameters,
                    json_pack("{ss so}", "name", p->parameters[i].name, "values", values));
    }
    for (size_t i = 0; i < p->constraint_count; i++)
        json_append(&constraints,
                    json_pack("{so si so}", "text", json_foreign_text(p->constraints[i].text),
                              "line", p->constraints[i].line, "removed",
                              json_count_rounded(space_removed(sp, i))));
    json_t *found =
        json_pack("{ss sf so sb so so so so}", "pattern", p->name, "enumerate_s", enumerate_s,
                  "cartesian", json_count(space_cartesian(sp)), "sampled", (int)sampled,
                  sampled ? "configurations" : "valid", json_count(space_count(sp)), "unchecked",
                  sampled ? json_null() : json_count(unchecked), "parameters", parameters,
                  "constraints", constraints);
    return page_show(
        o, "space", 2, found,
        json_pack("{so so sI so sb}", "summary", json_foreign_text(p->summary), "problem",
                  pattern_json_problem(p, PROBLEM_TUNED), "count", (json_int_t)space_count(sp),
                  "share",
                  json_exact(100.0 * (double)space_count(sp) / (double)space_cartesian(sp)),
                  "is_countable", space_cartesian(sp) != UINT64_MAX),
        error);
}

static at_status print_list(const script *s, const space *sp, at_error *error)
{
    at_status status = AT_OK;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    char text[CONFIGURATION_BYTES];
    for (uint64_t i = 0; !status && i < space_count(sp); i++) {
        space_at(sp, i, indices);
        script_format_configuration(s, indices, text, sizeof text);
        /* The reader has closed stdout, as `head` does, or the disk is full. */
        if (puts(text) == EOF)
            status = output_failed(error);
    }
    if (!status && space_is_sample(sp))
        fprintf(stderr,
                "autotune: the space is too large to enumerate: the list has only %" PRIu64
                " of its valid configurations\n",
                space_count(sp));
    return status;
}

static at_status make_space(script *s, space **out, at_error *error)
{
    progress *shown = progress_new(STDERR_FILENO, false);
    script_space_limits limits = script_space_defaults();
    limits.show = setup_show_space;
    limits.show_context = shown;
    at_status status = script_space_within(s, PROBLEM_TUNED, &limits, out, error);
    progress_free(shown);
    return status;
}

static at_status show_space(const options *o, at_error *error)
{
    arch_limits arch;
    script *s = NULL;
    space *sp = NULL;
    if (o->list && o->json)
        return error_set(error, AT_USAGE,
                         "--list prints lines, and --json one object: leave out one of them");
    at_status status = target_find(o->run.machine.arch, &arch, error);
    if (!status)
        status = target_load_script(&o->run, &arch, &s, error);
    int64_t start_ns = clock_now_ns();
    if (!status)
        status = make_space(s, &sp, error);
    double enumerate_s = (double)(clock_now_ns() - start_ns) / 1e9;
    uint64_t unchecked = 0;
    if (!status && !o->list && !space_is_sample(sp))
        status = count_unchecked(s, sp, &unchecked, error);
    if (status)
        goto cleanup;
    if (o->list)
        status = print_list(s, sp, error);
    else
        status = print_space(o, s, sp, enumerate_s, unchecked, error);
    if (!status && !o->list && script_pattern(s)->measurable)
        warn_unchecked(s, sp, unchecked);
cleanup:
    space_free(sp);
    script_free(s);
    return status;
}

const command cmd_space = {
    .name = "space",
    .operand = "SCRIPT",
    .summary = "Show parameters, constraints and what each removes",
    .options = "describe set include captured only arch list json",
    .run = show_space,
};

/* Limits of the search for unused parameters: configurations with compared neighbours, pairs of
 * variants per parameter, and Lua instructions for all parameters (some seconds). */
enum { MOST_LOOKED_AT = 48, MOST_PAIRS = 256, MOST_INSTRUCTIONS = 1000000000 };

typedef struct linting {
    script *script;
    space *space;
    uint16_t one[PATTERN_MAX_PARAMETERS], other[PATTERN_MAX_PARAMETERS];
    json_t *warnings; /* owned: {file, line, message} */
    size_t unseen;    /* number of parameters whose variants took too much work */
} linting;

static void add_warning(void *context, const char *path, int line, const char *text)
{
    linting *l = context;
    json_append(&l->warnings, json_pack("{so so so}", "file", path ? json_path(path) : json_null(),
                                        "line", line ? json_integer(line) : json_null(), "message",
                                        json_foreign_text(text)));
}

/* Adds a warning about a field of the pattern, or about `key` in that field, which may be NULL. */
static void __attribute__((format(printf, 4, 5)))
warn(linting *l, const char *field, const char *key, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_warning(l, script_pattern(l->script)->path, script_field_line(l->script, field, key), text);
}

static void lint_kernels(linting *l)
{
    const pattern *p = script_pattern(l->script);
    if (p->reference_path && strcmp(p->reference_path, p->template_path) == 0)
        warn(l, "reference", NULL,
             "the reference uses the template of the variants (%s), so a mistake in the template "
             "is never found: give the reference a template of its own",
             p->template_path);
    if (p->measurable && script_oracle(l->script) == ORACLE_BASELINE)
        warn(l, "reference", NULL,
             "there is no reference: variants are compared with the baseline only, so a mistake in "
             "the baseline is never found. Give a reference = at.reference { template = ... }");
}

/* Compares the arguments of the script's launches with the parameters of the compiled kernels of
 * the default. Does nothing without a compiler. */
static at_status lint_prototype(linting *l, const options *o, const arch_limits *limits,
                                at_error *error)
{
    char arch[16];
    compile_pool *pool = NULL;
    at_status status = compile_pool_new(
        &(compile_options){.jobs = 1, .use_cache = o->run.machine.use_cache}, &pool, error);
    if (status)
        return error_ignore(status, AT_NO_TOOLCHAIN, error);
    snprintf(arch, sizeof arch, "sm_%d%d", limits->major, limits->minor);
    space_at(l->space, 0, l->one);
    const pattern *p = script_pattern(l->script);
    status = prototypes_check(l->script, PROBLEM_TUNED, p->baseline ? p->baseline : l->one, pool,
                              arch, add_warning, l, error);
    compile_pool_free(pool);
    return status;
}

/* Warns of constraints that exclude no configuration. Skips constraints that read the problem or
 * the device: they may exclude configurations for other problems or devices. */
static void lint_constraints(linting *l)
{
    const pattern *p = script_pattern(l->script);
    for (size_t i = 0; i < p->constraint_count && !space_is_sample(l->space); i++) {
        const space_constraint *c = &p->constraints[i];
        if (c->conditional || !c->line || space_removed(l->space, i) > 0 ||
            script_constraint_varies(l->script, i))
            continue;
        char text[1024];
        snprintf(text, sizeof text,
                 "this constraint removes no configuration that the other constraints leave: %s",
                 c->text);
        add_warning(l, p->path, c->line, text);
    }
}

static void lint_values(linting *l)
{
    const pattern *p = script_pattern(l->script);
    for (size_t i = 0; i < p->parameter_count && !space_is_sample(l->space); i++)
        for (size_t v = 0; v < p->parameters[i].value_count; v++) {
            char text[64];
            if (space_uses(l->space, i, (uint16_t)v))
                continue;
            value_format(p->parameters[i].values[v], text, sizeof text);
            warn(l, "space", p->parameters[i].name, "%s=%s: no valid configuration has this value",
                 p->parameters[i].name, text);
        }
}

/* Warns of start configurations that are invalid for this problem. A search skips these. */
static at_status lint_starts(linting *l, at_error *error)
{
    const pattern *p = script_pattern(l->script);
    at_status status = AT_OK;
    for (size_t i = 0; i < p->start_count && !status; i++) {
        bool valid;
        size_t broken;
        status = script_valid(l->script, PROBLEM_TUNED, p->starts[i], &valid, &broken, error);
        if (status || valid)
            continue;
        warn(l, "starts", NULL,
             "starts[%zu] is not tried, because it is not a valid configuration for this problem: "
             "it breaks %s",
             i + 1, p->constraints[broken].text);
    }
    return status;
}

static at_status lint_ragged(linting *l, at_error *error)
{
    const pattern *p = script_pattern(l->script);
    uint64_t unchecked = 0;
    if (p->measurable && p->ragged_count == 0 && !script_has_field(l->script, "ragged"))
        warn(l, "ragged", NULL,
             "there is no ragged problem, so the edges of the variants are never checked: give "
             "one, ragged = { ... }");
    if (space_is_sample(l->space))
        return AT_OK;
    at_status status = count_unchecked(l->script, l->space, &unchecked, error);
    if (!status && unchecked > 0)
        warn(l, "ragged", NULL,
             "%" PRIu64 " of %" PRIu64
             " configurations break a constraint on every ragged problem, so their edges are never "
             "checked: give another ragged problem, ragged = { { ... }, { ... } }",
             unchecked, space_count(l->space));
    return status;
}

static at_status identify(const linting *l, const uint16_t *indices, journal_key *out,
                          at_error *error)
{
    emitted source = {0};
    launch_plan plan;
    at_status status = emit_variant(l->script, PROBLEM_TUNED, indices, false, &source, error);
    if (!status)
        status = script_launch_plan(l->script, PROBLEM_TUNED, indices, &plan, error);
    if (!status)
        *out = identity_of(&(identity_part){source.hash, &plan}, 1,
                           (uint32_t)script_layout_of(l->script, indices));
    emitted_deinit(&source);
    return status;
}

static at_status compare_variants(linting *l, bool *same, at_error *error)
{
    journal_key one, other;
    at_status status = identify(l, l->one, &one, error);
    if (!status)
        status = identify(l, l->other, &other, error);
    *same = !status && memcmp(&one, &other, sizeof one) == 0;
    return status;
}

/* Warns if a parameter changes no variant: compares pairs of variants, from all over the space,
 * that differ in this parameter alone. Does not warn if there is no such pair. */
static at_status lint_parameter(linting *l, size_t parameter, at_error *error)
{
    const space_parameter *p = &script_pattern(l->script)->parameters[parameter];
    uint64_t count = space_count(l->space), step = count / MOST_LOOKED_AT + 1, ignored;
    size_t pairs = 0;
    bool same = true;
    at_status status = AT_OK;
    for (uint64_t i = 0; !status && same && pairs < MOST_PAIRS && i < count; i += step) {
        space_at(l->space, i, l->one);
        memcpy(l->other, l->one, space_parameter_count(l->space) * sizeof *l->one);
        for (size_t v = 0; !status && same && pairs < MOST_PAIRS && v < p->value_count; v++) {
            l->other[parameter] = (uint16_t)v;
            if (v == l->one[parameter] || !space_find(l->space, l->other, &ignored))
                continue;
            pairs++;
            if (script_instructions_spent(l->script) > MOST_INSTRUCTIONS) {
                l->unseen++;
                return AT_OK;
            }
            status = compare_variants(l, &same, error);
        }
    }
    if (!status && same && pairs > 0)
        warn(l, "space", p->name,
             "%s: no template, launch or option reads this parameter: in each of %zu pairs of "
             "variants that differ only in it, both are the same",
             p->name, pairs);
    return status;
}

static at_status lint(const options *o, at_error *error)
{
    arch_limits arch;
    linting l = {.warnings = json_array()};
    at_status status = target_find(o->run.machine.arch, &arch, error);
    if (!status)
        status = target_load_script(&o->run, &arch, &l.script, error);
    if (!status)
        status = script_space(l.script, PROBLEM_TUNED, &l.space, error);
    if (status)
        goto cleanup;
    script_report_repeated_keys(l.script, add_warning, &l);
    lint_kernels(&l);
    status = lint_prototype(&l, o, &arch, error);
    if (status)
        goto cleanup;
    lint_constraints(&l);
    lint_values(&l);
    status = lint_starts(&l, error);
    if (!status)
        status = lint_ragged(&l, error);
    for (size_t i = 0; !status && i < space_parameter_count(l.space); i++)
        status = lint_parameter(&l, i, error);
    if (!status)
        status =
            page_show(o, "lint", 2,
                      json_pack("{ss sO sI sb}", "pattern", script_pattern(l.script)->name,
                                "warnings", l.warnings, "unseen_parameters", (json_int_t)l.unseen,
                                "sampled", (int)space_is_sample(l.space)),
                      NULL, error);
cleanup:
    json_decref(l.warnings);
    space_free(l.space);
    script_free(l.script);
    return status;
}

const command cmd_lint = {
    .name = "lint",
    .operand = "SCRIPT",
    .summary = "Warn of likely mistakes in a script; needs no GPU",
    .options = "describe set include only arch json",
    .run = lint,
};
