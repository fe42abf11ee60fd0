/* All search strategies by name: the one table of them. */
#ifndef AUTOTUNE_TABLE_H
#define AUTOTUNE_TABLE_H

#include "search/strategy.h"

/* All strategies, the default first. *count receives how many. Static storage. */
const strategy_kind *const *strategy_kinds(size_t *count);

/* Finds a strategy; NULL is the default. AT_USAGE for an unknown name, naming the nearest. */
at_status strategy_find(const char *name, const strategy_kind **out, at_error *error);

#endif
