#include "run/tune_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "script/emit.h"

typedef struct builder {
    const tune *run;
    run_summary *out;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    bool *added; /* by candidate id: the summary has the candidate */
} builder;

static double rate(const session *s, work_unit unit, int64_t time_ns)
{
    return time_ns > 0 ? (double)session_work(s, unit) / (double)time_ns : 0;
}

static const char *why_unproven(const tune *run, const candidate *c)
{
    const double budget_s = run->limits.seconds;
    if (c->verdict != PROOF_PENDING || run->end == RUN_END_INTERRUPTED ||
        settings_are_quick(run->settings))
        return "the run ended before";
    return budget_s > 0 && (double)(clock_now_ns() - run->start_ns) / 1e9 >= budget_s
               ? "the budget of time ended before"
               : "the simulated device took too long";
}

static at_status add(builder *b, const candidate *c, const race_standing *standing, at_error *error)
{
    const session *s = &b->run->session;
    const pattern *p = script_pattern(s->script);
    char text[CONFIGURATION_BYTES];
    run_result *r;
    space_at(s->space, c->configuration, b->indices);
    script_format_configuration(s->script, b->indices, text, sizeof text);
    at_status status = run_summary_add(b->out, text, c->found.outcome, &r, error);
    if (status)
        return status;
    b->added[c->id] = true;
    r->index = c->configuration;
    r->lead = c->twin_of ? c->twin_of->configuration : c->configuration;
    r->is_twin = c->twin_of != NULL;
    b->out->twins += r->is_twin;
    const candidate *tried = c->twin_of ? c->twin_of : c;
    b->out->unraced += c->found.outcome == OUTCOME_OK && !candidate_is_checked(tried);
    for (size_t i = 0; i < p->parameter_count; i++)
        r->values[i] = p->parameters[i].values[b->indices[i]];
    r->found = c->found;
    memory_require(measurement_own(&r->found) ? r : NULL);
    r->proven = c->verdict == PROOF_PROVEN;
    r->coverage = r->proven ? coverage_copy(c->coverage) : NULL;
    if (!r->proven && c->found.outcome == OUTCOME_OK && session_measures(s))
        r->unproven = memory_text(c->unproven ? c->unproven : why_unproven(b->run, c));
    r->block_threads = plan_most_threads(&c->launches[0]);
    r->dynamic_shared_bytes = plan_most_shared_bytes(&c->launches[0]);
    memcpy(r->source_hash, c->source_hash, sizeof r->source_hash);
    if (c->found.has_resources)
        r->occupancy = occupancy_compute(&s->workers->properties.limits, (int)r->block_threads,
                                         (int)c->found.resources.registers,
                                         (size_t)c->found.resources.static_shared_bytes +
                                             r->dynamic_shared_bytes);
    if (standing && standing->time.count) {
        energy_estimate energy = race_driver_energy(b->run->driver, standing->entrant);
        r->energy_j = energy.launch_j;
        r->power_w = energy.power_w;
        r->time = standing->time;
    } else {
        bool done = stats_summarise_copy(c->found.samples_ns, c->found.sample_count, &r->time);
        memory_require(done ? r : NULL);
        if (c->found.high_ns > 0) {
            r->time.low_ns = c->found.low_ns;
            r->time.high_ns = c->found.high_ns;
        }
    }
    if (standing && isfinite(standing->ratio))
        r->ratio = standing->ratio;
    for (int u = 0; u < WORK_UNITS; u++)
        r->rates[u] = rate(s, (work_unit)u, r->time.median_ns);
    if (b->out->ceiling_rate > 0)
        r->ceiling_fraction = r->rates[ceiling_get(s->ceiling)->unit] / b->out->ceiling_rate;
    return AT_OK;
}

static at_status add_class(builder *b, const candidate *lead, const race_standing *standing,
                           bool tied, at_error *error)
{
    at_status status = AT_OK;
    for (const candidate *c = lead; !status && c; c = c->next_twin) {
        if (!candidate_is_finished(c))
            continue;
        status = add(b, c, standing, error);
        if (!status)
            b->out->results[b->out->result_count - 1].tied = tied;
    }
    return status;
}

static run_verdict verdict_of(const race_result *r)
{
    if (r->verdict == RACE_INCONCLUSIVE)
        return VERDICT_INCONCLUSIVE;
    if (r->verdict == RACE_TIED)
        return VERDICT_TIED;
    return r->noisy ? VERDICT_NOISY : VERDICT_CLEAR;
}

