/* A cuBLAS whose transposes do nothing, opened through $AUTOTUNE_LIBCUBLAS, so that the benchmark
 * that times them runs without a GPU. */
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
