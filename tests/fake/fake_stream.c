#include "fake_stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PINNED = 256,
    QUEUE_NS = 1000,
    COPY_NS = 5000,
    COPY_BYTES = 24,
    COMBINED_BYTES = 26,
    PAGEABLE_NS = 20000,
    PAGEABLE_BYTES = 6
};

struct CUstream_st {
    bool first;
    uint64_t free_ns; /* time when the queued work ends, in ns */
    fake_work *work, **end;
};

typedef struct pinned_range {
    const unsigned char *start;
    size_t size_bytes;
    unsigned flags;
} pinned_range;

static struct {
    size_t streams;
    uint64_t engine_free_ns[ENGINE_COUNT];
    size_t pinned_count, pinned_bytes;
    pinned_range pinned[MAX_PINNED];
} streams;

/* ---- streams ---- */

CUstream fake_stream_new(void)
{
    CUstream s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->first = streams.streams++ == 0;
    s->end = &s->work;
    return s;
}

void fake_stream_free(CUstream stream)
{
    fake_stream_finish(stream, 0);
    streams.streams--;
    free(stream);
}

bool fake_stream_is_first(CUstream stream)
{
    return stream->first;
}

bool fake_stream_queue(CUstream stream, const fake_work *work, fake_engine engine, uint64_t time_ns,
                       uint64_t now_ns)
{
    fake_work *own = malloc(sizeof *own);
    if (!own)
        return false;
    *own = *work;
    own->next = NULL;
    *stream->end = own;
    stream->end = &own->next;
    uint64_t *engine_ns = &streams.engine_free_ns[engine];
    uint64_t begin_ns = now_ns > stream->free_ns ? now_ns : stream->free_ns;
    if (*engine_ns > begin_ns)
        begin_ns = *engine_ns;
    *engine_ns = stream->free_ns = begin_ns + time_ns;
    return true;
}

static void move_bytes(void *to, const void *from, size_t size_bytes)
{
    fake_changed();
    memcpy(to, from, size_bytes);
}

uint64_t fake_stream_finish(CUstream stream, uint64_t now_ns)
{
    while (stream->work) {
        fake_work *w = stream->work;
        void *arguments[FAKE_QUEUED_ARGUMENTS];
        for (int i = 0; i < FAKE_QUEUED_ARGUMENTS; i++)
            arguments[i] = &w->arguments[i];
        if (w->function)
            fake_run(w->function, &(fake_launch){.arguments = arguments, .threads = w->threads});
        else
            move_bytes(w->to, w->from, w->size_bytes);
        stream->work = w->next;
        free(w);
    }
    stream->end = &stream->work;
    return stream->free_ns > now_ns ? stream->free_ns : now_ns;
}

/* ---- host memory ---- */

static const pinned_range *find_pinned(const void *memory)
{
    const unsigned char *at = memory;
    for (size_t i = 0; i < streams.pinned_count; i++)
        if (at >= streams.pinned[i].start &&
            at < streams.pinned[i].start + streams.pinned[i].size_bytes)
            return &streams.pinned[i];
    return NULL;
}

bool fake_is_pinned(const void *memory)
{
    return find_pinned(memory) != NULL;
}

uint64_t fake_copy(CUstream stream, void *to, const void *from, size_t size_bytes, bool up,
                   uint64_t now_ns)
{
    const pinned_range *pinned = find_pinned(up ? from : to);
    fake_engine engine = up ? ENGINE_UP : ENGINE_DOWN;
    if (stream->first) {
        move_bytes(to, from, size_bytes);
        return now_ns;
    }
    if (!pinned) {
        now_ns = fake_stream_finish(stream, now_ns);
        if (streams.engine_free_ns[engine] > now_ns)
            now_ns = streams.engine_free_ns[engine];
        move_bytes(to, from, size_bytes);
        return streams.engine_free_ns[engine] = now_ns + PAGEABLE_NS + size_bytes / PAGEABLE_BYTES;
    }
    bool combined = up && pinned->flags & CU_MEMHOSTALLOC_WRITECOMBINED;
    const fake_work copy = {.to = to, .from = from, .size_bytes = size_bytes};
    fake_stream_queue(stream, &copy, engine,
                      COPY_NS + size_bytes / (combined ? COMBINED_BYTES : COPY_BYTES), now_ns);
    return now_ns + QUEUE_NS;
}

CUresult cuMemHostAlloc(void **out, size_t size_bytes, unsigned int flags)
{
    const char *most = getenv("FAKE_CUDA_PINNED");
    size_t left = most ? strtoul(most, NULL, 10) : SIZE_MAX;
    if (streams.pinned_count == MAX_PINNED || size_bytes > left ||
        streams.pinned_bytes > left - size_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    unsigned char *memory = malloc(size_bytes);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    streams.pinned[streams.pinned_count++] = (pinned_range){memory, size_bytes, flags};
    streams.pinned_bytes += size_bytes;
    *out = memory;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *memory)
{
    const pinned_range *found = find_pinned(memory);
    if (!found || found->start != memory)
        return CUDA_ERROR_INVALID_VALUE;
    streams.pinned_bytes -= found->size_bytes;
    streams.pinned[found - streams.pinned] = streams.pinned[--streams.pinned_count];
    free(memory);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *memory, unsigned int flags)
{
    const pinned_range *found = find_pinned(memory);
    (void)flags;
    if (!found || !(found->flags & CU_MEMHOSTALLOC_DEVICEMAP))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}
