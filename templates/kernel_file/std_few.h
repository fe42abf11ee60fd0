// The names of std that kernels use most, without the headers of the Toolkit's library, which take half a second for
// each compilation. tuner/script/kernel_cut.c has the list of these names.
#ifndef AUTOTUNE_KERNEL_FILE_STD_FEW_H
#define AUTOTUNE_KERNEL_FILE_STD_FEW_H

#include <cuda/std/limits>

namespace std {
using ::cuda::std::numeric_limits;

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;

using ::abs;
using ::ceil;
using ::cos;
using ::exp;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::isinf;
using ::isnan;
using ::log;
using ::pow;
using ::round;
using ::sin;
using ::sqrt;
using ::tanh;

template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
} // namespace std

#endif
