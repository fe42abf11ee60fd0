#include "fake_cuda.h"
#include "fake_calls.h"
#include "fake_stream.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_ALLOCATIONS = 4096,
    LAUNCH_NS = 2000,       /* a kernel that does not say what it takes */
    SHARED_DEFAULT = 49152, /* dynamic shared memory without asking */
    SHARED_MOST = 232448
};

struct CUmod_st {
    int loaded;                       /* 1; freed memory would be caught by the sanitizer */
    struct CUfunc_st *functions;      /* that were found in it */
    unsigned char constant[4 * 4096]; /* its variable fake_constant */
    struct CUmod_st *next;
};

struct CUfunc_st {
    const fake_kernel *kernel;
    CUmodule module;
    bool is_library_kernel; /* a CUkernel */
    uint64_t time_ns;
    int dynamic_limit;
    struct CUfunc_st *next; /* of the same module */
};

enum { MAX_ARGUMENTS = 5, MAX_NODES = 8192, MOST_COOPERATIVE_BLOCKS = 264 };

/* A captured launch (function) or copy. */
typedef struct node {
    CUfunction function;
    uint64_t arguments[MAX_ARGUMENTS];
    uint64_t threads;
    CUdeviceptr to, from;
    size_t size_bytes;
} node;

struct CUgraph_st {
    size_t count;
    node nodes[MAX_NODES];
};

struct CUgraphExec_st {
    CUgraph graph;
    bool uploaded;
};

struct CUevent_st {
    uint64_t time_ns;
    bool recorded;
    bool gated; /* while the gate was shut: it belongs to a sample */
};

/* The driver's own state: one process, one context. */
static struct {
    bool initialised, context;
    CUresult sticky;
    bool hanging;
    uint64_t now_ns;
    uint64_t percent; /* of a kernel's time that this device takes */
    int modules;
    CUmodule first_module;
    size_t allocated_bytes, allocations;
    const unsigned char *starts[MAX_ALLOCATIONS];
    size_t sizes[MAX_ALLOCATIONS];
    const volatile uint32_t *gate;
    uint32_t ticket;
    CUgraph capturing;                  /* NULL: launches happen */
    CUdeviceptr copied_to, copied_from; /* by what ran last, */
    size_t copied_bytes;                /* unless 0: memory was changed otherwise */
} fake;

static long setting(const char *name, long fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : fallback;
}

static void wait_us(long us)
{
    if (us > 0)
        usleep((useconds_t)us);
}

/* To the file that `setting` names, from whatever process. */
static void note(const char *setting, const char *text)
{
    const char *path = getenv(setting);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    ssize_t n = write(fd, text, strlen(text));
    (void)n;
    close(fd);
}

/* A byte for each. */
static void count_time(void)
{
    note("FAKE_CUDA_TIMES", "t");
}

