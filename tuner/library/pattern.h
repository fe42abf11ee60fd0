/* The pattern's script for a choice: what is possible for the problem and the device at hand. */
#ifndef AUTOTUNE_LIBRARY_PATTERN_H
#define AUTOTUNE_LIBRARY_PATTERN_H

#include "base/paths.h"
#include "device/arch.h"
#include "library/library.h"
#include "script/script.h"

/* Where the scripts, templates and records are that were installed with the library; false where that
 * is not known. */
bool library_find_share(paths *out);

/* Loads the script of the choice's pattern, for its problem and the device's limits; `o` may be NULL.
 * AT_NOT_FOUND, AT_USAGE, AT_SCRIPT. The caller frees *out. */
at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script **out, at_error *error);

typedef struct library_check {
    script *script;
    uint16_t *indices; /* of the last configuration that fitted; NULL: not wanted */
    const space_constraint *broken; /* by the last that did not; NULL: it is none of the script's */
} library_check;

/* pick_target.fits for a library_check: one of the script's configurations that no constraint forbids.
 */
bool library_fits(void *check, const record_values *configuration);

/* The problem that the script was loaded for; borrows from both. */
record_values library_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* The pattern's default; borrows from both. */
record_values library_default(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* AT_NOT_FOUND, saying which constraint the default breaks. */
at_status library_refuse(const at_choice *c, script *s, at_error *error);

#endif
