/* The table that the tuner reads (capture/layout.h), as it grows. One lock of the caller's is held
 * over every call. */
#ifndef AUTOTUNE_CAPTURE_INJECT_ROWS_H
#define AUTOTUNE_CAPTURE_INJECT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/layout.h"

enum { ROWS_BUCKETS = 1 << 15 }; /* twice the rows: probes stay short */

typedef struct rows {
    capture_table *table;           /* mapped; NULL: there is none */
    int folder;                     /* of this process */
    uint32_t buckets[ROWS_BUCKETS]; /* 1 + a row; 0: none */
} rows;

/* Makes the folder and the file of this process. False: they cannot be made. */
bool rows_open(rows *r, const char *dir);

/* The row of launches like `key`, of which name and figures are not read, by the kernel `name`;
 * NULL: there is no room for one. */
capture_row *rows_find(rows *r, const char *name, const capture_row *key);

/* The same, of rows that there are; NULL: there is none. */
capture_row *rows_known(const rows *r, const char *name, const capture_row *key);

/* Says why there is no more, unless something was said before. */
void rows_trouble(char trouble[CAPTURE_TROUBLE_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
