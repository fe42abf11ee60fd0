/* The table of a record: what templates are given of it (docs/record_table.md describes each
 * member).
 *
 * Every member is there in every record; what is not known is null. New references, NULL when out
 * of memory. Entries and portfolios keep the order that they have in the record. */
#ifndef AUTOTUNE_RECORD_TABLE_H
#define AUTOTUNE_RECORD_TABLE_H

#include <jansson.h>

#include "record/record.h"

json_t *record_table(const record *r);

#endif
