/* autotune devices: what can be tuned on here. */
#include "base/json_text.h"
#include "bench/client.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"

enum { MOST_DEVICES = 64 };

/* `no_gpu`: why there is none among them; NULL: there is one. */
static at_status print(const options *o, const device_properties *d, size_t count,
                       const char *no_gpu, at_error *error)
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
    return page_show(o, "devices", 2,
                     json_pack("{so so}", "devices", all, "no_gpu", json_said(no_gpu)), NULL,
                     error);
}

/* GPUs first. */
static at_status run(const options *o, at_error *error)
{
    device_properties found[MOST_DEVICES];
    size_t gpus = 0, simulated = 0;
    at_error why = {0};
    at_status status = device_worker_list("cuda", found, MOST_DEVICES, &gpus, &why);
    if (status && status != AT_NO_DEVICE) {
        *error = why;
        return status;
    }
    const bool none = status != AT_OK;
    status = device_worker_list("sim", found + gpus, MOST_DEVICES - gpus, &simulated, error);
    return status ? status : print(o, found, gpus + simulated, none ? why.message : NULL, error);
}

const command cmd_devices = {
    .name = "devices",
    .summary = "List the GPUs, and the simulated ones, that can be tuned on",
    .options = "json",
    .run = run,
};
