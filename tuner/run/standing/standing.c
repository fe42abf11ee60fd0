#include "run/standing/standing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "process/interrupt.h"
#include "run/race/side_by_side.h"
#include "run/setup/problems.h"
#include "run/setup/setup.h"
#include "run/setup/workers.h"
#include "run/variant/sources.h"
#include "script/emit.h"
#include "search/race/race.h"

enum {
    STEP_MS = 100,
    BLOCKS = 60,                      /* most blocks of a race */
    AHEAD = 6,                        /* entries whose kernels may compile while one entry races */
    MOST = RECORD_MAX_CONTENDERS + 2, /* winner, contenders and default */
    PARTS = 1024,                     /* compile ids of one entry */
    FIRST_PROBLEM = MOST,             /* first compile id of the kernels of the entry's problem */
    VALUE_BYTES = 300
};

static const uint64_t support_id = UINT64_MAX - DEVICE_SUPPORT_PARTS;

typedef struct work {
    script *script;
    problem_set problems;
    size_t count; /* number of sides; the first is the winner */
    side *sides;
    struct entrant { /* identity of each side; owned */
        compile_result result;
        char hash[33]; /* hash of the compiled text */
        journal_key identity;
        char *text;     /* the configuration */
        json_t *values; /* configuration as {name: value, ...} */
    } * entrants;
    size_t waiting; /* number of compile results that have not arrived */
} work;

typedef struct run {
    const settings *settings;
    workers *workers;
    const standing_question *questions;
    standing_answer *answers;
    work *works;
    size_t count, next; /* `next` is the next entry to prepare */
    size_t current;     /* index of the entry that races */
    side_judge judge;
    problem_support support;
    bool broken; /* the error is not one of the device */
} run;

const char *standing_name(standing s)
{
    static const char *const names[STANDINGS] = {"NOT VERIFIABLE", "HOLDS", "OVERTAKEN", "BROKEN"};
    return names[s];
}

void standing_answers_deinit(standing_answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(answers[i].why);
        free(answers[i].rival);
        json_decref(answers[i].rival_values);
    }
}

__attribute__((format(printf, 3, 4))) static void say(standing_answer *a, standing verdict,
                                                      const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    free(a->why);
    a->verdict = verdict;
    a->why = memory_text(text);
}

static void entrant_deinit(struct entrant *e)
{
    compile_result_deinit(&e->result);
    free(e->text);
    json_decref(e->values);
}

static void work_deinit(work *w)
{
    problem_set_deinit(&w->problems);
    for (size_t i = 0; i < w->count; i++) {
        side_deinit(&w->sides[i]);
        entrant_deinit(&w->entrants[i]);
    }
    free(w->sides);
    free(w->entrants);
    script_free(w->script);
    *w = (work){0};
}

/* ---- preparing: from a record to compile requests ---- */

static at_status load(const run *r, const standing_question *q, script **out, at_error *error)
{
    settings asked = *r->settings;
    char texts[RECORD_MAX_VALUES][VALUE_BYTES];
    asked.pattern.script = q->script;
    asked.pattern.variable_count = 0;
    asked.pattern.only_count = 0;
    for (size_t i = 0; i < q->entry->problem.count; i++) {
        const record_pair *p = &q->entry->problem.pairs[i];
        value_format(p->value, texts[i], VALUE_BYTES);
        asked.pattern.variables[asked.pattern.variable_count++] =
            (script_setting){p->name, texts[i]};
    }
    return target_load_script(&asked, &r->workers->properties.limits, out, error);
}

/* Finds a configuration that the script allows. Otherwise returns AT_USAGE with the reason. */
static at_status find(script *s, const record_values *configuration, uint16_t *indices,
                      at_error *error)
{
    bool valid;
    size_t broken;
    char text[CONFIGURATION_BYTES];
    record_format_values(configuration, text, sizeof text);
    at_status status = script_parse_configuration(s, text, indices, error);
    if (!status)
        status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, error);
    if (!status && !valid) {
        const space_constraint *c = &script_pattern(s)->constraints[broken];
        status =
            error_set(error, AT_USAGE, "it breaks the constraint of line %d: %s", c->line, c->text);
    }
    return status;
}

