#include "cmd/space/spill_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const char cap_name[] = "registers";

/* Limits of caps: the compiler rejects caps below 16; no architecture allows more than 255. */
enum { LEAST_CAP = 16, MOST_CAP = 255, TENTH = 10 };

static at_status add_cap(spill_axis *axis, unsigned cap, at_error *error)
{
    if (cap < LEAST_CAP || cap > MOST_CAP)
        return error_set(error, AT_USAGE, "--over registers takes limits from %d to %d", LEAST_CAP,
                         MOST_CAP);
    if (axis->count && cap <= axis->caps[axis->count - 1])
        return error_set(error, AT_USAGE,
                         "--over registers takes limits in ascending order, each once");
    axis->caps[axis->count++] = cap;
    return AT_OK;
}

/* Reads "32,40,...,128". "..." continues with the last step, or in steps of 1 after one cap. */
static at_status read_caps(spill_axis *axis, const char *text, at_error *error)
{
    bool gap = false;
    at_status status = AT_OK;
    axis->caps = memory_new(MOST_CAP + 1, sizeof *axis->caps);
    char *list = memory_text(text ? text : "16,...,255"), *rest = NULL;
    for (char *word = strtok_r(list, ",", &rest); word && !status;
         word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "...") == 0 && axis->count && !gap) {
            gap = true;
            continue;
        }
        char *end;
        unsigned long cap = strtoul(word, &end, 10);
        if (*end || end == word || cap > MOST_CAP) {
            status =
                error_set(error, AT_USAGE, "--over registers takes numbers from %d to %d, not '%s'",
                          LEAST_CAP, MOST_CAP, word);
            break;
        }
        size_t n = axis->count;
        unsigned step = n > 1 ? axis->caps[n - 1] - axis->caps[n - 2] : 1;
        for (unsigned v = n ? axis->caps[n - 1] + step : 0; gap && !status && v < cap; v += step)
            status = add_cap(axis, v, error);
        gap = false;
        if (!status)
            status = add_cap(axis, (unsigned)cap, error);
    }
    if (!status && (gap || !axis->count))
        status =
            error_set(error, AT_USAGE,
                      "--over registers: '...' must stand between two values, as in 32,40,...,64");
    free(list);
    return status;
}

static bool are_numbers(const pattern *p, const sweep_axis *swept)
{
    const space_parameter *q = &p->parameters[swept->parameter];
    double earlier = 0;
    int sign = 0;
    for (size_t i = 0; i < swept->count; i++) {
        double n = value_number(q->values[swept->values[i]]);
        if (!value_is_number(q->values[swept->values[i]]))
            return false;
        int step = n > earlier ? 1 : -1;
        if (i > 0 && sign && step != sign)
            return false;
        sign = i > 0 ? step : 0;
        earlier = n;
    }
    return true;
}

/* Rejects "registers" in --config, because it is no parameter. The message suggests --over. */
static at_status check_no_cap(const script *s, const char *configuration, at_error *error)
{
    const size_t length = sizeof cap_name - 1;
    const char *at = configuration ? configuration : "";
    size_t own;
    while (*at && (strncmp(at, cap_name, length) != 0 || at[length] != '=')) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (!*at || !script_find_parameter(s, cap_name, &own, NULL))
        return AT_OK;
    return error_set(error, AT_USAGE,
                     "--config: 'registers' is not a parameter of the pattern, but a limit for all "
                     "variants: use --over %.*s instead",
                     (int)strcspn(at, ","), at);
}

