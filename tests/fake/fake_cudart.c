/* A CUDA runtime for programs compiled by nvcc or clang, on machines without a GPU.
 *
 * Prints a line for each launch ("launch NAMESPACE::KERNEL GRID BLOCK CLUSTER shared policy
 * cooperative ARGUMENTS"), for each copy into a variable of the device, and for each limit that the
 * program raises. Before a launch the program must set fake_sizes to the sizes of the launch's
 * arguments. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

enum { MOST = 1024 };

/* Sizes in bytes of the arguments of the next launches, in order. A 0 ends the list of a launch. */
VISIBLE unsigned fake_sizes[MOST];
VISIBLE unsigned fake_size_count;

static struct {
    const void *address;
    const char *name;
} registered[MOST];
static unsigned registered_count;

/* Prints "outer::inner" for _ZN<n>outer<n>innerE..., and any other name unchanged. */
static void print_name(const char *mangled)
{
    char *end;
    if (strncmp(mangled, "_ZN", 3) != 0) {
        fputs(mangled, stdout);
        return;
    }
    const char *at = mangled + 3;
    for (int part = 0; *at >= '0' && *at <= '9'; part++) {
        long length = strtol(at, &end, 10);
        printf("%s%.*s", part ? "::" : "", (int)length, end);
        at = end + length;
    }
}

static void print_registered(const void *address)
{
    for (unsigned i = 0; i < registered_count; i++)
        if (registered[i].address == address) {
            print_name(registered[i].name);
            return;
        }
    fputs("unknown", stdout);
}

static void add(const void *address, const char *name)
{
    if (registered_count < MOST) {
        registered[registered_count].address = address;
        registered[registered_count++].name = name;
    }
}

/* ---- functions that nvcc and clang call before main() (crt/host_runtime.h) ---- */

VISIBLE void **__cudaRegisterFatBinary(void *binary);
VISIBLE void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    handle = binary;
    return &handle;
}

VISIBLE void __cudaRegisterFatBinaryEnd(void **handle);
VISIBLE void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

VISIBLE void __cudaUnregisterFatBinary(void **handle);
VISIBLE void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

VISIBLE char __cudaInitModule(void **handle);
VISIBLE char __cudaInitModule(void **handle)
{
    (void)handle;
    return 0;
}

VISIBLE void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                    int limit, void *tid, void *bid, void *block, void *grid,
                                    int *warp);
VISIBLE void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                    int limit, void *tid, void *bid, void *block, void *grid,
                                    int *warp)
{
    (void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid,
        (void)warp;
    add(host, name);
}

VISIBLE void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                               int is_extern, size_t size, int constant, int global);
VISIBLE void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                               int is_extern, size_t size, int constant, int global)
{
    (void)handle, (void)device, (void)is_extern, (void)size, (void)constant, (void)global;
    add(host, name);
}

/* The compiler's stub of each kernel refers to this function. Programs launch kernels by their
 * addresses, so no stub is executed. */
VISIBLE unsigned __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
VISIBLE unsigned __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    abort();
}

VISIBLE cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *address);
VISIBLE cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *address)
{
    (void)out, (void)address;
    abort();
}

VISIBLE cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                       size_t shared, cudaStream_t stream);
VISIBLE cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                       size_t shared, cudaStream_t stream)
{
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    abort();
}

VISIBLE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                     size_t shared, cudaStream_t stream)
{
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    abort();
}

/* ---- the runtime ---- */

VISIBLE cudaError_t cudaGetDevice(int *out)
{
    *out = 0;
    return cudaSuccess;
}

VISIBLE cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    (void)device;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "NVIDIA H200");
    return cudaSuccess;
}

VISIBLE cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr attribute, int device)
{
    static const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } known[] = {
        {cudaDevAttrComputeCapabilityMajor, 9},
        {cudaDevAttrMultiProcessorCount, 132},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, 232448},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 233472},
    };
    (void)device;
    *out = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            *out = known[i].value;
    return cudaSuccess;
}

VISIBLE cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
    (void)function;
    memset(out, 0, sizeof *out);
    out->maxDynamicSharedSizeBytes = 48 * 1024;
    return cudaSuccess;
}

VISIBLE cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                         int value)
{
    fputs("allow ", stdout);
    print_registered(function);
    printf(" %s %d\n",
           attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? "shared" : "cluster", value);
    return cudaSuccess;
}

VISIBLE cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size_bytes,
                                            size_t offset, enum cudaMemcpyKind kind,
                                            cudaStream_t stream)
{
    (void)stream;
    fputs("fill ", stdout);
    print_registered(symbol);
    printf(" %zu bytes at %zu from %zx%s\n", size_bytes, offset, (size_t)from,
           kind == cudaMemcpyDeviceToDevice ? "" : " of another kind");
    return cudaSuccess;
}

VISIBLE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                        void **arguments)
{
    static unsigned next;
    unsigned cluster[3] = {1, 1, 1};
    int policy = cudaClusterSchedulingPolicyDefault, cooperative = 0;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == cudaLaunchAttributeCooperative)
            cooperative = config->attrs[i].val.cooperative;
        if (config->attrs[i].id == cudaLaunchAttributeClusterSchedulingPolicyPreference)
            policy = (int)config->attrs[i].val.clusterSchedulingPolicyPreference;
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            cluster[0] = config->attrs[i].val.clusterDim.x;
            cluster[1] = config->attrs[i].val.clusterDim.y;
            cluster[2] = config->attrs[i].val.clusterDim.z;
        }
    }
    fputs("launch ", stdout);
    print_registered(function);
    printf(" %u,%u,%u %u,%u,%u %u,%u,%u %zu %d %d", config->gridDim.x, config->gridDim.y,
           config->gridDim.z, config->blockDim.x, config->blockDim.y, config->blockDim.z,
           cluster[0], cluster[1], cluster[2], config->dynamicSmemBytes, policy, cooperative);
    for (unsigned a = 0; next < fake_size_count && fake_sizes[next] > 0; a++, next++) {
        putchar(' ');
        for (unsigned b = 0; b < fake_sizes[next]; b++)
            printf("%02x", ((const unsigned char *)arguments[a])[b]);
    }
    next++;
    if (next >= fake_size_count)
        next = 0;
    putchar('\n');
    return cudaSuccess;
}
