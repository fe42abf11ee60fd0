#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

#define FUNCTIONS(X)                                                                               \
    X(cuInit)                                                                                      \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyHtoD)                                                                                \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleGetFunction)                                                                         \
    X(cuLibraryLoadData)                                                                           \
    X(cuLibraryGetKernel)                                                                          \
    X(cuStreamCreate)                                                                              \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuGraphCreate)                                                                               \
    X(cuGraphAddKernelNode)                                                                        \
    X(cuGraphInstantiate)                                                                          \
    X(cuGraphUpload)                                                                               \
    X(cuGraphLaunch)                                                                               \
    X(cuLaunchKernel)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
    CUstream stream;
    CUfunction scale_by, scale_view;
} gpu;

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "captured_program: %s: %d\n", what, (int)result);
    exit(9);
}

#define CALL(name, ...) check(gpu.name(__VA_ARGS__), #name)

static void *find(void *driver, const char *name)
{
    void *address = dlsym(driver, name);
    if (!address) {
        fprintf(stderr, "captured_program: there is no %s\n", name);
        exit(9);
    }
    return address;
}

static void open_driver(void)
{
    const char *path = getenv("AUTOTUNE_LIBCUDA");
    void *driver = dlopen(path ? path : "libcuda.so.1", RTLD_NOW), *address;
    if (!driver) {
        fprintf(stderr, "captured_program: there is no driver\n");
        exit(8);
    }
#define FIND(name)                                                                                 \
    address = find(driver, TEXT(name));                                                            \
    memcpy(&gpu.name, &address, sizeof address);
    FUNCTIONS(FIND)
}

static char *read_file(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *f = fopen(path, "rb");
    if (!f || fread(text, 1, (1 << 20) - 1, f) == 0)
        exit(9);
    fclose(f);
    return text;
}

static void write_file(const char *path, CUdeviceptr from, size_t size_bytes)
{
    char *bytes = malloc(size_bytes);
    CALL(cuMemcpyDtoH, bytes, from, size_bytes);
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, size_bytes, f);
    fclose(f);
    free(bytes);
}

typedef struct data {
    CUdeviceptr out, in;
    unsigned n;
    float by;
} data;

static data make(unsigned n)
{
    data d = {.n = n, .by = 0.5f};
    float *values = malloc(n * sizeof *values);
    for (unsigned i = 0; i < n; i++)
        values[i] = (float)(i % 1000) - 499.75f;
    CALL(cuMemAlloc, &d.out, n * sizeof *values);
    CALL(cuMemAlloc, &d.in, n * sizeof *values);
    CALL(cuMemcpyHtoD, d.in, values, n * sizeof *values);
    free(values);
    return d;
}

static void drop(const data *d)
{
    CALL(cuMemFree, d->out);
    CALL(cuMemFree, d->in);
}

static CUresult launch(data *d, unsigned block)
{
    void *arguments[] = {&d->out, &d->in, &d->n, &d->by};
    return gpu.cuLaunchKernel(gpu.scale_by, (d->n + block - 1) / block, 1, 1, block, 1, 1, 0,
                              gpu.stream, arguments, NULL);
}

static void scale(unsigned n)
{
    data d = make(n);
    write_file("x.before", d.out, n * 4);
    write_file("x.in", d.in, n * 4);
    check(launch(&d, 128), "scale");
    write_file("x.after", d.out, n * 4);
    drop(&d);
}

static void twice(unsigned n)
{
    data d = make(n);
    for (int i = 0; i < 2; i++)
        check(launch(&d, 128), "twice");
    drop(&d);
}

static void inplace(unsigned n)
{
    data d = make(n), same = d;
    same.out = d.in;
    check(launch(&same, 128), "inplace");
    drop(&d);
}

static void inner(unsigned n)
{
    enum { SKIPPED = 16 };
    data d = make(n), part = d;
    part.out += SKIPPED * sizeof(float);
    part.in += SKIPPED * sizeof(float);
    part.n -= SKIPPED;
    check(launch(&part, 128), "inner");
    drop(&d);
}

static void view(unsigned n)
{
    data d = make(n);
    struct {
        unsigned n;
        CUdeviceptr in, out;
    } v = {n, d.in, d.out};
    void *arguments[] = {&v, &d.by};
    check(gpu.cuLaunchKernel(gpu.scale_view, (n + 63) / 64, 1, 1, 64, 1, 1, 0, gpu.stream,
                             arguments, NULL),
          "view");
    write_file("x.after", d.out, n * 4);
    drop(&d);
}

