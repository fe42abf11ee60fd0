/* Opens everything that a run works with, each part after the parts that it needs. */
#include "run/tune_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pack.h"
#include "base/paths.h"
#include "run/race/driver.h"
#include "script/emit.h"
#include "search/race/race.h"
#include "search/strategy.h"

enum { WARM_STARTS = 32 };     /* Most configurations of earlier measurements to try first. */
enum { RECORDED_STARTS = 24 }; /* Most recorded starts; a quick run tries about a hundred. */

/* The number of variants that a quick run tries before its race, or in all if it has no race. */
enum { QUICK_LIKELY = 60 };

/* Limits of the number of variants that a quick run tries in any case. */
enum { QUICK_FIRST_LEAST = 4, QUICK_FIRST_MOST = 8 };

/* The budget of a run on a simulated device: as long as a newcomer waits. The device tries variants
 * a thousand times slower than a GPU. */
static const double SIMULATED_BUDGET_S = 40;

static void find_baseline(tune *t)
{
    const pattern *p = script_pattern(t->session.script);
    t->has_baseline = p->baseline && space_find(t->session.space, p->baseline, &t->baseline);
    if (p->baseline && !t->has_baseline && t->settings->pattern.only_count > 0)
        run_summary_warn(&t->summary, "--only leaves out the script's default configuration, so "
                                      "there is no baseline to compare with: include its values");
    else if (p->baseline && !t->has_baseline)
        run_summary_warn(
            &t->summary,
            "the script's default configuration is not valid for this problem, so there is no "
            "baseline to compare with: choose another one, baseline = { ... }");
}

/* Converts a budget in seconds into likely evaluations for strategies, which do not know the time.
 * The result is less than the size of the space if the time may not suffice for all. */
static uint64_t likely_evaluations(const tune *t)
{
    enum { GPU_RATE = 100, SIMULATED_RATE = 3 }; /* variants per second */
    uint64_t valid = space_count(t->session.space);
    if (tune_is_quick(t) && t->limits.evaluations > QUICK_LIKELY)
        return QUICK_LIKELY;
    if (t->limits.seconds <= 0)
        return t->limits.evaluations;
    double rate = t->session.workers->properties.predicted ? SIMULATED_RATE : GPU_RATE;
    if (t->settings->machine.share > 0)
        rate *= t->settings->machine.share;
    uint64_t likely = (uint64_t)(t->limits.seconds * rate) + 1;
    if (t->limits.evaluations && t->limits.evaluations < likely)
        likely = t->limits.evaluations;
    return likely < valid ? likely : valid > 1 ? valid - 1 : 1;
}

/* Opens the journal. The run continues if this fails. */
static at_status open_journal(tune *t, at_error *error)
{
    workers *w = t->session.workers;
    char folder[PATHS_BYTES];
    at_error trouble = {0};
    const char *others[WORKERS_MOST_OTHERS];
    bool known = true;
    for (size_t i = 0; i < w->other_count; i++) {
        others[i] = w->other_properties[i].uuid;
        known = known && *w->other_properties[i].spec;
    }
    const journal_facts facts = {.pattern = script_pattern(t->session.script)->name,
                                 .device = &w->properties,
                                 .others = others,
                                 .other_count = w->other_count,
                                 .nvrtc_version = compile_nvrtc_version(w->pool),
                                 .problems = t->session.problems.plans,
                                 .problem_count =
                                     t->session.slots * t->session.problems.layout_count,
                                 .reference_hash = t->session.reference_hash,
                                 .warm_cache = t->settings->race.warm_cache,
                                 .before_hash = t->session.before.hash};
    at_status status = journal_folder(folder, sizeof folder, &trouble);
    if (!status)
        status = journal_open(folder, &facts, &t->journal, &trouble);
    /* Waits until all GPUs are identified, because an interrupted run may have times from each. */
    if (!status && !known && journal_has_unfinished(t->journal)) {
        journal_close(t->journal);
        t->journal = NULL;
        status = workers_await(w, error);
        if (status)
            return status;
        status = journal_open(folder, &facts, &t->journal, &trouble);
    }
    if (status)
        run_summary_warn(&t->summary, "the run keeps no journal: %s", trouble.message);
    return AT_OK;
}

/* Opens the race's log. The same command must continue the race, so the plan has everything on
 * which a race depends except its variants. */
