/* Fuzzes records. Any bytes must be refused, or read as a record that satisfies its contract. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/ceilings.h"
#include "record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_values(const record_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        if (strlen(values->pairs[i].name) >= RECORD_NAME_BYTES)
            abort();
        if (record_get(values, values->pairs[i].name) != &values->pairs[i].value)
            abort();
    }
}

/* Reads the input as device.json, the other kind of file in a folder of records. */
static void read_ceilings(const uint8_t *data, size_t size)
{
    ceiling_rates rates;
    at_error error = {0};
    at_status status = ceilings_parse((const char *)data, size, "fuzz.json", &rates, &error);
    if (status && status != AT_FORMAT)
        abort();
    for (int i = 0; i < CEILING_KINDS; i++)
        if (!(rates.rates[i] >= 0) || (status && rates.rates[i] > 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_ceilings(data, size);
    record r;
    at_error error = {0};
    at_status status = record_parse((const char *)data, size, "fuzz.json", NULL, &r, &error);
    if (status)
        return status == AT_FORMAT ? 0 : (abort(), 0);
    for (size_t i = 0; i < r.entry_count; i++) {
        check_values(&r.entries[i].problem);
        check_values(&r.entries[i].configuration);
        check_values(&r.entries[i].baseline);
        if (r.entries[i].time_ns <= 0)
            abort();
    }
    record_deinit(&r);
    return 0;
}
