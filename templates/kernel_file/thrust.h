// The parts of Thrust that device code commonly uses, in place of Thrust's headers, whose other parts
// are for the host.
#ifndef AUTOTUNE_KERNEL_FILE_THRUST_H
#define AUTOTUNE_KERNEL_FILE_THRUST_H

#undef INFINITY
#undef NAN

#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/tuple>
#include <cuda/std/utility>

namespace thrust
{
using ::cuda::std::get;
using ::cuda::std::make_pair;
using ::cuda::std::make_tuple;
using ::cuda::std::pair;
using ::cuda::std::swap;
using ::cuda::std::tie;
using ::cuda::std::tuple;
using ::cuda::std::tuple_element;
using ::cuda::std::tuple_size;

using ::cuda::std::bit_and;
using ::cuda::std::bit_or;
using ::cuda::std::bit_xor;
using ::cuda::std::divides;
using ::cuda::std::equal_to;
using ::cuda::std::greater;
using ::cuda::std::greater_equal;
using ::cuda::std::less;
using ::cuda::std::less_equal;
using ::cuda::std::minus;
using ::cuda::std::modulus;
using ::cuda::std::multiplies;
using ::cuda::std::negate;
using ::cuda::std::not_equal_to;
using ::cuda::std::plus;

using ::cuda::std::abs;
using ::cuda::std::arg;
using ::cuda::std::complex;
using ::cuda::std::conj;
using ::cuda::std::exp;
using ::cuda::std::log;
using ::cuda::std::norm;
using ::cuda::std::polar;
using ::cuda::std::pow;
using ::cuda::std::sqrt;

template <typename T = void> struct maximum {
    __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};

template <typename T = void> struct minimum {
    __device__ T operator()(const T &a, const T &b) const
    {
        return a < b ? a : b;
    }
};

template <typename T> __device__ T max(const T &a, const T &b)
{
    return a < b ? b : a;
}

template <typename T> __device__ T min(const T &a, const T &b)
{
    return a < b ? a : b;
}
} // namespace thrust

#endif
