/* Which divisors of a problem's variables the script's constraints ask for: those by which
 * configurations become possible that otherwise are not.
 *
 * Found by asking: of the configurations of a problem that is divisible by much, which ones does a
 * problem of nearly the same size allow that is a multiple of 4, and which ones that is a multiple of 2
 * and not of 4? So it does not matter how a script spells it. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_RESIDUES_H
#define AUTOTUNE_RUN_PORTFOLIO_RESIDUES_H

#include "base/error.h"
#include "device/arch.h"
#include "portfolio/problems.h"
#include "run/setup/settings.h"

/* A problem of the axes as settings, for target_load_script() and tune_run(). */
typedef struct residues_problem {
    settings settings;
    char texts[PORTFOLIO_MAX_AXES][300];
} residues_problem;

/* `base` with the axes' variables set. */
void residues_settings(const settings *base, const portfolio_axis *axes, size_t axis_count,
                       const value *problem, residues_problem *out);

/* Fills in the divisors of the axes that are ranges: powers of 2 up to 64, 3, 9, 5 and 7, as far as the
 * range has them. A script that has no configuration for such a problem leaves them empty. AT_NO_MEMORY, or
 * what is wrong with the script. */
at_status residues_find(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                        size_t axis_count, at_error *error);

#endif
