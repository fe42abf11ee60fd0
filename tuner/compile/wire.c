#include "compile/wire.h"

#include <stdio.h>
#include <string.h>

void compile_wire_put_request(pack *m, const compile_request *r)
{
    pack_put_u64(m, r->id);
    pack_put_string(m, r->source);
    pack_put_string(m, r->name);
    pack_put_string(m, r->entry);
    pack_put_string(m, r->arch);
    pack_put_u32(m, r->want_ptx);
    pack_put_u32(m, (uint32_t)r->option_count);
    for (size_t i = 0; i < r->option_count; i++)
        pack_put_string(m, r->options[i]);
    pack_put_u32(m, (uint32_t)r->header_count);
    for (size_t i = 0; i < r->header_count; i++) {
        pack_put_string(m, r->headers[i].name);
        pack_put_string(m, r->headers[i].text);
    }
}

bool compile_wire_get_request(pack *m, const char *options[COMPILE_OPTIONS_MAX],
                              source_header headers[SOURCE_HEADERS_MAX], compile_request *out)
{
    *out = (compile_request){.id = pack_get_u64(m), .options = options, .headers = headers};
    out->source = pack_get_string(m);
    out->name = pack_get_string(m);
    out->entry = pack_get_string(m);
    out->arch = pack_get_string(m);
    out->want_ptx = pack_get_u32(m) != 0;
    out->option_count = pack_get_u32(m);
    if (out->option_count > COMPILE_OPTIONS_MAX)
        return false;
    for (size_t i = 0; i < out->option_count; i++)
        options[i] = pack_get_string(m);
    out->header_count = pack_get_u32(m);
    if (out->header_count > SOURCE_HEADERS_MAX)
        return false;
    for (size_t i = 0; i < out->header_count; i++) {
        headers[i].name = pack_get_string(m);
        headers[i].text = pack_get_string(m);
    }
    return pack_complete(m);
}

static void put_resources(pack *m, const kernel_resources *r)
{
    pack_put_u32(m, r->registers);
    pack_put_u32(m, r->stack_bytes);
    pack_put_u32(m, r->spill_store_bytes);
    pack_put_u32(m, r->spill_load_bytes);
    pack_put_u32(m, r->static_shared_bytes);
    pack_put_u32(m, r->constant_bytes);
    pack_put_u32(m, r->barriers);
}

static void get_resources(pack *m, kernel_resources *out)
{
    out->registers = pack_get_u32(m);
    out->stack_bytes = pack_get_u32(m);
    out->spill_store_bytes = pack_get_u32(m);
    out->spill_load_bytes = pack_get_u32(m);
    out->static_shared_bytes = pack_get_u32(m);
    out->constant_bytes = pack_get_u32(m);
    out->barriers = pack_get_u32(m);
}

void compile_wire_put_result(pack *m, const compile_result *r)
{
    pack_put_u64(m, r->id);
    pack_put_u64(m, (uint64_t)r->time_ns);
    pack_put_u32(m, r->cached);
    pack_put_u32(m, r->outcome);
    put_resources(m, &r->resources);
    pack_put_string(m, r->log);
    pack_put_string(m, r->suffix);
    pack_put_bytes(m, r->cubin ? r->cubin : "", r->cubin_bytes);
    pack_put_string(m, r->ptx);
}

/* Views are handed out through fields that are not const because a taken result owns them. */
static void *unconst(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

bool compile_wire_get_result(pack *m, compile_result *out)
{
    *out = (compile_result){.id = pack_get_u64(m)};
    out->time_ns = (int64_t)pack_get_u64(m);
    out->cached = pack_get_u32(m) != 0;
    uint32_t outcome = pack_get_u32(m);
    get_resources(m, &out->resources);
    out->log = unconst(pack_get_string(m));
    snprintf(out->suffix, sizeof out->suffix, "%s", pack_get_string(m));
    out->cubin = unconst(pack_get_bytes(m, &out->cubin_bytes));
    const char *ptx = pack_get_string(m);
    out->ptx_bytes = strlen(ptx);
    out->ptx = out->ptx_bytes ? unconst(ptx) : NULL;
    if (outcome > COMPILE_TIMEOUT)
        return false;
    out->outcome = (compile_outcome)outcome;
    if (out->cubin_bytes == 0)
        out->cubin = NULL;
    /* An image without an outcome that goes with it, or the other way round, is nonsense. */
    return pack_complete(m) && (out->outcome == COMPILE_OK) == (out->cubin != NULL);
}
