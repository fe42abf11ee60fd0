#include "compile/wire.h"

#include <string.h>

void compile_wire_put_request(message *m, const compile_request *r)
{
    message_put_u64(m, r->id);
    message_put_string(m, r->source);
    message_put_string(m, r->name);
    message_put_string(m, r->entry);
    message_put_string(m, r->arch);
    message_put_u32(m, r->want_ptx);
    message_put_u32(m, (uint32_t)r->option_count);
    for (size_t i = 0; i < r->option_count; i++)
        message_put_string(m, r->options[i]);
}

bool compile_wire_get_request(message *m, const char *options[COMPILE_OPTIONS_MAX],
                              compile_request *out)
{
    *out = (compile_request){.id = message_get_u64(m), .options = options};
    out->source = message_get_string(m);
    out->name = message_get_string(m);
    out->entry = message_get_string(m);
    out->arch = message_get_string(m);
    out->want_ptx = message_get_u32(m) != 0;
    out->option_count = message_get_u32(m);
    if (out->option_count > COMPILE_OPTIONS_MAX)
        return false;
    for (size_t i = 0; i < out->option_count; i++)
        options[i] = message_get_string(m);
    return message_complete(m);
}

static void put_resources(message *m, const kernel_resources *r)
{
    message_put_u32(m, r->registers);
    message_put_u32(m, r->stack_bytes);
    message_put_u32(m, r->spill_store_bytes);
    message_put_u32(m, r->spill_load_bytes);
    message_put_u32(m, r->static_shared_bytes);
    message_put_u32(m, r->constant_bytes);
    message_put_u32(m, r->barriers);
}

static void get_resources(message *m, kernel_resources *out)
{
    out->registers = message_get_u32(m);
    out->stack_bytes = message_get_u32(m);
    out->spill_store_bytes = message_get_u32(m);
    out->spill_load_bytes = message_get_u32(m);
    out->static_shared_bytes = message_get_u32(m);
    out->constant_bytes = message_get_u32(m);
    out->barriers = message_get_u32(m);
}

void compile_wire_put_result(message *m, const compile_result *r)
{
    message_put_u64(m, r->id);
    message_put_u64(m, (uint64_t)r->time_ns);
    message_put_u32(m, r->cached);
    message_put_u32(m, r->outcome);
    put_resources(m, &r->resources);
    message_put_string(m, r->log);
    message_put_bytes(m, r->cubin ? r->cubin : "", r->cubin_bytes);
    message_put_string(m, r->ptx);
}

void compile_wire_stamp_result(message *m, uint64_t id, int64_t time_ns, bool cached)
{
    message head;
    message_init(&head, 0);
    message_put_u64(&head, id);
    message_put_u64(&head, (uint64_t)time_ns);
    message_put_u32(&head, cached);
    if (head.failed || m->size_bytes < head.size_bytes)
        m->failed = true;
    else
        memcpy(m->bytes, head.bytes, head.size_bytes);
    message_deinit(&head);
}

/* Views are handed out through fields that are not const because a taken result owns them. */
static void *unconst(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

bool compile_wire_get_result(message *m, compile_result *out)
{
    *out = (compile_result){.id = message_get_u64(m)};
    out->time_ns = (int64_t)message_get_u64(m);
    out->cached = message_get_u32(m) != 0;
    uint32_t outcome = message_get_u32(m);
    get_resources(m, &out->resources);
    out->log = unconst(message_get_string(m));
    out->cubin = unconst(message_get_bytes(m, &out->cubin_bytes));
    const char *ptx = message_get_string(m);
    out->ptx_bytes = strlen(ptx);
    out->ptx = out->ptx_bytes ? unconst(ptx) : NULL;
    if (outcome > COMPILE_TIMEOUT)
        return false;
    out->outcome = (compile_outcome)outcome;
    if (out->cubin_bytes == 0)
        out->cubin = NULL;
    /* An image without an outcome that goes with it, or the other way round, is nonsense. */
    return message_complete(m) && (out->outcome == COMPILE_OK) == (out->cubin != NULL);
}
