/* A table for picking as bytes, from which it is had again in a fraction of the time that parsing
 * the records takes. */
#ifndef AUTOTUNE_RECORD_PICK_INDEX_H
#define AUTOTUNE_RECORD_PICK_INDEX_H

#include "base/pack.h"
#include "record/pick_table.h"

void pick_index_put(pack *to, const pick_table *t);

/* Reads what pick_index_put() wrote, and takes the bytes from the pack: the table owns them. Bytes
 * that are anything else are AT_FORMAT, and do no harm. AT_NO_MEMORY. The caller calls
 * pick_table_deinit() in any case. */
at_status pick_index_get(pack *from, pick_table *out, at_error *error);

#endif
