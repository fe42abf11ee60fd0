#ifndef AUTOTUNE_RULE_DEFINED
#define AUTOTUNE_RULE_DEFINED
#if defined(__GNUC__)
#define AUTOTUNE_UNUSED __attribute__((unused))
#else
#define AUTOTUNE_UNUSED
#endif
#if defined(__CUDACC__)
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static constexpr
#else
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static inline
#endif
