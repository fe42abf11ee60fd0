#include "fake_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARED_DEFAULT = 49152, /* limit of dynamic shared memory if no attribute is set, in bytes */
    MOST_COOPERATIVE_BLOCKS = 264
};

struct CUmod_st {
    int loaded;                  /* 1 while the module is loaded, to find uses of freed memory */
    struct CUfunc_st *functions; /* kernels of the module that the program has looked up */
    unsigned char constant[4 * 4096]; /* the module's variable fake_constant */
    struct CUmod_st *next;
};

struct CUfunc_st {
    const fake_kernel *kernel;
    CUmodule module;
    bool is_library_kernel; /* whether the program has the kernel as a CUkernel */
    uint64_t time_ns;
    int dynamic_limit;
    struct CUfunc_st *next; /* next function of the module */
};

/* Returns whether this is an image. PTX, fat binaries and nvcc's wrappers also count, because
 * kernels are found by name. */
static bool is_image(const void *image)
{
    static const char *const begins[] = {FAKE_IMAGE, CUBIN_IMAGE, "//", "\x50\xed\x55\xba",
                                         "\xb1\x43\x62\x46"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (memcmp(image, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static CUresult load(CUmodule *module, const void *image)
{
    CUresult result = fake_enter();
    if (result)
        return result;
    if (!is_image(image))
        return CUDA_ERROR_INVALID_IMAGE;
    if (fake.modules >= fake_setting("FAKE_CUDA_MODULES", 1000000))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *module = calloc(1, sizeof **module);
    (*module)->loaded = 1;
    (*module)->next = fake.first_module;
    fake.first_module = *module;
    fake.modules++;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    uint64_t own = 0;
    const struct {
        CUmodule *module;
        const void *image;
    } parameters = {module, image};
    fake_call(0, __func__, &parameters, NULL, NULL, &own);
    const CUresult result = load(module, image);
    fake_call(1, __func__, &parameters, &result, NULL, &own);
    return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                           void **values, unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count)
{
    uint64_t own = 0;
    const struct {
        CUlibrary *library;
        const void *code;
    } parameters = {library, code};
    if (options || values || count || library_options || library_values || library_count)
        return CUDA_ERROR_INVALID_VALUE;
    fake_call(0, __func__, &parameters, NULL, NULL, &own);
    const CUresult result = load((CUmodule *)library, code);
    fake_call(1, __func__, &parameters, &result, NULL, &own);
    return result;
}

CUresult cuModuleUnload(CUmodule module)
{
    if (module->loaded != 1)
        return CUDA_ERROR_INVALID_HANDLE;
    while (module->functions) {
        struct CUfunc_st *f = module->functions;
        module->functions = f->next;
        free(f);
    }
    CUmodule *at = &fake.first_module;
    while (*at != module)
        at = &(*at)->next;
    *at = module->next;
    free(module);
    fake.modules--;
    return fake_enter();
}

bool fake_is_variable(CUdeviceptr start, size_t size_bytes)
{
    for (CUmodule m = fake.first_module; m; m = m->next)
        if (start >= (uintptr_t)m->constant &&
            start - (uintptr_t)m->constant + size_bytes <= sizeof m->constant)
            return true;
    return false;
}

static uint64_t named_time_ns(const char *name)
{
    const char *at = strrchr(name, '_');
    char *end;
    unsigned long us = at ? strtoul(at + 1, &end, 10) : 0;
    return at && end != at + 1 && *end == '\0' ? us * 1000 : LAUNCH_NS;
}

/* A module owns its functions. Unloading the module frees them. */
CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    CUresult result = fake_enter();
    const fake_kernel *kernel = fake_kernel_find(name);
    if (result || module->loaded != 1)
        return result ? result : CUDA_ERROR_INVALID_HANDLE;
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    struct CUfunc_st *f = calloc(1, sizeof *f);
    *f = (struct CUfunc_st){
        .kernel = kernel,
        .module = module,
        .time_ns = named_time_ns(name),
        .dynamic_limit = SHARED_DEFAULT,
        .next = module->functions,
    };
    module->functions = f;
    *out = f;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
    CUresult result = cuModuleGetFunction((CUfunction *)out, (CUmodule)library, name);
    if (result == CUDA_SUCCESS)
        ((CUfunction)*out)->is_library_kernel = true;
    return result;
}

const fake_kernel *fake_function_kernel(CUfunction function)
{
    return function->kernel;
}

CUmodule fake_function_module(CUfunction function)
{
    return function->module;
}

bool fake_is_library_kernel(CUfunction function)
{
    return function->is_library_kernel;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    *value = function->dynamic_limit;
    return fake_enter();
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > SHARED_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_limit = value;
    return fake_enter();
}

static uint64_t kernel_ns(CUfunction f, const fake_launch *l)
{
    return (f->time_ns + (f->kernel->takes_ns ? f->kernel->takes_ns(l) : 0)) * fake.percent / 100;
}

void fake_run(CUfunction f, const fake_launch *l)
{
    fake_launch own = *l;
    own.variable = f->module->constant;
    fake_changed();
    switch (f->kernel->run(&own)) {
    case FAKE_OK:
        break;
    case FAKE_HANGS:
        fake.hanging = true;
        break;
    case FAKE_ILLEGAL_ADDRESS:
        fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
        break;
    case FAKE_MISALIGNED:
        fake.sticky = CUDA_ERROR_MISALIGNED_ADDRESS;
        break;
    }
}

void fake_run_now(CUfunction f, const fake_launch *l)
{
    fake.now_ns += kernel_ns(f, l);
    fake_run(f, l);
}

static CUresult queue_kernel(CUstream stream, CUfunction f, const fake_launch *l)
{
    fake_work work = {.function = f, .threads = l->threads};
    if (f->kernel->arguments == 0 || f->kernel->arguments > FAKE_QUEUED_ARGUMENTS)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < f->kernel->arguments; i++)
        memcpy(&work.arguments[i], l->arguments[i], sizeof work.arguments[i]);
    fake_stream_queue(stream, &work, ENGINE_KERNELS, kernel_ns(f, l), fake.now_ns);
    fake.now_ns += LAUNCH_NS;
    return CUDA_SUCCESS;
}

static CUresult capture_launch(CUfunction f, const fake_launch *l)
{
    fake_node n = {.function = f, .threads = l->threads};
    for (unsigned i = 0; i < f->kernel->arguments; i++)
        memcpy(&n.arguments[i], l->arguments[i], f->kernel->sizes ? f->kernel->sizes[i] : 8);
    return fake_capture(n);
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                       void **arguments, void **extra)
{
    CUresult result = fake_enter();
    if (result)
        return result;
    if (!stream || extra || gx * gy * gz == 0 || bx * by * bz == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bx * by * bz > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)shared_bytes > f->dynamic_limit || shared_bytes < f->kernel->shared_bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const fake_launch l = {.arguments = arguments,
                           .threads = (uint64_t)gx * gy * gz * bx * by * bz};
    if (fake.capturing)
        return capture_launch(f, &l);
    if (!fake_stream_is_first(stream))
        return queue_kernel(stream, f, &l);
    fake_run_now(f, &l);
    return CUDA_SUCCESS; /* a fault is reported when the host synchronises */
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    *name = function->kernel->name;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                        void **arguments, void **extra)
{
    uint64_t own = 0;
    const struct {
        CUfunction f;
        unsigned grid[3], block[3], shared_bytes;
        CUstream stream;
        void **arguments, **extra;
    } parameters = {f, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, arguments, extra};
    fake_call(0, __func__, &parameters, NULL, f->kernel->name, &own);
    const CUresult result =
        launch(f, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra);
    fake_call(1, __func__, &parameters, &result, f->kernel->name, &own);
    return result;
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction f, void **arguments,
                          void **extra)
{
    unsigned cluster[3] = {1, 1, 1};
    int policy = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT, cooperative = 0;
    char line[128];
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = value->cooperative;
        else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            cluster[0] = value->clusterDim.x, cluster[1] = value->clusterDim.y,
            cluster[2] = value->clusterDim.z;
        else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
            policy = (int)value->clusterSchedulingPolicyPreference;
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    snprintf(line, sizeof line, "%s %u,%u,%u %d %d\n", f->kernel->name, cluster[0], cluster[1],
             cluster[2], policy, cooperative);
    fake_note("FAKE_CUDA_ATTRIBUTES", line);
    if (cooperative &&
        config->gridDimX * config->gridDimY * config->gridDimZ > MOST_COOPERATIVE_BLOCKS)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                  config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream,
                  arguments, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **arguments,
                          void **extra)
{
    uint64_t own = 0;
    const struct {
        const CUlaunchConfig *config;
        CUfunction f;
        void **arguments, **extra;
    } parameters = {config, f, arguments, extra};
    fake_call(0, __func__, &parameters, NULL, f->kernel->name, &own);
    const CUresult result = launch_ex(config, f, arguments, extra);
    fake_call(1, __func__, &parameters, &result, f->kernel->name, &own);
    return result;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *size_bytes, CUmodule module,
                           const char *name)
{
    if (module->loaded != 1 || strcmp(name, "fake_constant") != 0)
        return module->loaded == 1 ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
    *address = (CUdeviceptr)(uintptr_t)module->constant;
    *size_bytes = sizeof module->constant;
    return fake_enter();
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size_bytes, CUlibrary library,
                            const char *name)
{
    return cuModuleGetGlobal(address, size_bytes, (CUmodule)library, name);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    (void)flags;
    *stream = fake_stream_new();
    return *stream ? fake_enter() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy(CUstream stream)
{
    fake_stream_free(stream);
    return fake_enter();
}

CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    return fake_enter();
}

CUresult cuStreamSynchronize(CUstream stream)
{
    if (!stream || fake.capturing)
        return CUDA_ERROR_INVALID_HANDLE;
    fake.now_ns = fake_stream_finish(stream, fake.now_ns);
    while (fake.hanging)
        pause();
    bool shut = fake.gate && (int32_t)(*fake.gate - fake.ticket) < 0;
    fake.gate = NULL;
    return shut ? CUDA_ERROR_LAUNCH_TIMEOUT : fake_enter();
}
