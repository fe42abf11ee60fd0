#include "base/bits.h"
#include "sim/program/operations.h"

/* Signed arithmetic wraps in PTX; in C it must go through the unsigned type. */
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

/* A division by zero gives all ones, as on an H100; the PTX ISA leaves it open. */
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

/* Two numbers of 16 bits in a word. */
#define HALVES(low, high) (LOW(low) | U(high) << 16)
#define PICK_U16(x, op, y) (LOW(x) op LOW(y) ? x : y)
#define PICK_S16(x, op, y) (S16(x) op S16(y) ? x : y)
#define PICK_BOTH(PICK, op) HALVES(PICK(a[l], op, b[l]), PICK((a[l] >> 16), op, (b[l] >> 16)))

static uint32_t relu_16x2(uint32_t v)
{
    return HALVES(S16(v) < 0 ? 0 : v, S16(v >> 16) < 0 ? 0 : v >> 16);
}
#define RELU(v) ((v) < 0 ? 0 : (v))

#define SIM_TABLE sim_integer_operations
#define SIM_ROWS_INTEGER
#include "sim/program/rows.h"
