/* The fastest known configuration. */
#ifndef AUTOTUNE_CMD_VARIANT_BEST_H
#define AUTOTUNE_CMD_VARIANT_BEST_H

#include "cmd/line/options.h"
#include "device/arch.h"
#include "record/pick.h"
#include "script/script.h"

enum { BEST_NAME_BYTES = 4096 };

/* Picks a configuration from the records, for the script's problem on `gpu`; *rule is the rule of
 * the pick. AT_USAGE if no recorded configuration is possible. */
at_status best_find(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                    pick_rule *rule, at_error *error);

/* Writes the recorded configuration for the options' script and problem, as text for --config. The
 * GPU is that of --arch, a simulated --device or this machine's. AT_USAGE without a record. */
at_status best_text(const options *o, char text[CONFIGURATION_BYTES], at_error *error);

/* Finds the configuration that 'autotune mix' recorded for `gpu`. AT_USAGE if it is missing, or the
 * script does not allow it. */
at_status best_find_mix(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                        at_error *error);

/* Returns whether --captured names a folder with several launches. Then `first` gets the name of
 * the first launch, for which the script is loaded: all launches are of one kernel. A wrong folder
 * is reported later, by loading. */
bool best_take_mix(settings *asked, char first[BEST_NAME_BYTES]);

#endif