static const race_standing *standing_of(const race_result *r, const race_driver *c,
                                        uint64_t configuration)
{
    for (size_t i = 0; i < r->count; i++)
        if (race_driver_candidate(c, r->ranking[i].entrant)->configuration == configuration)
            return &r->ranking[i];
    return NULL;
}

static void compare_with_baseline(builder *b, const race_result *r)
{
    const run_result *best = run_summary_best(b->out), *base = run_summary_baseline(b->out);
    if (!best || !base || base->found.outcome != OUTCOME_OK || best->time.median_ns <= 0)
        return;
    b->out->speedup = (double)base->time.median_ns / (double)best->time.median_ns;
    const race_standing *won = r ? standing_of(r, b->run->driver, best->index) : NULL;
    const race_standing *was = r ? standing_of(r, b->run->driver, base->index) : NULL;
    if (won && was && won->left_at == RACE_FINALS && was->left_at == RACE_FINALS && won->ratio > 0)
        b->out->speedup = was->ratio / won->ratio;
}

static at_status add_ranked(builder *b, at_error *error)
{
    race_driver *c = b->run->driver;
    const race_result *r = race_driver_result(c);
    at_status status = AT_OK;
    size_t ahead = 0; /* unchecked candidates faster than the best, if the race did not end */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; !status && i < r->count; i++) {
            const race_standing *standing = &r->ranking[i];
            const candidate *one = race_driver_candidate(c, standing->entrant);
            bool behind = r->verdict == RACE_INCONCLUSIVE && !candidate_is_checked(one);
            if (standing->failed || one->found.outcome != OUTCOME_OK)
                continue;
            ahead += behind && pass == 0 && b->out->result_count == 0;
            if (behind == pass)
                status =
                    add_class(b, one, standing, standing->tied && b->out->result_count > 0, error);
        }
        if (pass == 0)
            b->out->best_found = b->out->result_count > 0;
    }
    if (status)
        return status;
    if (ahead > 0)
        run_summary_warn(b->out,
                         b->out->best_found
                             ? "%zu variants that may be faster are not recorded, because they "
                               "were not yet checked on the ragged problems"
                             : "nothing is recorded, because none of the %zu variants that worked "
                               "was checked on the ragged problems yet",
                         ahead);
    b->out->objective = r->has_winner && race_driver_energy(c, r->winner).launch_j > 0 &&
                                b->run->settings->race.energy
                            ? "energy"
                            : "time";
    b->out->verdict = r->count > 1 ? verdict_of(r) : VERDICT_NONE;
    b->out->tied_count = r->tied;
    if (r->noisy && r->has_winner && r->count > 1)
        run_summary_warn(b->out,
                         "the machine is noisy: the confidence interval of +-%.2f %% is wider than "
                         "the difference to the runner-up",
                         100 * r->half_width);
    return AT_OK;
}

