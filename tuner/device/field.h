/* A device's limits by name: the fields of `device` in scripts, and of autotune_device in exported
 * headers. */
#ifndef AUTOTUNE_DEVICE_FIELD_H
#define AUTOTUNE_DEVICE_FIELD_H

#include <stddef.h>

#include "base/value.h"
#include "device/arch.h"

typedef enum device_field_kind {
    DEVICE_FIELD_INT,
    DEVICE_FIELD_SIZE, /* size_t */
    DEVICE_FIELD_DOUBLE,
    DEVICE_FIELD_TEXT /* an array of char */
} device_field_kind;

typedef struct device_field {
    const char *name;
    device_field_kind kind;
    size_t offset; /* in arch_limits */
} device_field;

enum { DEVICE_MOST_FIELDS = 32 };

/* All of them, by name; static storage. */
const device_field *device_fields(size_t *count);

/* NULL: there is none of that name. */
const device_field *device_field_find(const char *name);

/* The kind of the field's values, and its value for a device, whose texts it borrows. */
value_kind device_field_value_kind(const device_field *f);
value device_field_value(const device_field *f, const arch_limits *device);

#endif
