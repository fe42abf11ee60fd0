/* The roofline of a launch (Williams, Waterman, Patterson 2009): what its variants reach beneath
 * what the device can do at most.
 *
 * In: recorded measurements with what a launch moves and computes, and the ceilings that are known.
 * Out: what is drawn (templates/pages/plot_roofline.tmpl). With flops it is over arithmetic
 * intensity, flops a byte that must be moved; a pattern that gives none has its bytes (or items) a
 * second beneath the ceilings of these, over the occupancy. */
#ifndef AUTOTUNE_CMD_LOOK_ROOFLINE_H
#define AUTOTUNE_CMD_LOOK_ROOFLINE_H

#include <jansson.h>

#include "base/error.h"
#include "history/history.h"
#include "record/ceilings.h"
#include "record/folders.h"

/* The ceilings that were measured on that GPU: of the folder of records that `file` lies in, else
 * of the first of `folders` (NULL: none) that has any. All 0 where nothing is kept. Errors as
 * ceilings_read(). */
at_status roofline_ceilings(const char *file, const record_folders *folders, const char *gpu,
                            ceiling_rates *out, at_error *error);

/* Puts what is drawn into an object: work (of a launch, in 10^9 of `unit`), unit, baseline_ms (0:
 * not known), roofs [{name, rate}]; intensity and memory (roofs, too) where both bytes and flops
 * are given, else `lacks`, which of them is not, and occupancies of the results at `works`, best
 * first (empty: not known of all). `ceilings` may be NULL. AT_NOT_FOUND where what a launch moves
 * or computes is not known. */
at_status roofline_pack(const recorded *r, const size_t *works, size_t count,
                        const ceiling_rates *ceilings, json_t **picture, at_error *error);

#endif
