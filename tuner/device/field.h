/* The limits of a device by name: the fields of `device` in scripts, and of autotune_device in
 * exported headers. This header is no part of arch.h, because it needs base/value.h. */
#ifndef AUTOTUNE_DEVICE_FIELD_H
#define AUTOTUNE_DEVICE_FIELD_H

#include <stddef.h>

#include "base/value.h"
#include "device/arch.h"

typedef enum device_field_kind {
    DEVICE_FIELD_INT,
    DEVICE_FIELD_SIZE, /* field of type size_t */
    DEVICE_FIELD_DOUBLE,
    DEVICE_FIELD_TEXT /* array of char */
} device_field_kind;

typedef struct device_field {
    const char *name;
    device_field_kind kind;
    size_t offset; /* offset in arch_limits */
} device_field;

enum { DEVICE_MOST_FIELDS = 32 };

/* Returns all fields, ordered by name, in static storage. */
const device_field *device_fields(size_t *count);

/* Returns the field with that name, or NULL. */
const device_field *device_field_find(const char *name);

/* Return the kind of a field's value, and the value. A text is borrowed from `device`. */
value_kind device_field_value_kind(const device_field *f);
value device_field_value(const device_field *f, const arch_limits *device);

#endif
