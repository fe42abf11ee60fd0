#include "cmd/look/roofline.h"

#include <math.h>
#include <string.h>

enum { ROOF_TEXT_BYTES = 96 };

typedef struct roof {
    const ceiling_info *info;
    double rate;
} roof;

typedef struct roofs {
    roof list[CEILING_KINDS];
    size_t count;
} roofs;

at_status roofline_ceilings(const char *file, const record_folders *folders, const char *gpu,
                            ceiling_rates *out, at_error *error)
{
    const char *slash = strrchr(file, '/');
    char beside[PATHS_BYTES];
    snprintf(beside, sizeof beside, "%.*s/..", slash ? (int)(slash - file) : 1, slash ? file : ".");
    at_status status = AT_OK;
    *out = (ceiling_rates){0};
    for (size_t i = 0; !status && *gpu && i <= (folders ? folders->count : 0); i++) {
        status = ceilings_read(i ? folders->paths[i - 1] : beside, gpu, out, error);
        for (int kind = 0; !status && kind < CEILING_KINDS; kind++)
            if (out->rates[kind] > 0)
                return AT_OK;
    }
    return status;
}

static bool is_of_memory(ceiling_kind kind)
{
    return kind == CEILING_COPY || kind == CEILING_READ || kind == CEILING_WRITE;
}

/* Which ceilings say something about the pattern: its own, and what lies above it in the device. */
static bool concerns(const recorded *r, ceiling_kind kind)
{
    const work_unit own = ceiling_get(r->ceiling)->unit;
    if (kind == r->ceiling)
        return true;
    if (ceiling_get(kind)->unit == WORK_FLOPS)
        return own != WORK_FLOPS;
    bool on_device = own != WORK_BYTES || is_of_memory(r->ceiling) || r->ceiling == CEILING_L2 ||
                     r->ceiling == CEILING_SHARED;
    return on_device && (kind == CEILING_L2 || kind == CEILING_SHARED ||
                         (kind == CEILING_COPY && !is_of_memory(r->ceiling)));
}

static void find_roofs(const recorded *r, const ceiling_rates *kept, work_unit unit, roofs *out)
{
    out->count = 0;
    for (int i = CEILING_NONE + 1; i < CEILING_KINDS; i++) {
        ceiling_kind kind = (ceiling_kind)i;
        double rate = kind == r->ceiling && r->ceiling_rate > 0 ? r->ceiling_rate
                      : kept                                    ? kept->rates[kind]
                                                                : 0;
        if (rate > 0 && ceiling_get(kind)->unit == unit && concerns(r, kind))
            out->list[out->count++] = (roof){ceiling_get(kind), rate};
    }
}

/* 10^9 a second. */
static double rate_of(const recorded *r, double cost_ms, work_unit unit)
{
    return r->work[unit] / (cost_ms * 1e6);
}

/* Where there are several the steps of dashes tell them apart in print. */
static void put_roof(FILE *to, const roof *one, const char *formula, const char *unit, size_t place)
{
    fprintf(to, ", \\\n %s with lines lc rgb '#333333' lw 2 dt %zu title '%s %.*f %s'", formula,
            1 + place % 5, one->info->name, one->rate < 100, one->rate, unit);
}

static void put_points(const roofline_request *q)
{
    fprintf(q->to,
            "set key outside bottom center horizontal height 1\nset logscale y\nset samples 1000\n"
            "plot $d with points pt 6 ps 1 lc rgb '%s' title 'variants', \\\n"
            " $d every ::0::0 with points pt 7 ps 1.8 lc rgb '%s' title 'the best'",
            q->colours[0], q->colours[1]);
}

