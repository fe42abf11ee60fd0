/* autotune spills: finds thresholds at which variants spill registers, and whether variants that
 * spill are faster. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/stats.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/space/inspection.h"
#include "cmd/space/spill_map.h"
#include "run/race/side_by_side.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"
#include "search/race/paired.h"

enum { MOST_ARCHS = 32, BLOCKS = 20 };

typedef struct explored_arch {
    arch_limits arch;
    script *script; /* owned, unless it belongs to a session */
    spill_map map;
    bool timed;
    int64_t tick_ns;
    side *sides; /* compiled images: for each point its `row` and, if it exists, its `shared` */
    size_t side_count;
    size_t *point_of_side;
} explored_arch;

static spill_request request_of(const options *o, bool timed, bool predicted)
{
    return (spill_request){.configuration = o->configuration,
                           .overs = o->sweeps,
                           .over_count = o->sweep_count,
                           .shared_spills = o->shared_spills,
                           .keep_images = timed,
                           .want_ptx = predicted,
                           .whole = o->whole};
}

static void add_side(explored_arch *x, size_t point, bool shared)
{
    spill_point *p = &x->map.points[point];
    x->point_of_side[x->side_count] = 2 * point + shared;
    x->sides[x->side_count++] =
        (side){.image = result_image(&p->images[shared], x->map.want_ptx), .launch = *p->launch};
}

static at_status time_points(explored_arch *x, session *s, uint64_t seed, at_error *error)
{
    size_t total = x->map.line_count * x->map.line_length, wanted = 0;
    device_ready ready;
    for (size_t i = 0; i < total; i++)
        wanted +=
            (x->map.points[i].images[0].cubin != NULL) + (x->map.points[i].images[1].cubin != NULL);
    x->sides = memory_new(wanted + 1, sizeof *x->sides);
    x->point_of_side = memory_new(wanted + 1, sizeof *x->point_of_side);
    for (size_t i = 0; i < total; i++)
        for (int shared = 0; shared < 2; shared++)
            if (x->map.points[i].images[shared].cubin)
                add_side(x, i, shared);
    const side_rules rules = {.blocks = BLOCKS, .seed = seed, .checked = true};
    at_status status = side_by_side_ready(s->workers->device, NULL, &ready, error);
    if (!status)
        status = side_by_side_run(s->workers->device, x->sides, x->side_count, &rules, error);
    for (size_t i = 0; i < x->side_count && !status; i++) {
        stats_summary time;
        spill_point *p = &x->map.points[x->point_of_side[i] / 2];
        if (x->sides[i].outcome != OUTCOME_OK)
            snprintf(p->why_not, sizeof p->why_not, "%s", outcome_name(x->sides[i].outcome));
        else if (stats_summarise_copy(x->sides[i].samples_ns, x->sides[i].sample_count, &time))
            p->time_ns[x->point_of_side[i] % 2] = (double)time.median_ns;
    }
    x->timed = !status;
    x->tick_ns = status ? 0 : ready.tick_ns;
    return status;
}

/* Returns the fastest of the line's images that spill (if `spilling`) or do not spill, and sets
 * *point to its point. Returns NULL if the line has no such image. */
static const side *fastest(const explored_arch *x, size_t line, bool spilling, spill_point **point)
{
    const side *best = NULL;
    double best_ns = INFINITY;
    for (size_t i = 0; i < x->side_count; i++) {
        size_t index = x->point_of_side[i] / 2, shared = x->point_of_side[i] % 2;
        spill_point *p = &x->map.points[index];
        bool spills = inspect_spill_bytes(&p->row.resources) > 0;
        if (index / x->map.line_length != line || spills != spilling || !(p->time_ns[shared] > 0) ||
            p->time_ns[shared] >= best_ns)
            continue;
        best = &x->sides[i];
        best_ns = p->time_ns[shared];
        *point = p;
    }
    return best;
}

