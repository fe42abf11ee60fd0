#include "portfolio/problems.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"

enum {
    MOST_TRIES = 200,   /* points of the sequence tried per wanted problem */
    MOST_REFUSALS = 16, /* refusals in a row before another class is tried */
    MOST_STEPS = 4096,  /* steps to the nearest number of a class */
    EVERY = 8           /* of EVERY problems, one is round, and one has equal numbers */
};

static int64_t prime_of(int64_t power)
{
    int64_t p = 2;
    while (power % p != 0)
        p++;
    return p;
}

/* Counts the powers of a prime among the divisors. A class states how many divide a number. */
static size_t powers_of(const portfolio_axis *axis, int64_t prime)
{
    size_t count = 0;
    for (size_t i = 0; i < axis->divisor_count; i++)
        count += axis->divisors[i] % prime == 0;
    return count;
}

static bool is_first_of_its_prime(const portfolio_axis *axis, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (axis->divisors[at] % prime_of(axis->divisors[i]) == 0)
            return false;
    return true;
}

size_t portfolio_class_count(const portfolio_axis *axis)
{
    size_t count = 1;
    for (size_t i = 0; !axis->value_count && i < axis->divisor_count; i++)
        if (is_first_of_its_prime(axis, i))
            count *= powers_of(axis, prime_of(axis->divisors[i])) + 1;
    return count;
}

size_t portfolio_class(const portfolio_axis *axis, int64_t v)
{
    size_t class = 0;
    for (size_t i = 0; !axis->value_count && i < axis->divisor_count; i++) {
        if (!is_first_of_its_prime(axis, i))
            continue;
        int64_t prime = prime_of(axis->divisors[i]);
        size_t level = 0;
        for (size_t k = i; k < axis->divisor_count; k++)
            level += axis->divisors[k] % prime == 0 && v % axis->divisors[k] == 0;
        class = class * (powers_of(axis, prime) + 1) + level;
    }
    return class;
}

static int64_t unit_of(const portfolio_axis *axis, size_t class)
{
    int64_t unit = 1;
    for (size_t i = axis->divisor_count; i-- > 0;) {
        if (!is_first_of_its_prime(axis, i))
            continue;
        int64_t prime = prime_of(axis->divisors[i]);
        size_t levels = powers_of(axis, prime) + 1, level = class % levels;
        class /= levels;
        for (size_t k = i; k < axis->divisor_count && level > 0; k++)
            if (axis->divisors[k] % prime == 0 && --level == 0)
                unit *= axis->divisors[k];
    }
    return unit;
}

static bool is_prime(int64_t v)
{
    for (int64_t d = 2; d * d <= v; d++)
        if (v % d == 0)
            return false;
    return v > 1;
}

typedef enum shape { NEAREST, ROUND, PRIME } shape;

static bool is_in_range(const portfolio_axis *axis, int64_t v)
{
    return v >= axis->least && v <= axis->most;
}

static bool suits(const portfolio_axis *axis, int64_t v, size_t class, shape wanted)
{
    return is_in_range(axis, v) && portfolio_class(axis, v) == class &&
           (wanted != PRIME || is_prime(v));
}

static int64_t nearest(const portfolio_axis *axis, double x)
{
    int64_t v = (int64_t)(x + 0.5);
    return v < axis->least ? axis->least : v > axis->most ? axis->most : v;
}

/* Returns the number of the range that is nearest to `x` and has the class and shape. If no number
 * has both, takes the class alone; if no number has the class, takes any number. */
static int64_t snap(const portfolio_axis *axis, double x, size_t class, shape wanted)
{
    int64_t unit = unit_of(axis, class);
    while (wanted == ROUND && (double)unit * 8 <= x)
        unit *= 2;
    int64_t middle = (int64_t)(x / (double)unit + 0.5);
    for (int64_t step = 0; step < MOST_STEPS; step++) {
        if ((middle - step) * unit < axis->least && (middle + step) * unit > axis->most)
            break;
        for (int sign = 1; sign >= -1; sign -= 2)
            if (suits(axis, (middle + sign * step) * unit, class, wanted))
                return (middle + sign * step) * unit;
    }
    return wanted != NEAREST ? snap(axis, x, class, NEAREST) : nearest(axis, x);
}

static double number_at(const portfolio_axis *axis, double u)
{
    return (double)axis->least * pow((double)axis->most / (double)axis->least, u);
}

