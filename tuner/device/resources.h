/* The resources that a kernel needs, as the compiler reports them: plain data, kept with every
 * outcome. */
#ifndef AUTOTUNE_DEVICE_RESOURCES_H
#define AUTOTUNE_DEVICE_RESOURCES_H

#include <stdint.h>

typedef struct kernel_resources {
    uint32_t registers;   /* a thread */
    uint32_t stack_bytes; /* a thread */
    uint32_t spill_store_bytes, spill_load_bytes;
    uint32_t static_shared_bytes;
    uint32_t constant_bytes;
    uint32_t barriers;
} kernel_resources;

#endif
