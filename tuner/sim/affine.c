#include "sim/affine.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"

affine affine_number(uint64_t bits)
{
    return (affine){.kind = AFFINE_EXACT, .base = (int64_t)bits};
}

affine affine_data(void)
{
    return (affine){.kind = AFFINE_DATA};
}

/* Returns a cut in the middle of the longest axis of the grid, or of the block if the grid is one
 * block. Returns AFFINE_DATA for a box of one thread. */
static affine halve(const affine_box *box)
{
    int longest = AFFINE_AXES;
    for (int half = 1; half >= 0 && longest == AFFINE_AXES; half--)
        for (int i = 3 * half; i < 3 * half + 3; i++)
            if (box->count[i] > 1 &&
                (longest == AFFINE_AXES || box->count[i] > box->count[longest]))
                longest = i;
    if (longest == AFFINE_AXES)
        return affine_data();
    return (affine){
        .kind = AFFINE_CUT, .axis = (uint8_t)longest, .base = (int64_t)(box->count[longest] / 2)};
}

affine affine_halve_range(const affine_box *box, const affine *range)
{
    const uint64_t count = box->count[range->axis];
    if (range->kind != AFFINE_RANGE || count < 2)
        return halve(box);
    return (affine){.kind = AFFINE_CUT, .axis = range->axis, .base = (int64_t)(count / 2)};
}

affine affine_cut_range(const affine_box *box, const affine *range)
{
    affine cut = affine_halve_range(box, range);
    if (cut.kind == AFFINE_CUT && range->step[1] > 0 && cut.axis == range->axis &&
        (uint64_t)range->step[1] < box->count[range->axis]) {
        cut.base = range->step[1];
        cut.step[0] = range->step[2];
    }
    return cut;
}

bool affine_is_number(const affine *v)
{
    if (v->kind != AFFINE_EXACT)
        return false;
    for (int i = 0; i < AFFINE_AXES; i++)
        if (v->step[i])
            return false;
    return true;
}

static affine_integer change_along(const affine_box *box, const int64_t step[AFFINE_AXES], int axis)
{
    return (affine_integer)step[axis] * (affine_integer)(box->count[axis] - 1);
}

void affine_find_ends(const affine_box *box, affine_whole *v)
{
    v->low = v->high = v->base;
    for (int i = 0; i < AFFINE_AXES; i++) {
        if (v->step[i] == 0)
            continue;
        const affine_integer change = change_along(box, v->step, i);
        *(change < 0 ? &v->low : &v->high) += change;
    }
}

affine_whole affine_difference(const affine_box *box, const affine_whole *a, const affine_whole *b)
{
    affine_whole d = {.base = a->base - b->base};
    for (int i = 0; i < AFFINE_AXES; i++)
        d.step[i] = (int64_t)((uint64_t)a->step[i] - (uint64_t)b->step[i]);
    affine_find_ends(box, &d);
    return d;
}

affine affine_of_whole(const affine_whole *v)
{
    affine of = {.kind = AFFINE_EXACT, .base = (int64_t)v->base};
    memcpy(of.step, v->step, sizeof of.step);
    return of;
}

/* Returns the axis along which a value with these steps changes most, and sets *change to that
 * change. Both are 0 for a constant value. */
static int widest_axis(const affine_box *box, const int64_t step[AFFINE_AXES],
                       affine_integer *change)
{
    int axis = 0;
    *change = 0;
    for (int i = 0; i < AFFINE_AXES; i++) {
        const affine_integer along = change_along(box, step, i), far = along < 0 ? -along : along;
        if (far > *change) {
            *change = far;
            axis = i;
        }
    }
    return axis;
}

static affine_integer floor_divide(affine_integer a, affine_integer by)
{
    if (a == (int64_t)a && by == (int64_t)by) /* a 128-bit division takes ten times as long */
        return (int64_t)a / (int64_t)by - ((int64_t)a % (int64_t)by < 0);
    return a >= 0 ? a / by : -((-a + by - 1) / by);
}

bool affine_whole_of(const affine_box *box, const affine *v, int bits, affine_order order,
                     affine_whole *out, affine *cut)
{
    const affine_integer period = (affine_integer)1 << bits,
                         least = order == AFFINE_SIGNED ? -(period / 2) : 0;
    out->base = v->base;
    memcpy(out->step, v->step, sizeof out->step);
    affine_find_ends(box, out);
    const affine_integer turned =
        (out->low - least) &
        -period; /* rounded down to a multiple of the period, in two's complement */
    out->base -= turned;
    out->low -= turned;
    out->high -= turned;
    if (out->high < least + period)
        return true;
    *cut = affine_cut_where(box, out, least + period);
    return false;
}

