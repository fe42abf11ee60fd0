/* Buffers of the cuda device: contents between two guard bands, filled and checked on the GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/queue.h"

enum { RESULTS_BYTES = RESULT_COUNT * 8, ELEMENT_BYTES = 8 };

/* 0xff gives NaN in every float type; the other bytes give ordinary numbers. */
static const unsigned char poison_bytes[4] = {0xff, 0x5a, 0x00, 0xa6};

at_status cuda_results_new(device *d, at_error *error)
{
    at_status status = cuda_allocate(d, RESULTS_BYTES, "the result block", &d->results, error);
    if (status)
        return status;
    void *host;
    status = cuda_allocate_pinned(d, RESULTS_BYTES + 2 * ELEMENT_BYTES, 0, &host, error);
    if (!status)
        d->results_host = host;
    return status;
}

void cuda_results_free(device *d)
{
    if (d->results_host)
        d->cuda.cuMemFreeHost(d->results_host);
    if (d->results)
        d->cuda.cuMemFree(d->results);
    d->results_host = NULL;
    d->results = 0;
}

static at_status clear_results(device *d, at_error *error)
{
    return cuda_done(d, d->cuda.cuMemsetD8Async(d->results, 0, RESULTS_BYTES, d->stream),
                     "cannot clear the result block", error);
}

static at_status read_results(device *d, const char *what, at_error *error)
{
    at_status status = cuda_done(
        d, d->cuda.cuMemcpyDtoHAsync(d->results_host, d->results, RESULTS_BYTES, d->stream), what,
        error);
    return status ? status : cuda_wait(d, what, error);
}

at_status cuda_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                          at_error *error)
{
    *out = NULL;
    if (size_bytes > UINT64_MAX - 2 * DEVICE_GUARD_BYTES)
        return error_set(error, AT_DEVICE, "buffer %s does not fit in any memory", name);
    device_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return error_no_memory(error);
    snprintf(b->name, sizeof b->name, "%s", name);
    b->size_bytes = size_bytes;
    char what[PLAN_NAME_BYTES + 16];
    snprintf(what, sizeof what, "buffer %s", name);
    at_status status = cuda_allocate(d, size_bytes + 2 * DEVICE_GUARD_BYTES, what, &b->base, error);
    if (status) {
        free(b);
        return status;
    }
    b->data = b->base + DEVICE_GUARD_BYTES;
    b->guard_type = DTYPE_UINT8;
    b->guard_salt = (uint64_t)b->base * 0x9e3779b97f4a7c15ull;
    *out = b;
    return AT_OK;
}

void cuda_buffer_free(device *d, device_buffer *b)
{
    if (!b)
        return;
    cuda_textures_drop(&d->textures, &d->cuda, b->data, b->size_bytes);
    d->cuda.cuMemFree(b->base);
    free(b);
}

static at_status set_guards(device *d, const device_buffer *b, at_error *error)
{
    CUdeviceptr before = b->base, after = b->data + b->size_bytes;
    uint64_t size = DEVICE_GUARD_BYTES, salt = b->guard_salt;
    int type = (int)b->guard_type, pattern = b->guard_pattern;
    void *arguments[] = {&before, &after, &size, &type, &pattern, &salt};
    return cuda_support_queue(d, SUPPORT_GUARDS_SET, size, arguments, error);
}

at_status cuda_buffer_guard(device *d, device_buffer *b, const buffer_plan *plan, int pattern,
                            at_error *error)
{
    b->guard_type = plan->type;
    b->guard_pattern = pattern;
    return set_guards(d, b, error);
}

at_status cuda_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                           at_error *error)
{
    CUdeviceptr data = b->data;
    uint64_t count = plan->count, limit = plan->fill_limit, block = plan->fill_block;
    int type = (int)plan->type, fill = (int)plan->fill;
    struct { /* the struct Values of templates/device_support.cu */
        uint64_t count;
        double v[PLAN_MAX_VALUES];
    } values = {.count = plan->value_count};
    memcpy(values.v, plan->values, sizeof values.v);
    void *arguments[] = {&data, &count, &type, &fill, &limit, &seed, &block, &values};
    at_status status = cuda_support_queue(d, SUPPORT_FILL, count, arguments, error);
    return status ? status : set_guards(d, b, error);
}

/* The memory of `contents` is pageable, so it can be freed when cuMemcpyHtoDAsync() returns. */
at_status cuda_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                            const void *contents, at_error *error)
{
    const uint64_t size = plan_buffer_bytes(plan);
    at_status status = AT_OK;
    if (size > b->size_bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    if (size > 0)
        status = cuda_done(d, d->cuda.cuMemcpyHtoDAsync(b->data, contents, size, d->stream),
                           "cannot copy a file into a buffer", error);
    return status ? status : set_guards(d, b, error);
}

at_status cuda_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error)
{
    at_status status = AT_OK;
    if (b->size_bytes > 0)
        status = cuda_done(
            d,
            d->cuda.cuMemsetD8Async(b->data, poison_bytes[pattern & 3], b->size_bytes, d->stream),
            "cannot fill a buffer with a test pattern", error);
    return status ? status : set_guards(d, b, error);
}

at_status cuda_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                           at_error *error)
{
    static const char what[] = "cannot copy a buffer to the host";
    if (size_bytes == 0)
        return AT_OK;
    at_status status =
        cuda_done(d, d->cuda.cuMemcpyDtoHAsync(to, b->data, size_bytes, d->stream), what, error);
    return status ? status : cuda_done(d, d->cuda.cuStreamSynchronize(d->stream), what, error);
}

