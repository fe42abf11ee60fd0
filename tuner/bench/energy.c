#include "bench/energy.h"

#include <math.h>

#include "base/stats.h"

/* Length of a chunk. Boards update the counter every 20 to 100 ms, so a single chunk may be off by
 * half. Eight chunks together are precise to a few percent, because each counts what the previous
 * one missed. */
static const int64_t chunk_ns = 200000000;

uint64_t energy_chunk_launches(int64_t time_ns)
{
    return time_ns > 0 && time_ns < chunk_ns ? (uint64_t)(chunk_ns / time_ns) : 1;
}

/* Returns the energy between two readings in J, or a negative number if it is unknown. */
static double energy_between(const energy_reading *from, const energy_reading *to)
{
    if (from->energy_mj && to->energy_mj)
        return to->energy_mj >= from->energy_mj ? (double)(to->energy_mj - from->energy_mj) / 1e3
                                                : -1;
    if (from->power_w > 0 && to->power_w > 0)
        return (from->power_w + to->power_w) / 2 * (double)(to->now_ns - from->now_ns) / 1e9;
    return -1;
}

bool energy_estimate_launch(const energy_reading *readings, size_t count, energy_estimate *out)
{
    *out = (energy_estimate){0};
    if (count < ENERGY_LEAST_CHUNKS + 1)
        return false;
    size_t chunks = count - 1;
    for (size_t i = 0; i < chunks; i++)
        if (readings[i + 1].launches <= readings[i].launches ||
            readings[i + 1].now_ns <= readings[i].now_ns ||
            energy_between(&readings[i], &readings[i + 1]) < 0)
            return false;
    const energy_reading *first = &readings[0], *last = &readings[chunks];
    double total_j = 0;
    for (size_t i = 0; i < chunks; i++)
        total_j += energy_between(&readings[i], &readings[i + 1]);
    double launches = (double)(last->launches - first->launches), mean = total_j / launches;
    double squares = 0;
    for (size_t i = 0; i < chunks; i++) {
        double n = (double)(readings[i + 1].launches - readings[i].launches);
        double off = energy_between(&readings[i], &readings[i + 1]) - mean * n;
        squares += off * off;
    }
    /* Standard error of a ratio of sums (Cochran, "Sampling Techniques", 1977, 6.4). */
    double error = sqrt((double)chunks * squares / (double)(chunks - 1)) / launches;
    double half = error * stats_t_quantile(0.025, (double)(chunks - 1));
    out->launch_j = mean;
    out->low_j = mean > half ? mean - half : 0;
    out->high_j = mean + half;
    out->power_w = total_j / ((double)(last->now_ns - first->now_ns) / 1e9);
    out->chunks = chunks;
    return mean > 0;
}
