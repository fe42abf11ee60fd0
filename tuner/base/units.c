#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Digits after the point that make four significant ones of a number from 1 to 999. */
static int decimals_for(double v)
{
    v = fabs(v);
    if (v < 9.9995)
        return 3;
    return v < 99.995 ? 2 : 1;
}

char *units_time(int64_t time_ns, char out[UNITS_BYTES])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    double ns = (double)time_ns;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        /* 999,999 ns is 1.000 ms, not 1000.0 us. */
        if (fabs(ns) >= units[i].ns * 0.99995) {
            double v = ns / units[i].ns;
            snprintf(out, UNITS_BYTES, "%.*f %s", decimals_for(v), v, units[i].name);
            return out;
        }
    }
    snprintf(out, UNITS_BYTES, "%" PRId64 " ns", time_ns);
    return out;
}

/* More than these are in no one's lifetime, and are told by their magnitude. */
static const double MOST_HOURS = 1e6;

char *units_duration(double seconds, char out[UNITS_BYTES])
{
    if (!(seconds >= 0))
        seconds = 0;
    if (seconds >= MOST_HOURS * 3600) {
        snprintf(out, UNITS_BYTES, "%.3g s", seconds);
    } else if (seconds < 9.995) {
        snprintf(out, UNITS_BYTES, "%.2f s", seconds);
    } else if (seconds < 119.95) {
        snprintf(out, UNITS_BYTES, "%.1f s", seconds);
    } else {
        uint64_t whole = (uint64_t)(seconds + 0.5);
        if (whole < 3600)
            snprintf(out, UNITS_BYTES, "%" PRIu64 " min %02" PRIu64 " s", whole / 60, whole % 60);
        else
            snprintf(out, UNITS_BYTES, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
                     whole % 3600 / 60);
    }
    return out;
}

char *units_size(uint64_t size_bytes, char out[UNITS_BYTES])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    uint64_t scale = 1;
    while (unit + 1 < sizeof names / sizeof *names && size_bytes / scale >= 1024) {
        scale *= 1024;
        unit++;
    }
    if (size_bytes % scale == 0)
        snprintf(out, UNITS_BYTES, "%" PRIu64 " %s", size_bytes / scale, names[unit]);
    else
        snprintf(out, UNITS_BYTES, "%.1f %s", (double)size_bytes / (double)scale, names[unit]);
    return out;
}

char *units_rate(double gbps, char out[UNITS_BYTES])
{
    int decimals = 0;
    if (fabs(gbps) < 9.9995)
        decimals = 3;
    else if (fabs(gbps) < 99.95)
        decimals = 1;
    snprintf(out, UNITS_BYTES, "%.*f", decimals, gbps);
    return out;
}

char *units_count(uint64_t count, char out[UNITS_BYTES])
{
    char digits[UNITS_BYTES];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t n = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = '\0';
    return out;
}

char *units_percent(double fraction, char out[UNITS_BYTES])
{
    snprintf(out, UNITS_BYTES, "%.1f %%", 100 * fraction);
    return out;
}
