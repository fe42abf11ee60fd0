/* What is kept of a script comes from a folder of the user's: any bytes are refused, or facts that
 * can be asked. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "script/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script_facts *f;
    arch_limits device;
    at_error error = {0};
    if (arch_find("sm_90", &device, &error))
        abort();
    at_status status = script_facts_read(data, size, &f, &error);
    if (status)
        return status == AT_FORMAT ? 0 : (abort(), 0);
    const pattern *p = script_facts_pattern(f);
    script_facts_case c = {.facts = f, .device = &device};
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    for (size_t i = 0; i < p->problem_count; i++) {
        value read;
        c.problem[i] = p->problems[PROBLEM_TUNED][i].value;
        (void)pattern_read_setting(p, i, "4K", &read);
    }
    for (int last = 0; last < 2; last++) {
        size_t broken = 0;
        for (size_t i = 0; i < p->parameter_count; i++)
            indices[i] = (uint16_t)(last ? p->parameters[i].value_count - 1 : 0);
        if (!script_facts_valid(&c, indices, &broken) && broken >= p->constraint_count)
            abort();
        for (size_t i = 0; i < p->feature_count; i++)
            if (isnan(script_facts_feature(&c, i, indices)))
                abort();
    }
    script_facts_free(f);
    return 0;
}