affine affine_cut_where(const affine_box *box, const affine_whole *v, affine_integer limit)
{
    affine_integer widest;
    const int axis = widest_axis(box, v->step, &widest);
    if (widest == 0)
        return affine_data();
    /* Along the axis, the value rises by `rise`. The other axes add at most `others`. */
    const affine_integer count = (affine_integer)box->count[axis], step = v->step[axis],
                         rise = step < 0 ? -step : step, others = v->high - v->low - widest;
    const affine_integer below = -floor_divide(-(limit - v->low - others), rise),
                         above = -floor_divide(-(limit - v->low), rise);
    affine_integer at = below > 0 && below < count   ? below
                        : above > 0 && above < count ? above
                                                     : count / 2;
    if (step < 0)
        at = count - at;
    return (affine){.kind = AFFINE_CUT, .axis = (uint8_t)axis, .base = (int64_t)at};
}

/* Returns the cut where the remainder next reaches `by`. If the remainder wraps often, returns a
 * cut into every nth coordinate: from i to i + n the value changes by n times its step modulo `by`.
 * That change is small if n is the denominator of a convergent of step / by (Khinchin, "Continued
 * Fractions", theorem 16). So few boxes suffice for a division by 12, even if it
 * is compiled to a product with 2863311531 and a shift by 35. */
static affine cut_of_remainder(const affine_box *box, const affine_whole *rest, affine_integer next,
                               int64_t by)
{
    enum { MOST_CLASSES = 1024, FEWER = 4 };
    affine cut = affine_cut_where(box, rest, next);
    if (cut.kind != AFFINE_CUT)
        return cut;
    const affine_integer count = (affine_integer)box->count[cut.axis];
    const int64_t step = rest->step[cut.axis];
    int64_t left = by, change = step < 0 ? -step : step, before = 0, classes = 1;
    affine_integer least = count * change / by / FEWER;
    while (change != 0) {
        const int64_t turns = left / change, after = left % change;
        if (turns > MOST_CLASSES)
            break;
        left = change;
        change = after;
        const int64_t n = turns * classes + before;
        before = classes;
        classes = n;
        if (n > MOST_CLASSES)
            break;
        const affine_integer boxes = n + count * change / by;
        if (boxes < least) {
            least = boxes;
            cut.step[0] = n;
        }
    }
    return cut;
}

/* Returns the quotient rounded to nearest, so that the remainder changes slowly. */
static int64_t nearest_quotient(int64_t a, int64_t by)
{
    const int64_t q = a / by, rest = a % by, magnitude = rest < 0 ? -rest : rest;
    return magnitude > by - magnitude ? q + (a < 0 ? -1 : 1) : q;
}

bool affine_divide(const affine_box *box, const affine_whole *v, int64_t by, affine *quotient,
                   affine *remainder, affine *cut)
{
    affine_whole rest = *v;
    affine parts = {.kind = AFFINE_EXACT};
    for (int i = 0; i < AFFINE_AXES; i++) {
        rest.step[i] = 0;
        if (box->count[i] > 1 && v->step[i] != 0) {
            parts.step[i] = nearest_quotient(v->step[i], by);
            rest.step[i] = v->step[i] - parts.step[i] * by;
        }
    }
    affine_find_ends(box, &rest);
    const affine_integer whole = floor_divide(rest.low, by);
    if (floor_divide(rest.high, by) != whole) {
        *cut = cut_of_remainder(box, &rest, (whole + 1) * by, by);
        return false;
    }
    parts.base = (int64_t)whole;
    *quotient = parts;
    rest.base -= whole * by;
    *remainder = affine_of_whole(&rest);
    return true;
}

affine affine_add(const affine *a, const affine *b)
{
    affine sum = {.kind = AFFINE_EXACT, .base = (int64_t)((uint64_t)a->base + (uint64_t)b->base)};
    for (int i = 0; i < AFFINE_AXES; i++)
        sum.step[i] = (int64_t)((uint64_t)a->step[i] + (uint64_t)b->step[i]);
    return sum;
}

affine affine_scale(const affine *a, int64_t by)
{
    affine product = {.kind = AFFINE_EXACT, .base = (int64_t)((uint64_t)a->base * (uint64_t)by)};
    for (int i = 0; i < AFFINE_AXES; i++)
        product.step[i] = (int64_t)((uint64_t)a->step[i] * (uint64_t)by);
    return product;
}

affine affine_wrap32(const affine *v)
{
    affine low = *v;
    low.base = (int32_t)(uint32_t)(uint64_t)v->base;
    for (int i = 0; i < AFFINE_AXES; i++)
        low.step[i] = (int32_t)(uint32_t)(uint64_t)v->step[i];
    return low;
}

int affine_zero_bits(const affine_box *box, const affine *v)
{
    uint64_t any = (uint64_t)v->base | UINT64_C(1) << 63;
    for (int i = 0; i < AFFINE_AXES; i++)
        any |= box->count[i] > 1 ? (uint64_t)v->step[i] : 0;
    return __builtin_ctzll(any);
}

