/* A cuBLAS whose transposes do nothing. With $AUTOTUNE_LIBCUBLAS set to this library, the benchmark
 * of transposes runs without a GPU. */
#include <stddef.h>

int cublasCreate_v2(void **handle)
{
    *handle = NULL;
    return 0;
}

int cublasDestroy_v2(void *handle)
{
    (void)handle;
    return 0;
}

int cublasSetStream_v2(void *handle, void *stream)
{
    (void)handle;
    (void)stream;
    return 0;
}

int cublasSgeam(void *handle)
{
    (void)handle;
    return 0;
}
