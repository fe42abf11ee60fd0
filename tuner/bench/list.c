
#include "bench/child.h"
#include "bench/wire.h"
#include "process/message.h"
#include "process/process.h"

/* A driver that wakes up many GPUs needs tens of seconds. */
enum { LIST_LIMIT_MS = 120 * 1000 };

static at_status read_list(message *m, device_properties *out, size_t capacity, size_t *count,
                           at_error *error)
{
    if (m->type == REPLY_FAILED) {
        uint32_t why = pack_get_u32(&m->body);
        const char *text = pack_get_string(&m->body);
        if (pack_complete(&m->body) && why != AT_OK && why <= AT_INTERNAL)
            return error_set(error, (at_status)why, "%s", text);
    }
    uint32_t found = m->type == REPLY_LIST ? pack_get_u32(&m->body) : 0;
    size_t kept = 0;
    for (uint32_t i = 0; i < found && !m->body.failed; i++) {
        device_properties p;
        device_get_properties(&m->body, &p);
        if (i < capacity)
            out[kept++] = p;
    }
    if (!pack_complete(&m->body) || m->type != REPLY_LIST)
        return error_set(error, AT_WORKER, "the list of devices makes no sense");
    *count = kept;
    return AT_OK;
}

static at_status ask(const worker_host *host, const char *kind, bool names, device_properties *out,
                     size_t capacity, size_t *count, at_error *error)
{
    *count = 0;
    worker process;
    pack settings = {0};
    pack_put_string(&settings, kind);
    pack_put_u32(&settings, names);
    at_status status = worker_start(host, &device_list_program, &settings, &process, error);
    pack_deinit(&settings);
    if (status)
        return status;
    message m;
    status = message_receive(process.fd, LIST_LIMIT_MS, &m, error);
    if (!status) {
        status = read_list(&m, out, capacity, count, error);
        message_deinit(&m);
    } else {
        char how[128];
        worker_stop(&process, how, sizeof how);
        status = error_set(error, AT_NO_DEVICE, "the process that looks for devices %s", how);
    }
    worker_stop(&process, NULL, 0);
    return status;
}

at_status device_worker_list(const char *kind, device_properties *out, size_t capacity,
                             size_t *count, at_error *error)
{
    return ask(NULL, kind, false, out, capacity, count, error);
}

at_status device_worker_list_on(const worker_host *host, const char *kind, device_properties *out,
                                size_t capacity, size_t *count, at_error *error)
{
    return ask(host, kind, false, out, capacity, count, error);
}

at_status device_worker_list_names(const char *kind, device_properties *out, size_t capacity,
                                   size_t *count, at_error *error)
{
    return ask(NULL, kind, true, out, capacity, count, error);
}