static void packed(unsigned n)
{
    data d = make(n);
    struct {
        CUdeviceptr out, in;
        unsigned n;
        float by;
    } all = {d.out, d.in, n, d.by};
    size_t size_bytes = sizeof all;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size_bytes,
                     CU_LAUNCH_PARAM_END};
    /* The fake driver refuses arguments in one buffer, but a profiler sees the launch. */
    gpu.cuLaunchKernel(gpu.scale_by, 1, 1, 1, 64, 1, 1, 0, gpu.stream, NULL, extra);
    drop(&d);
}

static void graph(unsigned n)
{
    data d = make(n);
    CUgraph recorded;
    CUgraphExec executable;
    CALL(cuStreamBeginCapture, gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    check(launch(&d, 256), "recording");
    CALL(cuStreamEndCapture, gpu.stream, &recorded);
    CALL(cuGraphInstantiate, &executable, recorded, 0);
    CALL(cuGraphUpload, executable, gpu.stream);
    for (int i = 0; i < 2; i++)
        CALL(cuGraphLaunch, executable, gpu.stream);
    drop(&d);
}

static void node(unsigned n)
{
    CUgraph built;
    CUgraphNode added;
    const CUDA_KERNEL_NODE_PARAMS kernel = {.func = gpu.scale_by,
                                            .gridDimX = n,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 64,
                                            .blockDimY = 1,
                                            .blockDimZ = 1};
    CALL(cuGraphCreate, &built, 0);
    CALL(cuGraphAddKernelNode, &added, built, NULL, 0, &kernel);
}

static void *work(void *own)
{
    for (int i = 0; i < 50; i++)
        check(launch(own, 64), "a thread's launch");
    return NULL;
}

/* The fake driver runs a kernel on the launching thread, so each thread has its own data. */
static void threads(unsigned n)
{
    pthread_t all[4];
    data d[4];
    for (int i = 0; i < 4; i++)
        d[i] = make(n);
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, work, &d[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    for (int i = 0; i < 4; i++)
        drop(&d[i]);
}

static void refused(void)
{
    data d = make(64);
    if (launch(&d, 2048) == CUDA_SUCCESS)
        exit(9);
    drop(&d);
}

static void fork_once(void)
{
    pid_t pid = fork();
    if (pid == 0)
        exit(0);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUlibrary library;
    char *image = argc > 1 ? read_file(argv[1]) : NULL;
    open_driver();
    check(gpu.cuInit(0), "cuInit");
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuCtxSetCurrent, context);
    CALL(cuStreamCreate, &gpu.stream, 0);
    CALL(cuModuleLoadData, &module, image);
    CALL(cuModuleGetFunction, &gpu.scale_by, module, "_Z8scale_byPfPKfjf");
    CALL(cuLibraryLoadData, &library, image, NULL, NULL, 0, NULL, NULL, 0);
    CALL(cuLibraryGetKernel, (CUkernel *)&gpu.scale_view, library, "_Z10scale_view4viewf");
    free(image);
    for (int i = 2; i < argc; i++) {
        const char *how = argv[i];
        const unsigned n = i + 1 < argc ? (unsigned)strtoul(argv[i + 1], NULL, 10) : 0;
        i += n > 0;
        if (strcmp(how, "scale") == 0)
            scale(n);
        else if (strcmp(how, "twice") == 0)
            twice(n);
        else if (strcmp(how, "inplace") == 0)
            inplace(n);
        else if (strcmp(how, "inner") == 0)
            inner(n);
        else if (strcmp(how, "view") == 0)
            view(n);
        else if (strcmp(how, "packed") == 0)
            packed(n);
        else if (strcmp(how, "graph") == 0)
            graph(n);
        else if (strcmp(how, "node") == 0)
            node(n);
        else if (strcmp(how, "threads") == 0)
            threads(n);
        else if (strcmp(how, "refused") == 0)
            refused();
        else if (strcmp(how, "fork") == 0)
            fork_once();
        else if (strcmp(how, "again") == 0)
            execl("/proc/self/exe", argv[0], argv[1], "scale", "64", (char *)NULL);
        else if (strcmp(how, "crash") == 0)
            abort();
        else if (strcmp(how, "leave") == 0)
            _exit(3);
    }
    puts("the program is done");
    return 0;
}
