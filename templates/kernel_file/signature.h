// Makes the compiler write the types of a kernel's parameters into PTX. Included after the kernel, whose name is
// AUTOTUNE_ENTRY.
//
// The array autotune_signature has 32-bit numbers: the number of parameters plus one; then for all parameters whether
// each is a pointer; for all, whether its target is const; for all, the type's number; the lanes of a vector; the
// bytes. tuner/cpp/signature.c reads the array from PTX. Names are long so that no macro of the file equals them. For
// another kernel of the file, this header is included again; AUTOTUNE_SIGNATURE is then the name of the array.
#ifndef AUTOTUNE_NUMBERS_OF
#define AUTOTUNE_NUMBERS_OF
namespace autotune_of_kernel {

template <class autotune_T> struct scalar_of {
  static constexpr int autotune_type = -1, autotune_lanes = 1;
};
template <class autotune_T> struct scalar_of<autotune_T *> {
  static constexpr int autotune_type = -3, autotune_lanes = 1;
};
template <class autotune_T> struct bytes_of {
  static constexpr int autotune_bytes = sizeof(autotune_T);
};
template <> struct bytes_of<void> {
  static constexpr int autotune_bytes = 0;
};
template <class autotune_T, class... autotune_A> struct bytes_of<autotune_T(autotune_A...)> {
  static constexpr int autotune_bytes = 0;
};
// An enumeration counts as its underlying integer type.
template <class autotune_T, bool> struct number_of {
  using autotune_type = autotune_T;
};
template <class autotune_T> struct number_of<autotune_T, true> {
  using autotune_type = __underlying_type(autotune_T);
};
template <class autotune_T> struct value_of;
template <class autotune_T>
struct argument_of : value_of<typename number_of<autotune_T, __is_enum(autotune_T)>::autotune_type> {};
template <class autotune_T> struct value_of {
  static constexpr int autotune_pointer = 0, autotune_const = 0,
                       autotune_type = __is_empty(autotune_T) ? -4 : scalar_of<autotune_T>::autotune_type,
                       autotune_lanes = scalar_of<autotune_T>::autotune_lanes,
                       autotune_bytes = bytes_of<autotune_T>::autotune_bytes;
};
template <class autotune_T> struct pointer_of {
  static constexpr int autotune_pointer = 1, autotune_const = 0, autotune_type = scalar_of<autotune_T>::autotune_type,
                       autotune_lanes = scalar_of<autotune_T>::autotune_lanes,
                       autotune_bytes = bytes_of<autotune_T>::autotune_bytes;
};
template <class autotune_T> struct pointer_of<const autotune_T> : pointer_of<autotune_T> {
  static constexpr int autotune_const = 1;
};
template <class autotune_T> struct pointer_of<volatile autotune_T> : pointer_of<autotune_T> {};
template <class autotune_T> struct pointer_of<const volatile autotune_T> : pointer_of<const autotune_T> {};
template <class autotune_T> struct argument_of<autotune_T *> : pointer_of<autotune_T> {};

#define AUTOTUNE_TYPE(autotune_T, autotune_number, autotune_count)                                                     \
  template <> struct scalar_of<autotune_T> {                                                                           \
    static constexpr int autotune_type = autotune_number, autotune_lanes = autotune_count;                             \
  };
#define AUTOTUNE_VECTORS(autotune_T, autotune_number)                                                                  \
  AUTOTUNE_TYPE(autotune_T##1, autotune_number, 1)                                                                     \
  AUTOTUNE_TYPE(autotune_T##2, autotune_number, 2)                                                                     \
  AUTOTUNE_TYPE(autotune_T##3, autotune_number, 3)                                                                     \
  AUTOTUNE_TYPE(autotune_T##4, autotune_number, 4)

AUTOTUNE_TYPE(bool, -2, 1)
AUTOTUNE_TYPE(char, 0, 1)
AUTOTUNE_TYPE(signed char, 0, 1)
AUTOTUNE_TYPE(unsigned char, 1, 1)
AUTOTUNE_TYPE(short, 2, 1)
AUTOTUNE_TYPE(unsigned short, 3, 1)
AUTOTUNE_TYPE(int, 4, 1)
AUTOTUNE_TYPE(unsigned int, 5, 1)
AUTOTUNE_TYPE(long, 6, 1)
AUTOTUNE_TYPE(long long, 6, 1)
AUTOTUNE_TYPE(unsigned long, 7, 1)
AUTOTUNE_TYPE(unsigned long long, 7, 1)
AUTOTUNE_TYPE(float, 10, 1)
AUTOTUNE_TYPE(double, 11, 1)
AUTOTUNE_VECTORS(char, 0)
AUTOTUNE_VECTORS(uchar, 1)
AUTOTUNE_VECTORS(short, 2)
AUTOTUNE_VECTORS(ushort, 3)
AUTOTUNE_VECTORS(int, 4)
AUTOTUNE_VECTORS(uint, 5)
AUTOTUNE_TYPE(longlong1, 6, 1)
AUTOTUNE_TYPE(longlong2, 6, 2)
AUTOTUNE_TYPE(ulonglong1, 7, 1)
AUTOTUNE_TYPE(ulonglong2, 7, 2)
AUTOTUNE_VECTORS(float, 10)
AUTOTUNE_TYPE(double1, 11, 1)
AUTOTUNE_TYPE(double2, 11, 2)
AUTOTUNE_TYPE(double3, 11, 3)
AUTOTUNE_TYPE(double4, 11, 4)
#ifdef __CUDA_FP16_TYPES_EXIST__
AUTOTUNE_TYPE(__half, 8, 1)
AUTOTUNE_TYPE(__half2, 8, 2)
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
AUTOTUNE_TYPE(__nv_bfloat16, 9, 1)
AUTOTUNE_TYPE(__nv_bfloat162, 9, 2)
#endif
#undef AUTOTUNE_VECTORS
#undef AUTOTUNE_TYPE

template <class... autotune_A> struct numbers_of {
  int autotune_numbers[1 + 5 * sizeof...(autotune_A)];
};

template <class... autotune_A>
__device__ constexpr numbers_of<autotune_A...> autotune_numbers_of(void (*)(autotune_A...)) {
  return {{sizeof...(autotune_A) + 1, argument_of<autotune_A>::autotune_pointer...,
           argument_of<autotune_A>::autotune_const..., argument_of<autotune_A>::autotune_type...,
           argument_of<autotune_A>::autotune_lanes..., argument_of<autotune_A>::autotune_bytes...}};
}

// The entry may be a function, or an expression that chooses one of several functions.
template <class autotune_T> __device__ autotune_T pointer_to(autotune_T);

} // namespace autotune_of_kernel
#endif

#ifndef AUTOTUNE_SIGNATURE
#define AUTOTUNE_SIGNATURE autotune_signature
#endif
extern "C" __device__ const auto AUTOTUNE_SIGNATURE =
    autotune_of_kernel::autotune_numbers_of(decltype(autotune_of_kernel::pointer_to(AUTOTUNE_ENTRY))());
#undef AUTOTUNE_SIGNATURE
#undef AUTOTUNE_ENTRY
