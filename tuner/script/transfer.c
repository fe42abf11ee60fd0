/* Evaluates what a pattern moves between host and device, and how a variant does it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "script/state.h"

size_t evaluate_name(lua_State *L, const expression *e, problem_kind problem,
                     const uint16_t *indices, const char *const *names, size_t count)
{
    const char *name = expression_string(L, e, problem, indices);
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    if (i == count) {
        char known[128] = "";
        const char *nearest = nearest_name(name, names, count);
        for (i = 0; i < count; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     names[i]);
        expression_raise(L, e, "gives '%.60s', which is none of %s%s%s%s", name, known,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "");
    }
    lua_pop(L, 1);
    return i;
}

uint64_t evaluate_elements(lua_State *L, problem_kind problem, const uint16_t *indices,
                           const script_buffer *b, dtype *type)
{
    const char *name = expression_string(L, &b->type, problem, indices);
    if (!dtype_find(name, type))
        expression_raise(L, &b->type, "gives '%.60s', which is no element type", name);
    lua_pop(L, 1);
    return (uint64_t)expression_integer(L, &b->count, problem, indices, 1,
                                        (int64_t)PLAN_MAX_ELEMENTS);
}

static uint64_t buffer_bytes(lua_State *L, const script *s, problem_kind problem, uint32_t buffer)
{
    dtype type;
    uint64_t count = evaluate_elements(L, problem, NULL, &s->buffers[buffer], &type);
    return count * dtype_get(type)->size_bytes;
}

void transfer_evaluate_task(lua_State *L, problem_kind problem, transfer_task *out)
{
    const script *s = script_of(L);
    const script_transfer *t = &s->transfer;
    size_t count;
    const char *const *names = transfer_direction_names(&count);
    out->direction =
        (transfer_direction)(TRANSFER_TO_DEVICE +
                             evaluate_name(L, &t->direction, problem, NULL, names, count));
    out->from = t->from;
    out->to = t->to;
    uint64_t size = buffer_bytes(L, s, problem, t->from),
             other = buffer_bytes(L, s, problem, t->to);
    if (size != other)
        sandbox_raise(L, AT_SCRIPT, s->from.path, t->line,
                      "transfer: %s has %llu bytes and %s %llu; both must have the same size",
                      s->buffers[t->from].name, (unsigned long long)size, s->buffers[t->to].name,
                      (unsigned long long)other);
    out->pieces = (uint64_t)expression_integer(L, &t->pieces, problem, NULL, 1, (int64_t)size);
    if (size % out->pieces != 0)
        expression_raise(L, &t->pieces, "gives %llu, which does not divide the %llu bytes of %s",
                         (unsigned long long)out->pieces, (unsigned long long)size,
                         s->buffers[t->from].name);
    uint64_t piece = size / out->pieces;
    out->pitch_bytes = (uint64_t)expression_integer(L, &t->pitch, problem, NULL, 0,
                                                    (int64_t)(TRANSFER_MAX_BYTES / out->pieces));
    if (out->pitch_bytes == 0)
        out->pitch_bytes = piece;
    if (out->pitch_bytes < piece)
        expression_raise(L, &t->pitch, "gives %llu, and a piece has %llu bytes",
                         (unsigned long long)out->pitch_bytes, (unsigned long long)piece);
}

void transfer_evaluate_plan(lua_State *L, problem_kind problem, const uint16_t *indices,
                            bool has_kernel, transfer_plan *out)
{
    const script_transfer *t = &script_of(L)->transfer;
    size_t count;
    transfer_evaluate_task(L, problem, &out->task);
    const char *const *names = host_memory_names(&count);
    out->memory = (host_memory)evaluate_name(L, &t->memory, problem, indices, names, count);
    names = host_staging_names(&count);
    out->staging = (host_staging)evaluate_name(L, &t->staging, problem, indices, names, count);
    out->chunk_bytes = (uint64_t)expression_integer(L, &t->chunk, problem, indices, 0,
                                                    (int64_t)TRANSFER_MAX_BYTES);
    out->streams =
        (uint32_t)expression_integer(L, &t->streams, problem, indices, 1, TRANSFER_MAX_STREAMS);
    if (out->memory == HOST_MAPPED && !has_kernel)
        expression_raise(L, &t->memory,
                         "gives 'mapped', which a kernel reads or writes, and this "
                         "configuration launches none");
    if (out->memory == HOST_MAPPED && out->staging != STAGING_NONE)
        expression_raise(L, &t->staging,
                         "asks for a staging buffer, and mapped memory is not copied");
}
