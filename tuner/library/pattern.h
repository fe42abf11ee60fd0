/* The pattern's script, loaded for a choice: which configurations are valid for its problem and
 * device. */
#ifndef AUTOTUNE_LIBRARY_PATTERN_H
#define AUTOTUNE_LIBRARY_PATTERN_H

#include "base/paths.h"
#include "device/arch.h"
#include "library/library.h"
#include "script/script.h"

/* The folders of the scripts, templates and records that were installed with the library; false
 * when they are not found. */
bool library_find_share(paths *out);

/* Loads the script of the choice's pattern, for its problem and the device's limits; `o` may be
 * NULL. AT_NOT_FOUND, AT_USAGE, AT_SCRIPT. The caller frees *out. */
at_status library_load_script(const at_choice *c, const at_kernel_options *o,
                              const arch_limits *limits, script_compiler compiler, script **out,
                              at_error *error);

typedef struct library_check {
    script *script;
    const space_constraint
        *broken; /* by the last that did not fit; NULL: it is not of the script's space */
} library_check;

/* pick_target.fits for a library_check: is the configuration in the script's space and valid? */
bool library_fits(void *check, const record_values *configuration);

/* pick_target.ask for a library_check. */
bool library_ask(void *check, const record_feature *feature, const record_values *configuration,
                 double *out);

/* The problem that the script was loaded for; borrows from both. */
record_values library_problem(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* The pattern's default; borrows from both. */
record_values library_default(const pattern *p, record_pair pairs[RECORD_MAX_VALUES]);

/* AT_NOT_FOUND, saying which constraint the default breaks. */
at_status library_refuse_default(const at_choice *c, const char *broken, at_error *error);
at_status library_refuse(const at_choice *c, script *s, at_error *error);

#endif
