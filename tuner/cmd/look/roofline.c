#include "cmd/look/roofline.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"

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

static json_t *pack_roofs(const recorded *r, const ceiling_rates *kept, work_unit unit)
{
    json_t *list = json_array();
    for (int i = CEILING_NONE + 1; i < CEILING_KINDS; i++) {
        ceiling_kind kind = (ceiling_kind)i;
        double rate = kind == r->ceiling && r->ceiling_rate > 0 ? r->ceiling_rate
                      : kept                                    ? kept->rates[kind]
                                                                : 0;
        if (rate > 0 && ceiling_get(kind)->unit == unit && concerns(r, kind))
            json_append(&list, json_pack("{ss so}", "name", ceiling_get(kind)->name, "rate",
                                         json_exact(rate)));
    }
    return list;
}

at_status roofline_pack(const recorded *r, const size_t *works, size_t count,
                        const ceiling_rates *ceilings, json_t **picture, at_error *error)
{
    work_unit unit = ceiling_get(r->ceiling)->unit;
    bool by_occupancy = true;
    for (int u = 0; u < WORK_UNITS && r->work[unit] <= 0; u++)
        unit = (work_unit)u;
    if (count == 0 || r->work[unit] <= 0 || strcmp(r->objective, "time") != 0)
        return error_set(
            error, AT_NOT_FOUND,
            "this file does not say what a launch moves or computes: a record does, and "
            "what a run prints with --json --top 1000000");
    if (r->work[WORK_FLOPS] > 0 && r->work[WORK_BYTES] > 0) {
        json_put(picture, "intensity", json_exact(r->work[WORK_FLOPS] / r->work[WORK_BYTES]));
        json_put(picture, "memory", pack_roofs(r, ceilings, WORK_BYTES));
        unit = WORK_FLOPS;
    }
    json_put(picture, "baseline_ms", json_exact(r->baseline_ms));
    json_put(picture, "work", json_exact(r->work[unit]));
    json_put(picture, "unit",
             json_string(unit == WORK_ITEMS   ? r->rate_unit
                         : unit == WORK_FLOPS ? "GFLOP/s"
                                              : "GB/s"));
    json_put(picture, "lacks", json_string(unit == WORK_BYTES ? "flops" : "bytes"));
    json_put(picture, "roofs", pack_roofs(r, ceilings, unit));
    for (size_t i = 0; i < count; i++)
        by_occupancy = by_occupancy && r->results[works[i]].occupancy > 0;
    json_t *occupancies = json_array();
    for (size_t i = 0; i < count && by_occupancy; i++)
        json_append(&occupancies, json_exact(r->results[works[i]].occupancy));
    json_put(picture, "occupancies", occupancies);
    return AT_OK;
}