/* The memory's roofs rise with the intensity until they meet the compute's. */
static void write_intensity(const roofline_request *q)
{
    const recorded *r = q->r;
    FILE *to = q->to;
    const double intensity = r->work[WORK_FLOPS] / r->work[WORK_BYTES];
    double left = intensity / 8, right = intensity * 8, peak = 0, meets = 0;
    roofs memory, compute;
    char formula[ROOF_TEXT_BYTES];
    size_t drawn = 0;
    find_roofs(r, q->ceilings, WORK_BYTES, &memory);
    find_roofs(r, q->ceilings, WORK_FLOPS, &compute);
    for (size_t i = 0; i < compute.count; i++)
        peak = fmax(peak, compute.list[i].rate);
    for (size_t i = 0; i < memory.count && peak > 0; i++) {
        double at = peak / memory.list[i].rate;
        meets = i == 0 ? at : fmin(meets, at);
        left = fmin(left, at / 4);
        right = fmax(right, at * 4);
    }
    const double best = rate_of(r, r->results[q->works[0]].cost, WORK_FLOPS);
    const double worst =
        rate_of(r, fmax(r->results[q->works[q->count - 1]].cost, r->baseline_ms), WORK_FLOPS);
    fputs("$d << EOD\n", to);
    for (size_t i = 0; i < q->count; i++)
        fprintf(to, "%g %g\n", intensity, rate_of(r, r->results[q->works[i]].cost, WORK_FLOPS));
    fprintf(to,
            "EOD\nset xlabel 'arithmetic intensity: flops for each byte that must be moved'\nset "
            "ylabel 'GFLOP/s'\n"
            "set logscale x\nset xrange [%g:%g]\nset yrange [%g:%g]\n",
            left, right, worst / 4, fmax(peak, best) * 4);
    put_points(q);
    if (r->baseline_ms > 0)
        fprintf(to,
                ", \\\n '+' every ::0::0 using (%g):(%g) with points pt 5 ps 1.5 lc rgb '%s' title "
                "'the baseline'",
                intensity, rate_of(r, r->baseline_ms, WORK_FLOPS), q->colours[2]);
    for (size_t i = 0; i < memory.count; i++) {
        double rate = memory.list[i].rate;
        snprintf(formula, sizeof formula, "x < %g ? %g * x : 1/0", peak > 0 ? peak / rate : right,
                 rate);
        put_roof(to, &memory.list[i], formula, "GB/s", drawn++);
    }
    for (size_t i = 0; i < compute.count; i++) {
        snprintf(formula, sizeof formula, "x >= %g ? %g : 1/0", meets, compute.list[i].rate);
        put_roof(to, &compute.list[i], formula, "GFLOP/s", drawn++);
    }
    fputs("\n", to);
}

/* Without flops or without bytes there is no intensity: over the occupancy, where it is known of
 * all; else by rank. */
static void write_rates(const roofline_request *q, work_unit unit)
{
    const recorded *r = q->r;
    FILE *to = q->to;
    const char *name = unit == WORK_ITEMS ? r->rate_unit : unit == WORK_FLOPS ? "GFLOP/s" : "GB/s";
    char formula[ROOF_TEXT_BYTES];
    bool by_occupancy = true;
    roofs all;
    find_roofs(r, q->ceilings, unit, &all);
    for (size_t i = 0; i < q->count; i++)
        by_occupancy = by_occupancy && r->results[q->works[i]].occupancy > 0;
    fputs("$d << EOD\n", to);
    for (size_t i = 0; i < q->count; i++)
        fprintf(to, "%g %g\n",
                by_occupancy ? 100 * r->results[q->works[i]].occupancy
                             : 100.0 * (double)i / (double)(q->count > 1 ? q->count - 1 : 1),
                rate_of(r, r->results[q->works[i]].cost, unit));
    fprintf(to, "EOD\nset xlabel '%s (no %s are given)'\nset ylabel '%s'\nset xrange [%s]\n",
            by_occupancy ? "occupancy (%)" : "of the variants, fastest first (%)",
            unit == WORK_BYTES ? "flops" : "bytes", name, by_occupancy ? "0:105" : "-3:103");
    put_points(q);
    if (r->baseline_ms > 0)
        fprintf(to, ", \\\n %g with lines lc rgb '%s' dt 2 lw 2 title 'the baseline'",
                rate_of(r, r->baseline_ms, unit), q->colours[2]);
    for (size_t i = 0; i < all.count; i++) {
        snprintf(formula, sizeof formula, "%g", all.list[i].rate);
        put_roof(to, &all.list[i], formula, name, i);
    }
    fputs("\n", to);
}

at_status roofline_write(const roofline_request *q, at_error *error)
{
    const recorded *r = q->r;
    work_unit unit = ceiling_get(r->ceiling)->unit;
    for (int u = 0; u < WORK_UNITS && r->work[unit] <= 0; u++)
        unit = (work_unit)u;
    if (q->count == 0 || r->work[unit] <= 0 || strcmp(r->objective, "time") != 0)
        return error_set(
            error, AT_NOT_FOUND,
            "this file does not say what a launch moves or computes: a record does, and "
            "what a run prints with --json --top 1000000");
    if (r->work[WORK_FLOPS] > 0 && r->work[WORK_BYTES] > 0)
        write_intensity(q);
    else
        write_rates(q, unit);
    return AT_OK;
}
