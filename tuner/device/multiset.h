/* Compares results whose order does not matter: the elements of two buffers as multisets.
 *
 * Exact elements are paired by their bits. With a tolerance both sides are sorted, NaNs last, and
 * the elements of one rank are compared: that accepts whatever some pairing within an absolute
 * tolerance accepts. */
#ifndef AUTOTUNE_DEVICE_MULTISET_H
#define AUTOTUNE_DEVICE_MULTISET_H

#include "device/device.h"

/* Compares plan->count elements. out->wrong counts elements without a partner; `first` is the index
 * of one of them in `found`, `expected` an element that has no partner there. AT_NO_MEMORY. */
at_status multiset_compare(const buffer_plan *plan, const void *found, const void *expected,
                           device_comparison *out, at_error *error);

#endif
