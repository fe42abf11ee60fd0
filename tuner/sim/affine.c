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
        (uint64_t)range->step[1] < box->count[range->axis])
        cut.base = range->step[1];
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
    const affine_integer turns = floor_divide(out->low - least, period);
    out->base -= turns * period;
    out->low -= turns * period;
    out->high -= turns * period;
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

bool affine_divide(const affine_box *box, const affine_whole *v, int64_t by, affine *quotient,
                   affine *remainder, affine *cut)
{
    affine_whole rest = *v;
    affine parts = {.kind = AFFINE_EXACT};
    for (int i = 0; i < AFFINE_AXES; i++) {
        parts.step[i] = box->count[i] > 1 ? v->step[i] / by : 0;
        rest.step[i] = box->count[i] > 1 ? v->step[i] % by : 0;
    }
    affine_find_ends(box, &rest);
    const affine_integer whole = floor_divide(rest.low, by);
    if (floor_divide(rest.high, by) != whole) {
        *cut = affine_cut_where(box, &rest, (whole + 1) * by);
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
