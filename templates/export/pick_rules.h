/* The rules that find a configuration, best first. */
typedef enum autotune_rule {
    AUTOTUNE_RULE_EXACT, /* measured on this GPU and problem */
    AUTOTUNE_RULE_PORTFOLIO, /* on this GPU, for a range of problems */
    AUTOTUNE_RULE_NEAREST, /* on this GPU, for the nearest problem */
    AUTOTUNE_RULE_CAPABILITY, /* on a GPU of the same compute capability */
    AUTOTUNE_RULE_MAJOR, /* on a GPU of the same major compute capability */
    AUTOTUNE_RULE_DEFAULT, /* not measured: the pattern's default */
    AUTOTUNE_RULE_OTHER, /* on another GPU; the default is impossible */
    AUTOTUNE_RULE_NONE /* no known configuration is possible: do not launch */
} autotune_rule;

AUTOTUNE_FUNCTION const char *autotune_rule_name(autotune_rule rule)
{
    switch (rule) {
    case AUTOTUNE_RULE_EXACT:
        return "exact";
    case AUTOTUNE_RULE_PORTFOLIO:
        return "portfolio";
    case AUTOTUNE_RULE_NEAREST:
        return "nearest_problem";
    case AUTOTUNE_RULE_CAPABILITY:
        return "same_capability";
    case AUTOTUNE_RULE_MAJOR:
        return "same_major";
    case AUTOTUNE_RULE_DEFAULT:
        return "default";
    case AUTOTUNE_RULE_OTHER:
        return "other_gpu";
    case AUTOTUNE_RULE_NONE:
        return "none";
    }
    return "";
}

/* The distance that a variable adds if it is not a size and differs between two problems; more than
 * any two sizes can differ. */
#define AUTOTUNE_UNLIKE 256.0

/* Returns log2(1 + |x|), linear between powers of two, with the sign of x. Sizes thus compare by
 * their ratio, with plain arithmetic. */
AUTOTUNE_FUNCTION double autotune_scale(double x)
{
    double size = 1 + (x < 0 ? -x : x), power = 0;
    /* Numbers this large do not occur in problems; the limit keeps the loop short. */
    if (!(size < 1e30))
        size = 1e30;
    while (size >= 2) {
        size /= 2;
        power += 1;
    }
    power += size - 1;
    return x < 0 ? -power : power;
}

/* Returns the distance of two sizes. */
AUTOTUNE_FUNCTION double autotune_apart(double a, double b)
{
    double d = autotune_scale(a) - autotune_scale(b);
    return d < 0 ? -d : d;
}

/* Returns the rule for a recorded configuration. The rule depends on what its GPU and this GPU have
 * in common, on whether the configuration is from a portfolio (then `place` is not negative), and on
 * whether the configuration was measured on this problem. */
AUTOTUNE_FUNCTION autotune_rule
autotune_rule_for(bool same_gpu, bool same_major, bool same_minor, int place, bool same_problem)
{
    if (same_gpu && place >= 0)
        return AUTOTUNE_RULE_PORTFOLIO;
    if (same_gpu)
        return same_problem ? AUTOTUNE_RULE_EXACT : AUTOTUNE_RULE_NEAREST;
    if (!same_major)
        return AUTOTUNE_RULE_OTHER;
    return same_minor ? AUTOTUNE_RULE_CAPABILITY : AUTOTUNE_RULE_MAJOR;
}

/* Returns the rank of a configuration among those of one rule; the least comes first. The rank is
 * the distance of the problems, or the place in the order of a portfolio. A portfolio of another
 * GPU comes before all single results of that GPU. */
AUTOTUNE_FUNCTION double autotune_rank(autotune_rule rule, int place, double distance)
{
    if (place < 0)
        return distance;
    return rule == AUTOTUNE_RULE_PORTFOLIO ? place : place - 1000.0;
}

/* Returns whether the default is at least as good as a possible configuration. On the problem where
 * the configuration was measured, the configuration is better. `ahead` is the number of
 * configurations that the portfolio's tree puts before the default, or -1 if the tree does not say.
 * Then `faster` decides: whether the configuration was faster on the nearest problem. */
AUTOTUNE_FUNCTION bool autotune_default_will_do(autotune_rule rule, int place, int ahead, bool faster)
{
    return rule != AUTOTUNE_RULE_EXACT && (ahead < 0 ? !faster : place >= ahead);
}
