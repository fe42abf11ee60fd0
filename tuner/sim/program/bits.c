#include "sim/program/operations.h"

#define LOW(x) ((x)&0xffffu)
#define S16(x) ((int32_t)(int16_t)(x))

/* PTX shifts clamp their amount to the width; of narrower values all bits are out by then. */
static uint64_t shift_left(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a << n;
}

static uint64_t shift_right(uint64_t a, uint32_t n)
{
    return n > 63 ? 0 : a >> n;
}

static uint32_t reverse_32(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    return v >> 16 | v << 16;
}

/* shf.l: the high half of (high:low) << n. */
static uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t n)
{
    return (uint32_t)((((uint64_t)high << 32 | low) << n) >> 32);
}

static uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t n)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> n);
}

static uint32_t clamp_32(uint32_t n)
{
    return n > 32 ? 32 : n;
}

static uint64_t mask_of(uint32_t length)
{
    return length > 63 ? UINT64_MAX : (1ull << length) - 1;
}

/* Position and length of a field: the PTX ISA takes 8 bits of each. An H100 takes all of them for
 * 64 bits. */
static uint32_t amount(uint32_t v, int bits)
{
    return bits == 64 ? (v > 255 ? 255 : v) : v & 0xff;
}

/* bfe: `length` bits from `position`; signed ones extend the field's last bit, or the register's
 * when the field reaches past it. */
static uint64_t extract(uint64_t a, uint32_t position, uint32_t length, int bits, bool is_signed)
{
    position = amount(position, bits);
    length = amount(length, bits);
    uint64_t field = shift_right(a, position) & mask_of(length);
    if (!is_signed || length == 0)
        return field;
    uint32_t last = position + length - 1;
    if (last > (uint32_t)bits - 1)
        last = (uint32_t)bits - 1;
    if (!(a >> last & 1))
        return field;
    uint32_t kept = last + 1 > position ? last + 1 - position : 0;
    return field | ~mask_of(kept);
}

static uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length, int bits)
{
    position = amount(position, bits);
    length = amount(length, bits);
    uint64_t mask = shift_left(mask_of(length), position);
    return (b & ~mask) | (shift_left(a, position) & mask);
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t nibble = selector >> (4 * i) & 0xf;
        uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * i);
    }
    return d;
}

/* The special modes of prmt, as selectors for each value of the two low bits of c. */
static uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const uint16_t selectors[4])
{
    return permute(a, b, selectors[c & 3]);
}

static const uint16_t forward4[4] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t backward4[4] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t replicate8[4] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t clamp_left[4] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t clamp_right[4] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t replicate16[4] = {0x1010, 0x3232, 0x1010, 0x3232};

static uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t d = 0;
    d |= table & 0x01 ? ~a & ~b & ~c : 0;
    d |= table & 0x02 ? ~a & ~b & c : 0;
    d |= table & 0x04 ? ~a & b & ~c : 0;
    d |= table & 0x08 ? ~a & b & c : 0;
    d |= table & 0x10 ? a & ~b & ~c : 0;
    d |= table & 0x20 ? a & ~b & c : 0;
    d |= table & 0x40 ? a & b & ~c : 0;
    d |= table & 0x80 ? a & b & c : 0;
    return d;
}

/* bfind: the place of the highest bit, or how far it is from the top of `bits`. */
static uint32_t find_top(uint64_t v, uint32_t bits, bool shift_amount)
{
    if (v == 0)
        return UINT32_MAX;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(v);
    return shift_amount ? bits - 1 - top : top;
}

/* szext: the low `length` bits, extended by their highest or by zeros; of 0 bits nothing is left,
 * of all of them all (PTX ISA, szext). */
static uint32_t extend(uint32_t a, uint32_t length, bool clamps, bool is_signed)
{
    if (clamps && length > 31)
        return a;
    length &= 31;
    uint32_t above = UINT32_MAX << length;
    bool is_negative = is_signed && length > 0 && a >> (length - 1) & 1;
    return is_negative ? a | above : a & ~above;
}

/* fns: the place of the |offset|-th set bit from `base` on, upwards or downwards; all ones: there
 * is none. */
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    uint32_t left = offset < 0 ? 0 - (uint32_t)offset : (uint32_t)offset;
    for (uint32_t at = base; at < 32; at += offset < 0 ? UINT32_MAX : 1)
        if (mask >> at & 1 && --left == 0)
            return at;
    return UINT32_MAX;
}

