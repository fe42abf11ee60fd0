#include "search/feasibility.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/regression/gp.h"

/* Outcomes half of a parameter's range away weigh 1/12, neighbours on a scale of ten 0.9. */
static const double sharpness = 10;

void feasibility_init(feasibility *f, encoding *e, size_t most)
{
    *f = (feasibility){.encoding = e,
                       .works = memory_new(most, sizeof *f->works),
                       .breaks = memory_new(most, sizeof *f->breaks)};
}

void feasibility_deinit(feasibility *f)
{
    free(f->works);
    free(f->breaks);
    *f = (feasibility){0};
}

static void count_outcome(feasibility *f, const ledger_trial *t)
{
    float *weights = isfinite(t->cost) ? f->works : f->breaks;
    size_t features = f->encoding->features;
    float point[GP_MAX_FEATURES];
    encoding_point(f->encoding, t->configuration, point);
    for (size_t c = 0; c < f->candidate_count; c++) {
        double d = encoding_distance(f->encoding, point, f->candidates + c * features);
        weights[c] += (float)exp(-sharpness * d);
    }
}

static void count_all(feasibility *f, const ledger *l)
{
    for (size_t i = 0; i < l->trial_count; i++)
        if (!isnan(l->trials[i].cost))
            count_outcome(f, &l->trials[i]);
}

void feasibility_reset(feasibility *f, const float *candidates, size_t count, const ledger *l)
{
    f->candidates = candidates;
    f->candidate_count = count;
    memset(f->works, 0, count * sizeof *f->works);
    memset(f->breaks, 0, count * sizeof *f->breaks);
    if (f->any_broken)
        count_all(f, l);
}

void feasibility_learn(feasibility *f, const ledger *l, size_t trial)
{
    if (f->any_broken) {
        count_outcome(f, &l->trials[trial]);
    } else if (!isfinite(l->trials[trial].cost)) {
        f->any_broken = true;
        count_all(f, l);
    }
}

double feasibility_chance(const feasibility *f, size_t candidate)
{
    if (!f->any_broken)
        return 1;
    double works = (double)f->works[candidate] + 1;
    return works / (works + (double)f->breaks[candidate]);
}
