// Kernels of a program whose author wrote each in several ways (tests/bench/sites.c).
#include <cuda_runtime.h>

template <int V> struct vec;
template <> struct vec<1> { using type = float; };
template <> struct vec<2> { using type = float2; };
template <> struct vec<4> { using type = float4; };

template <int V> __device__ void axpy(int n, float a, const float *x, float *y)
{
    using T = typename vec<V>::type;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * V >= n)
        return;
    T u = reinterpret_cast<const T *>(x)[i], w = reinterpret_cast<T *>(y)[i];
    float *p = reinterpret_cast<float *>(&u), *q = reinterpret_cast<float *>(&w);
    for (int k = 0; k < V; k++)
        q[k] = a * p[k] + q[k];
    reinterpret_cast<T *>(y)[i] = w;
}

template <int TILE, int ROWS, int PAD> __device__ void transpose(int n, const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <int V> __device__ void rowsum(int cols, const float *in, float *out)
{
    using T = typename vec<V>::type;
    __shared__ float part[32];
    const T *row = reinterpret_cast<const T *>(in + (size_t)blockIdx.x * cols);
    float sum = 0;
    for (int i = threadIdx.x; i < cols / V; i += blockDim.x) {
        T u = row[i];
        for (int k = 0; k < V; k++)
            sum += reinterpret_cast<float *>(&u)[k];
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++)
            sum += part[w];
        out[blockIdx.x] = sum;
    }
}

template <int T, int R> __device__ void matmul(int n, const float *a, const float *b, float *c)
{
    __shared__ float sa[T][T], sb[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum[R] = {};
    for (int t = 0; t < n; t += T) {
        for (int r = 0; r < R; r++) {
            int j = threadIdx.y + r * (T / R);
            sa[j][threadIdx.x] = a[(blockIdx.y * T + j) * n + t + threadIdx.x];
            sb[j][threadIdx.x] = b[(t + j) * n + x];
        }
        __syncthreads();
        for (int k = 0; k < T; k++)
            for (int r = 0; r < R; r++)
                sum[r] += sa[threadIdx.y + r * (T / R)][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    for (int r = 0; r < R; r++)
        c[(y + r * (T / R)) * n + x] = sum[r];
}

extern "C" __global__ void stencil(int n, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                             in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

#define AXPY(V)                                                                                    \
    extern "C" __global__ void axpy_##V(int n, float a, const float *x, float *y)                  \
    {                                                                                              \
        axpy<V>(n, a, x, y);                                                                       \
    }
#define ROWSUM(V)                                                                                  \
    extern "C" __global__ void rowsum_##V(int cols, const float *in, float *out)                   \
    {                                                                                              \
        rowsum<V>(cols, in, out);                                                                  \
    }
#define TRANSPOSE(T, R, P)                                                                         \
    extern "C" __global__ void transpose_##T##_##R##_##P(int n, const float *in, float *out)       \
    {                                                                                              \
        transpose<T, R, P>(n, in, out);                                                            \
    }
#define MATMUL(T, R)                                                                               \
    extern "C" __global__ void matmul_##T##_##R(int n, const float *a, const float *b, float *c)   \
    {                                                                                              \
        matmul<T, R>(n, a, b, c);                                                                  \
    }

AXPY(1) AXPY(2) AXPY(4)
ROWSUM(1) ROWSUM(2) ROWSUM(4)
TRANSPOSE(16, 4, 0) TRANSPOSE(16, 4, 1) TRANSPOSE(16, 8, 0) TRANSPOSE(16, 8, 1)
TRANSPOSE(16, 16, 0) TRANSPOSE(16, 16, 1)
TRANSPOSE(32, 4, 0) TRANSPOSE(32, 4, 1) TRANSPOSE(32, 8, 0) TRANSPOSE(32, 8, 1)
TRANSPOSE(32, 16, 0) TRANSPOSE(32, 16, 1)
MATMUL(16, 1) MATMUL(16, 2) MATMUL(16, 4) MATMUL(32, 2) MATMUL(32, 4) MATMUL(32, 8)
