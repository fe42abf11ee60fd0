#include "sim/machine/atomic.h"

#include <math.h>

#include "base/bits.h"
#include "base/half.h"
#include "sim/program/operations.h"

static double to_double(uint64_t bits, ptx_type t)
{
    switch (t) {
    case PTX_F32:
        return float_of_bits((uint32_t)bits);
    case PTX_F64:
        return double_of_bits(bits);
    case PTX_F16:
        return half_to_float((uint16_t)bits);
    default:
        return bfloat_to_float((uint16_t)bits);
    }
}

static float flushed(float v)
{
    return fabsf(v) < 0x1p-126f ? copysignf(0.0f, v) : v;
}

/* PTX ISA, atom: additions of floats in global memory take and give zeros for subnormal numbers; in
 * shared memory not. */
static uint64_t add_float(uint64_t a, uint64_t b, ptx_type t, bool flush)
{
    if (t == PTX_F32 && flush)
        return bits_of_float(
            sim_float(flushed(flushed((float)to_double(a, t)) + flushed((float)to_double(b, t)))));
    if (t == PTX_F32)
        return bits_of_float(sim_float((float)to_double(a, t) + (float)to_double(b, t)));
    double v = to_double(a, t) + to_double(b, t);
    switch (t) {
    case PTX_F16:
        return half_from_double(v);
    case PTX_BF16:
        return bfloat_from_double(v);
    default:
        return bits_of_double(sim_double(v, to_double(a, t), to_double(b, t)));
    }
}

static bool is_less(uint64_t a, uint64_t b, ptx_type t)
{
    switch (t) {
    case PTX_S32:
        return (int32_t)a < (int32_t)b;
    case PTX_S64:
        return (int64_t)a < (int64_t)b;
    case PTX_U32:
    case PTX_B32:
        return (uint32_t)a < (uint32_t)b;
    case PTX_F16:
    case PTX_BF16:
        return to_double(a, t) < to_double(b, t);
    default:
        return a < b;
    }
}

static uint64_t combine(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                        uint64_t other)
{
    bool is_float = t == PTX_F32 || t == PTX_F64 || t == PTX_F16 || t == PTX_BF16;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_float ? add_float(old, v, t, flush) : old + v;
    case SIM_ATOMIC_MIN:
        return is_less(v, old, t) ? v : old;
    case SIM_ATOMIC_MAX:
        return is_less(old, v, t) ? v : old;
    case SIM_ATOMIC_INC:
        return (uint32_t)old >= (uint32_t)v ? 0 : old + 1;
    case SIM_ATOMIC_DEC:
        return old == 0 || (uint32_t)old > (uint32_t)v ? v : old - 1;
    case SIM_ATOMIC_AND:
        return old & v;
    case SIM_ATOMIC_OR:
        return old | v;
    case SIM_ATOMIC_XOR:
        return old ^ v;
    case SIM_ATOMIC_EXCH:
        return v;
    default:
        return old == v ? other : old;
    }
}

/* Both halves of a packed pair. */
static uint64_t combine_pair(sim_atomic_op op, ptx_type half, uint64_t old, uint64_t v)
{
    uint64_t low = combine(op, half, false, old & 0xffff, v & 0xffff, 0) & 0xffff;
    uint64_t high = combine(op, half, false, old >> 16 & 0xffff, v >> 16 & 0xffff, 0) & 0xffff;
    return low | high << 16;
}

static uint64_t next_value(sim_atomic_op op, ptx_type t, bool flush, uint64_t old, uint64_t v,
                           uint64_t other)
{
    if (t == PTX_F16X2 || t == PTX_BF16X2)
        return combine_pair(op, t == PTX_F16X2 ? PTX_F16 : PTX_BF16, old, v);
    return combine(op, t, flush, old, v, other);
}

/* A compare-and-swap loop: blocks run on several host threads. */
#define APPLY(T)                                                                                   \
    do {                                                                                           \
        T *p = (T *)(void *)at;                                                                    \
        T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
        while (!__atomic_compare_exchange_n(                                                       \
            p, &old, (T)next_value(op, type, flush, old, (T)operand, (T)other), false,             \
            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                                                   \
            ;                                                                                      \
        return old;                                                                                \
    } while (0)

bool sim_atomic_exchange(uint8_t *at, sim_atomic_op op, const uint64_t operand[2],
                         const uint64_t other[2], uint64_t old[2])
{
    uint64_t *halves = (uint64_t *)(void *)at;
    const uint64_t *fresh = op == SIM_ATOMIC_CAS ? other : operand;
    for (int i = 0; i < 2; i++)
        old[i] = __atomic_load_n(&halves[i], __ATOMIC_SEQ_CST);
    if (op == SIM_ATOMIC_CAS && (old[0] != operand[0] || old[1] != operand[1]))
        return false;
    for (int i = 0; i < 2; i++)
        __atomic_store_n(&halves[i], fresh[i], __ATOMIC_SEQ_CST);
    return true;
}

uint64_t sim_atomic_apply(uint8_t *at, sim_atomic_op op, ptx_type type, bool flush,
                          uint64_t operand, uint64_t other)
{
    switch (ptx_type_bytes(type)) {
    case 2:
        APPLY(uint16_t);
    case 4:
        APPLY(uint32_t);
    default:
        APPLY(uint64_t);
    }
}
