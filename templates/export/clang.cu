#if defined(__clang__) && defined(__CUDA__)
/* The cache hints of CUDA's sm_32_intrinsics.h, which clang's headers leave out. */
#define AUTOTUNE_LOAD(name, hint)                                                                    \
    template <typename T> static __device__ __forceinline__ T name(const T *from)                    \
    {                                                                                                \
        unsigned int w[4] = {};                                                                      \
        T value;                                                                                     \
        static_assert(sizeof value <= 16 && (sizeof value & (sizeof value - 1)) == 0, "1 to 16 bytes"); \
        if constexpr (sizeof value == 16)                                                            \
            asm volatile("ld.global." hint ".v4.u32 {%0, %1, %2, %3}, [%4];"                         \
                         : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(from) : "memory");   \
        else if constexpr (sizeof value == 8)                                                        \
            asm volatile("ld.global." hint ".v2.u32 {%0, %1}, [%2];"                                 \
                         : "=r"(w[0]), "=r"(w[1]) : "l"(from) : "memory");                           \
        else if constexpr (sizeof value == 4)                                                        \
            asm volatile("ld.global." hint ".u32 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");    \
        else if constexpr (sizeof value == 2)                                                        \
            asm volatile("ld.global." hint ".u16 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");    \
        else                                                                                         \
            asm volatile("ld.global." hint ".u8 %0, [%1];" : "=r"(w[0]) : "l"(from) : "memory");     \
        __builtin_memcpy(&value, w, sizeof value);                                                   \
        return value;                                                                                \
    }
#define AUTOTUNE_STORE(name, hint)                                                                   \
    template <typename T> static __device__ __forceinline__ void name(T *to, decltype(T()) value)     \
    {                                                                                                \
        unsigned int w[4] = {};                                                                      \
        static_assert(sizeof value <= 16 && (sizeof value & (sizeof value - 1)) == 0, "1 to 16 bytes"); \
        __builtin_memcpy(w, &value, sizeof value);                                                   \
        if constexpr (sizeof value == 16)                                                            \
            asm volatile("st.global." hint ".v4.u32 [%0], {%1, %2, %3, %4};"                         \
                         ::"l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");          \
        else if constexpr (sizeof value == 8)                                                        \
            asm volatile("st.global." hint ".v2.u32 [%0], {%1, %2};"                                 \
                         ::"l"(to), "r"(w[0]), "r"(w[1]) : "memory");                                \
        else if constexpr (sizeof value == 4)                                                        \
            asm volatile("st.global." hint ".u32 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");        \
        else if constexpr (sizeof value == 2)                                                        \
            asm volatile("st.global." hint ".u16 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");        \
        else                                                                                         \
            asm volatile("st.global." hint ".u8 [%0], %1;" ::"l"(to), "r"(w[0]) : "memory");         \
    }
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

/* The kernels are as their templates have them: NVRTC took them, and who compiles them cannot mend them. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#endif