/* Packs the place of the fastest variant that spills, and the confidence interval of its time
 * divided by that of the fastest variant without spills. Packs null without both variants. */
static json_t *pack_payoff(const explored_arch *x, size_t line)
{
    spill_point *without_point = NULL, *with_point = NULL;
    const side *without = fastest(x, line, false, &without_point),
               *with = fastest(x, line, true, &with_point);
    double scratch[BLOCKS];
    if (!without || !with)
        return json_null();
    size_t blocks =
        without->sample_count < with->sample_count ? without->sample_count : with->sample_count;
    paired p = paired_compare(with->samples_ns, without->samples_ns, blocks, x->tick_ns, scratch);
    double half = paired_half_width(&p, paired_quantile(0.025, blocks));
    const size_t place = (size_t)(with_point - x->map.points) % x->map.line_length;
    return json_pack("{so so so so}", "at", json_from_value(spill_map_get(&x->map, 0, line, place)),
                     "low", json_exact(exp(p.mean - half)), "high", json_exact(exp(p.mean + half)),
                     "occupancy", json_exact(with_point->row.occupancy.fraction));
}

/* Returns the place of the first compiled point of a line at or after `place`, or line_length. */
static size_t next_shown(const spill_map *m, size_t line, size_t place)
{
    for (; place < m->line_length; place++) {
        const spill_point *p = spill_map_point(m, line, place);
        if (p->asked && p->row.valid && p->row.outcome == COMPILE_OK)
            break;
    }
    return place;
}

/* Returns whether a point has the same resources as both neighbours, and no point has times. */
static bool is_like_neighbours(const spill_map *m, size_t line, size_t before, size_t place)
{
    size_t after = next_shown(m, line, place + 1);
    const inspect_row *here = &spill_map_point(m, line, place)->row;
    if (before == SIZE_MAX || after == m->line_length || m->keep_images)
        return false;
    return memcmp(&here->resources, &spill_map_point(m, line, before)->row.resources,
                  sizeof here->resources) == 0 &&
           memcmp(&here->resources, &spill_map_point(m, line, after)->row.resources,
                  sizeof here->resources) == 0;
}

static json_t *resources_json(const inspect_row *r)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:I, s:f}", "registers", (int)r->resources.registers,
                     "spill_store_bytes", (int)r->resources.spill_store_bytes, "spill_load_bytes",
                     (int)r->resources.spill_load_bytes, "stack_bytes",
                     (int)r->resources.stack_bytes, "shared_bytes", (json_int_t)r->shared_bytes,
                     "occupancy", r->occupancy.fraction);
}

static json_t *line_json(const explored_arch *x, size_t line)
{
    static const char *const kinds[] = {"nothing", "never", "always", "rises", "falls", "mixed"};
    const spill_map *m = &x->map;
    const spill_line *l = &m->lines[line];
    json_t *out = json_object(), *points = json_array(), *common = json_object();
    for (size_t i = 1; i < m->axis_count; i++)
        json_put(&common, m->axes[i].name, json_from_value(spill_map_get(m, i, line, 0)));
    json_put(&out, "config", common);
    json_put(&out, "kind",
             json_string(kinds[l->kind])); /* "mixed": some points contradict the threshold */
    size_t place, at = l->place < m->line_length ? l->place : 0;
    threshold_kind mostly =
        l->kind == THRESHOLD_MIXED ? threshold_best_fit(&l->search, &place) : l->kind;
    bool has = m->axes[0].ordered && (mostly == THRESHOLD_RISES || mostly == THRESHOLD_FALLS);
    json_put(&out, "threshold", has ? json_from_value(spill_map_get(m, 0, line, at)) : json_null());
    for (size_t i = next_shown(m, line, 0); i < m->line_length; i = next_shown(m, line, i + 1)) {
        const spill_point *p = spill_map_point(m, line, i);
        json_t *one = resources_json(&p->row), *config = json_object();
        json_put(&config, m->axes[0].name, json_from_value(spill_map_get(m, 0, line, i)));
        json_put(&one, "config", config);
        if (p->time_ns[0] > 0)
            json_put(&one, "time_ns", json_count_rounded(p->time_ns[0]));
        if (p->shared.valid && p->shared.outcome == COMPILE_OK) {
            json_t *shared = resources_json(&p->shared);
            if (p->time_ns[1] > 0)
                json_put(&shared, "time_ns", json_count_rounded(p->time_ns[1]));
            json_put(&one, "to_shared", shared);
        }
        json_append(&points, one);
    }
    json_put(&out, "points", points);
    return out;
}

