/* Compares results whose order does not matter: two buffers as multisets of records of
 * plan->record elements.
 *
 * Exact records are paired by their bytes, and only if sums of hashes differ. Records of several
 * elements are exact. With a tolerance both sides are sorted, NaNs last, and
 * the elements of one rank are compared: that accepts whatever some pairing within an absolute
 * tolerance accepts. */
#ifndef AUTOTUNE_DEVICE_MULTISET_H
#define AUTOTUNE_DEVICE_MULTISET_H

#include "device/device.h"

/* Compares plan->count elements. out->wrong counts records without a partner; `first` is the index
 * of the first element of one of them in `found`, `expected` the first element of a record that has
 * no partner there. AT_NO_MEMORY. */
at_status multiset_compare(const buffer_plan *plan, const void *found, const void *expected,
                           device_comparison *out, at_error *error);

#endif