/* cvt.pack.sat: two numbers clamped to `bits` beside each other, below what `rest` has. */
static uint32_t pack_clamped(int32_t high, int32_t low, uint32_t rest, uint32_t bits,
                             bool is_signed)
{
    int32_t top = (1 << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? -top - 1 : 0;
    uint32_t mask = (1u << bits) - 1;
    high = high > top ? top : high < bottom ? bottom : high;
    low = low > top ? top : low < bottom ? bottom : low;
    uint64_t above = (uint64_t)rest << 2 * bits;
    return (uint32_t)above | ((uint32_t)high & mask) << bits | ((uint32_t)low & mask);
}

/* Byte-wise dot product; a flag for each side says whether its bytes are signed. */
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool sign_a, bool sign_b)
{
    for (int i = 0; i < 32; i += 8) {
        int32_t x = sign_a ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = sign_b ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        c += (uint32_t)(x * y);
    }
    return c;
}

/* Dot product of both 16-bit halves of a with two bytes of b, the lower or the upper pair. */
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool sign_a, bool sign_b, bool upper)
{
    b >>= upper ? 16 : 0;
    for (int i = 0; i < 2; i++) {
        int32_t x = sign_a ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);
        int32_t y = sign_b ? (int8_t)(b >> 8 * i) : (uint8_t)(b >> 8 * i);
        c += (uint32_t)(x * y);
    }
    return c;
}