void tune_open_race_log(tune *t)
{
    const settings *o = t->settings;
    char script_text[33] = "", template_text[33] = "", starts[33] = "", plan[4096];
    script_hash(t->session.script, script_text);
    emit_template_hash(t->session.script, template_text);
    int n =
        snprintf(plan, sizeof plan,
                 "race 1 %s %s problem=%d space=%llu seed=%llu strategy=%s effort=%d "
                 "budget=%llu,%.17g stop_at=%.17g warm_start=%s samples=%zu finals=%zu "
                 "tie=%.17g energy=%d,%d",
                 script_text, template_text, (int)PROBLEM_TUNED,
                 (unsigned long long)space_count(t->session.space),
                 (unsigned long long)o->search.seed, o->search.strategy ? o->search.strategy : "",
                 o->search.has_effort ? (int)o->search.effort : -1,
                 (unsigned long long)t->limits.evaluations, t->limits.seconds, o->search.stop_at,
                 o->search.warm_start ? o->search.warm_start : "", tune_samples(t),
                 o->race.finals_blocks, o->race.tie_margin, o->race.energy, o->race.read_energy);
    for (size_t i = 0; i < o->search.start_count; i++) {
        char both[33 + CONFIGURATION_BYTES];
        snprintf(both, sizeof both, "%s%s", starts, o->search.starts[i]);
        hash_text(XXH3_128bits(both, strlen(both)), starts);
    }
    if (o->search.start_count > 0 && n > 0 && (size_t)n < sizeof plan)
        n += snprintf(plan + n, sizeof plan - (size_t)n, " starts=%s", starts);
    for (size_t i = 0; i < o->pattern.variable_count && n > 0 && (size_t)n < sizeof plan; i++)
        n += snprintf(plan + n, sizeof plan - (size_t)n, " %s=%s", o->pattern.variables[i].name,
                      o->pattern.variables[i].text);
    size_t home = t->pipeline ? pipeline_get_state(t->pipeline)->home : 0;
    race_log_init(&t->log, t->journal, home, plan);
}

static void set_limits(tune *t)
{
    const settings *o = t->settings;
    if (o->search.has_effort)
        t->limits = effort_limits(o->search.effort, space_count(t->session.space));
    if (tune_is_quick(t) && !tune_races(t) && t->limits.evaluations > QUICK_LIKELY)
        t->limits.evaluations = QUICK_LIKELY;
    if (o->search.budget_evaluations)
        t->limits.evaluations = o->search.budget_evaluations;
    t->limits.seconds = o->search.budget_s;
    t->settles = !o->search.has_effort && !o->search.strategy && !o->search.budget_evaluations &&
                 o->search.budget_s <= 0;
    if (t->settles)
        t->limits.gain = race_rules(o, NULL).tie_margin;
    t->counts_opening = true;
    if (t->session.workers->properties.predicted && !o->search.budget_evaluations &&
        !o->search.budget_s && !o->search.has_effort) {
        t->limits.seconds = SIMULATED_BUDGET_S;
        t->counts_opening = false;
    }
}

static at_status read_warm_start(tune *t, at_error *error)
{
    recorded earlier;
    at_status status = recorded_read(t->settings->search.warm_start, &earlier, error);
    if (status)
        return status;
    status = warm_start_init(&t->warm, &earlier, t->session.space,
                             script_pattern(t->session.script)->baseline, WARM_STARTS, error);
    recorded_deinit(&earlier);
    if (!status && t->warm.unmatched)
        run_summary_warn(
            &t->summary,
            "%zu configurations of %s are left out, because they are not in this space",
            t->warm.unmatched, t->settings->search.warm_start);
    return status;
}

static void add_start(uint64_t *starts, size_t *count, uint64_t configuration)
{
    for (size_t i = 0; i < *count; i++)
        if (starts[i] == configuration)
            return;
    starts[(*count)++] = configuration;
}

/* Lists the configurations to try first: the default and the configurations of the settings, of
 * earlier measurements and of the script; in a quick run also recorded configurations of other
 * problems and GPUs. The caller frees the list. */
static uint64_t *list_starts(const tune *t, size_t *count)
{
    const settings *o = t->settings;
    const pattern *p = script_pattern(t->session.script);
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    uint64_t configuration;
    *count = 0;
    uint64_t *all = memory_new(
        1 + o->search.start_count + p->start_count + WARM_STARTS + RECORDED_STARTS, sizeof *all);
    if (t->has_baseline)
        add_start(all, count, t->baseline);
    /* A configuration that is good on another problem may be impossible on this one. */
    for (size_t i = 0; i < o->search.start_count; i++)
        if (script_parse_configuration(t->session.script, o->search.starts[i], indices, NULL) ==
                AT_OK &&
            space_find(t->session.space, indices, &configuration))
            add_start(all, count, configuration);
    for (size_t i = 0; i < t->warm.count && i < WARM_STARTS; i++)
        add_start(all, count, t->warm.configurations[i]);
    for (size_t i = 0; i < p->start_count; i++)
        if (space_find(t->session.space, p->starts[i], &configuration))
            add_start(all, count, configuration);
    uint64_t recorded_starts[RECORDED_STARTS];
    size_t recorded_count = 0;
    if (settings_are_quick(o) && t->session.workers->device)
        recorded_count =
            recall_starts(&t->session, o->results.results_dir, recorded_starts, RECORDED_STARTS);
    for (size_t i = 0; i < recorded_count; i++)
        add_start(all, count, recorded_starts[i]);
    return all;
}