at_status spill_map_init(spill_map *m, script *s, problem_kind problem, const arch_limits *arch,
                         compile_pool *pool, const spill_request *request, at_error *error)
{
    *m = (spill_map){.script = s,
                     .pool = pool,
                     .arch = arch,
                     .problem = problem,
                     .cap_axis = SIZE_MAX,
                     .shared_spills = request->shared_spills,
                     .keep_images = request->keep_images,
                     .want_ptx = request->want_ptx,
                     .whole = request->whole};
    script_setting overs[SPILL_MOST_AXES] = {{0}};
    size_t count = 0, place = 0, own;
    bool alone = request->over_count == 0;
    if (request->over_count > SPILL_MOST_AXES)
        return error_set(error, AT_USAGE, "--over may be given %d times at most here",
                         SPILL_MOST_AXES);
    for (size_t i = 0; i < request->over_count; i++) {
        bool cap = strcmp(request->overs[i].name, cap_name) == 0 &&
                   script_find_parameter(s, cap_name, &own, NULL);
        if (cap && m->cap_axis != SIZE_MAX)
            return error_set(error, AT_USAGE, "--over registers is given twice");
        if (cap)
            m->cap_axis = i;
        else
            overs[count++] = request->overs[i];
    }
    at_status status = check_no_cap(s, request->configuration, error);
    if (!status)
        status = sweep_init(s, request->configuration, overs, count, &m->sweep, error);
    if (status)
        return status;
    if (alone)
        m->cap_axis = 0;
    m->axis_count = count + (m->cap_axis != SIZE_MAX);
    for (size_t i = 0; i < m->axis_count && !status; i++) {
        spill_axis *a = &m->axes[i];
        if (i == m->cap_axis) {
            a->name = cap_name;
            a->ordered = true;
            status = read_caps(a, alone ? NULL : request->overs[i].text, error);
            continue;
        }
        a->swept = &m->sweep.axes[place++];
        a->name = script_pattern(s)->parameters[a->swept->parameter].name;
        a->count = a->swept->count;
        a->ordered = are_numbers(script_pattern(s), a->swept);
    }
    if (status)
        return status;
    m->line_length = m->axes[0].count;
    m->line_count = 1;
    for (size_t i = 1; i < m->axis_count; i++)
        m->line_count *= m->axes[i].count;
    if (m->line_count * m->line_length > SWEEP_MOST_ROWS)
        return error_set(
            error, AT_USAGE,
            "--over gives more than %d points, the most that are allowed: give fewer values",
            SWEEP_MOST_ROWS);
    m->lines = memory_new(m->line_count, sizeof *m->lines);
    m->points = memory_new(m->line_count * m->line_length, sizeof *m->points);
    return AT_OK;
}

void spill_map_deinit(spill_map *m)
{
    for (size_t i = 0; m->points && i < m->line_count * m->line_length; i++) {
        spill_point *p = &m->points[i];
        inspect_row_deinit(&p->row);
        inspect_row_deinit(&p->shared);
        compile_result_deinit(&p->images[0]);
        compile_result_deinit(&p->images[1]);
        free(p->launch);
    }
    for (size_t i = 0; m->lines && i < m->line_count; i++)
        threshold_deinit(&m->lines[i].search);
    for (size_t i = 0; i < SPILL_MOST_AXES; i++)
        free(m->axes[i].caps);
    free(m->points);
    free(m->lines);
    sweep_deinit(&m->sweep);
}

static size_t position(const spill_map *m, size_t axis, size_t line, size_t place)
{
    if (axis == 0)
        return place;
    for (size_t i = m->axis_count; i-- > axis + 1;)
        line /= m->axes[i].count;
    return line % m->axes[axis].count;
}

value spill_map_get(const spill_map *m, size_t axis, size_t line, size_t place)
{
    const spill_axis *a = &m->axes[axis];
    size_t at = position(m, axis, line, place);
    return a->swept ? script_pattern(m->script)
                          ->parameters[a->swept->parameter]
                          .values[a->swept->values[at]]
                    : (value){.kind = VALUE_INTEGER, .integer = a->caps[at]};
}

spill_point *spill_map_point(const spill_map *m, size_t line, size_t place)
{
    return &m->points[line * m->line_length + place];
}

static at_status submit(spill_map *m, size_t line, size_t place, bool shared, bool *submitted,
                        at_error *error)
{
    spill_point *p = spill_map_point(m, line, place);
    inspect_row *row = shared ? &p->shared : &p->row;
    inspect_change change = {.shared_spills = shared, .want_ptx = m->want_ptx};
    launch_plan *launch = memory_new(1, sizeof *launch);
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    memcpy(indices, m->sweep.base, m->sweep.width * sizeof *indices);
    for (size_t i = 0; i < m->axis_count; i++) {
        const spill_axis *a = &m->axes[i];
        size_t at = position(m, i, line, place);
        if (a->swept)
            indices[a->swept->parameter] = a->swept->values[at];
        else
            change.most_registers = a->caps[at];
    }
    uint64_t id = 2 * (line * m->line_length + place) + shared;
    at_status status = inspect_submit(m->script, m->problem, indices, m->arch, m->pool, id, &change,
                                      row, launch, submitted, error);
    p->asked = true;
    if (m->keep_images && !p->launch)
        p->launch = launch;
    else
        free(launch);
    if (!*submitted)
        row->valid = false;
    return status;
}