#define W uint32_t
#define D uint64_t
SIM_OP2(and_32, W, W, W, a[l] & b[l])
SIM_OP2(and_64, D, D, D, a[l] & b[l])
SIM_OP2(or_32, W, W, W, a[l] | b[l])
SIM_OP2(or_64, D, D, D, a[l] | b[l])
SIM_OP2(xor_32, W, W, W, a[l] ^ b[l])
SIM_OP2(xor_64, D, D, D, a[l] ^ b[l])
SIM_OP1(not_16, W, W, LOW(~a[l]))
SIM_OP1(not_32, W, W, ~a[l])
SIM_OP1(not_64, D, D, ~a[l])
SIM_OP1(cnot_32, W, W, a[l] == 0)
SIM_OP1(cnot_64, D, D, a[l] == 0)
SIM_OP4(lop3_32, W, W, W, W, W, logic3(a[l], b[l], c[l], e[l]))
SIM_OP2(shl_16, W, W, W, LOW(shift_left(a[l], b[l])))
SIM_OP2(shl_32, W, W, W, shift_left(a[l], b[l]))
SIM_OP2(shl_64, D, D, W, shift_left(a[l], b[l]))
SIM_OP2(shr_u16, W, W, W, shift_right(LOW(a[l]), b[l]))
SIM_OP2(shr_s16, W, W, W, LOW((W)(S16(a[l]) >> (b[l] > 15 ? 15 : b[l]))))
SIM_OP2(shr_u32, W, W, W, shift_right(a[l], b[l]))
SIM_OP2(shr_s32, int32_t, int32_t, W, a[l] >> (b[l] > 31 ? 31 : b[l]))
SIM_OP2(shr_u64, D, D, W, shift_right(a[l], b[l]))
SIM_OP2(shr_s64, int64_t, int64_t, W, a[l] >> (b[l] > 63 ? 63 : b[l]))
SIM_OP3(shf_l_wrap, W, W, W, W, funnel_left(a[l], b[l], c[l] & 31))
SIM_OP3(shf_l_clamp, W, W, W, W, funnel_left(a[l], b[l], clamp_32(c[l])))
SIM_OP3(shf_r_wrap, W, W, W, W, funnel_right(a[l], b[l], c[l] & 31))
SIM_OP3(shf_r_clamp, W, W, W, W, funnel_right(a[l], b[l], clamp_32(c[l])))
SIM_OP3(prmt_32, W, W, W, W, permute(a[l], b[l], c[l]))
SIM_OP3(prmt_f4e, W, W, W, W, permute_mode(a[l], b[l], c[l], forward4))
SIM_OP3(prmt_b4e, W, W, W, W, permute_mode(a[l], b[l], c[l], backward4))
SIM_OP3(prmt_rc8, W, W, W, W, permute_mode(a[l], b[l], c[l], replicate8))
SIM_OP3(prmt_ecl, W, W, W, W, permute_mode(a[l], b[l], c[l], clamp_left))
SIM_OP3(prmt_ecr, W, W, W, W, permute_mode(a[l], b[l], c[l], clamp_right))
SIM_OP3(prmt_rc16, W, W, W, W, permute_mode(a[l], b[l], c[l], replicate16))
SIM_OP1(popc_32, W, W, __builtin_popcount(a[l]))
SIM_OP1(popc_64, W, D, __builtin_popcountll(a[l]))
SIM_OP1(clz_32, W, W, a[l] ? __builtin_clz(a[l]) : 32)
SIM_OP1(clz_64, W, D, a[l] ? __builtin_clzll(a[l]) : 64)
SIM_OP1(brev_32, W, W, reverse_32(a[l]))
SIM_OP1(brev_64, D, D, (D)reverse_32((W)a[l]) << 32 | reverse_32((W)(a[l] >> 32)))
SIM_OP1(bfind_u32, W, W, find_top(a[l], 32, false))
SIM_OP1(bfind_s32, W, W, find_top((int32_t)a[l] < 0 ? ~a[l] : a[l], 32, false))
SIM_OP1(bfind_u64, W, D, find_top(a[l], 64, false))
SIM_OP1(bfind_s64, W, D, find_top((int64_t)a[l] < 0 ? ~a[l] : a[l], 64, false))
SIM_OP1(bfind_shift_u32, W, W, find_top(a[l], 32, true))
SIM_OP1(bfind_shift_s32, W, W, find_top((int32_t)a[l] < 0 ? ~a[l] : a[l], 32, true))
SIM_OP1(bfind_shift_u64, W, D, find_top(a[l], 64, true))
SIM_OP1(bfind_shift_s64, W, D, find_top((int64_t)a[l] < 0 ? ~a[l] : a[l], 64, true))
SIM_OP3(bfe_u32, W, W, W, W, extract(a[l], b[l], c[l], 32, false))
SIM_OP3(bfe_s32, W, W, W, W, extract(a[l], b[l], c[l], 32, true))
SIM_OP3(bfe_u64, D, D, W, W, extract(a[l], b[l], c[l], 64, false))
SIM_OP3(bfe_s64, D, D, W, W, extract(a[l], b[l], c[l], 64, true))
SIM_OP4(bfi_32, W, W, W, W, W, insert(a[l], b[l], c[l], e[l], 32))
SIM_OP4(bfi_64, D, D, D, W, W, insert(a[l], b[l], c[l], e[l], 64))
SIM_OP2(bmsk_clamp, W, W, W, shift_left((W)mask_of(b[l] > 32 ? 32 : b[l]), a[l]))
SIM_OP2(bmsk_wrap, W, W, W, (W)mask_of(b[l] & 31) << (a[l] & 31))
SIM_OP2(szext_clamp_u32, W, W, W, extend(a[l], b[l], true, false))
SIM_OP2(szext_clamp_s32, W, W, W, extend(a[l], b[l], true, true))
SIM_OP2(szext_wrap_u32, W, W, W, extend(a[l], b[l], false, false))
SIM_OP2(szext_wrap_s32, W, W, W, extend(a[l], b[l], false, true))
SIM_OP3(fns_32, W, W, W, int32_t, find_nth(a[l], b[l], c[l]))
SIM_OP2(pack_u16, W, int32_t, int32_t, pack_clamped(a[l], b[l], 0, 16, false))
SIM_OP2(pack_s16, W, int32_t, int32_t, pack_clamped(a[l], b[l], 0, 16, true))
SIM_OP3(pack_u8, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 8, false))
SIM_OP3(pack_s8, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 8, true))
SIM_OP3(pack_u4, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 4, false))
SIM_OP3(pack_s4, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 4, true))
SIM_OP3(pack_u2, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 2, false))
SIM_OP3(pack_s2, W, int32_t, int32_t, W, pack_clamped(a[l], b[l], c[l], 2, true))
SIM_OP3(dp4a_ss, W, W, W, W, dot4(a[l], b[l], c[l], true, true))
SIM_OP3(dp4a_su, W, W, W, W, dot4(a[l], b[l], c[l], true, false))
SIM_OP3(dp4a_us, W, W, W, W, dot4(a[l], b[l], c[l], false, true))
SIM_OP3(dp4a_uu, W, W, W, W, dot4(a[l], b[l], c[l], false, false))
SIM_OP3(dp2a_lo_ss, W, W, W, W, dot2(a[l], b[l], c[l], true, true, false))
SIM_OP3(dp2a_lo_su, W, W, W, W, dot2(a[l], b[l], c[l], true, false, false))
SIM_OP3(dp2a_lo_us, W, W, W, W, dot2(a[l], b[l], c[l], false, true, false))
SIM_OP3(dp2a_lo_uu, W, W, W, W, dot2(a[l], b[l], c[l], false, false, false))
SIM_OP3(dp2a_hi_ss, W, W, W, W, dot2(a[l], b[l], c[l], true, true, true))
SIM_OP3(dp2a_hi_su, W, W, W, W, dot2(a[l], b[l], c[l], true, false, true))
SIM_OP3(dp2a_hi_us, W, W, W, W, dot2(a[l], b[l], c[l], false, true, true))
SIM_OP3(dp2a_hi_uu, W, W, W, W, dot2(a[l], b[l], c[l], false, false, true))