static at_status add_side(run *r, size_t number, const uint16_t *indices, at_error *error)
{
    work *w = &r->works[number];
    emitted source = {0};
    side *s = &w->sides[w->count];
    const char *arch = r->workers->properties.arch;
    at_status status = script_launch_plan(w->script, PROBLEM_TUNED, indices, &s->launch, error);
    if (!status)
        status = emit_variant(w->script, PROBLEM_TUNED, indices, true, &source, error);
    bool known = false;
    struct entrant *added = &w->entrants[w->count];
    s->layout = (uint32_t)problem_set_layout(&w->problems, indices);
    if (!status)
        added->identity = identity_of(&(identity_part){source.hash, &s->launch}, 1, s->layout);
    for (size_t i = 0; i < w->count && !status; i++)
        known = known ||
                memcmp(&w->entrants[i].identity, &added->identity, sizeof added->identity) == 0;
    if (status || known)
        goto cleanup;
    snprintf(added->hash, sizeof added->hash, "%s", source.hash);
    char *text = memory_new(1, CONFIGURATION_BYTES);
    script_format_configuration(w->script, indices, text, CONFIGURATION_BYTES);
    if (s->launch.launch_count > 0) {
        status =
            submit_source(r->workers->pool, PARTS * number + w->count, &source,
                          script_pattern(w->script)->template_path, &s->launch, arch, false, error);
        w->waiting += !status;
    }
    added->values = pattern_json_configuration(script_pattern(w->script), indices);
    added->text = text;
    w->count++;
cleanup:
    emitted_deinit(&source);
    return status;
}

static at_status add_problem(run *r, size_t number, at_error *error)
{
    work *w = &r->works[number];
    const problem_kind kinds[] = {PROBLEM_TUNED};
    at_status status = problem_set_init(&w->problems, w->script, NULL, kinds, 1, error);
    if (!status)
        status = problem_set_submit(&w->problems, r->workers->pool, r->workers->properties.arch,
                                    false, PARTS * number + FIRST_PROBLEM, NULL, NULL, 0, error);
    return status;
}

/* Notes changes since the record. An entry without hashes has no known changes. */
static void note_changes(const script *s, const record_entry *e, standing_answer *a)
{
    char hash[33];
    script_hash(s, hash);
    a->script_changed = *e->script_hash && strcmp(hash, e->script_hash) != 0;
    emit_template_hash(s, hash);
    a->template_changed = *e->template_hash && strcmp(hash, e->template_hash) != 0;
}

static const char *refusal(const run *r, const standing_question *q)
{
    if (strcmp(q->from->gpu, r->workers->properties.limits.name) != 0)
        return "the record is of another GPU";
    if (q->entry->energy)
        return "the winner was chosen by energy, but a race compares times";
    if (*q->entry->after)
        return "the record was measured after other kernels";
    if (q->entry->warm_cache != r->settings->race.warm_cache)
        return "the record was measured with another state of the L2 cache";
    return NULL;
}

/* Prepares an entry. Fails only without memory or workers; other failures are its answer. */
static at_status prepare(run *r, size_t number, at_error *error)
{
    work *w = &r->works[number];
    const standing_question *q = &r->questions[number];
    standing_answer *a = &r->answers[number];
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    at_error why = {0};
    at_status status = AT_OK;
    const char *refused = refusal(r, q);
    if (refused) {
        say(a, STANDING_NOT_VERIFIABLE, "%s", refused);
        return AT_OK;
    }
    w->sides = memory_new(MOST, sizeof *w->sides);
    w->entrants = memory_new(MOST, sizeof *w->entrants);
    standing verdict = STANDING_NOT_VERIFIABLE;
    status = load(r, q, &w->script, &why);
    if (!status)
        note_changes(w->script, q->entry, a);
    if (!status && !script_pattern(w->script)->measurable)
        status = error_set(&why, AT_SCRIPT,
                           "the script no longer has buffers, or no longer has expected results");
    if (!status)
        status = add_problem(r, number, &why);
    if (!status) {
        verdict = STANDING_BROKEN;
        status = find(w->script, &q->entry->configuration, indices, &why);
    }
    if (!status)
        status = add_side(r, number, indices, &why);
    for (size_t i = 0; i < q->entry->contender_count && !status; i++) {
        at_error none = {0};
        /* A contender that is impossible now cannot be faster than the winner, so it is left out.
         */
        if (find(w->script, &q->entry->contenders[i].configuration, indices, &none) == AT_OK)
            status = add_side(r, number, indices, &why);
    }
    if (!status)
        status = add_side(r, number, script_pattern(w->script)->baseline, &why);
    if (status == AT_NO_MEMORY || status == AT_NO_TOOLCHAIN || status == AT_WORKER) {
        *error = why;
        return status;
    }
    if (status)
        say(a, verdict, "%s", why.message);
    return AT_OK;
}

