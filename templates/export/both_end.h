#if defined(__cplusplus) && defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC diagnostic pop
#endif