/* Returns the value at position `u` of the axis. After refusals, takes another shape. */
static value value_at(const portfolio_axis *axis, double u, size_t class, size_t chosen,
                      size_t refused)
{
    if (axis->value_count)
        return axis->values[(size_t)(u * (double)axis->value_count)];
    shape wanted = NEAREST;
    size_t classes = portfolio_class_count(axis);
    if (classes == 1)
        wanted = (shape)((chosen + refused / MOST_REFUSALS) % 3);
    else if (class == 0)
        wanted = PRIME;
    else if (class + 1 == classes)
        wanted = chosen % 2 ? NEAREST : ROUND;
    return (value){.kind = VALUE_INTEGER, .integer = snap(axis, number_at(axis, u), class, wanted)};
}

/* ---- habits: sizes that are common in practice ---- */

typedef enum habit { NONE, ALL_ROUND, ALL_EQUAL } habit;

/* Returns the habit of the next problem, after `chosen` problems besides the corners. */
static habit habit_of(size_t chosen)
{
    return chosen % EVERY == EVERY / 2 - 1 ? ALL_ROUND
           : chosen % EVERY == EVERY - 1   ? ALL_EQUAL
                                           : NONE;
}

/* Returns the nearest number of the form 2^k or 3 * 2^k, on a logarithmic scale. */
static int64_t round_in_binary(double x)
{
    double power = exp2(floor(log2(x))), share = x / power;
    return (int64_t)(power * (share < sqrt(1.5) ? 1 : share < sqrt(3) ? 1.5 : 2));
}

/* Applies the habit to the numbers of a problem. Returns false if the ranges do not allow it. */
static bool apply_habit(habit wanted, const portfolio_axis *axes, size_t count, value *problem)
{
    const int64_t *first = NULL;
    size_t numbers = 0;
    if (wanted == NONE)
        return true;
    for (size_t a = 0; a < count; a++) {
        if (axes[a].value_count)
            continue;
        int64_t *v = &problem[a].integer;
        if (numbers++ == 0)
            first = v;
        *v = wanted == ALL_EQUAL ? *first : round_in_binary((double)*v);
        if (!is_in_range(&axes[a], *v))
            return false;
    }
    return numbers > (wanted == ALL_EQUAL);
}

/* ---- the sequence ---- */

/* Returns the generalised golden ratio, the root of x^(d + 1) = x + 1. */
static double golden(size_t dimensions)
{
    double x = 2;
    for (int i = 0; i < 64; i++)
        x = pow(1 + x, 1 / ((double)dimensions + 1));
    return x;
}

/* Writes corner number `corner`: all large, all small, then each axis large and the others small,
 * and the reverse. Returns false after the last corner. */
static bool corner_at(const portfolio_axis *axes, size_t count, size_t corner, value *out)
{
    size_t alone = corner / 2 - 1;
    if (corner >= 2 && (count == 1 || alone >= count))
        return false;
    for (size_t a = 0; a < count; a++) {
        bool large = (corner % 2 == 0) == (corner < 2 || alone == a);
        if (axes[a].value_count)
            out[a] = axes[a].values[large ? 0 : axes[a].value_count - 1];
        else
            out[a] =
                (value){.kind = VALUE_INTEGER, .integer = large ? axes[a].most : axes[a].least};
    }
    return true;
}

static size_t joint_classes(const portfolio_axis *axes, size_t count)
{
    size_t joint = 1;
    for (size_t a = 0; a < count && joint < MOST_STEPS; a++)
        joint *= portfolio_class_count(&axes[a]);
    return joint;
}

/* How the first problems go through the classes: of all axes together, or of each axis. */
typedef struct course {
    bool joint;
    size_t length; /* number of problems */
} course;

static course plan_course(const portfolio_axis *axes, size_t count, size_t wanted)
{
    course c = {.joint = joint_classes(axes, count) * 4 <= wanted};
    for (size_t a = 0; a < count; a++)
        c.length =
            portfolio_class_count(&axes[a]) > c.length ? portfolio_class_count(&axes[a]) : c.length;
    if (c.joint)
        c.length = joint_classes(axes, count);
    return c;
}

/* Returns the class that a problem takes on an axis. The first c.length problems go through the
 * classes, and each takes the next class after repeated refusals. A later problem takes the class
 * of the number at position `u`. */
