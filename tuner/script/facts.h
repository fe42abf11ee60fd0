/* Facts are what choosing a configuration needs of a pattern: its parameters, constraints and
 * features as plain data, which need neither Lua nor the script.
 *
 * In: a script that is loaded, or the bytes that were made of one. Out: which configurations are
 * valid, and what features are, for a problem and a device that need not be those of the script.
 * Facts do not change: any number of threads may ask them. They say what the script would (both are
 * made of the same expressions); where one of these is beyond expression/term.h there are none. */
#ifndef AUTOTUNE_SCRIPT_FACTS_H
#define AUTOTUNE_SCRIPT_FACTS_H

#include "base/pack.h"
#include "script/script.h"

typedef struct script_facts script_facts;

/* Writes the facts of a script. AT_NOT_FOUND: only Lua can evaluate what its constraints or
 * features say. AT_NO_MEMORY. */
at_status script_facts_put(script *s, pack *to, at_error *error);

/* derived_fetch() knows facts by this. */
#define SCRIPT_FACTS_KIND "facts"

/* Writes where the facts of an installed script are. False: the path is too long. */
bool script_facts_path(const char *lua_dir, const char *script_path, char *out, size_t out_bytes);

/* Reads facts, and checks that they are such: AT_FORMAT. They own a copy of the bytes.
 * AT_NO_MEMORY. */
at_status script_facts_read(const void *bytes, size_t size_bytes, script_facts **out,
                            at_error *error);
void script_facts_free(script_facts *f); /* NULL is fine */

/* These members of the script are filled in: path, name, the tuned problem (with the values that
 * the script has) and its domains, the parameters, the texts and lines of constraints, the
 * features, the baseline. */
const pattern *script_facts_pattern(const script_facts *f);

/* A problem on a device, for which facts are asked. */
typedef struct script_facts_case {
    const script_facts *facts;
    const arch_limits *device;
    value problem[PATTERN_MAX_VARIABLES]; /* in the pattern's order; texts are borrowed */
} script_facts_case;

/* Is the configuration valid? Where a constraint cannot be evaluated it is not. *broken, if given,
 * is the constraint that says so. */
bool script_facts_valid(const script_facts_case *c, const uint16_t *indices, size_t *broken);

/* The value of a feature, which is INFINITY where it has none. `indices` is not read where the
 * feature is not of_configuration. */
double script_facts_feature(const script_facts_case *c, size_t feature, const uint16_t *indices);

/* Reads what `text` means, typed after a variable's name (--set), for a variable of the pattern at
 * `place`. False: it is no value for that. The value borrows from `text`. */
bool pattern_read_setting(const pattern *p, size_t place, const char *text, value *out);

#endif