static void take_image(run *r, size_t number, size_t part, compile_result *result)
{
    work *w = &r->works[number];
    standing_answer *a = &r->answers[number];
    w->waiting--;
    compile_result *kept = &w->entrants[part].result;
    *kept = *result;
    *result = (compile_result){0};
    w->sides[part].image = result_image(kept, false);
    if (kept->outcome != COMPILE_OK && part == 0)
        say(a, STANDING_BROKEN, "it does not compile (%s): %s", compile_outcome_name(kept->outcome),
            kept->log ? kept->log : "");
}

static at_status dispatch(run *r, compile_result *result, at_error *error)
{
    at_error why = {0};
    if (problem_support_owns(support_id, result->id))
        return problem_support_take(&r->support, result, error);
    size_t number = (size_t)(result->id / PARTS), part = (size_t)(result->id % PARTS);
    work *w = &r->works[number];
    if (part < FIRST_PROBLEM)
        take_image(r, number, part, result);
    else if (problem_set_take(&w->problems, part - FIRST_PROBLEM, result, &why))
        say(&r->answers[number], STANDING_NOT_VERIFIABLE, "%s", why.message);
    compile_result_deinit(result);
    return AT_OK;
}

static bool is_waiting(const run *r, size_t number)
{
    const work *w = &r->works[number];
    return r->support.waiting > 0 || w->waiting > 0 || w->problems.waiting > 0;
}

static at_status take_compiled(run *r, int timeout_ms, at_error *error)
{
    at_status status;
    for (;; timeout_ms = 0) {
        compile_result result;
        at_error none = {0};
        status = compile_take(r->workers->pool, timeout_ms, &result, &none);
        if (status == AT_NOT_FOUND)
            return AT_OK;
        if (status) {
            *error = none;
            return status;
        }
        status = dispatch(r, &result, error);
        if (status)
            return status;
    }
}

static at_status meanwhile(void *context, at_error *error)
{
    run *r = context;
    at_status status = take_compiled(r, 0, error);
    if (!status && r->next < r->count && r->next <= r->current + AHEAD)
        status = prepare(r, r->next++, error);
    r->broken = r->broken || status != AT_OK;
    return status;
}

static bool is_enough(void *context, side *sides, size_t count, size_t blocks)
{
    return side_judge_enough(&((run *)context)->judge, sides, count, blocks);
}

/* Drops the sides that did not compile. The winner stays the first. */
static void drop_uncompiled(work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->entrants[i].result.outcome != COMPILE_OK) {
            entrant_deinit(&w->entrants[i]);
            continue;
        }
        w->sides[kept] = w->sides[i];
        w->entrants[kept++] = w->entrants[i];
    }
    w->count = kept;
}

/* Finds out whether the record's winner was exchanged. The record has the hash of the winner's
 * source, which no other configuration has while script and template are the same. */
static const char *find_exchanged(const work *w, const record_entry *e)
{
    if (!*e->source_hash || strcmp(w->entrants[0].hash, e->source_hash) == 0)
        return NULL;
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(w->entrants[i].hash, e->source_hash) == 0)
            return w->entrants[i].text;
    return NULL;
}