static size_t class_at(const portfolio_axis *axes, size_t axis, course c, double u, size_t chosen,
                       size_t refused)
{
    const portfolio_axis *of = &axes[axis];
    if (chosen >= c.length)
        return of->value_count ? 0 : portfolio_class(of, nearest(of, number_at(of, u)));
    size_t place = chosen + refused / MOST_REFUSALS;
    return (c.joint ? place / joint_classes(axes, axis) : place + axis) % portfolio_class_count(of);
}

static uint64_t hash(const value *problem, size_t axis_count)
{
    uint64_t h = 0;
    for (size_t a = 0; a < axis_count; a++) {
        double number = value_is_number(problem[a])        ? value_number(problem[a])
                        : problem[a].kind == VALUE_BOOLEAN ? problem[a].boolean
                                                           : 0;
        uint64_t part = 0;
        if (problem[a].kind == VALUE_STRING)
            for (const char *c = problem[a].string; *c; c++)
                part = part * 31 + (unsigned char)*c;
        else
            memcpy(&part, &number, sizeof part);
        h = (h ^ part) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* Returns whether the problem was chosen before. If not, *key is the key for adding it. */
static bool find(const keymap *places, const value *known, const value *problem, size_t axis_count,
                 uint64_t *key)
{
    uint64_t place;
    for (*key = hash(problem, axis_count); keymap_get(places, *key, &place); ++*key) {
        bool same = true;
        for (size_t a = 0; a < axis_count && same; a++)
            same = value_equal(known[place * axis_count + a], problem[a]);
        if (same)
            return true;
    }
    return false;
}

at_status portfolio_choose_problems(const portfolio_axis *axes, size_t axis_count, size_t wanted,
                                    uint64_t seed, portfolio_accepts accept, void *context,
                                    value *out, size_t *count, at_error *error)
{
    *count = 0;
    if (axis_count == 0 || axis_count > PORTFOLIO_MAX_AXES)
        return error_set(error, AT_USAGE,
                         "the problems of a portfolio must vary in 1 to %d variables",
                         PORTFOLIO_MAX_AXES);
    rng random = rng_seeded(seed);
    double at[PORTFOLIO_MAX_AXES], step[PORTFOLIO_MAX_AXES], ratio = golden(axis_count);
    for (size_t a = 0; a < axis_count; a++) {
        at[a] = rng_uniform(&random);
        step[a] = pow(1 / ratio, (double)a + 1);
    }
    size_t corner = 0, corners = 0, refused = 0, habitual = 0;
    const course classes = plan_course(axes, axis_count, wanted);
    bool in_corners = true, memory = true;
    keymap places = {0};
    for (size_t i = 0; memory && *count < wanted && i < MOST_TRIES * wanted; i++) {
        uint64_t key;
        value problem[PORTFOLIO_MAX_AXES];
        in_corners = in_corners && corner_at(axes, axis_count, corner++, problem);
        size_t chosen = *count - corners - habitual;
        for (size_t a = 0; a < axis_count && !in_corners; a++)
            problem[a] =
                value_at(&axes[a], at[a], class_at(axes, a, classes, at[a], chosen, refused),
                         chosen, refused);
        for (size_t a = 0; a < axis_count && !in_corners; a++)
            at[a] = at[a] + step[a] - floor(at[a] + step[a]);
        /* A refused problem is tried without a habit. */
        habit shared = in_corners || refused ? NONE : habit_of(*count - corners);
        refused++;
        if (!apply_habit(shared, axes, axis_count, problem) ||
            find(&places, out, problem, axis_count, &key) || !accept(context, problem))
            continue;
        refused = 0;
        memory = keymap_put(&places, key, *count);
        memcpy(&out[*count * axis_count], problem, axis_count * sizeof *problem);
        ++*count;
        corners += in_corners;
        habitual += shared != NONE;
    }
    keymap_deinit(&places);
    return memory ? AT_OK : error_no_memory(error);
}

double portfolio_distance(const portfolio_axis *axes, size_t axis_count, const value *a,
                          const value *b)
{
    double distance = 0;
    for (size_t i = 0; i < axis_count; i++) {
        bool numbers = a[i].kind == VALUE_INTEGER && b[i].kind == VALUE_INTEGER;
        if (!numbers) {
            distance += value_equal(a[i], b[i]) ? 0 : 2;
            continue;
        }
        double x = fabs((double)a[i].integer) + 1, y = fabs((double)b[i].integer) + 1;
        distance += fabs(log2(x / y));
        distance +=
            portfolio_class(&axes[i], a[i].integer) != portfolio_class(&axes[i], b[i].integer);
    }
    return distance;
}
