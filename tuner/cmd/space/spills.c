/* autotune spills: where the compiler begins to keep values in memory, and whether that ever
 * pays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/stats.h"
#include "base/units.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "cmd/space/spill_map.h"
#include "report/table.h"
#include "run/race/side_by_side.h"
#include "run/setup/session.h"
#include "run/setup/setup.h"
#include "search/race/paired.h"

enum { MOST_ARCHS = 32, BLOCKS = 20, LINES_IN_FULL = 8, LINE_BYTES = 1024 };

typedef struct explored {
    arch_limits arch;
    script *script; /* owned, unless a session's */
    spill_map map;
    bool timed;
    int64_t tick_ns;
    side *sides; /* of every point with an image: its own, then spilling to shared memory */
    size_t side_count;
    size_t *point_of_side;
} explored;

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

/* ---- times ---- */

static void add_side(explored *x, size_t point, bool shared)
{
    spill_point *p = &x->map.points[point];
    x->point_of_side[x->side_count] = 2 * point + shared;
    x->sides[x->side_count++] =
        (side){.image = result_image(&p->images[shared], x->map.want_ptx), .launch = *p->launch};
}

static at_status time_points(explored *x, session *s, uint64_t seed, at_error *error)
{
    size_t total = x->map.line_count * x->map.line_length, wanted = 0;
    device_ready ready;
    for (size_t i = 0; i < total; i++)
        wanted +=
            (x->map.points[i].images[0].cubin != NULL) + (x->map.points[i].images[1].cubin != NULL);
    x->sides = calloc(wanted + 1, sizeof *x->sides);
    x->point_of_side = calloc(wanted + 1, sizeof *x->point_of_side);
    if (!x->sides || !x->point_of_side)
        return error_set(error, AT_NO_MEMORY, "out of memory");
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

/* The fastest side that spills nothing (wanted 0), or something: of the line. NULL: none. */
static const side *fastest(const explored *x, size_t line, bool spilling, spill_point **point)
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

/* Does spilling pay on this line? From samples of the same blocks. */
static void print_payoff(const explored *x, size_t line)
{
    spill_point *without_point = NULL, *with_point = NULL;
    const side *without = fastest(x, line, false, &without_point),
               *with = fastest(x, line, true, &with_point);
    double scratch[BLOCKS];
    char at[SPILL_TEXT_BYTES];
    if (!without || !with)
        return;
    size_t blocks =
        without->sample_count < with->sample_count ? without->sample_count : with->sample_count;
    paired p = paired_compare(with->samples_ns, without->samples_ns, blocks, x->tick_ns, scratch);
    double half = paired_half_width(&p, paired_quantile(0.025, blocks));
    spill_map_value(&x->map, 0, line, (size_t)(with_point - x->map.points) % x->map.line_length,
                    at);
    const char *verdict = p.mean + half < 0   ? "spilling pays here"
                          : p.mean - half > 0 ? "spilling does not pay here"
                                              : "spilling neither pays nor costs here";
    printf("    %s: the fastest that spills (%s=%s, occupancy %.0f %%) takes %.3f to %.3f times as "
           "long as "
           "the fastest that does not\n",
           verdict, x->map.axes[0].name, at, 100 * with_point->row.occupancy.fraction,
           exp(p.mean - half), exp(p.mean + half));
}

/* ---- tables ---- */

static void add_time_cell(table *t, const spill_point *p, bool shared)
{
    char text[UNITS_BYTES];
    if (p->time_ns[shared] > 0)
        table_add_cell(t, "%s", units_time((int64_t)p->time_ns[shared], text));
    else
        table_add_cell(t, "%s", shared ? "" : p->why_not);
}

static void add_row(const explored *x, const spill_point *p, const char *value_text, table *t)
{
    const inspect_row *r = &p->row;
    char text[UNITS_BYTES];
    table_add_cell(t, "%s", value_text);
    table_add_cell(t, "%u", r->resources.registers);
    table_add_cell(t, "%u", r->resources.spill_store_bytes);
    table_add_cell(t, "%u", r->resources.spill_load_bytes);
    table_add_cell(t, "%u", r->resources.stack_bytes);
    table_add_cell(t, "%s", units_size(r->shared_bytes, text));
    table_add_cell(t, "%.0f %%", 100 * r->occupancy.fraction);
    if (x->timed)
        add_time_cell(t, p, false);
    if (!x->map.shared_spills)
        return;
    bool has = p->shared.valid && p->shared.outcome == COMPILE_OK;
    table_add_cell(t, has ? "%u" : "", has ? inspect_spill_bytes(&p->shared.resources) : 0);
    table_add_cell(t, "%s", has ? units_size(p->shared.shared_bytes, text) : "");
    table_add_cell(t, has ? "%.0f %%" : "", has ? 100 * p->shared.occupancy.fraction : 0);
    if (x->timed)
        add_time_cell(t, p, true);
}

/* The points of a line that have something to show, from `place` on; line_length: no more. */
static size_t next_shown(const spill_map *m, size_t line, size_t place)
{
    for (; place < m->line_length; place++) {
        const spill_point *p = spill_map_point(m, line, place);
        if (p->asked && p->row.valid && p->row.outcome == COMPILE_OK)
            break;
    }
    return place;
}

/* Nothing is new at a point whose neighbours on both sides need the same and have no times. */
static bool says_nothing_new(const spill_map *m, size_t line, size_t before, size_t place)
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

static at_status print_line_table(const explored *x, size_t line, at_error *error)
{
    table t;
    table_init(&t);
    table_add_column(&t, x->map.axes[0].name, TABLE_RIGHT);
    table_add_columns(&t, "regs,stored,loaded,stack,shared,occup");
    if (x->timed)
        table_add_column(&t, "time", TABLE_RIGHT);
    if (x->map.shared_spills) {
        table_add_columns(&t, "| local,shared,occup");
        if (x->timed)
            table_add_column(&t, "time", TABLE_RIGHT);
    }
    size_t before = SIZE_MAX;
    for (size_t i = next_shown(&x->map, line, 0); i < x->map.line_length;
         before = i, i = next_shown(&x->map, line, i + 1)) {
        char text[SPILL_TEXT_BYTES];
        if (says_nothing_new(&x->map, line, before, i))
            continue;
        spill_map_value(&x->map, 0, line, i, text);
        add_row(x, spill_map_point(&x->map, line, i), text, &t);
    }
    at_status status = t.cell_count ? terminal_print_table(&t, error) : AT_OK;
    table_deinit(&t);
    return status;
}

/* The stretches in which it spills, of a line that was asked for everywhere. */
static void print_stretches(const explored *x, size_t line)
{
    const threshold *t = &x->map.lines[line].search;
    bool open = false, any = false;
    char text[SPILL_TEXT_BYTES];
    for (size_t i = 0; i < t->count; i++) {
        bool spills = t->told[i] == THRESHOLD_YES,
             ends = i + 1 == t->count || t->told[i + 1] != THRESHOLD_YES;
        spill_map_value(&x->map, 0, line, i, text);
        if (spills && !open)
            printf("%s%s", any ? ", " : " ", text);
        else if (spills && ends)
            printf(" to %s", text);
        any = any || spills;
        open = spills && !ends;
    }
}

static void print_why_nothing(const explored *x, size_t line)
{
    const inspect_row *row = &spill_map_point(&x->map, line, 0)->row;
    const space_constraint *c =
        row->valid ? NULL : &script_pattern(x->script)->constraints[row->broken];
    char text[LINE_BYTES];
    if (c)
        snprintf(text, sizeof text, "nothing compiled: it breaks the constraint of line %d: %s",
                 c->line, c->text);
    else
        snprintf(text, sizeof text, "nothing compiled: %.*s",
                 row->log ? (int)strcspn(row->log, "\n") : 0, row->log ? row->log : "");
    printf("%s\n", text);
}

static void print_threshold(const explored *x, size_t line)
{
    const spill_map *m = &x->map;
    const spill_line *l = &m->lines[line];
    char name[SPILL_TEXT_BYTES], at[SPILL_TEXT_BYTES] = "", before[SPILL_TEXT_BYTES] = "";
    const char *axis = m->axes[0].name;
    spill_map_line_name(m, line, name);
    printf("  %s%s%s: ", x->arch.name, name[0] ? ", " : "", name);
    if (l->kind == THRESHOLD_RISES || l->kind == THRESHOLD_FALLS) {
        size_t last = l->place;
        do
            last--;
        while (last > 0 && l->search.told[last] == THRESHOLD_GAP);
        spill_map_value(m, 0, line, l->place, at);
        spill_map_value(m, 0, line, last, before);
    }
    bool unordered =
        !m->axes[0].ordered && l->kind != THRESHOLD_NOTHING && l->kind != THRESHOLD_NEVER;
    switch (unordered ? THRESHOLD_MIXED : l->kind) {
    case THRESHOLD_NOTHING:
        print_why_nothing(x, line);
        break;
    case THRESHOLD_NEVER:
        printf("no spills along %s\n", axis);
        break;
    case THRESHOLD_ALWAYS:
        printf("spills everywhere along %s\n", axis);
        break;
    case THRESHOLD_RISES:
        printf("spills begin at %s=%s (none at %s)\n", axis, at, before);
        break;
    case THRESHOLD_FALLS:
        printf("spills end at %s=%s (some at %s)\n", axis, at, before);
        break;
    case THRESHOLD_MIXED:
        printf("%s %s", unordered ? "spills at" : "not monotone: it spills at", axis);
        print_stretches(x, line);
        putchar('\n');
        break;
    }
    if (x->timed)
        print_payoff(x, line);
}

static at_status print_explored(const explored *x, at_error *error)
{
    const spill_map *m = &x->map;
    char text[CONFIGURATION_BYTES];
    at_status status = AT_OK;
    script_format_configuration(x->script, m->sweep.base, text, sizeof text);
    printf("%s on %s\n", script_pattern(x->script)->name, x->arch.name);
    table_print_wrapped(terminal_page(), 2, "", text, stdout);
    for (size_t i = 0; i < m->line_count && m->line_count <= LINES_IN_FULL && !status; i++) {
        char name[SPILL_TEXT_BYTES];
        spill_map_line_name(m, i, name);
        printf("\n%s%s%s", name[0] ? "  " : "", name, name[0] ? "\n" : "");
        status = print_line_table(x, i, error);
    }
    putchar('\n');
    for (size_t i = 0; i < m->line_count && !status; i++)
        print_threshold(x, i);
    printf("  %zu of %zu points compiled\n\n", m->compiled, m->line_count * m->line_length);
    return status;
}

/* ---- JSON ---- */

static json_t *resources_json(const inspect_row *r)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:I, s:f}", "registers", (int)r->resources.registers,
                     "spill_store_bytes", (int)r->resources.spill_store_bytes, "spill_load_bytes",
                     (int)r->resources.spill_load_bytes, "stack_bytes",
                     (int)r->resources.stack_bytes, "shared_bytes", (json_int_t)r->shared_bytes,
                     "occupancy", r->occupancy.fraction);
}