/* What every call of a context does first. */
static CUresult enter(void)
{
    if (!fake.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!fake.context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return fake.sticky;
}

int64_t autotune_host_clock_ns(void)
{
    wait_us(setting("FAKE_CUDA_TIME_US", 0));
    count_time();
    return (int64_t)fake.now_ns;
}

bool fake_is_capturing(void)
{
    return fake.capturing != NULL;
}

void fake_changed(void)
{
    fake.copied_bytes = 0;
}

uint64_t fake_time_ns(void)
{
    return fake.now_ns;
}

void fake_spend(uint64_t time_ns)
{
    fake.now_ns += time_ns * fake.percent / 100;
}

size_t fake_allocations(const unsigned char ***starts, const size_t **sizes)
{
    *starts = fake.starts;
    *sizes = fake.sizes;
    return fake.allocations;
}

void fake_gate(const volatile uint32_t *flag, uint32_t ticket)
{
    fake.gate = flag;
    fake.ticket = ticket;
}

/* The ordinal that is gone: -1 for all, -2 for none. */
static int gone_ordinal(void)
{
    const char *path = getenv("FAKE_CUDA_GONE");
    FILE *file = path ? fopen(path, "r") : NULL;
    int ordinal = -1;
    if (!file)
        return -2;
    if (fscanf(file, "%d", &ordinal) != 1)
        ordinal = -1;
    fclose(file);
    return ordinal;
}

/* The piece of a list that is a device's, up to the comma; NULL: it has none. */
static const char *piece(const char *list, int device)
{
    for (; list && device > 0; device--)
        list = (list = strchr(list, ',')) ? list + 1 : NULL;
    return list;
}

CUresult cuInit(unsigned int flags)
{
    (void)flags;
    long result = setting("FAKE_CUDA_INIT", 0);
    char line[64];
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(line, sizeof line, "%s\n", visible ? visible : "all");
    note("FAKE_CUDA_INITS", line); /* a line for each, with what it is shown */
    if (gone_ordinal() == -1)
        return CUDA_ERROR_NO_DEVICE;
    fake.initialised = result == 0;
    if (fake.initialised)
        fake_inject();
    return (CUresult)result;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

typedef struct error_text {
    CUresult result;
    const char *name, *sentence;
} error_text;

static const error_text error_texts[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
};

static const error_text *find_error(CUresult result)
{
    for (size_t i = 0; i < sizeof error_texts / sizeof *error_texts; i++)
        if (error_texts[i].result == result)
            return &error_texts[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult result, const char **text)
{
    const error_text *e = find_error(result);
    *text = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    const error_text *e = find_error(result);
    *text = e ? e->sentence : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Devices. */

/* What $CUDA_VISIBLE_DEVICES names as the GPU `ordinal`; -1: nothing. Without it, or with "", every
 * GPU as it is numbered. */
static int shown(int ordinal)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int there = (int)setting("FAKE_CUDA_DEVICES", 1);
    if (visible && *visible) {
        const char *entry = piece(visible, ordinal);
        ordinal = entry ? atoi(entry) : -1;
    }
    return ordinal < there ? ordinal : -1;
}

CUresult cuDeviceGetCount(int *count)
{
    for (*count = 0; shown(*count) >= 0;)
        ++*count;
    return fake.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = shown(ordinal);
    const char *pause_ms = piece(getenv("FAKE_CUDA_OPEN_MS"), *device);
    wait_us(pause_ms ? 1000 * strtol(pause_ms, NULL, 10) : 0);
    return *device < 0 || *device == gone_ordinal() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    const char *given = piece(getenv("FAKE_CUDA_NAMES"), device);
    if (given && *given)
        snprintf(name, (size_t)length, "%.*s", (int)strcspn(given, ","), given);
    else
        snprintf(name, (size_t)length, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[14] = (char)setting("FAKE_CUDA_SERIAL", 0);
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)setting("FAKE_CUDA_MEMORY", 1L << 30);
    return CUDA_SUCCESS;
}

typedef struct attribute_value {
    CUdevice_attribute attribute;
    int value;
} attribute_value;

static const attribute_value attribute_values[] = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_MOST},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1500000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 256},
};

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    for (size_t i = 0; i < sizeof attribute_values / sizeof *attribute_values; i++)
        if (attribute_values[i].attribute == attribute) {
            *value = attribute_values[i].value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    (void)device, (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    if (setting("FAKE_CUDA_EAGER", 0) && strcmp(loading ? loading : "", "EAGER") != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const char *speed = piece(getenv("FAKE_CUDA_SPEEDS"), device);
    fake.percent = speed && *speed ? (uint64_t)strtol(speed, NULL, 10) : 100;
    *context = (CUcontext)&fake;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    return fake.sticky;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    fake.context = context != NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = fake.context ? (CUcontext)(uintptr_t)&fake : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    if (!fake.context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = 0;
    return CUDA_SUCCESS;
}

/* Memory. */

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = (size_t)setting("FAKE_CUDA_MEMORY", 1L << 30);
    *free_bytes = *total_bytes - fake.allocated_bytes;
    return enter();
}

CUresult cuMemAlloc(CUdeviceptr *out, size_t size_bytes)
{
    size_t total = (size_t)setting("FAKE_CUDA_MEMORY", 1L << 30);
    CUresult result = enter();
    if (result)
        return result;
    if (size_bytes == 0 || fake.allocations == MAX_ALLOCATIONS)
        return CUDA_ERROR_INVALID_VALUE;
    if (size_bytes > total - fake.allocated_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    wait_us(1000 * setting("FAKE_CUDA_ALLOCATION_MS", 0));
    unsigned char *memory = aligned_alloc(256, (size_bytes + 255) / 256 * 256);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* A GPU does not clear memory either. */
    memset(memory, 0xcd, size_bytes);
    fake_changed();
    fake.starts[fake.allocations] = memory;
    fake.sizes[fake.allocations++] = size_bytes;
    fake.allocated_bytes += size_bytes;
    *out = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

/* Does memory of a module's variables lie there? */
static bool is_variable(CUdeviceptr start, size_t size_bytes)
{
    for (CUmodule m = fake.first_module; m; m = m->next)
        if (start >= (uintptr_t)m->constant &&
            start - (uintptr_t)m->constant + size_bytes <= sizeof m->constant)
            return true;
    return false;
}

/* Where a range lies; SIZE_MAX when it is not inside one allocation. */
static size_t find_range(CUdeviceptr start, size_t size_bytes)
{
    for (size_t i = 0; i < fake.allocations; i++) {
        uintptr_t first = (uintptr_t)fake.starts[i];
        if (start >= first && start - first <= fake.sizes[i] &&
            size_bytes <= fake.sizes[i] - (start - first))
            return i;
    }
    return SIZE_MAX;
}

CUresult cuMemFree(CUdeviceptr memory)
{
    size_t i = find_range(memory, 0);
    if (i == SIZE_MAX || (uintptr_t)fake.starts[i] != memory)
        return CUDA_ERROR_INVALID_VALUE;
    free((void *)(uintptr_t)fake.starts[i]);
    fake.allocated_bytes -= fake.sizes[i];
    fake.allocations--;
    fake.starts[i] = fake.starts[fake.allocations];
    fake.sizes[i] = fake.sizes[fake.allocations];
    return enter();
}

bool fake_find_allocation(CUdeviceptr address, CUdeviceptr *start, size_t *size_bytes)
{
    const size_t i = find_range(address, 1);
    if (i == SIZE_MAX)
        return false;
    *start = (CUdeviceptr)(uintptr_t)fake.starts[i];
    *size_bytes = fake.sizes[i];
    return true;
}

/* Work on the first stream is done at once; a program that captures has no other. */
CUresult cuCtxSynchronize(void)
{
    return fake.capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : enter();
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size_bytes)
{
    if (enter() || (find_range(from, size_bytes) == SIZE_MAX && !is_variable(from, size_bytes)))
        return enter() ? enter() : CUDA_ERROR_INVALID_VALUE;
    memcpy(to, (const void *)(uintptr_t)from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size_bytes)
{
    if (enter() || find_range(to, size_bytes) == SIZE_MAX)
        return enter() ? enter() : CUDA_ERROR_INVALID_VALUE;
    fake_changed();
    memcpy((void *)(uintptr_t)to, from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size_bytes, CUstream stream)
{
    CUresult result = enter();
    if (result || !stream || fake.capturing || find_range(from, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.now_ns =
        fake_copy(stream, to, (const void *)(uintptr_t)from, size_bytes, false, fake.now_ns);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size_bytes, CUstream stream)
{
    CUresult result = enter();
    if (result || !stream || fake.capturing || find_range(to, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.now_ns = fake_copy(stream, (void *)(uintptr_t)to, from, size_bytes, true, fake.now_ns);
    return CUDA_SUCCESS;
}

/* Copies within the device take 1 ns for 100 bytes read and written. A chip is warmed up by
 * thousands of the same copy: what is there already is not brought again. */
static void copy_bytes(CUdeviceptr to, CUdeviceptr from, size_t size_bytes)
{
    if (to != fake.copied_to || from != fake.copied_from || size_bytes != fake.copied_bytes)
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size_bytes);
    fake.copied_to = to;
    fake.copied_from = from;
    fake.copied_bytes = size_bytes;
    fake.now_ns += LAUNCH_NS + size_bytes / 50;
}

static CUresult add_node(node n)
{
    if (fake.capturing->count == MAX_NODES)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.capturing->nodes[fake.capturing->count++] = n;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream)
{
    CUresult result = enter();
    if (result || !stream || find_range(from, size_bytes) == SIZE_MAX ||
        find_range(to, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    if (fake.capturing)
        return add_node((node){.to = to, .from = from, .size_bytes = size_bytes});
    copy_bytes(to, from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size_bytes, CUstream stream)
{
    CUresult result = enter();
    if (result || !stream || fake.capturing || find_range(to, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake_changed();
    memset((void *)(uintptr_t)to, value, size_bytes);
    return CUDA_SUCCESS;
}

/* Modules and launches. */

/* PTX, fat binaries and the wrappers of nvcc are taken, too: kernels are found by their names. */
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
    CUresult result = enter();
    if (result)
        return result;
    if (!is_image(image))
        return CUDA_ERROR_INVALID_IMAGE;
    if (fake.modules >= setting("FAKE_CUDA_MODULES", 1000000))
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
    return enter();
}

static uint64_t named_time_ns(const char *name)
{
    const char *at = strrchr(name, '_');
    char *end;
    unsigned long us = at ? strtoul(at + 1, &end, 10) : 0;
    return at && end != at + 1 && *end == '\0' ? us * 1000 : LAUNCH_NS;
}

/* A function goes with its module. */
CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    CUresult result = enter();
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
    return enter();
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > SHARED_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_limit = value;
    return enter();
}

static uint64_t kernel_ns(CUfunction f, const fake_launch *l)
{
    return (f->time_ns + (f->kernel->takes_ns ? f->kernel->takes_ns(l) : 0)) * fake.percent / 100;
}

void fake_run(CUfunction f, const fake_launch *l)
{
    fake_changed();
    switch (f->kernel->run(l)) {
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

static void run_kernel(CUfunction f, const fake_launch *l)
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
    node n = {.function = f, .threads = l->threads};
    for (unsigned i = 0; i < f->kernel->arguments; i++)
        memcpy(&n.arguments[i], l->arguments[i], f->kernel->sizes ? f->kernel->sizes[i] : 8);
    return add_node(n);
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
                       void **arguments, void **extra)
{
    CUresult result = enter();
    if (result)
        return result;
    if (!stream || extra || gx * gy * gz == 0 || bx * by * bz == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bx * by * bz > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)shared_bytes > f->dynamic_limit || shared_bytes < f->kernel->shared_bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const fake_launch l = {arguments, (uint64_t)gx * gy * gz * bx * by * bz};
    if (fake.capturing)
        return capture_launch(f, &l);
    if (!fake_stream_is_first(stream))
        return queue_kernel(stream, f, &l);
    run_kernel(f, &l);
    return CUDA_SUCCESS; /* faults show when somebody waits */
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
    note("FAKE_CUDA_ATTRIBUTES", line);
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
    return enter();
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
    return *stream ? enter() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy(CUstream stream)
{
    fake_stream_free(stream);
    return enter();
}

CUresult cuStreamQuery(CUstream stream)
{
    (void)stream;
    return enter();
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
    return shut ? CUDA_ERROR_LAUNCH_TIMEOUT : enter();
}

/* Graphs. */

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    CUresult result = enter();
    if (result || !stream || fake.capturing)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.capturing = calloc(1, sizeof *fake.capturing);
    return fake.capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    if (!stream || !fake.capturing)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = fake.capturing;
    fake.capturing = NULL;
    return enter();
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    CUgraphExec g = calloc(1, sizeof *g);
    g->graph = malloc(sizeof *g->graph);
    *g->graph = *graph;
    *out = g;
    return enter();
}

CUresult cuGraphUpload(CUgraphExec g, CUstream stream)
{
    g->uploaded = true;
    return stream ? enter() : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launch_graph(CUgraphExec g, CUstream stream)
{
    CUresult result = enter();
    if (result || !stream || !g->uploaded)
        return result ? result : CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < g->graph->count; i++) {
        node *n = &g->graph->nodes[i];
        void *arguments[MAX_ARGUMENTS];
        for (int a = 0; a < MAX_ARGUMENTS; a++)
            arguments[a] = &n->arguments[a];
        if (n->function)
            run_kernel(n->function, &(fake_launch){arguments, n->threads});
        else
            copy_bytes(n->to, n->from, n->size_bytes);
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec g, CUstream stream)
{
    uint64_t own = 0;
    const struct {
        CUgraphExec g;
        CUstream stream;
    } parameters = {g, stream};
    fake_call(0, __func__, &parameters, NULL, NULL, &own);
    const CUresult result = launch_graph(g, stream);
    fake_call(1, __func__, &parameters, &result, NULL, &own);
    return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    free(graph);
    return enter();
}

CUresult cuGraphExecDestroy(CUgraphExec g)
{
    free(g->graph);
    free(g);
    return enter();
}

/* Events. */

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? enter() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy(CUevent event)
{
    free(event);
    return enter();
}

/* An event on a stream with nothing in front of it would let the launch latency into the time; the
 * fake shows that as a millisecond. */
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    event->time_ns = fake.now_ns;
    event->recorded = true;
    event->gated = fake.gate != NULL;
    if (!fake.gate)
        fake.now_ns += 1000000;
    return enter();
}

CUresult cuEventElapsedTime(float *time_ms, CUevent start, CUevent stop)
{
    if (!start->recorded || !stop->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->gated) {
        wait_us(setting("FAKE_CUDA_TIME_US", 0));
        count_time();
    }
    /* Half a microsecond of resolution, as events have. */
    *time_ms = (float)(round((double)(stop->time_ns - start->time_ns) / 500.0) * 500.0 * 1e-6);
    return enter();
}

CUresult cuEventQuery(CUevent event)
{
    return event->recorded ? enter() : CUDA_ERROR_NOT_READY;
}
