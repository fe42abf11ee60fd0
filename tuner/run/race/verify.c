#include "run/race/verify.h"

#include "run/race/side_by_side.h"
#include "script/script.h"

enum { BLOCKS = 60, MOST_FINALISTS = 16 };

typedef struct finalists {
    candidate *items[MOST_FINALISTS]; /* the winner first */
    size_t count;
} finalists;

static finalists list_finalists(race_driver *c)
{
    finalists found = {0};
    const race_result *r = race_driver_result(c);
    for (size_t i = 0; r->has_winner && i < r->count && found.count < MOST_FINALISTS; i++) {
        const race_standing *s = &r->ranking[i];
        candidate *one = race_driver_candidate(c, s->entrant);
        if (!s->failed && s->left_at >= RACE_FINALS && candidate_has_code(one))
            found.items[found.count++] = one;
    }
    return found;
}

/* *other: who is surely faster than the first, by *ratio; NULL: nobody is. */
static at_status race_on(device_worker *w, const finalists *f, const settings *o,
                         const candidate **other, double *ratio, at_error *error)
{
    const race_options protocol = race_defaults();
    side_judge judge = {.margin = o->tie_margin >= 0 ? o->tie_margin : protocol.tie_margin,
                        .blocks = BLOCKS};
    const side_rules rules = {
        .blocks = BLOCKS, .seed = o->seed, .enough = side_judge_enough, .context = &judge};
    side sides[MOST_FINALISTS];
    *other = NULL;
    for (size_t i = 0; i < f->count; i++) {
        device_variant v;
        candidate_variant(f->items[i], &v);
        sides[i] = (side){.image = v.images[0], .launch = v.launches[0], .layout = v.layout};
    }
    at_status status = side_by_side_run(w, sides, f->count, &rules, error);
    if (!status && sides[0].outcome != OUTCOME_OK)
        status = error_set(error, AT_DEVICE, "it ended as %s: %s", outcome_name(sides[0].outcome),
                           sides[0].message);
    if (!status && judge.standing.rival > 0) {
        *other = f->items[judge.standing.rival];
        *ratio = judge.standing.ratio;
    }
    for (size_t i = 0; i < f->count; i++)
        side_deinit(&sides[i]);
    return status;
}

at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error)
{
    finalists f = list_finalists(c);
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    size_t agreed = 0;
    at_status status = workers_await(s->workers, error);
    for (size_t i = 0; !status && f.count > 0 && i < s->workers->other_count; i++) {
        const candidate *other;
        const device_properties *gpu = &s->workers->other_properties[i];
        char text[CONFIGURATION_BYTES];
        double ratio = 1;
        status = race_on(s->workers->others[i], &f, o, &other, &ratio, error);
        if (status == AT_INTERRUPTED)
            break;
        if (status) {
            run_summary_warn(out, "the winner could not be verified on %s (%s): %s", gpu->spec,
                             gpu->uuid, error ? error->message : "it failed");
            error_clear(error);
            status = AT_OK;
        } else if (other) {
            space_at(s->space, other->configuration, indices);
            script_format_configuration(s->script, indices, text, sizeof text);
            run_summary_warn(out, "%s (%s) disagrees: %s is %.2f %% faster there than the winner",
                             gpu->spec, gpu->uuid, text, 100 * (ratio - 1));
        } else {
            agreed++;
        }
    }
    if (agreed && !status)
        run_summary_warn(out,
                         "verified: on %zu of %zu other GPUs no finalist is faster than the winner",
                         agreed, s->workers->other_count);
    return status;
}
