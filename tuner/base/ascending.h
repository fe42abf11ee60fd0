/* Orders numbers for qsort() and bsearch(), the smallest first. */
#ifndef AUTOTUNE_BASE_ASCENDING_H
#define AUTOTUNE_BASE_ASCENDING_H

int ascending_u64(const void *a, const void *b);    /* of uint64_t */
int ascending_i64(const void *a, const void *b);    /* of int64_t */
int ascending_double(const void *a, const void *b); /* none of them NaN */

#endif
