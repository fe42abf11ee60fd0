/* autotune devices: what can be tuned on here. */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "bench/client.h"

enum { MOST_DEVICES = 64 };

static void print_table(const device_properties *d, size_t count)
{
    printf("%-10s %-28s %-7s %5s %9s %8s %11s  %s\n", "device", "name", "arch", "SMs", "memory",
           "L2", "shared/blk", "driver");
    for (size_t i = 0; i < count; i++)
        printf("%-10s %-28s %-7s %5d %6.1f GB %5.1f MB %8zu KB  %s (CUDA %d.%d)\n", d[i].spec,
               d[i].limits.name, d[i].arch, d[i].limits.sm_count,
               (double)d[i].limits.global_bytes / 1e9, (double)d[i].limits.l2_bytes / 1e6,
               d[i].limits.max_shared_per_block_bytes / 1024, d[i].driver,
               d[i].cuda_version / 1000, d[i].cuda_version % 1000 / 10);
}

static at_status print_json(const device_properties *d, size_t count, at_error *error)
{
    json_t *all = json_array();
    for (size_t i = 0; all && i < count; i++)
        json_array_append_new(
            all, json_pack("{s:s s:s s:s s:s s:i s:I s:I s:I s:s s:i}", "device", d[i].spec, "name",
                           d[i].limits.name, "arch", d[i].arch, "uuid", d[i].uuid, "sm_count",
                           d[i].limits.sm_count, "global_bytes",
                           (json_int_t)d[i].limits.global_bytes, "l2_bytes",
                           (json_int_t)d[i].limits.l2_bytes, "max_shared_per_block_bytes",
                           (json_int_t)d[i].limits.max_shared_per_block_bytes, "driver",
                           d[i].driver, "cuda_version", d[i].cuda_version));
    if (!all)
        return error_set(error, AT_NO_MEMORY, "out of memory");
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
    return AT_OK;
}

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    device_properties found[MOST_DEVICES];
    size_t count;
    at_status status = device_worker_list("cuda", found, MOST_DEVICES, &count, error);
    /* A program that asks for JSON gets it; why there are none goes to stderr. */
    if (o->json && (!status || status == AT_NO_DEVICE)) {
        at_error trouble = {0};
        at_status printed = print_json(found, status ? 0 : count, &trouble);
        if (printed && !status)
            *error = trouble;
        return status ? status : printed;
    }
    if (status)
        return status;
    print_table(found, count);
    return AT_OK;
}

static const option_id options_taken[] = {OPTION_JSON};

const command cmd_devices = {
    .name = "devices",
    .summary = "List the GPUs that can be tuned on",
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof *options_taken,
    .run = run,
};
