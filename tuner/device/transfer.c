#include "device/transfer.h"

static const char *const directions[] = {"to_device", "to_host", "both"};
static const char *const memories[] = {"pageable", "pinned", "write_combined", "mapped"};
static const char *const stagings[] = {"none", "pinned", "write_combined"};

bool transfer_from_host(const transfer_task *task)
{
    return task->direction == TRANSFER_TO_DEVICE || task->direction == TRANSFER_BOTH;
}

bool transfer_to_host(const transfer_task *task)
{
    return task->direction == TRANSFER_TO_HOST || task->direction == TRANSFER_BOTH;
}

const char *const *transfer_direction_names(size_t *count)
{
    *count = sizeof directions / sizeof *directions;
    return directions;
}

const char *const *host_memory_names(size_t *count)
{
    *count = sizeof memories / sizeof *memories;
    return memories;
}

const char *const *host_staging_names(size_t *count)
{
    *count = sizeof stagings / sizeof *stagings;
    return stagings;
}

/* The direction stands elsewhere: it says whether there is a task. */
void transfer_put_task(pack *m, const transfer_task *task)
{
    pack_put_u32(m, task->from);
    pack_put_u32(m, task->to);
    pack_put_u64(m, task->pieces);
    pack_put_u64(m, task->pitch_bytes);
}

bool transfer_get_task(pack *m, transfer_direction direction, uint32_t buffer_count,
                       transfer_task *out)
{
    out->direction = direction;
    out->from = pack_get_u32(m);
    out->to = pack_get_u32(m);
    out->pieces = pack_get_u64(m);
    out->pitch_bytes = pack_get_u64(m);
    return !m->failed && out->from < buffer_count && out->to < buffer_count &&
           out->from != out->to && out->pieces > 0 && out->pitch_bytes > 0 &&
           out->pitch_bytes <= TRANSFER_MAX_BYTES / out->pieces;
}

void transfer_put_plan(pack *m, const transfer_plan *plan)
{
    pack_put_u32(m, plan->task.direction);
    transfer_put_task(m, &plan->task);
    pack_put_u32(m, plan->memory);
    pack_put_u32(m, plan->staging);
    pack_put_u64(m, plan->chunk_bytes);
    pack_put_u32(m, plan->streams);
}

bool transfer_get_plan(pack *m, uint32_t buffer_count, transfer_plan *out)
{
    uint32_t direction = pack_get_u32(m);
    if (m->failed || direction == TRANSFER_NONE || direction >= TRANSFER_DIRECTIONS ||
        !transfer_get_task(m, (transfer_direction)direction, buffer_count, &out->task))
        return false;
    uint32_t memory = pack_get_u32(m), staging = pack_get_u32(m);
    out->chunk_bytes = pack_get_u64(m);
    out->streams = pack_get_u32(m);
    if (m->failed || memory >= HOST_MEMORIES || staging >= STAGING_COUNT)
        return false;
    out->memory = (host_memory)memory;
    out->staging = (host_staging)staging;
    return out->chunk_bytes <= TRANSFER_MAX_BYTES && out->streams > 0 &&
           out->streams <= TRANSFER_MAX_STREAMS &&
           (out->memory != HOST_MAPPED || out->staging == STAGING_NONE);
}