at_status cuda_buffer_copy(device *d, device_buffer *to, const device_buffer *from, at_error *error)
{
    if (to->size_bytes != from->size_bytes)
        return error_set(error, AT_INTERNAL, "buffers %s and %s differ in size", to->name,
                         from->name);
    if (to->size_bytes == 0)
        return AT_OK;
    return cuda_done(d, d->cuda.cuMemcpyDtoDAsync(to->data, from->data, to->size_bytes, d->stream),
                     "cannot copy a buffer", error);
}

at_status cuda_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes,
                               uint64_t *sum, at_error *error)
{
    at_status status = clear_results(d, error);
    if (status)
        return status;
    CUdeviceptr data = b->data, results = d->results;
    void *arguments[] = {&data, &size_bytes, &results};
    status = cuda_support_queue(d, SUPPORT_CHECKSUM, size_bytes / 16, arguments, error);
    if (!status)
        status = read_results(d, "the checksum of a buffer failed", error);
    if (!status)
        *sum = d->results_host[RESULT_SUM];
    return status;
}

at_status cuda_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                             at_error *error)
{
    *out = (device_guard_report){.intact = true};
    at_status status = clear_results(d, error);
    if (status)
        return status;
    CUdeviceptr before = b->base, after = b->data + b->size_bytes, results = d->results;
    uint64_t size = DEVICE_GUARD_BYTES, salt = b->guard_salt;
    int type = (int)b->guard_type, pattern = b->guard_pattern;
    void *arguments[] = {&before, &after, &size, &type, &pattern, &salt, &results};
    status = cuda_support_queue(d, SUPPORT_GUARDS_CHECK, size, arguments, error);
    if (!status)
        status = read_results(d, "the check of the guard bands failed", error);
    if (status)
        return status;
    uint64_t front = d->results_host[RESULT_BEFORE_INVERTED];
    uint64_t back = d->results_host[RESULT_AFTER_INVERTED];
    if (front || back)
        *out = (device_guard_report){.intact = false,
                                     .before = front > back,
                                     .distance_bytes = ~(front > back ? front : back)};
    return AT_OK;
}

static at_status read_both(device *d, const device_buffer *found, void *found_to,
                           const device_buffer *expected, void *expected_to, uint64_t offset,
                           size_t size, at_error *error)
{
    static const char what[] = "cannot read results";
    const cuda_driver *cuda = &d->cuda;
    at_status status = cuda_done(
        d, cuda->cuMemcpyDtoHAsync(found_to, found->data + offset, size, d->stream), what, error);
    if (!status)
        status = cuda_done(
            d, cuda->cuMemcpyDtoHAsync(expected_to, expected->data + offset, size, d->stream), what,
            error);
    return status ? status : cuda_wait(d, what, error);
}

static at_status read_elements(device *d, const device_buffer *found, const device_buffer *expected,
                               dtype type, device_comparison *out, at_error *error)
{
    size_t size = dtype_get(type)->size_bytes;
    unsigned char *host = (unsigned char *)d->results_host + RESULTS_BYTES;
    at_status status =
        read_both(d, found, host, expected, host + ELEMENT_BYTES, out->first * size, size, error);
    if (status)
        return status;
    memcpy(&out->found, host, size);
    memcpy(&out->expected, host + ELEMENT_BYTES, size);
    return AT_OK;
}

static at_status queue_exact(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, at_error *error)
{
    CUdeviceptr f = found->data, e = expected->data, results = d->results;
    uint64_t size = plan_buffer_bytes(plan);
    uint32_t width = (uint32_t)dtype_get(plan->type)->size_bytes;
    void *arguments[] = {&f, &e, &size, &width, &results};
    return cuda_support_queue(d, SUPPORT_COMPARE_EXACT, size / 16, arguments, error);
}

static at_status queue_close(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, at_error *error)
{
    CUdeviceptr f = found->data, e = expected->data, results = d->results;
    uint64_t count = plan->count;
    int type = (int)plan->type, kind = (int)plan->tolerance.kind;
    double limit = plan->tolerance.limit;
    void *magnitude[] = {&e, &count, &type, &results};
    at_status status = plan->tolerance.kind == TOLERANCE_SCALED
                           ? cuda_support_queue(d, SUPPORT_MAGNITUDE, count, magnitude, error)
                           : AT_OK;
    if (status)
        return status;
    void *arguments[] = {&f, &e, &count, &type, &kind, &limit, &results};
    return cuda_support_queue(d, SUPPORT_COMPARE_CLOSE, count, arguments, error);
}

static at_status compare_any_order(device *d, const device_buffer *found,
                                   const device_buffer *expected, const buffer_plan *plan,
                                   device_comparison *out, at_error *error)
{
    const uint64_t size = plan_buffer_bytes(plan);
    unsigned char *host = size <= SIZE_MAX / 2 ? malloc(2 * size) : NULL;
    if (!host)
        return error_no_memory(error);
    at_status status = read_both(d, found, host, expected, host + size, 0, size, error);
    if (!status)
        status = multiset_compare(plan, host, host + size, out, error);
    free(host);
    return status;
}

at_status cuda_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                              const buffer_plan *plan, device_comparison *out, at_error *error)
{
    *out = (device_comparison){0};
    if (plan->record)
        return compare_any_order(d, found, expected, plan, out, error);
    at_status status = clear_results(d, error);
    if (!status)
        status = plan->tolerance.kind == TOLERANCE_EXACT
                     ? queue_exact(d, found, expected, plan, error)
                     : queue_close(d, found, expected, plan, error);
    if (!status)
        status = read_results(d, "the comparison failed", error);
    if (status)
        return status;
    out->wrong = d->results_host[RESULT_WRONG];
    if (out->wrong == 0)
        return AT_OK;
    out->first = ~d->results_host[RESULT_FIRST_INVERTED];
    return read_elements(d, found, expected, plan->type, out, error);
}
