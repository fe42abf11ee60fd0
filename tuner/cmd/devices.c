/* autotune devices: what can be tuned on here. */
#include <stdio.h>

#include "base/json_text.h"
#include "bench/client.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "report/table.h"

enum { MOST_DEVICES = 64 };

static at_status print_devices(const device_properties *d, size_t count, at_error *error)
{
    table t;
    table_init(&t);
    table_add_columns(&t, "<device,<name,<arch,SMs,memory,L2,shared/blk,<driver");
    for (size_t i = 0; i < count; i++) {
        table_add_cell(&t, "%s", d[i].spec);
        table_add_cell(&t, "%s", d[i].limits.name);
        table_add_cell(&t, "%s", d[i].arch);
        table_add_cell(&t, "%d", d[i].limits.sm_count);
        table_add_cell(&t, "%.1f GB", (double)d[i].limits.global_bytes / 1e9);
        table_add_cell(&t, "%.1f MB", (double)d[i].limits.l2_bytes / 1e6);
        table_add_cell(&t, "%zu KB", d[i].limits.max_shared_per_block_bytes / 1024);
        table_add_cell(&t, "%s%s(CUDA %d.%d)", d[i].driver, d[i].driver[0] ? " " : "",
                       d[i].cuda_version / 1000, d[i].cuda_version % 1000 / 10);
    }
    at_status status = terminal_print_table(&t, error);
    table_deinit(&t);
    return status;
}

static at_status print_json(const device_properties *d, size_t count, at_error *error)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&all, json_pack("{ss ss ss ss si sI sI sI ss si}", "device", d[i].spec, "name",
                                    d[i].limits.name, "arch", d[i].arch, "uuid", d[i].uuid,
                                    "sm_count", d[i].limits.sm_count, "global_bytes",
                                    (json_int_t)d[i].limits.global_bytes, "l2_bytes",
                                    (json_int_t)d[i].limits.l2_bytes, "max_shared_per_block_bytes",
                                    (json_int_t)d[i].limits.max_shared_per_block_bytes, "driver",
                                    d[i].driver, "cuda_version", d[i].cuda_version));
    return json_text_print(json_pack("{so}", "devices", all), 2, stdout, error);
}

static at_status run(const options *o, at_error *error)
{
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
    return print_devices(found, count, error);
}

const command cmd_devices = {
    .name = "devices",
    .summary = "List the GPUs that can be tuned on",
    .options = "json",
    .run = run,
};
