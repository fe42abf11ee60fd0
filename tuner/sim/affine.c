#include "sim/affine.h"

#include <string.h>

affine affine_number(uint64_t bits)
{
    return (affine){.kind = AFFINE_EXACT, .base = (int64_t)bits};
}

affine affine_data(void)
{
    return (affine){.kind = AFFINE_DATA};
}

affine affine_halve(const affine_box *box)
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
        return affine_halve(box);
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

/* From the first place of the axis to the last. */
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

int affine_widest(const affine_box *box, const int64_t step[AFFINE_AXES], affine_integer *change)
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
    if (a == (int64_t)a && by == (int64_t)by) /* a division of 128 bits takes ten times as long */
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
        (out->low - least) & -period; /* rounded down, in two's complement */
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
    const int axis = affine_widest(box, v->step, &widest);
    if (widest == 0)
        return affine_data();
    /* Along the axis the value rises by `rise` from `low`, or else falls; the others add up to
     * `others`. */
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

/* The cut where the remainder reaches `by` again, or, where it does so often, into every nth place:
 * from i to i + n it changes by n times its step modulo `by`, which is least, for so small an n,
 * where n is the denominator of a convergent of step / by (Khinchin, "Continued Fractions", theorem
 * 16). So boxes are few for a division by 12, be it written as a product with 2863311531 and a
 * shift by 35. */
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

/* The quotient rounded to the nearest: steps of what remains are short, up or down. */
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
