#include "bench/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static context_buffer *find(device_context *c, const char *name)
{
    for (size_t i = 0; i < c->buffer_count; i++)
        if (strcmp(c->buffers[i].name, name) == 0)
            return &c->buffers[i];
    return NULL;
}

static at_status add(device_context *c, const buffer_plan *plan, context_buffer **out,
                     at_error *error)
{
    context_buffer *b = *out = &c->buffers[c->buffer_count++];
    snprintf(b->name, sizeof b->name, "%s", plan->name);
    b->size_bytes = plan_buffer_bytes(plan);
    return c->api->buffer_new(c->device, b->name, b->size_bytes, &b->buffer, error);
}

static at_status keep_pristine(device_context *c, context_buffer *b, at_error *error)
{
    if (b->pristine)
        return AT_OK;
    at_status status = c->api->buffer_new(c->device, b->name, b->size_bytes, &b->pristine, error);
    return status ? status : c->api->copy(c->device, b->pristine, b->buffer, error);
}

/* Makes the buffers of the sampled kernel, as copies of the slot's. */
static at_status copy_slot(device_context *c, const device_slot *slot, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < slot->plan.buffer_count; i++) {
        const buffer_plan *plan = &slot->plan.buffers[i];
        context_buffer *b;
        status = add(c, plan, &b, error);
        c->own[i] = b->buffer;
        if (!status)
            status = c->api->copy(c->device, b->buffer,
                                  slot->pristine[i] ? slot->pristine[i] : slot->buffers[i], error);
        if (!status && plan->role == BUFFER_INOUT)
            status = keep_pristine(c, b, error);
    }
    return status;
}

static at_status fill(device_context *c, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                      const device_contents *contents, at_error *error)
{
    const void *bytes = NULL;
    if (plan->fill != FILL_FILE)
        return c->api->fill(c->device, b, plan, seed, error);
    at_status status =
        device_contents_find(contents, plan->data.bytes, plan_buffer_bytes(plan), &bytes, error);
    return status ? status : c->api->write(c->device, b, plan, bytes, error);
}

static at_status share(device_context *c, const buffer_plan *plan, uint64_t seed,
                       const device_contents *contents, context_buffer **out, at_error *error)
{
    const uint64_t size_bytes = plan_buffer_bytes(plan);
    *out = find(c, plan->name);
    if (*out && (*out)->size_bytes == size_bytes)
        return AT_OK;
    if (*out)
        return error_set(error, AT_SCRIPT,
                         "its buffer %s has %" PRIu64
                         " bytes, that of the kernels after it %" PRIu64
                         ": buffers of one name are one buffer",
                         plan->name, size_bytes, (*out)->size_bytes);
    at_status status = add(c, plan, out, error);
    return status ? status : fill(c, (*out)->buffer, plan, seed, contents, error);
}

static at_status add_kernel(device_context *c, const device_predecessor *p,
                            const device_contents *contents, at_error *error)
{
    const size_t at = c->count++;
    at_status status = plan_fits(&p->launch, p->plan.buffer_count, error);
    c->launches[at] = p->launch;
    c->before[at] = (device_before){.plan = &c->launches[at], .buffers = c->views[at]};
    for (uint32_t i = 0; !status && i < p->plan.buffer_count; i++) {
        context_buffer *b;
        status =
            share(c, &p->plan.buffers[i], plan_buffer_seed(p->plan.seed, i), contents, &b, error);
        c->views[at][i] = status ? NULL : b->buffer;
        if (!status && p->plan.buffers[i].role == BUFFER_INOUT)
            status = keep_pristine(c, b, error);
    }
    if (!status)
        status = c->api->kernel_new(c->device, &p->image, &p->launch, &c->kernels[at], error);
    c->before[at].kernel = c->kernels[at];
    /* The first launch raises limits and loads the code, which must not happen during a sample. */
    if (!status)
        status = c->api->launch(c->device, c->kernels[at], &c->launches[at], c->views[at], error);
    if (!status)
        return AT_OK;
    char name[DEVICE_LABEL_BYTES + 16];
    snprintf(name, sizeof name, "--after %s", p->name);
    return status == AT_SCRIPT ? error_prefix(error, "%s", name)
                               : device_slot_blame(name, status, error);
}

at_status device_context_init(device_context *c, const device_slot *slot,
                              const device_problem *problem, const device_contents *contents,
                              at_error *error)
{
    *c = (device_context){0};
    if (problem->before_count == 0)
        return AT_OK;
    c->api = slot->api;
    c->device = slot->device;
    at_status status = copy_slot(c, slot, error);
    for (size_t i = 0; !status && i < problem->before_count; i++)
        status = add_kernel(c, &problem->before[i], contents, error);
    return status;
}

void device_context_deinit(device_context *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->kernels[i])
            c->api->kernel_free(c->device, c->kernels[i]);
    for (size_t i = 0; i < c->buffer_count; i++) {
        if (c->buffers[i].buffer)
            c->api->buffer_free(c->device, c->buffers[i].buffer);
        if (c->buffers[i].pristine)
            c->api->buffer_free(c->device, c->buffers[i].pristine);
    }
    *c = (device_context){0};
}

at_status device_context_restore(device_context *c, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; !status && i < c->buffer_count; i++)
        if (c->buffers[i].pristine)
            status = c->api->copy(c->device, c->buffers[i].buffer, c->buffers[i].pristine, error);
    return status;
}