/* Packs a place of a line: its value, whether it spills, whether its compilation failed, and the
 * index of the constraint that it breaks. */
static json_t *place_words(const spill_map *m, size_t line, size_t place)
{
    const spill_point *p = spill_map_point(m, line, place);
    const uint8_t answer = m->lines[line].search.told[place];
    json_t *out =
        json_pack("{so sb sb sb}", "value", json_from_value(spill_map_get(m, 0, line, place)),
                  "spills", answer == THRESHOLD_YES, "is_gap", answer == THRESHOLD_GAP,
                  "is_uncompiled", p->asked && p->row.valid && p->row.outcome != COMPILE_OK);
    if (p->asked && !p->row.valid)
        json_put(&out, "broken", json_count(p->row.broken));
    return out;
}

static json_t *line_words(const explored_arch *x, size_t line)
{
    const spill_map *m = &x->map;
    const inspect_row *first = &spill_map_point(m, line, 0)->row;
    json_t *new = json_array(), *why_not = json_array(), *places = json_array();
    size_t before = SIZE_MAX;
    for (size_t i = next_shown(m, line, 0); i < m->line_length;
         before = i, i = next_shown(m, line, i + 1)) {
        json_append(&new, json_boolean(!is_like_neighbours(m, line, before, i)));
        json_append(&why_not, json_string(spill_map_point(m, line, i)->why_not));
    }
    for (size_t i = 0; i < m->line_length; i++)
        json_append(&places, place_words(m, line, i));
    return json_pack("{so so sI so so so}", "is_new", new, "why_not", why_not, "change",
                     (json_int_t)m->lines[line].place, "places", places, "log",
                     json_foreign_text(first->log ? first->log : ""), "payoff",
                     x->timed ? pack_payoff(x, line) : json_null());
}

static json_t *pack_constraints(const pattern *p)
{
    json_t *out = json_array();
    for (size_t i = 0; i < p->constraint_count; i++)
        json_append(&out, json_pack("{si so}", "line", p->constraints[i].line, "text",
                                    json_foreign_text(p->constraints[i].text)));
    return out;
}

static at_status print(const options *o, const explored_arch *all, size_t count, at_error *error)
{
    json_t *archs = json_array(), *words = json_array();
    for (size_t i = 0; i < count; i++) {
        const spill_map *m = &all[i].map;
        char base[CONFIGURATION_BYTES];
        json_t *lines = json_array(), *of_lines = json_array();
        for (size_t l = 0; l < m->line_count; l++) {
            json_append(&lines, line_json(&all[i], l));
            json_append(&of_lines, line_words(&all[i], l));
        }
        script_format_configuration(all[i].script, m->sweep.base, base, sizeof base);
        json_append(&archs,
                    json_pack("{ss sI sI so}", "arch", all[i].arch.name, "compiled",
                              (json_int_t)m->compiled, "of",
                              (json_int_t)(m->line_count * m->line_length), "lines", lines));
        json_append(&words, json_pack("{ss sb sb sb so}", "base", base, "ordered",
                                      (int)m->axes[0].ordered, "timed", (int)all[i].timed, "shared",
                                      (int)m->shared_spills, "lines", of_lines));
    }
    return page_show(
        o, "spills", 1,
        json_pack("{ss ss so}", "pattern", script_pattern(all[0].script)->name, "axis",
                  all[0].map.axes[0].name, "archs", archs),
        json_pack("{so so sb}", "words", words, "constraints",
                  pack_constraints(script_pattern(all[0].script)), "is_default",
                  !o->configuration && all[0].map.axis_count == 1 && all[0].map.cap_axis == 0),
        error);
}