static void conclude(run *r, const side_standing *s)
{
    work *w = &r->works[r->current];
    standing_answer *a = &r->answers[r->current];
    const side *first = &w->sides[0];
    stats_summary time;
    if (first->outcome != OUTCOME_OK) {
        say(a, STANDING_BROKEN, "it ended as %s: %s", outcome_name(first->outcome), first->message);
        return;
    }
    if (stats_summarise_copy(first->samples_ns, first->sample_count, &time))
        a->time_ns = time.median_ns;
    a->blocks = first->sample_count;
    a->raced = w->count;
    a->verdict = STANDING_HOLDS;
    const char *exchanged = find_exchanged(w, r->questions[r->current].entry);
    if (s->rival) {
        a->verdict = STANDING_OVERTAKEN;
        a->rival = memory_text(w->entrants[s->rival].text);
        a->rival_values = json_incref(w->entrants[s->rival].values);
        a->low = s->low;
        a->ratio = s->ratio;
        a->high = s->high;
    } else if (exchanged) {
        say(a, STANDING_BROKEN,
            "the measured source is that of the configuration %s: the file's configurations were "
            "exchanged",
            exchanged);
    } else if (!s->decided) {
        say(a, STANDING_HOLDS, "some contenders are too close to the winner to decide");
    }
}

static at_status race_entry(run *r, at_error *error)
{
    work *w = &r->works[r->current];
    const race_options protocol = race_defaults();
    device_worker *d = r->workers->device;
    device_ready ready;
    const side_rules rules = {.blocks = BLOCKS,
                              .seed = r->settings->search.seed,
                              .checked = true,
                              .enough = is_enough,
                              .meanwhile = meanwhile,
                              .context = r};
    drop_uncompiled(w);
    at_status status = problem_set_send(&w->problems, d, &r->support, false, error);
    problem_set_sent(&w->problems);
    if (!status)
        status = side_by_side_ready(d, &rules, &ready, error);
    if (status)
        return status;
    r->judge =
        (side_judge){.blocks = BLOCKS,
                     .margin = r->settings->race.tie_margin >= 0 ? r->settings->race.tie_margin
                                                                 : protocol.tie_margin,
                     .tick_ns = ready.tick_ns};
    status = side_by_side_run(d, w->sides, w->count, &rules, error);
    if (!status)
        conclude(r, &r->judge.standing);
    return status;
}

/* Replaces a failed device. The entry on which it failed is not verifiable. */
static at_status replace_device(run *r, at_error *error)
{
    say(&r->answers[r->current], STANDING_NOT_VERIFIABLE, "%s", error->message);
    error_clear(error);
    return workers_replace_device(r->workers, r->settings, error);
}

static at_status answer_current(run *r, at_error *error)
{
    at_status status = AT_OK;
    while (!status && (r->next <= r->current || is_waiting(r, r->current))) {
        if (interrupt_is_pending())
            return error_set(error, AT_INTERRUPTED, "interrupted");
        if (r->next < r->count && r->next <= r->current + AHEAD)
            status = meanwhile(r, error);
        else
            status = take_compiled(r, STEP_MS, error);
    }
    if (status || r->answers[r->current].why)
        return status;
    status = race_entry(r, error);
    return status && status != AT_INTERRUPTED && !r->broken ? replace_device(r, error) : status;
}

at_status standing_run(const settings *o, const standing_question *questions, size_t count,
                       standing_answer *answers, size_t *answered, progress *shown, at_error *error)
{
    run r = {.settings = o,
             .workers = o->machine.workers,
             .questions = questions,
             .answers = answers,
             .works = memory_new(count, sizeof *r.works),
             .count = count};
    memset(answers, 0, count * sizeof *answers);
    *answered = 0;
    at_status status = problem_support_submit(&r.support, r.workers->pool,
                                              r.workers->properties.arch, support_id, error);
    for (; !status && r.current < count; r.current++) {
        progress_update(shown, &(progress_state){.stage = "verified",
                                                 .done = r.current,
                                                 .total = count,
                                                 .now_ns = clock_now_ns()});
        status = answer_current(&r, error);
        work_deinit(&r.works[r.current]);
        *answered += !status;
    }
    for (size_t i = 0; i < count; i++)
        work_deinit(&r.works[i]);
    problem_support_deinit(&r.support);
    free(r.works);
    return status;
}
