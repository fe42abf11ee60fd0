#if defined(__clang__) && defined(__CUDA__)
/* The kernels are PTX that NVRTC compiled from their sources, so that they take as long as
 * measured. The code that clang makes of the same sources may be slower. Define
 * AUTOTUNE_CLANG_COMPILES to have clang compile the sources. */
#ifndef AUTOTUNE_CLANG_COMPILES
#define AUTOTUNE_PTX
#endif

/* Cache hints for any type. CUDA declares them in sm_32_intrinsics.h, but clang's headers do
 * not. */
#define AUTOTUNE_LOAD(name, hint)                                                                             \
    template <typename T> static __device__ __forceinline__ T name(const T *from)                             \
    {                                                                                                         \
        unsigned int w[4] = {};                                                                               \
        T value;                                                                                              \
        static_assert(sizeof value <= 16 && (sizeof value & (sizeof value - 1)) == 0, "1 to 16 bytes");       \
        if constexpr (sizeof value == 16)                                                                     \
            asm volatile("ld.global." hint ".v4.u32 {%0, %1, %2, %3}, [%4];"                                  \
                         : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(from) : "memory");            \
        else if constexpr (sizeof value == 8)                                                                 \
            asm volatile("ld.global." hint ".v2.u32 {%0, %1}, [%2];"                                          \
                         : "=r"(w[0]), "=r"(w[1]) : "l"(from) : "memory");                                    \
        else if constexpr (sizeof value == 4)                                                                 \
            asm volatile("ld.global." hint ".u32 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");             \
        else if constexpr (sizeof value == 2)                                                                 \
            asm volatile("ld.global." hint ".u16 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");             \
        else                                                                                                  \
            asm volatile("ld.global." hint ".u8 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");              \
        __builtin_memcpy(static_cast<void *>(&value), w, sizeof value);                                       \
        return value;                                                                                         \
    }
#define AUTOTUNE_STORE(name, hint)                                                                            \
    template <typename T> static __device__ __forceinline__ void name(T *to, decltype(T()) value)             \
    {                                                                                                         \
        unsigned int w[4] = {};                                                                               \
        static_assert(sizeof value <= 16 && (sizeof value & (sizeof value - 1)) == 0, "1 to 16 bytes");       \
        __builtin_memcpy(w, static_cast<const void *>(&value), sizeof value);                                 \
        if constexpr (sizeof value == 16)                                                                     \
            asm volatile("st.global." hint ".v4.u32 [%0], {%1, %2, %3, %4};"                                  \
                         ::"l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");                   \
        else if constexpr (sizeof value == 8)                                                                 \
            asm volatile("st.global." hint ".v2.u32 [%0], {%1, %2};"                                          \
                         ::"l"(to), "r"(w[0]), "r"(w[1]) : "memory");                                         \
        else if constexpr (sizeof value == 4)                                                                 \
            asm volatile("st.global." hint ".u32 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");                 \
        else if constexpr (sizeof value == 2)                                                                 \
            asm volatile("st.global." hint ".u16 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");                 \
        else                                                                                                  \
            asm volatile("st.global." hint ".u8 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");                  \
    }
AUTOTUNE_LOAD(__ldg, "nc")
AUTOTUNE_LOAD(__ldca, "ca")
AUTOTUNE_LOAD(__ldcg, "cg")
AUTOTUNE_LOAD(__ldcs, "cs")
AUTOTUNE_LOAD(__ldlu, "lu")
AUTOTUNE_LOAD(__ldcv, "cv")
AUTOTUNE_STORE(__stwb, "wb")
AUTOTUNE_STORE(__stcg, "cg")
AUTOTUNE_STORE(__stcs, "cs")
AUTOTUNE_STORE(__stwt, "wt")
#undef AUTOTUNE_LOAD
#undef AUTOTUNE_STORE

/* Vectors of 16 bytes that are copied member by member, which compiles to one access. clang copies
 * CUDA's vectors in two accesses. While the kernels are compiled, these vectors have the names of
 * CUDA's. */
#define AUTOTUNE_VECTOR4(type, element)                                                                       \
    struct alignas(16) autotune_##type {                                                                      \
        element x, y, z, w;                                                                                   \
        autotune_##type() = default;                                                                          \
        constexpr autotune_##type(element x_, element y_, element z_ = 0, element w_ = 0)                     \
            : x(x_), y(y_), z(z_), w(w_) {}                                                                   \
        constexpr autotune_##type(const type &v) : autotune_##type(v.x, v.y, v.z, v.w) {}                     \
        constexpr autotune_##type(const autotune_##type &v) : autotune_##type(v.x, v.y, v.z, v.w) {}          \
        constexpr autotune_##type &operator=(const autotune_##type &v)                                        \
        {                                                                                                     \
            x = v.x, y = v.y, z = v.z, w = v.w;                                                               \
            return *this;                                                                                     \
        }                                                                                                     \
    };                                                                                                        \
    [[maybe_unused]] static constexpr autotune_##type autotune_make_##type(element x, element y, element z,   \
                                                                                  element w)                  \
    {                                                                                                         \
        return {x, y, z, w};                                                                                  \
    }
#define AUTOTUNE_VECTOR2(type, element)                                                                       \
    struct alignas(16) autotune_##type {                                                                      \
        element x, y;                                                                                         \
        autotune_##type() = default;                                                                          \
        constexpr autotune_##type(element x_, element y_) : x(x_), y(y_) {}                                   \
        constexpr autotune_##type(const type &v) : autotune_##type(v.x, v.y) {}                               \
        constexpr autotune_##type(const autotune_##type &v) : autotune_##type(v.x, v.y) {}                    \
        constexpr autotune_##type &operator=(const autotune_##type &v)                                        \
        {                                                                                                     \
            x = v.x, y = v.y;                                                                                 \
            return *this;                                                                                     \
        }                                                                                                     \
    };                                                                                                        \
    [[maybe_unused]] static constexpr autotune_##type autotune_make_##type(element x, element y)              \
    {                                                                                                         \
        return {x, y};                                                                                        \
    }
AUTOTUNE_VECTOR4(float4, float)
AUTOTUNE_VECTOR4(int4, int)
AUTOTUNE_VECTOR4(uint4, unsigned int)
AUTOTUNE_VECTOR2(double2, double)
AUTOTUNE_VECTOR2(longlong2, long long)
AUTOTUNE_VECTOR2(ulonglong2, unsigned long long)
#undef AUTOTUNE_VECTOR4
#undef AUTOTUNE_VECTOR2
#define float4 autotune_float4
#define int4 autotune_int4
#define uint4 autotune_uint4
#define double2 autotune_double2
#define longlong2 autotune_longlong2
#define ulonglong2 autotune_ulonglong2
#define make_float4 autotune_make_float4
#define make_int4 autotune_make_int4
#define make_uint4 autotune_make_uint4
#define make_double2 autotune_make_double2
#define make_longlong2 autotune_make_longlong2
#define make_ulonglong2 autotune_make_ulonglong2

/* No warnings for the kernels: NVRTC has compiled them, and the user of this file cannot change
 * them. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#endif
