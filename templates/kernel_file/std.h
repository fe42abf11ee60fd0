// Includes the Toolkit's C++ library for device code, if a kernel uses `std`.
#ifndef AUTOTUNE_KERNEL_FILE_STD_H
#define AUTOTUNE_KERNEL_FILE_STD_H

#undef INFINITY
#undef NAN

#if __has_include(<cuda/std/algorithm>)
#include <cuda/std/algorithm>
#else
#include <cuda/std/__algorithm_>
#endif
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

// <cuda/std/cmath> defines these macros. Without them, other code may use the names in its own namespaces.
#if defined(__CUDACC_RTC__) && defined(FP_NAN)
#undef FP_NAN
#undef FP_INFINITE
#undef FP_ZERO
#undef FP_SUBNORMAL
#undef FP_NORMAL
enum { FP_NAN = 0, FP_INFINITE = 1, FP_ZERO = 2, FP_SUBNORMAL = 3, FP_NORMAL = 4 };
#endif

namespace std {
using namespace ::cuda::std;
}

#endif