/* Moves, and the pieces of packing moves ("mov.b64 %rd, {%r1, %r2}"). */
SIM_OP1(mov_32, W, W, a[l])
SIM_OP1(mov_64, D, D, a[l])
SIM_OP2(pack_2x8, W, W, W, (a[l] & 0xff) | (b[l] & 0xff) << 8)
SIM_OP2(pack_2x16, W, W, W, LOW(a[l]) | b[l] << 16)
SIM_OP2(pack_2x32, D, W, W, a[l] | (D)b[l] << 32)
SIM_OP4(pack_4x8, W, W, W, W, W,
        (a[l] & 0xff) | (b[l] & 0xff) << 8 | (c[l] & 0xff) << 16 | e[l] << 24)
SIM_OP4(pack_4x16, D, W, W, W, W,
        LOW(a[l]) | LOW(b[l]) << 16 | (D)LOW(c[l]) << 32 | (D)LOW(e[l]) << 48)
SIM_OP2(field_16, W, W, W, LOW(a[l] >> b[l]))
SIM_OP2(field_8, W, W, W, a[l] >> b[l] & 0xff)
SIM_OP2(field_64_16, W, D, W, LOW((W)(a[l] >> b[l])))
SIM_OP2(field_64_32, W, D, W, a[l] >> b[l])
SIM_OP1(narrow, W, D, a[l])
SIM_OP1(extend_u, D, W, a[l])
SIM_OP1(extend_s, D, W, (int64_t)(int32_t)a[l])
SIM_OP2(space_add, D, D, D, a[l] + b[l])
SIM_OP2(space_sub, D, D, D, a[l] - b[l])

#define BIT1(name, fn, to, from)                                                                   \
    {                                                                                              \
        name, fn, 1, to, {from}, SIM_CLASS_INTEGER                                                 \
    }
#define BIT2(name, fn, to, x, y)                                                                   \
    {                                                                                              \
        name, fn, 2, to, {x, y}, SIM_CLASS_INTEGER                                                 \
    }
#define BIT3(name, fn, to, x, y, z)                                                                \
    {                                                                                              \
        name, fn, 3, to, {x, y, z}, SIM_CLASS_INTEGER                                              \
    }
#define BIT4(name, fn, to, x, y, z, w)                                                             \
    {                                                                                              \
        name, fn, 4, to, {x, y, z, w}, SIM_CLASS_INTEGER                                           \
    }
#define MOVE1(name, fn, to, from)                                                                  \
    {                                                                                              \
        name, fn, 1, to, {from}, SIM_CLASS_MOVE                                                    \
    }
#define MOVE2(name, fn, to, x, y)                                                                  \
    {                                                                                              \
        name, fn, 2, to, {x, y}, SIM_CLASS_MOVE                                                    \
    }
#define MOVE4(name, fn, to)                                                                        \
    {                                                                                              \
        name, fn, 4, to, {4, 4, 4, 4}, SIM_CLASS_MOVE                                              \
    }
