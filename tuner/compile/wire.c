#include "compile/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The fields of one source. The id must be first: it is not part of the cache key. */
static const pack_field own_fields[] = {
    PACK_FIELD(compile_request, id),
    PACK_FIELD(compile_request, source),
    PACK_FIELD(compile_request, entry),
};

/* Fields that are equal for all sources of a group. Options and headers are equal, too. */
static const pack_field shared_fields[] = {
    PACK_FIELD(compile_request, name),
    PACK_FIELD(compile_request, arch),
    PACK_FIELD(compile_request, want_ptx),
    PACK_FIELD(compile_request, ptx_alone),
};

static const pack_field result_fields[] = {
    PACK_FIELD(compile_result, id),
    PACK_FIELD(compile_result, time_ns),
    PACK_FIELD(compile_result, cached),
    PACK_FIELD(compile_result, outcome),
    PACK_FIELD(compile_result, grouped),
    PACK_FIELD(compile_result, resources.registers),
    PACK_FIELD(compile_result, resources.stack_bytes),
    PACK_FIELD(compile_result, resources.spill_store_bytes),
    PACK_FIELD(compile_result, resources.spill_load_bytes),
    PACK_FIELD(compile_result, resources.static_shared_bytes),
    PACK_FIELD(compile_result, resources.constant_bytes),
    PACK_FIELD(compile_result, resources.barriers),
};

static void put_shared(pack *m, const compile_request *r)
{
    pack_put_fields(m, r, PACK_FIELDS(shared_fields));
    pack_put_u32(m, (uint32_t)r->option_count);
    for (size_t i = 0; i < r->option_count; i++)
        pack_put_string(m, r->options[i]);
    pack_put_u32(m, (uint32_t)r->header_count);
    for (size_t i = 0; i < r->header_count; i++) {
        pack_put_string(m, r->headers[i].name);
        pack_put_string(m, r->headers[i].text);
    }
}

void compile_wire_put_request(pack *m, const compile_request *r)
{
    pack_put_fields(m, r, PACK_FIELDS(own_fields));
    put_shared(m, r);
}

uint64_t compile_wire_kind(const compile_request *r)
{
    pack m = {0};
    put_shared(&m, r);
    uint64_t kind = m.failed ? r->id : XXH3_64bits(m.bytes, m.size_bytes);
    pack_deinit(&m);
    return kind;
}

compile_key compile_wire_key(const pack *request, const char *compiler)
{
    const size_t own = sizeof(((compile_request *)0)->id);
    return compile_cache_key(compiler, request->bytes + own, request->size_bytes - own);
}

bool compile_wire_get_request(pack *m, const char *options[COMPILE_OPTIONS_MAX],
                              source_header headers[SOURCE_HEADERS_MAX], compile_request *out)
{
    *out = (compile_request){.options = options, .headers = headers};
    pack_get_fields(m, out, PACK_FIELDS(own_fields));
    pack_get_fields(m, out, PACK_FIELDS(shared_fields));
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

void compile_wire_put_result(pack *m, const compile_result *r)
{
    pack_put_fields(m, r, PACK_FIELDS(result_fields));
    pack_put_string(m, r->log);
    pack_put_string(m, r->symbols);
    pack_put_bytes(m, r->cubin ? r->cubin : "", r->cubin_bytes);
    pack_put_string(m, r->ptx);
}

/* Removes const from a view, because the same fields own their memory in a taken result. */
static void *unconst(const void *p)
{
    void *q;
    memcpy(&q, &p, sizeof q);
    return q;
}

bool compile_wire_get_result(pack *m, compile_result *out)
{
    *out = (compile_result){0};
    pack_get_fields(m, out, PACK_FIELDS(result_fields));
    out->log = unconst(pack_get_string(m));
    out->symbols = unconst(pack_get_string(m));
    out->cubin = unconst(pack_get_bytes(m, &out->cubin_bytes));
    const char *ptx = pack_get_string(m);
    out->ptx_bytes = strlen(ptx);
    out->ptx = out->ptx_bytes ? unconst(ptx) : NULL;
    if ((unsigned)out->outcome > COMPILE_TIMEOUT)
        return false;
    if (out->cubin_bytes == 0)
        out->cubin = NULL;
    /* A result has code if and only if the outcome is COMPILE_OK. */
    return pack_complete(m) && (out->outcome == COMPILE_OK) == (out->cubin || out->ptx);
}

void compile_job_free(compile_job *j)
{
    message_deinit(&j->out.message);
    free(j);
}

void compile_slot_give(compile_slot *s, queue *from, size_t most)
{
    const compile_job *first = from->first, *next;
    compile_job *j;
    size_t size = 0;
    do {
        j = queue_pop(from);
        next = from->count ? from->first : NULL;
        size++;
        bool more = size < most && !first->alone && next && !next->alone && next->kind == j->kind;
        j->out.message.type = more ? COMPILE_REQUEST_MORE : COMPILE_REQUEST;
        outbox_push(&s->child.out, j);
    } while (j->out.message.type == COMPILE_REQUEST_MORE);
    s->batches[s->batch_count].size = s->batches[s->batch_count].left = size;
    s->batch_count++;
    compile_slot_flush(s);
}

compile_job *compile_slot_first(const compile_slot *s)
{
    return s->child.out.waiting.first;
}

compile_job *compile_slot_take_first(compile_slot *s)
{
    if (--s->batches[0].left == 0) {
        s->batch_count--;
        memmove(s->batches, s->batches + 1, s->batch_count * sizeof s->batches[0]);
    }
    return outbox_pop(&s->child.out);
}

void compile_slot_return(compile_slot *s, queue *to)
{
    compile_job *j = compile_slot_first(s);
    for (size_t i = 0; s->batch_count && s->batches[0].size > 1 && i < s->batches[0].left; i++) {
        j->alone = true;
        j = queue_next(j);
    }
    queue_move_front(&s->child.out.waiting, to);
    s->child.out = (outbox){0};
    s->batch_count = 0;
}

void compile_slot_flush(compile_slot *s)
{
    outbox_send(&s->child.out, s->child.process.fd, NULL);
}
