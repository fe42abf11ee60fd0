/* What may be chosen at a site: lists of values, and the configurations that these span.
 *
 * A configuration is a number below `count`, in mixed radix; 0 has the first value of each list,
 * the default. Everything is copied from the caller and owned by the space. */
#ifndef AUTOTUNE_LIBRARY_SITE_SPACE_H
#define AUTOTUNE_LIBRARY_SITE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "autotune.h"
#include "base/pack.h"
#include "record/record.h"

typedef struct site_list {
    char *name;
    size_t count;
    at_variable *values; /* each with the name */
} site_list;

typedef struct site_space {
    size_t list_count;
    site_list lists[RECORD_MAX_VALUES];
    uint32_t count;             /* of configurations */
    char hash[HASH_TEXT_BYTES]; /* of names and values */
} site_space;

/* AT_USAGE for what is no list of values, and for more than 2^31 configurations; AT_NO_MEMORY. To
 * be deinited in every case. */
at_status site_space_init(site_space *s, const at_parameter *parameters, size_t count,
                          at_error *error);
void site_space_deinit(site_space *s);

/* Do these parameters span it, whatever the order of their values? */
bool site_space_is_of(const site_space *s, const at_parameter *parameters, size_t count);

/* Copies a named value, checked: AT_USAGE, AT_NO_MEMORY. Freed with site_variable_deinit(). `what`
 * it is, for the message: "variable". */
at_status site_variable_copy(const at_variable *v, const char *what, at_variable *out,
                             at_error *error);
void site_variable_deinit(at_variable *v);

/* The configuration's values, one for each list. */
void site_space_values(const site_space *s, uint32_t configuration, at_variable *out);

/* Finds the configuration that was recorded. False: it has other parameters or values. */
bool site_space_find(const site_space *s, const record_values *values, uint32_t *out);

/* What a round of tuning is to try (library/site_tuner.h): all, where these are at most `most`;
 * else in the first round neighbours of the default and a sample of all, then the incumbent's
 * neighbours. Neighbours differ in one parameter; in one with many values by two places at most. */
size_t site_space_propose(const site_space *s, size_t round, uint32_t incumbent, uint32_t *out,
                          size_t most);

#endif
