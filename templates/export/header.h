/* $: configurations that autotune @version@ found, and a look-up. C11 or C++17.
 *
 *     autotune_$_problem problem = @example@;
 *     autotune_$_choice choice = autotune_$_find(&device, &problem);
 *
 * The launch is choice.config; choice.rule says how it was found. What the pattern's
 * constraints forbid on this device or for this problem is never given; what was no faster
 * than the default on a neighbouring problem, beyond noise, only where the default is impossible.
 * AUTOTUNE_RULE_NONE says that nothing is left.
 * In C++ all of it is constexpr, in CUDA for host and device. Fill autotune_device in with
 * autotune_device_of(), where <cuda_runtime.h> is included before; of its fields@fields_read@.
 * Written by 'autotune export $ --format header' from @count@ results: change those, not
 * this. */
#ifndef AUTOTUNE_EXPORTED_$_h
#define AUTOTUNE_EXPORTED_$_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

@prelude@
@enums@

typedef struct autotune_$_problem {
@problem_members@
} autotune_$_problem;

typedef struct autotune_$_config {
@config_members@
} autotune_$_config;

/* A recorded configuration; of a portfolio (the range of problems that it serves) where
 * `portfolio` is not -1: it then has no problem and no time. */
typedef struct autotune_$_entry {
    const char *gpu;
    int major, minor; /* compute capability */
    int portfolio, place;
    autotune_$_problem problem;
    autotune_$_config config;
    int64_t time_ns; /* median of a launch */
} autotune_$_entry;

typedef struct autotune_$_choice {
    autotune_rule rule;
    autotune_$_config config;
    int entry; /* where it is from, for autotune_$_at(); -1 for the default */
} autotune_$_choice;

/* How many configurations are recorded, and each of them. */
AUTOTUNE_FUNCTION int autotune_$_count(void)
{
    return @count@;
}

AUTOTUNE_FUNCTION autotune_$_entry autotune_$_at(int i)
{
    switch (i) {
@entries@
    }
}

/* The pattern's default, which is fair on any GPU. */
AUTOTUNE_FUNCTION autotune_$_config autotune_$_default(void)
{
    const autotune_$_config config =
        @default@;
    return config;
}

/* How far two problems are apart. */
AUTOTUNE_FUNCTION double autotune_$_distance(
    const autotune_$_problem *a, const autotune_$_problem *b)
{
    double distance = 0;
@distances@
    return distance;
}

AUTOTUNE_FUNCTION bool autotune_$_same(
    const autotune_$_problem *a, const autotune_$_problem *b)
{
@same@
}

@derived@
/* Do the pattern's constraints allow a configuration on this device, for this problem? */
AUTOTUNE_FUNCTION bool autotune_$_fits(
    const autotune_device *device, const autotune_$_problem *problem,
    const autotune_$_config *config)
{
    int broken = 0;
    (void)device;
    (void)problem;
    (void)config;
@constraints@
    return broken == 0;
}

@features@
/* The place of a portfolio's configuration in the order for this problem; -1: the
 * portfolio is not for it. Of index -1: how many come before the default; -1: the
 * tree does not say. */
AUTOTUNE_FUNCTION int autotune_$_place(
    int portfolio, int index, const autotune_device *device, const autotune_$_problem *problem)
{
    (void)index;
    (void)device;
    (void)problem;
@portfolios@
    return portfolio < 0 ? 0 : -1;
}

/* Was an entry's configuration faster than the default, beyond noise, on the nearest problem on
 * which its GPU has timed both? So too where it has timed them on none. A portfolio's tree may
 * say it itself. */
AUTOTUNE_FUNCTION bool autotune_$_faster(int entry, const autotune_$_problem *problem)
{
    bool faster = true;
    (void)entry;
    (void)problem;
@seen@
    return faster;
}
@kernel@

/* The best configuration known for a device and a problem: measured on this GPU and
 * problem, else of this GPU's portfolio, else on this GPU for the nearest problem, else on a
 * GPU of the same compute capability, else of the same major one, else the default; and the
 * default where that is no faster. */
AUTOTUNE_FUNCTION autotune_$_choice
autotune_$_find(const autotune_device *device, const autotune_$_problem *problem)
{
    const autotune_$_choice fallback = {AUTOTUNE_RULE_DEFAULT, autotune_$_default(), -1};
    autotune_$_choice best = {AUTOTUNE_RULE_NONE, autotune_$_default(), -1};
    autotune_rule rank = AUTOTUNE_RULE_NONE;
    bool has_default = false;
    double nearest = 0;
    int i = 0;
    if (autotune_$_fits(device, problem, &fallback.config)@default_has_kernel@) {
        has_default = true;
        best = fallback;
        rank = best.rule;
    }
    for (i = 0; i < autotune_$_count(); i++) {
        const autotune_$_entry e = autotune_$_at(i);
        autotune_rule rule = AUTOTUNE_RULE_OTHER;
        int place = autotune_$_place(e.portfolio, e.place, device, problem);
        double distance = e.portfolio < 0 ? autotune_$_distance(&e.problem, problem) : place;
        int ahead = e.portfolio < 0 ? -1 : autotune_$_place(e.portfolio, -1, device, problem);
        bool as_good = false; /* the default */
        if (place < 0)
            continue;
        if (autotune_same_text(e.gpu, device->name))
            rule = AUTOTUNE_RULE_NEAREST;
        else if (e.major == device->major)
            rule = e.minor == device->minor ? AUTOTUNE_RULE_CAPABILITY
                                            : AUTOTUNE_RULE_MAJOR;
        if (rule == AUTOTUNE_RULE_NEAREST && e.portfolio >= 0)
            rule = AUTOTUNE_RULE_PORTFOLIO;
        else if (rule == AUTOTUNE_RULE_NEAREST && autotune_$_same(&e.problem, problem))
            rule = AUTOTUNE_RULE_EXACT;
        else if (e.portfolio >= 0)
            distance -= 1000;
@pass_over@
        if (rule > rank || (rule == rank && distance >= nearest))
            continue;
        if (!autotune_$_fits(device, problem, &e.config))
            continue;
        as_good = has_default && rule != AUTOTUNE_RULE_EXACT &&
                  (ahead < 0 ? !autotune_$_faster(i, problem) : place >= ahead);
        /* Other configurations of a portfolio come before the default in its place. */
        if (as_good && e.portfolio >= 0)
            distance += @most_kept@;
        if (rule == rank && distance >= nearest)
            continue;
        rank = rule;
        nearest = distance;
        best = fallback;
        if (as_good)
            continue;
        best.rule = rule;
        best.config = e.config;
        best.entry = i;
    }
    return best;
}

#endif