static threshold_answer answer_of(const inspect_row *row)
{
    if (!row->valid || row->outcome != COMPILE_OK)
        return THRESHOLD_GAP;
    return inspect_spill_bytes(&row->resources) > 0 ? THRESHOLD_YES : THRESHOLD_NO;
}

static at_status take_one(spill_map *m, size_t *index, bool *shared, at_error *error)
{
    compile_result r;
    at_status status = compile_take(m->pool, -1, &r, error);
    if (status)
        return status;
    *index = r.id / 2;
    *shared = r.id % 2;
    spill_point *p = &m->points[*index];
    inspect_take(&r, m->arch, *shared ? &p->shared : &p->row);
    if (m->keep_images) {
        p->images[*shared] = r;
        return AT_OK;
    }
    compile_result_deinit(&r);
    return AT_OK;
}

/* Prefers the largest cap of each number of resident blocks, because occupancy changes there. */
static void wish_occupancy_steps(spill_map *m, spill_line *l)
{
    const spill_axis *a = &m->axes[0];
    const inspect_row *any = NULL;
    for (size_t i = 0; i < m->line_length && !any; i++)
        any = l->search.told[i] ? &spill_map_point(m, (size_t)(l - m->lines), i)->row : NULL;
    for (size_t i = 0; any && any->valid && m->cap_axis == 0 && i + 1 < a->count; i++) {
        occupancy here =
            occupancy_compute(m->arch, any->threads, (int)a->caps[i], any->shared_bytes);
        occupancy next =
            occupancy_compute(m->arch, any->threads, (int)a->caps[i + 1], any->shared_bytes);
        if (here.blocks_per_sm != next.blocks_per_sm)
            threshold_prefer(&l->search, i);
    }
}

/* Wishes for the caps just below the registers that a variant uses, and just above the compiler's
 * lowest cap: some of these caps may spill although their neighbours do not. */
static void wish_caps_that_bind(spill_map *m, spill_line *l)
{
    enum { BESIDE = 3 };
    const spill_axis *a = &m->axes[0];
    size_t line = (size_t)(l - m->lines);
    for (size_t i = 0; m->cap_axis == 0 && i < a->count; i++) {
        const inspect_row *row = &spill_map_point(m, line, i)->row;
        unsigned used = row->resources.registers;
        bool told = l->search.told[i] && l->search.told[i] != THRESHOLD_GAP;
        for (size_t j = 0; told && used != a->caps[i] && j < a->count; j++)
            if (used < a->caps[i] ? a->caps[j] < used && a->caps[j] + BESIDE >= used
                                  : a->caps[j] > used && a->caps[j] <= used + BESIDE)
                threshold_prefer(&l->search, j);
    }
}

/* If a variant does not spill at the highest cap, assumes that it spills only at caps below the
 * registers that it uses there. */
static void suppose_above_need(spill_map *m, spill_line *l)
{
    const spill_axis *a = &m->axes[0];
    size_t last = a->count - 1;
    const inspect_row *row = &spill_map_point(m, (size_t)(l - m->lines), last)->row;
    if (m->cap_axis != 0 || l->search.told[last] != THRESHOLD_NO)
        return;
    for (size_t i = 0; i < last; i++)
        if (a->caps[i] >= row->resources.registers)
            threshold_expect(&l->search, i, THRESHOLD_NO);
}

/* Finds the place where a solved line starts to spill (`rising`) or stops to spill. Lines between
 * two solved lines use it as a guess. Returns false if there is no such place. */
static bool boundary(const spill_map *m, const spill_line *l, bool rising, size_t *at)
{
    switch (l->kind) {
    case THRESHOLD_NEVER:
        *at = rising ? m->line_length : 0;
        return true;
    case THRESHOLD_ALWAYS:
        *at = rising ? 0 : m->line_length;
        return true;
    case THRESHOLD_RISES:
        *at = l->place;
        return rising;
    case THRESHOLD_FALLS:
        *at = l->place;
        return !rising;
    default:
        return false;
    }
}

