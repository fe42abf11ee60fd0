/* autotune devices: what can be tuned on here. */
#include "base/json_text.h"
#include "bench/client.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"

enum { MOST_DEVICES = 64 };

static at_status print(const options *o, const device_properties *d, size_t count, at_error *error)
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
    return page_show(o, "devices", 2, json_pack("{so}", "devices", all), NULL, error);
}

static at_status run(const options *o, at_error *error)
{
    device_properties found[MOST_DEVICES];
    size_t count;
    at_status status = device_worker_list("cuda", found, MOST_DEVICES, &count, error);
    /* A program that asks for JSON gets it; why there are none goes to stderr. */
    if (o->json && (!status || status == AT_NO_DEVICE)) {
        at_error trouble = {0};
        at_status printed = print(o, found, status ? 0 : count, &trouble);
        if (printed && !status)
            *error = trouble;
        return status ? status : printed;
    }
    return status ? status : print(o, found, count, error);
}

const command cmd_devices = {
    .name = "devices",
    .summary = "List the GPUs that can be tuned on",
    .options = "json",
    .run = run,
};
