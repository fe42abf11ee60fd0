/* Classes of equal values: which of many problems, or configurations, are the same one, each found
 * in constant time. The values that are numbered are borrowed, and must outlive their numbers. A
 * zeroed struct is empty and valid. */
#ifndef AUTOTUNE_RECORD_CLASSES_H
#define AUTOTUNE_RECORD_CLASSES_H

#include <stddef.h>

#include "base/array.h"

struct record_values;

/* Classes are numbered from 0, in the order in which their first members came. */
typedef struct record_classes {
    size_t count;
    const struct record_values **members; /* owned array: the first of each class */
    keymap numbers; /* by hash; of equal hashes each next one by the hash after it */
} record_classes;

#define RECORD_NO_CLASS ((size_t)-1)

/* The number of the class of `v`, a new one where it equals none (record_same_values).
 * RECORD_NO_CLASS: out of memory. */
size_t record_class_of(record_classes *c, const struct record_values *v);

/* The number of the class of `v`; RECORD_NO_CLASS: it equals none. */
size_t record_class_find(const record_classes *c, const struct record_values *v);

void record_classes_deinit(record_classes *c);

#endif
