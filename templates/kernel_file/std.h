// The headers of the C++ library that device code may use, for a file whose kernel names std: those of the Toolkit.
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

namespace std {
using namespace ::cuda::std;
}

#endif