/* Looks for a record of at least this effort. No record answers for a part of a space. */
static void ask_record(tune *t)
{
    const settings *o = t->settings;
    if (!o->search.has_effort || o->results.is_part || o->pattern.only_count > 0 ||
        !session_measures(&t->session))
        return;
    t->summary.device = t->session.workers->properties;
    t->summary.warm_cache = o->race.warm_cache;
    snprintf(t->summary.after, sizeof t->summary.after, "%s", t->session.before.names);
    t->summary.objective = o->race.energy ? "energy" : "time";
    script_hash(t->session.script, t->summary.script_hash);
    emit_template_hash(t->session.script, t->summary.template_hash);
    if (!recall_find(o->results.results_dir, &t->summary, o->search.effort, &t->recalled,
                     &t->answer))
        t->answer = NULL;
}

/* Opens the strategy, which begins with *named configurations that are likely to be fast. */
static at_status open_strategy(tune *t, size_t *named, at_error *error)
{
    const settings *o = t->settings;
    uint64_t *starts = list_starts(t, named);
    t->first = *named < QUICK_FIRST_LEAST  ? QUICK_FIRST_LEAST
               : *named > QUICK_FIRST_MOST ? QUICK_FIRST_MOST
                                           : *named;
    const strategy_kind *kind;
    const bool all = !t->session.workers->device ||
                     (o->search.has_effort && o->search.effort == EFFORT_EXHAUSTIVE);
    at_status status = strategy_find(o->search.strategy ? o->search.strategy
                                     : all              ? "exhaustive"
                                                        : NULL,
                                     &kind, error);
    if (!status)
        t->strategy = strategy_new(kind, &(strategy_options){.space = t->session.space,
                                                             .seed = o->search.seed,
                                                             .budget = likely_evaluations(t),
                                                             .start = starts,
                                                             .start_count = *named});
    free(starts);
    return status;
}

/* Opens the prover. A simulated device checks every variant itself and needs no prover. */
static void open_prover(tune *t)
{
    const settings *o = t->settings;
    if (t->answer || !session_measures(&t->session) || o->leave_unproven)
        return;
    t->prover = prover_new(t->session.script, t->session.workers->pool,
                           t->session.workers->properties.arch, false, DEVICE_WHOLE_CHEAP);
    if (script_oracle(t->session.script) != ORACLE_REFERENCE)
        prover_tell_results(t->prover);
}

/* Opens the pipeline. If one of the `named` configurations wins a quick run, the run would wait at
 * the end for its compilation for ragged problems. So these configurations are compiled for ragged
 * problems at once if there are enough compile workers. */
static void open_pipeline(tune *t, size_t named)
{
    const settings *o = t->settings;
    const race_options rules = race_rules(o, NULL);
    const bool races = tune_races(t), blind = strategy_get_kind(t->strategy)->blind;
    const bool at_once = tune_is_quick(t) && named <= t->first &&
                         named * t->session.slots <= compile_width(t->session.workers->pool);
    t->in_order = !blind && !session_measures(&t->session);
    t->pipeline = pipeline_new(
        &t->session,
        &(pipeline_options){.journal = t->journal,
                            .prover = t->prover,
                            .samples = tune_samples(t),
                            .kept = t->has_baseline ? &t->baseline : NULL,
                            .racing = races ? rules.prior_ratio : 0,
                            .is_blind = blind,
                            .defers_ragged =
                                races && !o->prove_all &&
                                (tune_is_quick(t) || tune_evaluations(t) > race_probe_pays(&rules)),
                            .whole = at_once ? named : 0});
}

at_status tune_open(tune *t, at_error *error)
{
    const settings *o = t->settings;
    size_t named = 0;
    t->progress = progress_new(STDERR_FILENO, o->quiet);
    at_status status = session_open(o, t->progress, &t->session, error);
    if (status)
        return status;
    const pattern *p = script_pattern(t->session.script);
    status = run_summary_init(&t->summary, p, PROBLEM_TUNED, error);
    if (status)
        return status;
    t->summary.oracle = script_oracle(t->session.script);
    if (session_measures(&t->session) && o->results.record)
        status = record_check_writable(o->results.results_dir,
                                       t->session.workers->properties.limits.name, p->name, error);
    if (status)
        return status;
    set_limits(t);
    t->session.end_ns = o->search.budget_s > 0 ? tune_end_ns(t) : 0;
    find_baseline(t);
    ask_record(t);
    if (o->search.warm_start)
        status = read_warm_start(t, error);
    if (!status)
        status = open_strategy(t, &named, error);
    if (!status && session_measures(&t->session))
        status = open_journal(t, error);
    if (status)
        return status;
    tune_open_race_log(t);
    open_prover(t);
    open_pipeline(t, named);
    return AT_OK;
}
