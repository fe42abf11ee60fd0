/* Finds which divisors of a problem's variables the constraints of a script ask for: those that
 * make further configurations possible.
 *
 * It asks the script: of the configurations that are possible for a problem with many divisors,
 * which are possible for a problem of nearly the same size that is a multiple of 4, and which for
 * one that is a multiple of 2 but not of 4? So it does not matter how the script spells its
 * constraints. Powers of two up to 32 are taken unasked: a script may narrow its vectors where they
 * do not divide, so that all configurations are possible everywhere and yet not the same; and rows
 * of whole sectors (eight floats) and of whole lines of the caches (32) suit other ones.
 * (Cross-validated on recorded portfolios, with 16 and 32 the choice for a transpose loses less,
 * for sums a little less, for products and a convolution as much.) */
#ifndef AUTOTUNE_RUN_PORTFOLIO_RESIDUES_H
#define AUTOTUNE_RUN_PORTFOLIO_RESIDUES_H

#include "base/error.h"
#include "device/arch.h"
#include "portfolio/problems.h"
#include "run/setup/settings.h"
#include "script/script.h"

/* A problem as settings, for tune_run(). */
typedef struct residues_problem {
    settings settings;
    char texts[PORTFOLIO_MAX_AXES][300];
} residues_problem;

/* `base` with the axes' variables set. */
void residues_settings(const settings *base, const portfolio_axis *axes, size_t axis_count,
                       const value *problem, residues_problem *out);

/* Loads the script for the problem. The caller frees *out, which is NULL after a failure. Errors as
 * target_load_script(). */
at_status residues_load(const settings *base, const arch_limits *limits, const portfolio_axis *axes,
                        size_t axis_count, const value *problem, script **out, at_error *error);

/* Fills in the divisors of the axes that are ranges: powers of 2 up to 64, 3, 9, 5 and 7, as far as
 * they occur in the range. They stay empty if the script has no configuration for such a problem.
 * AT_NO_MEMORY, or the error of the script. */
at_status residues_find(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                        size_t axis_count, at_error *error);

#endif