uint64_t affine_bits(const affine *v, int bytes)
{
    return bytes == 4 ? (uint32_t)(uint64_t)v->base : (uint64_t)v->base;
}

bool affine_is_less(uint64_t a, uint64_t b, int bytes, affine_order order)
{
    if (order == AFFINE_REAL && bytes == 4)
        return float_of_bits((uint32_t)a) < float_of_bits((uint32_t)b);
    if (order == AFFINE_REAL)
        return double_of_bits(a) < double_of_bits(b);
    if (order == AFFINE_SIGNED && bytes == 4)
        return (int32_t)(uint32_t)a < (int32_t)(uint32_t)b;
    return order == AFFINE_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

affine affine_obstacle(const affine_box *box, const affine *const v[], int count)
{
    for (int i = 0; i < count; i++)
        if (v[i]->kind == AFFINE_DATA)
            return *v[i];
    for (int i = 0; i < count; i++)
        if (v[i]->kind == AFFINE_CUT)
            return *v[i];
    for (int i = 0; i < count; i++)
        if (v[i]->kind == AFFINE_RANGE)
            return affine_cut_range(box, v[i]);
    for (int i = 0; i < count; i++) {
        affine_whole whole = {.base = 0};
        if (affine_is_number(v[i]))
            continue;
        memcpy(whole.step, v[i]->step, sizeof whole.step);
        affine_find_ends(box, &whole);
        return affine_cut_where(box, &whole, (whole.low + whole.high) / 2 + 1);
    }
    return halve(box);
}

uint8_t affine_axis(const affine_box *box, const affine *v)
{
    affine_integer change;
    return v->kind == AFFINE_EXACT ? (uint8_t)widest_axis(box, v->step, &change) : v->axis;
}

bool affine_ends(const affine_box *box, const affine *v, int bytes, affine_order order,
                 uint64_t ends[2], affine *cut)
{
    affine_whole whole;
    if (v->kind == AFFINE_RANGE && v->order == order) {
        ends[0] = (uint64_t)v->base;
        ends[1] = (uint64_t)v->step[0];
        return true;
    }
    if (affine_is_number(v)) {
        ends[0] = ends[1] = affine_bits(v, bytes);
        return true;
    }
    *cut = affine_obstacle(box, (const affine *const[]){v}, 1);
    if (v->kind == AFFINE_RANGE && v->order != AFFINE_REAL && order != AFFINE_REAL) {
        /* Signed and unsigned order agree if both ends have the same sign bit. */
        const int shift = 8 * bytes - 1;
        if (((uint64_t)v->base >> shift & 1) != ((uint64_t)v->step[0] >> shift & 1))
            return false;
        ends[0] = (uint64_t)v->base;
        ends[1] = (uint64_t)v->step[0];
        return true;
    }
    if (v->kind != AFFINE_EXACT || order == AFFINE_REAL ||
        !affine_whole_of(box, v, 8 * bytes, order, &whole, cut))
        return false;
    ends[0] = (uint64_t)whole.low;
    ends[1] = (uint64_t)whole.high;
    return true;
}

static bool is_not_finite(uint64_t v, int bytes, affine_order order)
{
    return order == AFFINE_REAL &&
           (bytes == 4 ? !isfinite(float_of_bits((uint32_t)v)) : !isfinite(double_of_bits(v)));
}

affine affine_between(const affine_box *box, const uint64_t *results, int count, int bytes,
                      affine_order order, uint8_t axis)
{
    affine v = {.kind = AFFINE_RANGE, .order = (uint8_t)order, .axis = axis};
    uint64_t low = results[0], high = results[0];
    for (int i = 0; i < count; i++) {
        if (count > 1 && is_not_finite(results[i], bytes, order))
            return affine_halve_range(box, &v);
        low = affine_is_less(results[i], low, bytes, order) ? results[i] : low;
        high = affine_is_less(high, results[i], bytes, order) ? results[i] : high;
    }
    if (low == high)
        return affine_number(low);
    v.base = (int64_t)low;
    v.step[0] = (int64_t)high;
    return v;
}

affine affine_widen(const affine_box *box, const affine *v, affine_order order)
{
    affine_whole whole;
    affine cut;
    if (v->kind == AFFINE_RANGE && v->order == order && order != AFFINE_REAL) {
        affine wide = *v;
        if (order == AFFINE_SIGNED) {
            wide.base = (int32_t)(uint32_t)(uint64_t)v->base;
            wide.step[0] = (int32_t)(uint32_t)(uint64_t)v->step[0];
        }
        return wide;
    }
    if (v->kind != AFFINE_EXACT)
        return affine_obstacle(box, &v, 1);
    if (!affine_whole_of(box, v, 32, order, &whole, &cut))
        return cut;
    return affine_of_whole(&whole);
}
