#include "cmd/variant/best.h"

#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd/line/known.h"
#include "library/pattern.h"
#include "run/setup/setup.h"
#include "sim/chip.h"

at_status best_find(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                    pick_rule *rule, at_error *error)
{
    const pattern *p = script_pattern(s);
    record_set records = {0};
    record_pair pairs[RECORD_MAX_VALUES], defaults[RECORD_MAX_VALUES];
    pick_candidate found;
    if (p->problem_count > RECORD_MAX_VALUES || p->parameter_count > RECORD_MAX_VALUES)
        return error_set_at(
            error, AT_SCRIPT, p->path, 0,
            "the problem or configuration has more than %d names, the most that a record can have",
            RECORD_MAX_VALUES);
    at_status status = known_records(o, p->name, true, &records, error);
    if (status)
        return status;
    library_check check = {.script = s};
    const record_values problem = library_script_problem(p, pairs),
                        fallback = library_default(p, defaults);
    const pick_target target = {.gpu = gpu->name,
                                .major = gpu->major,
                                .minor = gpu->minor,
                                .problem = &problem,
                                .fits = library_fits,
                                .ask = library_feature,
                                .context = &check,
                                .fallback = &fallback};
    *rule = pick(&records, &target, &found);
    const bool is_found = *rule != PICK_NONE && record_indices(p, found.configuration, indices);
    record_set_deinit(&records);
    if (is_found)
        return AT_OK;
    return error_set_at(
        error, AT_USAGE, p->path, 0,
        "no known configuration is possible for this problem; 'autotune pick %s' says why",
        p->name);
}

at_status best_text(const options *o, char text[CONFIGURATION_BYTES], at_error *error)
{
    sim_chip chip;
    arch_limits gpu;
    script *s = NULL;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    pick_rule rule = PICK_NONE;
    settings named = o->run;
    named.pattern.script = o->operand;
    const char *wanted = o->run.machine.device;
    const bool is_chip = o->run.machine.arch || (wanted && strncmp(wanted, "sim", 3) == 0);
    at_status status = is_chip ? chips_wanted(&o->run, &chip, error) : target_here(&gpu, error);
    if (!status && is_chip)
        gpu = chip.limits;
    if (!status)
        status = target_load_script(&named, &gpu, &s, error);
    if (!status)
        status = best_find(o, s, &gpu, indices, &rule, error);
    if (!status && rule == PICK_DEFAULT)
        status = error_set(
            error, AT_USAGE,
            "--config best: no record has a configuration of %s for this problem. Runs on "
            "simulated devices are not recorded; their summary has the winner's configuration",
            script_pattern(s)->name);
    if (!status)
        script_format_configuration(s, indices, text, CONFIGURATION_BYTES);
    script_free(s);
    return status;
}

at_status best_find_mix(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                        at_error *error)
{
    const pattern *p = script_pattern(s);
    record_set records = {0};
    at_status status = known_records(o, p->name, true, &records, error);
    bool found = false;
    for (size_t i = 0; !status && i < records.count; i++) {
        const record *r = &records.records[i];
        for (size_t k = 0; strcmp(r->gpu, gpu->name) == 0 && k < r->portfolio_count; k++) {
            const record_portfolio *one = &r->portfolios[k];
            found = found || (one->configuration_count == 1 && one->node_count == 1 &&
                              record_indices(p, &one->configurations[0], indices));
        }
    }
    record_set_deinit(&records);
    if (status || found)
        return status;
    return error_set_at(
        error, AT_USAGE, p->path, 0,
        "no configuration for all captured launches is recorded for %s: find one by 'autotune "
        "mix', choose one launch by --captured DIR:N, or give values by --config",
        gpu->name);
}

bool best_take_mix(settings *asked, char first[BEST_NAME_BYTES])
{
    at_error ignored = {0};
    size_t count;
    if (!asked->pattern.captured || captured_count(asked->pattern.captured, &count, &ignored) ||
        count < 2)
        return false;
    snprintf(first, BEST_NAME_BYTES, "%s:1", asked->pattern.captured);
    asked->pattern.captured = first;
    return true;
}