#define MOVES(type, fn, bytes) MOVE1("mov." type, fn, bytes, bytes)
#define PRMT(mode, fn) BIT3("prmt.b32" mode, fn, 4, 4, 4, 4)
#define DOT4(types, fn) BIT3("dp4a." types, fn, 4, 4, 4, 4)
#define DOT2(types, suffix)                                                                        \
    BIT3("dp2a.lo." types, dp2a_lo_##suffix, 4, 4, 4, 4),                                          \
        BIT3("dp2a.hi." types, dp2a_hi_##suffix, 4, 4, 4, 4)

const sim_operation sim_bit_operations[] = {BIT2("and.b16", and_32, 4, 4, 4),
                                            BIT2("and.b32", and_32, 4, 4, 4),
                                            BIT2("and.b64", and_64, 8, 8, 8),
                                            BIT2("or.b16", or_32, 4, 4, 4),
                                            BIT2("or.b32", or_32, 4, 4, 4),
                                            BIT2("or.b64", or_64, 8, 8, 8),
                                            BIT2("xor.b16", xor_32, 4, 4, 4),
                                            BIT2("xor.b32", xor_32, 4, 4, 4),
                                            BIT2("xor.b64", xor_64, 8, 8, 8),
                                            BIT1("not.b16", not_16, 4, 4),
                                            BIT1("not.b32", not_32, 4, 4),
                                            BIT1("not.b64", not_64, 8, 8),
                                            BIT1("cnot.b16", cnot_32, 4, 4),
                                            BIT1("cnot.b32", cnot_32, 4, 4),
                                            BIT1("cnot.b64", cnot_64, 8, 8),
                                            BIT4("lop3.b32", lop3_32, 4, 4, 4, 4, 4),
                                            BIT2("shl.b16", shl_16, 4, 4, 4),
                                            BIT2("shl.b32", shl_32, 4, 4, 4),
                                            BIT2("shl.b64", shl_64, 8, 8, 4),
                                            BIT2("shr.u16", shr_u16, 4, 4, 4),
                                            BIT2("shr.b16", shr_u16, 4, 4, 4),
                                            BIT2("shr.s16", shr_s16, 4, 4, 4),
                                            BIT2("shr.u32", shr_u32, 4, 4, 4),
                                            BIT2("shr.b32", shr_u32, 4, 4, 4),
                                            BIT2("shr.s32", shr_s32, 4, 4, 4),
                                            BIT2("shr.u64", shr_u64, 8, 8, 4),
                                            BIT2("shr.b64", shr_u64, 8, 8, 4),
                                            BIT2("shr.s64", shr_s64, 8, 8, 4),
                                            BIT3("shf.l.wrap.b32", shf_l_wrap, 4, 4, 4, 4),
                                            BIT3("shf.l.clamp.b32", shf_l_clamp, 4, 4, 4, 4),
                                            BIT3("shf.r.wrap.b32", shf_r_wrap, 4, 4, 4, 4),
                                            BIT3("shf.r.clamp.b32", shf_r_clamp, 4, 4, 4, 4),
                                            PRMT("", prmt_32),
                                            PRMT(".f4e", prmt_f4e),
                                            PRMT(".b4e", prmt_b4e),
                                            PRMT(".rc8", prmt_rc8),
                                            PRMT(".ecl", prmt_ecl),
                                            PRMT(".ecr", prmt_ecr),
                                            PRMT(".rc16", prmt_rc16),
                                            BIT1("popc.b32", popc_32, 4, 4),
                                            BIT1("popc.b64", popc_64, 4, 8),
                                            BIT1("clz.b32", clz_32, 4, 4),
                                            BIT1("clz.b64", clz_64, 4, 8),
                                            BIT1("brev.b32", brev_32, 4, 4),
                                            BIT1("brev.b64", brev_64, 8, 8),
                                            BIT1("bfind.u32", bfind_u32, 4, 4),
                                            BIT1("bfind.s32", bfind_s32, 4, 4),
                                            BIT1("bfind.u64", bfind_u64, 4, 8),
                                            BIT1("bfind.s64", bfind_s64, 4, 8),
                                            BIT1("bfind.shiftamt.u32", bfind_shift_u32, 4, 4),
                                            BIT1("bfind.shiftamt.s32", bfind_shift_s32, 4, 4),
                                            BIT1("bfind.shiftamt.u64", bfind_shift_u64, 4, 8),
                                            BIT1("bfind.shiftamt.s64", bfind_shift_s64, 4, 8),
                                            BIT3("bfe.u32", bfe_u32, 4, 4, 4, 4),
                                            BIT3("bfe.s32", bfe_s32, 4, 4, 4, 4),
                                            BIT3("bfe.u64", bfe_u64, 8, 8, 4, 4),
                                            BIT3("bfe.s64", bfe_s64, 8, 8, 4, 4),
                                            BIT4("bfi.b32", bfi_32, 4, 4, 4, 4, 4),
                                            BIT4("bfi.b64", bfi_64, 8, 8, 8, 4, 4),
                                            BIT2("bmsk.clamp.b32", bmsk_clamp, 4, 4, 4),
                                            BIT2("bmsk.wrap.b32", bmsk_wrap, 4, 4, 4),
                                            BIT2("szext.clamp.u32", szext_clamp_u32, 4, 4, 4),
                                            BIT2("szext.clamp.s32", szext_clamp_s32, 4, 4, 4),
                                            BIT2("szext.wrap.u32", szext_wrap_u32, 4, 4, 4),
                                            BIT2("szext.wrap.s32", szext_wrap_s32, 4, 4, 4),
                                            BIT3("fns.b32", fns_32, 4, 4, 4, 4),
                                            BIT2("cvt.pack.sat.u16.s32", pack_u16, 4, 4, 4),
                                            BIT2("cvt.pack.sat.s16.s32", pack_s16, 4, 4, 4),
                                            BIT3("cvt.pack.sat.u8.s32.b32", pack_u8, 4, 4, 4, 4),
                                            BIT3("cvt.pack.sat.s8.s32.b32", pack_s8, 4, 4, 4, 4),
                                            BIT3("cvt.pack.sat.u4.s32.b32", pack_u4, 4, 4, 4, 4),
                                            BIT3("cvt.pack.sat.s4.s32.b32", pack_s4, 4, 4, 4, 4),
                                            BIT3("cvt.pack.sat.u2.s32.b32", pack_u2, 4, 4, 4, 4),
                                            BIT3("cvt.pack.sat.s2.s32.b32", pack_s2, 4, 4, 4, 4),
                                            DOT4("s32.s32", dp4a_ss),
                                            DOT4("s32.u32", dp4a_su),
                                            DOT4("u32.s32", dp4a_us),
                                            DOT4("u32.u32", dp4a_uu),
                                            DOT2("s32.s32", ss),
                                            DOT2("s32.u32", su),
                                            DOT2("u32.s32", us),
                                            DOT2("u32.u32", uu),
                                            MOVES("b16", mov_32, 4),
                                            MOVES("u16", mov_32, 4),
                                            MOVES("s16", mov_32, 4),
                                            MOVES("f16", mov_32, 4),
                                            MOVES("bf16", mov_32, 4),
                                            MOVES("b32", mov_32, 4),
                                            MOVES("u32", mov_32, 4),
                                            MOVES("s32", mov_32, 4),
                                            MOVES("f32", mov_32, 4),
                                            MOVES("f16x2", mov_32, 4),
                                            MOVES("b64", mov_64, 8),
                                            MOVES("u64", mov_64, 8),
                                            MOVES("s64", mov_64, 8),
                                            MOVES("f64", mov_64, 8),
                                            MOVES("f32x2", mov_64, 8),
                                            MOVE2("pack.2x8", pack_2x8, 4, 4, 4),
                                            MOVE2("pack.2x16", pack_2x16, 4, 4, 4),
                                            MOVE2("pack.2x32", pack_2x32, 8, 4, 4),
                                            MOVE4("pack.4x8", pack_4x8, 4),
                                            MOVE4("pack.4x16", pack_4x16, 8),
                                            MOVE2("field.2.1", field_8, 4, 4, 4),
                                            MOVE2("field.4.1", field_8, 4, 4, 4),
                                            MOVE2("field.4.2", field_16, 4, 4, 4),
                                            MOVE2("field.8.2", field_64_16, 4, 8, 4),
                                            MOVE2("field.8.4", field_64_32, 4, 8, 4),
                                            MOVE1("narrow", narrow, 4, 8),
                                            MOVE1("extend.u", extend_u, 8, 4),
                                            MOVE1("extend.s", extend_s, 8, 4),
                                            MOVE2("space.add", space_add, 8, 8, 8),
                                            MOVE2("space.sub", space_sub, 8, 8, 8),
                                            {0}};
