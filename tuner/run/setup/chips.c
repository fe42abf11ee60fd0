#include "run/setup/chips.h"

#include <stdio.h>
#include <string.h>

#include "record/ceilings.h"
#include "run/setup/setup.h"

static at_status find(const char *gpu, const arch_limits *limits, const char *arch,
                      const char *results_dir, sim_chip *out, at_error *error)
{
    ceiling_rates kept;
    at_status status = sim_chip_of_gpu(gpu, limits, arch, out, error);
    if (!status)
        status = ceilings_read(results_dir, gpu, &kept, error);
    if (!status)
        sim_chip_measured(out, kept.rates);
    return status;
}

at_status chips_wanted(const settings *o, sim_chip *out, at_error *error)
{
    arch_limits here;
    char arch[32];
    if (o->arch)
        return sim_chip_find(o->arch, out, error);
    at_status status = target_here(&here, error);
    if (status)
        return status;
    snprintf(arch, sizeof arch, "sm_%d%d", here.major, here.minor);
    return strcmp(arch, here.name) == 0 ? sim_chip_find(arch, out, error)
                                        : find(here.name, &here, arch, o->results_dir, out, error);
}

at_status chips_of_device(const device_properties *d, const char *results_dir, sim_chip *out,
                          at_error *error)
{
    const char *colon = strchr(d->spec, ':');
    return d->predicted ? sim_chip_find(colon ? colon + 1 : d->arch, out, error)
                        : find(d->limits.name, &d->limits, d->arch, results_dir, out, error);
}