static int by_median(const void *a, const void *b)
{
    const run_result *x = a, *y = b;
    if (x->time.median_ns != y->time.median_ns)
        return x->time.median_ns < y->time.median_ns ? -1 : 1;
    if (x->lead != y->lead)
        return x->lead < y->lead ? -1 : 1;
    if (x->is_twin != y->is_twin)
        return y->is_twin ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns the difference in ns that the model cannot resolve: the margin of a tie or, if larger, a
 * twentieth of the launch overhead, which dominates small problems and is not known better. */
static double resolution_ns(const builder *b, double best_ns)
{
    const double given = b->run->settings->race.tie_margin,
                 floor_ns = (double)pipeline_get_state(b->run->pipeline)->ready.floor_ns;
    const double margin_ns = (given >= 0 ? given : race_defaults().tie_margin) * best_ns;
    return given < 0 && margin_ns < floor_ns / 20 ? floor_ns / 20 : margin_ns;
}

static void tie_predictions(builder *b, size_t ok)
{
    run_result *all = b->out->results;
    const double best_ns = (double)all[0].time.median_ns, limit_ns = resolution_ns(b, best_ns);
    b->out->tied_count = 0;
    for (size_t i = 0; i < ok; i++) {
        all[i].tied =
            all[i].lead != all[0].lead && (double)all[i].time.median_ns - best_ns <= limit_ns;
        b->out->tied_count += all[i].tied && !all[i].is_twin;
    }
    b->out->verdict = b->out->tied_count ? VERDICT_TIED : VERDICT_NONE;
}

/* Ranks by the lowest median, without a race and without a confidence. */
static void rank_by_median(builder *b)
{
    size_t ok = 0;
    while (ok < b->out->result_count && b->out->results[ok].found.outcome == OUTCOME_OK)
        ok++;
    if (ok > 1)
        qsort(b->out->results, ok, sizeof *b->out->results, by_median);
    b->out->best_found = ok > 0;
    if (ok > 1 && b->run->session.workers->properties.predicted)
        tie_predictions(b, ok);
}

static at_status add_rest(builder *b, at_error *error)
{
    const candidates *all = pipeline_candidates(b->run->pipeline);
    at_status status = AT_OK;
    /* Variants that work come first, in the order in which they finished. */
    for (int ok = 1; ok >= 0; ok--)
        for (size_t i = 0; !status && i < all->count; i++) {
            const candidate *c = all->items[i];
            if (candidate_is_finished(c) && !b->added[c->id] && !c->twin_of &&
                (c->found.outcome == OUTCOME_OK) == ok)
                status = add_class(b, c, NULL, false, error);
        }
    return status;
}

static void mark_baseline(builder *b)
{
    for (size_t i = 0; b->run->has_baseline && i < b->out->result_count; i++)
        if (b->out->results[i].index == b->run->baseline) {
            b->out->has_baseline = true;
            b->out->baseline = i;
            return;
        }
}

static void fill_stages(builder *b)
{
    const session *s = &b->run->session;
    const pipeline_state *p = pipeline_get_state(b->run->pipeline);
    double *stage_s = b->out->stage_s;
    stage_s[STAGE_ENUMERATE] = (double)s->enumerate_ns / 1e9;
    stage_s[STAGE_OPEN] = (double)(s->open_ns + p->setup_ns) / 1e9;
    stage_s[STAGE_EMIT] = (double)p->emit_ns / 1e9;
    stage_s[STAGE_COMPILE] = (double)p->compile_ns / 1e9;
    stage_s[STAGE_CHECK] = (double)p->check_ns / 1e9;
    stage_s[STAGE_MEASURE] = (double)p->measure_ns / 1e9;
    if (!b->run->driver)
        return;
    const race_driver_state *c = race_driver_get_state(b->run->driver);
    stage_s[STAGE_RACE] = (double)c->race_ns / 1e9;
    stage_s[STAGE_FINALS] = (double)c->finals_ns / 1e9;
}

/* Returns the effort that the run amounts to, which is exhaustive if it tried everything. Returns
 * NULL if the run was cut short or searched only a part of the space. */
static const char *effort_of(const tune *run)
{
    if (run->settings->pattern.only_count > 0)
        return NULL;
    if (run->end == RUN_END_EXHAUSTED || run->end == RUN_END_SETTLED)
        return effort_name(run->end == RUN_END_SETTLED ? EFFORT_NORMAL : EFFORT_EXHAUSTIVE);
    /* The user's limit cuts a run short. A quick run without such a limit ends in time, too. */
    bool cut_short =
        run->end == RUN_END_INTERRUPTED || (run->end == RUN_END_SECONDS && run->limits.seconds > 0);
    return run->settings->search.has_effort && !cut_short
               ? effort_name(run->settings->search.effort)
               : NULL;
}

static void fill_facts(builder *b)
{
    const session *s = &b->run->session;
    const settings *o = b->run->settings;
    run_summary *out = b->out;
    out->compiled_only = s->workers->device == NULL;
    out->device = s->workers->properties;
    out->warm_cache = o->race.warm_cache;
    snprintf(out->after, sizeof out->after, "%s", s->before.names);
    out->space_cartesian = space_cartesian(s->space);
    out->space_valid = space_count(s->space);
    out->space_sampled = space_is_sample(s->space);
    out->seed = o->search.seed;
    out->strategy = strategy_get_kind(b->run->strategy)->name;
    out->budget_evaluations = b->run->limits.evaluations;
    out->budget_s = b->run->limits.seconds;
    out->end = b->run->end;
    out->effort = effort_of(b->run);
    script_hash(s->script, out->script_hash);
    emit_template_hash(s->script, out->template_hash);
    snprintf(out->nvrtc_version, sizeof out->nvrtc_version, "%s",
             compile_nvrtc_version(s->workers->pool));
}

static void fill_work(builder *b)
{
    const session *s = &b->run->session;
    const work_unit unit = ceiling_get(s->ceiling)->unit;
    int64_t raced_ns = b->run->driver ? race_driver_get_state(b->run->driver)->ceiling_ns : 0;
    int64_t measured_ns = raced_ns ? raced_ns : pipeline_get_state(b->run->pipeline)->ceiling_ns;
    for (int u = 0; u < WORK_UNITS; u++)
        b->out->work[u] = session_work(s, (work_unit)u);
    b->out->ceiling = s->ceiling;
    b->out->ceiling_rate =
        ceiling_get(s->ceiling)->in_run ? rate(s, unit, measured_ns) : s->ceiling_rate;
}

static void warn_throttled(builder *b, const race_driver_state *c)
{
    char reasons[128];
    board_throttle_text(c->throttle, reasons, sizeof reasons);
    run_summary_warn(b->out,
                     "the GPU was throttled%s%s: its clock changed %llu times and did not come "
                     "back (now %.0f MHz)",
                     reasons[0] ? " by its " : "", reasons, (unsigned long long)c->throttled,
                     c->sm_clock_khz / 1e3);
}

static void warn_others(builder *b, uint32_t others)
{
    run_summary_warn(b->out,
                     "%u other process%s computed on this GPU during the race and disturbed these "
                     "times: tune again when the GPU is free",
                     others, others > 1 ? "es" : "");
}

/* Warns of variants that no ragged problem accepts: they were not checked on any edge. */
static void warn_unchecked(builder *b)
{
    const session *s = &b->run->session;
    const pattern *p = script_pattern(s->script);
    const candidates *all = pipeline_candidates(b->run->pipeline);
    uint64_t unchecked = 0, finished = 0;
    uint32_t broken = 0;
    size_t first = 1; /* slot of the first ragged problem */
    while (first < s->slots && s->problems.kinds[first] < PROBLEM_RAGGED)
        first++;
    for (size_t i = 0; first < s->slots && i < all->count; i++) {
        const candidate *c = all->items[i];
        bool checked = false;
        for (size_t slot = first; slot < s->slots; slot++)
            checked = checked || c->present[slot];
        finished += candidate_is_finished(c);
        if (!candidate_is_finished(c) || checked)
            continue;
        unchecked++;
        broken = c->broken[first];
    }
    if (unchecked > 0)
        run_summary_warn(b->out,
                         "%llu of %llu variants break a constraint on every ragged problem, so "
                         "their edges were not checked: line %d, \"%s\"",
                         (unsigned long long)unchecked, (unsigned long long)finished,
                         p->constraints[broken].line, p->constraints[broken].text);
}

/* Explains a rate above the ceiling: memory moved fewer bytes than the pattern counts. */
static void warn_beyond_ceiling(builder *b)
{
    const session *s = &b->run->session;
    const run_result *best = run_summary_best(b->out);
    char size[UNITS_BYTES], both[PLAN_MAX_BUFFERS * (PLAN_NAME_BYTES + 4)] = "";
    if (!best || best->ceiling_fraction <= 1 || !ceiling_get(s->ceiling)->in_run)
        return;
    const problem_plan *plan = &s->problems.plans[0];
    const ceiling_kind wanted = plan_ceiling(plan);
    if (wanted != s->ceiling) {
        run_summary_warn(b->out,
                         "the best variant is at %.1f %% of %s: it mostly %s, which is faster than "
                         "a copy, and a simulated device predicts only copies",
                         100 * best->ceiling_fraction, ceiling_get(s->ceiling)->words,
                         wanted == CEILING_READ ? "reads" : "writes");
        return;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].role == BUFFER_INOUT)
            text_add(both, sizeof both, "%s\"%s\"", *both ? ", " : "", plan->buffers[i].name);
    run_summary_warn(b->out,
                     "the best variant is at %.1f %% of %s: it moves less than the %s that "
                     "`traffic` says, or a part of the data stays in the L2 cache%s%s%s",
                     100 * best->ceiling_fraction, ceiling_get(s->ceiling)->words,
                     units_size(session_work(s, WORK_BYTES), size),
                     *both ? ". If the script gives no `traffic`, an at.inout counts as read and "
                             "written. If the kernel does not read it, name it in outputs = { "
                           : "",
                     both, *both ? " }" : "");
}