static void explored_deinit(explored_arch *x, bool owns_script)
{
    for (size_t i = 0; i < x->side_count; i++)
        side_deinit(&x->sides[i]);
    free(x->sides);
    free(x->point_of_side);
    spill_map_deinit(&x->map);
    if (owns_script)
        script_free(x->script);
}

static at_status explore_arch(const options *o, const char *arch, compile_pool *pool,
                              explored_arch *x, at_error *error)
{
    spill_request request = request_of(o, false, false);
    at_status status = target_find(arch, &x->arch, error);
    if (!status)
        status = target_load_script(&o->run, &x->arch, &x->script, error);
    if (!status)
        status = spill_map_init(&x->map, x->script, PROBLEM_TUNED, &x->arch, pool, &request, error);
    return status ? status : spill_map_solve(&x->map, error);
}

static at_status explore_device(const options *o, session *s, explored_arch *x, at_error *error)
{
    at_status status = session_init(&o->run, NULL, s, error);
    if (status)
        return status;
    spill_request request = request_of(o, true, s->workers->properties.predicted);
    x->arch = s->workers->properties.limits;
    snprintf(x->arch.name, sizeof x->arch.name, "%s", s->workers->properties.arch);
    x->script = s->script;
    status = spill_map_init(&x->map, s->script, PROBLEM_TUNED, &x->arch, s->workers->pool, &request,
                            error);
    if (!status)
        status = spill_map_solve(&x->map, error);
    return status ? status : time_points(x, s, o->run.search.seed, error);
}

static at_status explore_archs(const options *o, compile_pool **pool, explored_arch *all,
                               size_t *count, at_error *error)
{
    char *list = memory_text(o->run.machine.arch), *rest = NULL;
    at_status status = compile_pool_new(
        &(compile_options){.jobs = o->run.machine.jobs, .use_cache = o->run.machine.use_cache},
        pool, error);
    const char *arch = list ? strtok_r(list, ",", &rest) : NULL;
    do {
        if (!status && *count == MOST_ARCHS)
            status =
                error_set(error, AT_USAGE, "--arch takes %d architectures at most", MOST_ARCHS);
        if (!status)
            status = explore_arch(o, arch, *pool, &all[(*count)++], error);
    } while (!status && list && (arch = strtok_r(NULL, ",", &rest)) != NULL);
    free(list);
    return status;
}

static at_status run(const options *o, at_error *error)
{
    explored_arch *all = memory_new(MOST_ARCHS, sizeof *all);
    size_t count = 0;
    compile_pool *pool = NULL;
    session s = {0};
    at_status status;
    if (o->run.machine.device && o->run.machine.arch)
        status = error_set(error, AT_USAGE,
                           "--device times variants on its own architecture: leave out one "
                           "of --arch and --device");
    else if (o->run.machine.device)
        status = explore_device(o, &s, &all[count++], error);
    else
        status = explore_archs(o, &pool, all, &count, error);
    if (!status)
        status = print(o, all, count, error);
    for (size_t i = 0; i < count; i++)
        explored_deinit(&all[i], !o->run.machine.device);
    free(all);
    compile_pool_free(pool);
    session_deinit(&s);
    return status;
}

const command cmd_spills = {
    .name = "spills",
    .operand = "SCRIPT",
    .summary = "Find where variants begin to spill registers; needs no GPU",
    .options =
        "describe config captured only over arch device shared-spills whole set include seed jobs "
        "no-cache json",
    .run = run,
};
