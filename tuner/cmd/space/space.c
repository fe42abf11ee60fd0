/* autotune space: the search space of a script, its constraints and what each removes. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "cmd/space/unchecked.h"
#include "report/progress.h"
#include "run/setup/setup.h"
#include "space/space.h"

static void warn_unchecked(const script *s, const space *sp, uint64_t unchecked)
{
    const pattern *p = script_pattern(s);
    if (p->ragged_count == 0)
        fprintf(stderr,
                "autotune: warning: %s has no ragged problem: the edges of its variants are "
                "never checked\n",
                p->name);
    if (unchecked > 0)
        fprintf(stderr,
                "autotune: warning: %" PRIu64 " of %" PRIu64 " configurations break a "
                "constraint on every ragged problem and are checked on none: give another "
                "one, ragged = { { ... }, { ... } }\n",
                unchecked, space_count(sp));
}

static at_status print(const options *o, const script *s, const space *sp, double enumerate_s,
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
        json_append(&constraints, json_pack("{so si so}", "text", json_said(p->constraints[i].text),
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
        json_pack("{so so sI so sb}", "summary", json_said(p->summary), "problem",
                  pattern_json_problem(p, PROBLEM_TUNED), "count", (json_int_t)space_count(sp),
                  "share",
                  json_exact(100.0 * (double)space_count(sp) / (double)space_cartesian(sp)),
                  "is_countable", space_cartesian(sp) != UINT64_MAX),
        error);
}

/* Prints a line for each configuration. */
static at_status print_list(const script *s, const space *sp, at_error *error)
{
    at_status status = AT_OK;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    char text[CONFIGURATION_BYTES];
    for (uint64_t i = 0; !status && i < space_count(sp); i++) {
        space_at(sp, i, indices);
        script_format_configuration(s, indices, text, sizeof text);
        /* The reader has left (head), or the disk is full. */
        if (puts(text) == EOF)
            status = error_set(error, AT_IO, "stdout could not be written");
    }
    if (!status && space_is_sample(sp))
        fprintf(stderr,
                "autotune: the space is too large to enumerate: these are %" PRIu64
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

static at_status run(const options *o, at_error *error)
{
    arch_limits arch;
    script *s = NULL;
    space *sp = NULL;
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
        status = print(o, s, sp, enumerate_s, unchecked, error);
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
    .run = run,
};