static void warn(builder *b)
{
    const session *s = &b->run->session;
    const pipeline_state *p = pipeline_get_state(b->run->pipeline);
    const race_driver_state *c = b->run->driver ? race_driver_get_state(b->run->driver) : NULL;
    if (s->workers->driver_less[0])
        run_summary_warn(
            b->out,
            "the simulated device %s was used instead of a GPU, so all times are predictions (%s)",
            s->workers->properties.spec, s->workers->driver_less);
    if (b->run->settings->prove_all && !session_measures(s))
        run_summary_warn(b->out, "--prove all is ignored without a GPU: 'autotune check' with a "
                                 "--budget proves variants");
    if (space_is_sample(s->space))
        run_summary_warn(b->out,
                         "the space is too large to enumerate: a sample of %llu valid "
                         "configurations was searched",
                         (unsigned long long)space_count(s->space));
    if (s->space_timed_out)
        run_summary_warn(b->out, "the space was not enumerated in time, because the machine was "
                                 "slow: the same command may search another sample next time");
    if (p->left_out)
        run_summary_warn(b->out,
                         "%llu variants were not tried: all %d variants%s%s that were tried ran "
                         "out of time, so they probably have an endless loop",
                         (unsigned long long)p->left_out, HANGS_OF_A_CAUSE,
                         *p->hang.text ? " with " : "", p->hang.text);
    if (p->restarts)
        run_summary_warn(
            b->out,
            "the device worker crashed or hung and was replaced %d times (see the outcomes)",
            p->restarts);
    if (s->workers->left_out)
        run_summary_warn(b->out,
                         "%zu GPUs of other ranks were not used, because they are of another model",
                         s->workers->left_out);
    if (p->lost)
        run_summary_warn(b->out, "%zu of %zu GPUs failed, and the others continued: %s", p->lost,
                         s->workers->other_count + 1, p->lost_why);
    if (p->journal_trouble.status)
        run_summary_warn(b->out, "a line of the journal could not be written: %s",
                         p->journal_trouble.message);
    size_t skipped = b->run->journal ? journal_skipped(b->run->journal) : 0;
    if (skipped)
        run_summary_warn(
            b->out,
            "%zu damaged lines of the journal were skipped, and their variants measured again",
            skipped);
    const char *of_compiler = compile_warning(b->run->session.workers->pool);
    if (of_compiler)
        run_summary_warn(b->out, "%s", of_compiler);
    warn_unchecked(b);
    if (c && c->redone)
        run_summary_warn(
            b->out,
            "%llu blocks of samples were measured again, because the GPU's clock had changed",
            (unsigned long long)c->redone);
    if (c && c->throttled)
        warn_throttled(b, c);
    if (c && c->others)
        warn_others(b, c->others);
    if (c && c->energy_trouble[0])
        run_summary_warn(b->out, "%senergy cannot be measured: %s",
                         b->run->settings->race.energy ? "ranked by time, since " : "",
                         c->energy_trouble);
    if (b->run->settings->search.stop_at > 0 && b->out->ceiling_rate <= 0)
        run_summary_warn(b->out,
                         s->ceiling == CEILING_NONE
                             ? "--stop-at had no effect, because the pattern has no ceiling"
                             : "--stop-at had no effect, because %s of this device is not known; "
                               "'autotune ceilings' measures it on a GPU",
                         ceiling_get(s->ceiling)->words);
    if (session_measures(s) && ceiling_get(s->ceiling)->in_run &&
        session_work(s, WORK_BYTES) < 2 * s->workers->properties.limits.l2_bytes)
        run_summary_warn(b->out, "the problem is small: its data is less than twice the L2 cache, "
                                 "so times may be those of the cache");
    warn_beyond_ceiling(b);
}

at_status tune_summarise(tune *t, at_error *error)
{
    builder b = {.run = t, .out = &t->summary};
    at_status status = AT_OK;
    b.added = memory_new(pipeline_candidates(t->pipeline)->count, sizeof *b.added);
    fill_work(&b);
    fill_facts(&b);
    if (t->driver)
        status = add_ranked(&b, error);
    if (!status)
        status = add_rest(&b, error);
    if (status)
        goto cleanup;
    if (!t->driver && t->session.workers->device)
        rank_by_median(&b);
    mark_baseline(&b);
    compare_with_baseline(&b, t->driver ? race_driver_result(t->driver) : NULL);
    fill_stages(&b);
    warn(&b);
    t->summary.wall_s = (double)(clock_now_ns() - t->start_ns) / 1e9;
cleanup:
    free(b.added);
    return status;
}
