/* Defines the operations of a section of sim/instructions.def: a function over 32 lanes for each
 * row, named by its line, and the table of the rows. A file includes this header once, after it
 * defines the functions of its rows, SIM_ROWS_<SECTION>, and SIM_TABLE, the name of its table. */
#include <stddef.h>

typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef float f32;
typedef double f64;

#define AT_LINE_(prefix, line) prefix##line
#define AT_LINE(prefix, line) AT_LINE_(prefix, line)
#define HANDLER AT_LINE(row_, __LINE__)
#define HANDLER_OF(prefix) AT_LINE(prefix, __LINE__)

/* Defines the function of a row: the expression for lane l over a, b, c, e of types A, B, C, E. */
#define FUNCTION(name, D, A, B, C, E, expression)                                                  \
    static void name(void *restrict to, const void *const sources[4])                              \
    {                                                                                              \
        D *restrict d = to;                                                                        \
        const A *a = sources[0];                                                                   \
        const B *b = sources[1];                                                                   \
        const C *c = sources[2];                                                                   \
        const E *e = sources[3];                                                                   \
        (void)b, (void)c, (void)e;                                                                 \
        SIM_EACH_LANE(l) d[l] = (D)(expression);                                                   \
    }
#define OP1(names, D, A, expression, ...) FUNCTION(HANDLER, D, A, A, A, A, expression)
#define OP2(names, D, A, B, expression, ...) FUNCTION(HANDLER, D, A, B, B, B, expression)
#define OP3(names, D, A, B, C, expression, ...) FUNCTION(HANDLER, D, A, B, C, C, expression)
#define OP4(names, D, A, B, C, E, expression, ...) FUNCTION(HANDLER, D, A, B, C, E, expression)
#define CALL3(...)

/* Rounds by changing the host's mode around the loop, because directed rounding is rare. Volatile
 * operands keep the arithmetic between the two changes. */
#define ROUNDED(name, T, count, mode, expression, result)                                          \
    static void name(void *restrict to, const void *const sources[4])                              \
    {                                                                                              \
        T *restrict d = to;                                                                        \
        const T *a = sources[0], *b = sources[(count) > 1 ? 1 : 0],                                \
                *c = sources[(count) > 2 ? 2 : 0];                                                 \
        int before = fegetround();                                                                 \
        fesetround(mode);                                                                          \
        SIM_EACH_LANE(l)                                                                           \
        {                                                                                          \
            volatile T x = a[l], y = b[l], z = c[l];                                               \
            (void)y, (void)z;                                                                      \
            volatile T v = expression;                                                             \
            d[l] = result;                                                                         \
        }                                                                                          \
        fesetround(before);                                                                        \
    }
#define DIRECTED(count, name, type, T, expression, result, ...)                                    \
    ROUNDED(HANDLER_OF(rz_), T, count, FE_TOWARDZERO, expression, result)                          \
    ROUNDED(HANDLER_OF(rm_), T, count, FE_DOWNWARD, expression, result)                            \
    ROUNDED(HANDLER_OF(rp_), T, count, FE_UPWARD, expression, result)

/* Define the functions of a half (f16, bf16), and over 32 lanes of one or two halves. */
#define OF_HALVES(T, from, to, to_double, expression)                                              \
    static uint16_t HANDLER_OF(T)(uint16_t x, uint16_t y, uint16_t z)                              \
    {                                                                                              \
        float (*const load)(uint16_t) = from;                                                      \
        uint16_t (*const store)(float) = to;                                                       \
        uint16_t (*const store_double)(double) = to_double;                                        \
        (void)y, (void)z, (void)load, (void)store, (void)store_double;                             \
        return expression;                                                                         \
    }
