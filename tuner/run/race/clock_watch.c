/* Judges blocks of a race by the clock of the chip (run/race/state.h). */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "run/race/state.h"

/* The relative distance from the median above which a clock is off. A boost step of a current chip
 * is 15 MHz, under 1 % of its clock; power and thermal limits change the clock more than this. */
static const double most_off = 0.05;

void clock_watch_init(clock_watch *w)
{
    *w = (clock_watch){0};
}

double clock_watch_median_khz(const clock_watch *w)
{
    double sorted[CLOCK_WATCH_HISTORY];
    size_t count = w->count < CLOCK_WATCH_HISTORY ? w->count : CLOCK_WATCH_HISTORY;
    memcpy(sorted, w->history_khz, count * sizeof *sorted);
    return stats_median(sorted, count);
}

static void keep(clock_watch *w, double clock_khz)
{
    w->history_khz[w->count++ % CLOCK_WATCH_HISTORY] = clock_khz;
}

clock_verdict clock_watch_judge(clock_watch *w, double clock_khz)
{
    if (!(clock_khz > 0))
        return CLOCK_KEEP;
    double median_khz = clock_watch_median_khz(w);
    if (w->count == 0 || fabs(clock_khz - median_khz) <= most_off * median_khz) {
        keep(w, clock_khz);
        w->away = 0;
        return CLOCK_KEEP;
    }
    w->away_khz[w->away++] = clock_khz;
    if (w->away < CLOCK_WATCH_TRIES) {
        w->redone++;
        return CLOCK_REDO;
    }
    w->count = w->away = 0;
    for (size_t i = 0; i < CLOCK_WATCH_TRIES; i++)
        keep(w, w->away_khz[i]);
    if (clock_khz > median_khz) /* The chip was throttled before and no longer is. */
        return CLOCK_KEEP;
    w->throttled++;
    return CLOCK_THROTTLED;
}
