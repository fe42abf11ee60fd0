/* Operations on integers and bits, which the rows of sim/instructions.def use. */
#include "base/bits.h"
#include "sim/program/operations.h"

/* Signed arithmetic wraps in PTX, so C computes it in the unsigned type. */
#define U(x) ((uint32_t)(x))
#define UL(x) ((uint64_t)(x))
#define LOW(x) ((x)&0xffffu)
#define S16(x) ((int32_t)(int16_t)(x))

static int64_t divide(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? (int64_t)(0 - UL(a)) : a / b;
}

/* A division by zero returns all ones, as on an H100; the PTX ISA does not define it. */
static int64_t remainder_of(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? 0 : a % b;
}

static int64_t high_s64(int64_t a, int64_t b)
{
    uint64_t h = high_product(UL(a), UL(b));
    h -= a < 0 ? UL(b) : 0;
    h -= b < 0 ? UL(a) : 0;
    return (int64_t)h;
}

static int32_t clamp_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

#define U24(x) ((x)&0xffffffu)
#define S24(x) ((int64_t)((int32_t)((x) << 8) >> 8))

/* Two 16-bit numbers in a word. */
#define HALVES(low, high) (LOW(low) | U(high) << 16)
#define PICK_U16(x, op, y) (LOW(x) op LOW(y) ? x : y)
#define PICK_S16(x, op, y) (S16(x) op S16(y) ? x : y)
#define PICK_BOTH(PICK, op) HALVES(PICK(a[l], op, b[l]), PICK((a[l] >> 16), op, (b[l] >> 16)))

static uint32_t relu_16x2(uint32_t v)
{
    return HALVES(S16(v) < 0 ? 0 : v, S16(v >> 16) < 0 ? 0 : v >> 16);
}
#define RELU(v) ((v) < 0 ? 0 : (v))

/* PTX clamps a shift amount to the width, so a narrower value shifted by more becomes zero. */
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

/* shf.l: returns the high half of (high:low) << n. */
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

/* Returns the position or length of a field that the GPU uses. For 32-bit fields these are the low
 * 8 bits of v (PTX ISA). For 64-bit fields these are all bits, and 255 stands for more (H100). */
static uint32_t amount(uint32_t v, int bits)
{
    return bits == 64 ? (v > 255 ? 255 : v) : v & 0xff;
}

/* bfe: returns the field of `length` bits from `position` on. The last bit of a signed field fills
 * the higher bits. If the field reaches beyond the register, the register's last bit fills them. */
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

/* The special modes of prmt: one selector for each value of the two low bits of c. */
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

/* bfind: returns the index of the highest set bit, or its distance from the top; all ones for 0. */
static uint32_t find_top(uint64_t v, uint32_t bits, bool shift_amount)
{
    if (v == 0)
        return UINT32_MAX;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(v);
    return shift_amount ? bits - 1 - top : top;
}

/* szext: returns the low `length` bits, extended by the highest or zeros. Length 0 gives 0; with
 * `clamps`, a length above 31 gives `a` (PTX ISA, "szext"). */
static uint32_t extend(uint32_t a, uint32_t length, bool clamps, bool is_signed)
{
    if (clamps && length > 31)
        return a;
    length &= 31;
    uint32_t above = UINT32_MAX << length;
    bool is_negative = is_signed && length > 0 && a >> (length - 1) & 1;
    return is_negative ? a | above : a & ~above;
}

/* fns: returns the |offset|-th set bit from `base` on (down if negative), or all ones. */
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

/* cvt.pack.sat: returns two numbers clamped to `bits` bits side by side, with `rest` above them. */
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

/* dp4a: adds the dot product of the bytes of a and b to c. The flags say whose bytes are signed. */
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool sign_a, bool sign_b)
{
    for (int i = 0; i < 32; i += 8) {
        int32_t x = sign_a ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = sign_b ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        c += (uint32_t)(x * y);
    }
    return c;
}

/* dp2a: adds the dot product of the 16-bit halves of a and the lower or upper two bytes of b to c.
 */
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

#define SIM_TABLE sim_integer_operations
#define SIM_ROWS_INTEGER
#include "sim/program/rows.h"
