#include "synthetic_clock.h"

#include <math.h>

#include "normal.h"

synthetic_machine synthetic_machine_usual(void)
{
    return (synthetic_machine){
        .ramp = 0.03, .ramp_ns = 100e6, .noise = 0.008, .outliers = 0.02, .overhead_ns = 100e3};
}

synthetic_clock synthetic_clock_start(const synthetic_machine *machine, uint64_t seed)
{
    synthetic_clock c = {.machine = *machine, .random = rng_seeded(seed)};
    c.drift = machine->wander * rng_normal(&c.random);
    return c;
}

static void pass(synthetic_clock *c, double ns)
{
    const synthetic_machine *m = &c->machine;
    c->now_ns += ns;
    if (m->wander > 0) {
        double keep = exp(-ns / m->wander_ns);
        c->drift = keep * c->drift + m->wander * sqrt(1 - keep * keep) * rng_normal(&c->random);
    }
}

int64_t synthetic_clock_sample(synthetic_clock *c, double true_ns)
{
    const synthetic_machine *m = &c->machine;
    double slow = m->ramp > 0 ? m->ramp * exp(-c->now_ns / m->ramp_ns) : 0;
    double ns = true_ns * (1 + slow) * exp(c->drift + m->noise * rng_normal(&c->random));
    if (rng_uniform(&c->random) < m->outliers)
        ns *= 1.05 + 0.45 * rng_uniform(&c->random);
    pass(c, ns + m->overhead_ns);
    c->samples++;
    if (m->tick_ns > 0) /* time in ticks of a counter whose phase is unknown */
        ns = m->tick_ns * floor(ns / m->tick_ns + rng_uniform(&c->random));
    return ns < 1 ? 1 : (int64_t)ns;
}

const race_result *synthetic_clock_race(synthetic_clock *c, race *r, const double *true_ns,
                                        int64_t *samples_ns)
{
    const uint32_t *order;
    for (size_t count; (count = race_next(r, &order)) > 0; race_tell(r, samples_ns))
        for (size_t i = 0; i < count; i++)
            samples_ns[i] = synthetic_clock_sample(c, true_ns[order[i]]);
    return race_conclude(r);
}
