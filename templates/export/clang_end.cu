#if defined(__clang__) && defined(__CUDA__)
#pragma clang diagnostic pop
#undef float4
#undef int4
#undef uint4
#undef double2
#undef longlong2
#undef ulonglong2
#undef make_float4
#undef make_int4
#undef make_uint4
#undef make_double2
#undef make_longlong2
#undef make_ulonglong2
#endif
