/* The configuration that is known to be fastest. */
#ifndef AUTOTUNE_CMD_VARIANT_BEST_H
#define AUTOTUNE_CMD_VARIANT_BEST_H

#include "cmd/line/options.h"
#include "device/arch.h"
#include "record/pick.h"
#include "script/script.h"

/* Finds what the records give for the script's problem on this GPU; *rule says by which rule.
 * AT_USAGE: nothing that is known is possible there. */
at_status best_find(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                    pick_rule *rule, at_error *error);

/* Writes the configuration that the records give the options' script for its problem, on --arch or
 * on this machine's GPU, as --config takes it. AT_USAGE: nothing is recorded that could be it. */
at_status best_text(const options *o, char text[CONFIGURATION_BYTES], at_error *error);

/* Finds the configuration that 'autotune mix' found on this GPU: that of a portfolio of one.
 * AT_USAGE: none is recorded, or it is not possible for the script. */
at_status best_find_mix(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                        at_error *error);

#endif
