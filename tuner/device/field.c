#include "device/field.h"

#include <string.h>

static const device_field table[] = {
    {"bandwidth", DEVICE_FIELD_DOUBLE, offsetof(arch_limits, bandwidth_bytes_per_s)},
    {"clock_khz", DEVICE_FIELD_INT, offsetof(arch_limits, clock_khz)},
    {"global_bytes", DEVICE_FIELD_SIZE, offsetof(arch_limits, global_bytes)},
    {"l2_bytes", DEVICE_FIELD_SIZE, offsetof(arch_limits, l2_bytes)},
    {"major", DEVICE_FIELD_INT, offsetof(arch_limits, major)},
    {"max_blocks_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, max_blocks_per_sm)},
    {"max_registers_per_thread", DEVICE_FIELD_INT, offsetof(arch_limits, max_registers_per_thread)},
    {"max_shared_per_block", DEVICE_FIELD_SIZE, offsetof(arch_limits, max_shared_per_block_bytes)},
    {"max_threads_per_block", DEVICE_FIELD_INT, offsetof(arch_limits, max_threads_per_block)},
    {"max_threads_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, max_threads_per_sm)},
    {"minor", DEVICE_FIELD_INT, offsetof(arch_limits, minor)},
    {"name", DEVICE_FIELD_TEXT, offsetof(arch_limits, name)},
    {"registers_per_sm", DEVICE_FIELD_INT, offsetof(arch_limits, registers_per_sm)},
    {"shared_per_sm", DEVICE_FIELD_SIZE, offsetof(arch_limits, shared_per_sm_bytes)},
    {"sm_count", DEVICE_FIELD_INT, offsetof(arch_limits, sm_count)},
    {"warp_size", DEVICE_FIELD_INT, offsetof(arch_limits, warp_size)},
};

_Static_assert(sizeof table / sizeof *table <= DEVICE_MOST_FIELDS,
               "DEVICE_MOST_FIELDS is too small");

const device_field *device_fields(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

const device_field *device_field_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

value_kind device_field_value_kind(const device_field *f)
{
    return f->kind == DEVICE_FIELD_TEXT     ? VALUE_STRING
           : f->kind == DEVICE_FIELD_DOUBLE ? VALUE_NUMBER
                                            : VALUE_INTEGER;
}

value device_field_value(const device_field *f, const arch_limits *device)
{
    const void *at = (const char *)device + f->offset;
    value out = {.kind = device_field_value_kind(f)};
    if (f->kind == DEVICE_FIELD_INT)
        out.integer = *(const int *)at;
    else if (f->kind == DEVICE_FIELD_SIZE)
        out.integer = (int64_t) * (const size_t *)at;
    else if (f->kind == DEVICE_FIELD_DOUBLE)
        out.number = *(const double *)at;
    else
        out.string = at;
    return out;
}