#define OF_ONE(T, PART) HANDLER_OF(T)(PART(a[l]), 0, 0)
#define OF_TWO(T, PART) HANDLER_OF(T)(PART(a[l]), PART(b[l]), 0)
#define OF_THREE(T, PART) HANDLER_OF(T)(PART(a[l]), PART(b[l]), PART(c[l]))
#define OF_LANES(T, operands)                                                                      \
    FUNCTION(HANDLER_OF(T##1_), u32, u32, u32, u32, u32, operands(T, LO))                          \
    FUNCTION(HANDLER_OF(T##2_), u32, u32, u32, u32, u32, PAIR(operands(T, LO), operands(T, HI)))
#define HALF_FUNCTIONS(operands, expression)                                                       \
    OF_HALVES(h_, half_to_float, half_from_float, half_from_double, expression)                    \
    OF_HALVES(b_, bfloat_to_float, bfloat_from_float, bfloat_from_double, expression)              \
    OF_LANES(h_, operands) OF_LANES(b_, operands)
#define HALF1(name, expression, ...) HALF_FUNCTIONS(OF_ONE, expression)
#define HALF2(name, expression, ...) HALF_FUNCTIONS(OF_TWO, expression)
#define HALF3(name, expression, ...) HALF_FUNCTIONS(OF_THREE, expression)

#include "sim/instructions.def"

#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef CALL3
#undef DIRECTED
#undef HALF1
#undef HALF2
#undef HALF3

#define ROW(names, function, count, D, A, B, C, E, class, flow, ...)                               \
    {names,                                                                                        \
     function,                                                                                     \
     count,                                                                                        \
     sizeof(D),                                                                                    \
     {sizeof(A), (count) > 1 ? sizeof(B) : 0, (count) > 2 ? sizeof(C) : 0,                         \
      (count) > 3 ? sizeof(E) : 0},                                                                \
     SIM_CLASS_##class,                                                                            \
     SIM_FLOW_##flow,                                                                              \
     __VA_ARGS__},
#define OP1(names, D, A, expression, class, flow, ...)                                             \
    ROW(names, HANDLER, 1, D, A, A, A, A, class, flow, __VA_ARGS__)
#define OP2(names, D, A, B, expression, class, flow, ...)                                          \
    ROW(names, HANDLER, 2, D, A, B, B, B, class, flow, __VA_ARGS__)
#define OP3(names, D, A, B, C, expression, class, flow, ...)                                       \
    ROW(names, HANDLER, 3, D, A, B, C, C, class, flow, __VA_ARGS__)
#define OP4(names, D, A, B, C, E, expression, class, flow, ...)                                    \
    ROW(names, HANDLER, 4, D, A, B, C, E, class, flow, __VA_ARGS__)
#define CALL3(names, D, A, B, C, function, class, flow, ...)                                       \
    ROW(names, function, 3, D, A, B, C, C, class, flow, __VA_ARGS__)
#define DIRECTED(count, name, type, T, expression, result, class, flow, ...)                       \
    ROW(name ".rz." type, HANDLER_OF(rz_), count, T, T, T, T, T, class, flow, __VA_ARGS__)         \
    ROW(name ".rm." type, HANDLER_OF(rm_), count, T, T, T, T, T, class, flow, __VA_ARGS__)         \
    ROW(name ".rp." type, HANDLER_OF(rp_), count, T, T, T, T, T, class, flow, __VA_ARGS__)
#define HALF(name, type, T, count, flow, ...)                                                      \
    ROW(name type, HANDLER_OF(T), count, u32, u32, u32, u32, u32, HALF, flow, NONE, __VA_ARGS__)
#define ALL_HALVES(name, count, ...)                                                               \
    HALF(name, ".f16", h_1_, count, MIXES, __VA_ARGS__)                                            \
    HALF(name, ".f16x2", h_2_, count, HALVES, __VA_ARGS__)                                         \
    HALF(name, ".bf16", b_1_, count, MIXES, __VA_ARGS__)                                           \
    HALF(name, ".bf16x2", b_2_, count, HALVES, __VA_ARGS__)
#define HALF1(name, expression, ...) ALL_HALVES(name, 1, __VA_ARGS__)
#define HALF2(name, expression, ...) ALL_HALVES(name, 2, __VA_ARGS__)
#define HALF3(name, expression, ...) ALL_HALVES(name, 3, __VA_ARGS__)

/* clang-format off */
#define NONE {RULE_NUMBERS, AFFINE_UNSIGNED}
#define UNSIGNED(rule) {RULE_##rule, AFFINE_UNSIGNED}
#define SIGNED(rule) {RULE_##rule, AFFINE_SIGNED}
#define REAL(rule) {RULE_##rule, AFFINE_REAL}
/* clang-format on */
#define PIPE SIM_COST
#define CHAIN SIM_COST_OF_CHAIN

const sim_operation SIM_TABLE[] = {
#include "sim/instructions.def"
    {0}};