static json_t *line_json(const explored *x, size_t line)
{
    static const char *const kinds[] = {"nothing", "never", "always", "rises", "falls", "mixed"};
    const spill_map *m = &x->map;
    const spill_line *l = &m->lines[line];
    json_t *out = json_object(), *points = json_array(), *common = json_object();
    for (size_t i = 1; i < m->axis_count; i++)
        json_put(&common, m->axes[i].name, json_from_value(spill_map_get(m, i, line, 0)));
    json_put(&out, "config", common);
    json_put(&out, "kind", json_string(kinds[l->kind])); /* "mixed": the threshold has exceptions */
    size_t place, at = l->place < m->line_length ? l->place : 0;
    threshold_kind mostly =
        l->kind == THRESHOLD_MIXED ? threshold_mostly(&l->search, &place) : l->kind;
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

static at_status print_json(const explored *all, size_t count, at_error *error)
{
    json_t *archs = json_array();
    for (size_t i = 0; i < count; i++) {
        const spill_map *m = &all[i].map;
        json_t *lines = json_array();
        for (size_t l = 0; l < m->line_count; l++)
            json_append(&lines, line_json(&all[i], l));
        json_append(&archs,
                    json_pack("{ss sI sI so}", "arch", all[i].arch.name, "compiled",
                              (json_int_t)m->compiled, "of",
                              (json_int_t)(m->line_count * m->line_length), "lines", lines));
    }
    return json_text_print(json_pack("{ss ss so}", "pattern", script_pattern(all[0].script)->name,
                                     "axis", all[0].map.axes[0].name, "archs", archs),
                           1, stdout, error);
}

/* ---- the command ---- */

static void explored_deinit(explored *x, bool owns_script)
{
    for (size_t i = 0; i < x->side_count; i++)
        side_deinit(&x->sides[i]);
    free(x->sides);
    free(x->point_of_side);
    spill_map_deinit(&x->map);
    if (owns_script)
        script_free(x->script);
}

static at_status explore_arch(const options *o, const char *arch, compile_pool *pool, explored *x,
                              at_error *error)
{
    spill_request request = request_of(o, false, false);
    at_status status = target_find(arch, &x->arch, error);
    if (!status)
        status = target_load_script(&o->run, &x->arch, &x->script, error);
    if (!status)
        status = spill_map_init(&x->map, x->script, PROBLEM_TUNED, &x->arch, pool, &request, error);
    return status ? status : spill_map_solve(&x->map, error);
}

static at_status explore_device(const options *o, session *s, explored *x, at_error *error)
{
    at_status status = session_init(&o->run, NULL, s, error);
    if (status)
        return status;
    spill_request request = request_of(o, true, s->workers->properties.predicted);
    x->arch = s->workers->properties.limits;
    snprintf(x->arch.name, sizeof x->arch.name, "%s", s->workers->properties.arch);
    x->script = s->script;
    status =
        spill_map_init(&x->map, s->script, s->problem, &x->arch, s->workers->pool, &request, error);
    if (!status)
        status = spill_map_solve(&x->map, error);
    return status ? status : time_points(x, s, o->run.seed, error);
}

static at_status explore_archs(const options *o, compile_pool **pool, explored *all, size_t *count,
                               at_error *error)
{
    char *list = o->run.arch ? strdup(o->run.arch) : NULL, *rest = NULL;
    if (o->run.arch && !list)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    at_status status = compile_pool_new(
        &(compile_options){.jobs = o->run.jobs, .use_cache = o->run.use_cache}, pool, error);
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
    explored *all = calloc(MOST_ARCHS, sizeof *all);
    size_t count = 0;
    compile_pool *pool = NULL;
    session s = {0};
    at_status status;
    if (!all)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    if (o->run.device && o->run.arch)
        status = error_set(error, AT_USAGE,
                           "--device times variants on its own architecture: leave out one "
                           "of --arch and --device");
    else if (o->run.device)
        status = explore_device(o, &s, &all[count++], error);
    else
        status = explore_archs(o, &pool, all, &count, error);
    if (!status && o->json)
        status = print_json(all, count, error);
    for (size_t i = 0; i < count && !status && !o->json; i++)
        status = print_explored(&all[i], error);
    for (size_t i = 0; i < count; i++)
        explored_deinit(&all[i], !o->run.device);
    free(all);
    compile_pool_free(pool);
    session_deinit(&s);
    return status;
}

const command cmd_spills = {
    .name = "spills",
    .operand = "SCRIPT",
    .summary = "Find where variants begin to spill registers; needs no GPU",
    .options = "config only over arch device shared-spills whole set seed jobs no-cache json",
    .run = run,
};