static void suppose_between(spill_map *m, spill_line *l, const spill_line *a, const spill_line *b)
{
    for (int rising = 0; rising < 2; rising++) {
        size_t from, to;
        if (!boundary(m, a, rising, &from) || !boundary(m, b, rising, &to))
            continue;
        size_t low = from < to ? from : to, high = from < to ? to : from;
        for (size_t i = 0; i < m->line_length; i++)
            if (i < low || i >= high)
                threshold_expect(&l->search, i, (i < low) == rising ? THRESHOLD_NO : THRESHOLD_YES);
        return;
    }
}

/* Solves several lines at once, to keep every worker busy. */
static at_status solve_lines(spill_map *m, const size_t *lines, size_t count, at_error *error)
{
    size_t waiting = 0;
    at_status status = AT_OK;
    bool *busy = memory_new(m->line_count, sizeof *busy);
    do {
        for (size_t i = 0; i < count && !status; i++) {
            spill_line *l = &m->lines[lines[i]];
            size_t place;
            while (!status && !busy[lines[i]] && threshold_next(&l->search, &place)) {
                bool submitted;
                status = submit(m, lines[i], place, false, &submitted, error);
                if (!status && !submitted)
                    threshold_tell(&l->search, place, THRESHOLD_GAP);
                busy[lines[i]] = submitted;
                waiting += submitted;
                m->compiled += submitted;
            }
        }
        if (status || waiting == 0)
            break;
        size_t index;
        bool shared;
        status = take_one(m, &index, &shared, error);
        if (status)
            break;
        size_t line = index / m->line_length, place = index % m->line_length;
        threshold_tell(&m->lines[line].search, place, answer_of(&m->points[index].row));
        if (place + 1 == m->line_length)
            suppose_above_need(m, &m->lines[line]);
        wish_caps_that_bind(m, &m->lines[line]);
        wish_occupancy_steps(m, &m->lines[line]);
        busy[line] = false;
        waiting--;
    } while (true);
    for (size_t i = 0; i < count && !status; i++) {
        spill_line *l = &m->lines[lines[i]];
        l->kind = threshold_result(&l->search, &l->place);
        l->solved = true;
    }
    free(busy);
    return status;
}

static void suppose_from_neighbours(spill_map *m, size_t line)
{
    size_t before = line, after = line;
    while (before > 0 && !m->lines[before].solved)
        before--;
    while (after + 1 < m->line_count && !m->lines[after].solved)
        after++;
    if (m->axis_count == 2 && m->axes[1].ordered && m->lines[before].solved &&
        m->lines[after].solved)
        suppose_between(m, &m->lines[line], &m->lines[before], &m->lines[after]);
}

static at_status spill_to_shared(spill_map *m, at_error *error)
{
    size_t waiting = 0;
    at_status status = AT_OK;
    for (size_t i = 0; i < m->line_count * m->line_length && !status; i++) {
        bool submitted = false;
        if (m->points[i].asked && answer_of(&m->points[i].row) == THRESHOLD_YES)
            status = submit(m, i / m->line_length, i % m->line_length, true, &submitted, error);
        waiting += submitted;
    }
    for (; waiting > 0 && !status; waiting--) {
        size_t index;
        bool shared;
        status = take_one(m, &index, &shared, error);
    }
    return status;
}

at_status spill_map_solve(spill_map *m, at_error *error)
{
    at_status status = AT_OK;
    bool bisect = m->axes[0].ordered && !m->whole;
    size_t *batch = memory_new(m->line_count, sizeof *batch);
    size_t tenth = m->line_count * m->line_length / TENTH;
    size_t step = 1;
    while (step < m->line_count)
        step *= 2;
    for (size_t left = m->line_count; step > 0 && left > 0 && !status; step /= 2) {
        size_t count = 0;
        size_t budget = m->compiled < tenth ? (tenth - m->compiled) / left : 0;
        for (size_t i = 0; i < m->line_count && !status; i++) {
            spill_line *l = &m->lines[i];
            if (l->search.told || (i % step != 0 && i + 1 != m->line_count))
                continue;
            threshold_init(&l->search, m->line_length, bisect ? budget : m->line_length);
            if (bisect)
                suppose_from_neighbours(m, i);
            batch[count++] = i;
        }
        left -= count;
        if (!status)
            status = solve_lines(m, batch, count, error);
    }
    free(batch);
    if (!status && m->shared_spills)
        status = spill_to_shared(m, error);
    return status;
}
