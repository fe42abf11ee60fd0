#include "capture/inject/inject.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/image.h"

/* The names in cuda.h are macros that add the version of the function. */
#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

enum { PIECE_BYTES = 16 << 20 };

void *snapshot_find_library(void)
{
    const char *chosen = getenv("AUTOTUNE_LIBCUDA");
    return dlopen(chosen && *chosen ? chosen : "libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

const char *snapshot_find_driver(snapshot_driver *out)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
#define SNAPSHOT_SYMBOL(name) {TEXT(name), offsetof(snapshot_driver, name)},
        SNAPSHOT_DRIVER_FUNCTIONS(SNAPSHOT_SYMBOL)
#undef SNAPSHOT_SYMBOL
    };
    void *library = snapshot_find_library();
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = library ? dlsym(library, symbols[i].name) : NULL;
        if (!address)
            return symbols[i].name;
        memcpy((char *)out + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

static bool fail(const snapshot *s, CUresult result, const char *what)
{
    const char *text = NULL;
    s->driver->cuGetErrorString(result, &text);
    launch_table_trouble(s->out->trouble, "%s: %s", what, text ? text : "unknown error");
    return false;
}

/* Finds offset and size of parameter `i` of a kernel. The CUDA runtime passes a CUkernel as `f`; a
 * function of cuModuleGetFunction() is a real CUfunction. */
static CUresult parameter_info(const snapshot *s, CUfunction f, size_t i, size_t *offset,
                               size_t *size_bytes)
{
    CUlibrary library;
    if (s->driver->cuKernelGetLibrary(&library, (CUkernel)f) == CUDA_SUCCESS)
        return s->driver->cuKernelGetParamInfo((CUkernel)f, i, offset, size_bytes);
    return s->driver->cuFuncGetParamInfo(f, i, offset, size_bytes);
}

/* Finds the parameters in `extra`. Returns false if `extra` has unknown entries. */
static bool find_packed(void **extra, const unsigned char **bytes, size_t *size_bytes)
{
    *bytes = NULL;
    *size_bytes = 0;
    for (; extra && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *bytes = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size_bytes = *(const size_t *)extra[1];
        else
            return false;
    }
    return true;
}

static bool take_arguments(const snapshot *s, CUfunction f, void **arguments, void **extra)
{
    capture_launch *out = s->out;
    const unsigned char *packed;
    size_t packed_bytes;
    if (!find_packed(extra, &packed, &packed_bytes)) {
        launch_table_trouble(out->trouble, "the launch passes its arguments in an unknown way");
        return false;
    }
    for (size_t i = 0;; i++) {
        size_t offset, size_bytes;
        CUresult result = parameter_info(s, f, i, &offset, &size_bytes);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return true; /* The kernel has no more parameters. */
        if (result)
            return fail(s, result, "the arguments of the launch cannot be found");
        if (i >= CAPTURE_MOST_ARGUMENTS || offset + size_bytes > CAPTURE_PARAMETER_BYTES) {
            launch_table_trouble(
                out->trouble,
                "the launch has more than %d arguments, or more than %d bytes of them",
                CAPTURE_MOST_ARGUMENTS, CAPTURE_PARAMETER_BYTES);
            return false;
        }
        if (packed && offset + size_bytes > packed_bytes) {
            launch_table_trouble(
                out->trouble,
                "the launch passes only %zu bytes of arguments, fewer than its kernel takes",
                packed_bytes);
            return false;
        }
        memcpy(out->parameters + offset, packed ? packed + offset : arguments[i], size_bytes);
        out->arguments[i] = (capture_argument){(uint32_t)offset, (uint32_t)size_bytes};
        out->argument_count = (uint32_t)i + 1;
        if (out->parameter_bytes < offset + size_bytes)
            out->parameter_bytes = (uint32_t)(offset + size_bytes);
    }
}

/* Asks the driver for the allocation that contains an address. Returns false if there is none. */
static bool ask_allocation(const snapshot *s, uint64_t address, capture_allocation *out)
{
    CUmemorytype type = 0;
    CUdeviceptr start = 0;
    size_t size_bytes = 0;
    const snapshot_driver *d = s->driver;
    if (d->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ||
        d->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ||
        d->cuPointerGetAttribute(&size_bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address))
        return false;
    *out = (capture_allocation){start, size_bytes, type == CU_MEMORYTYPE_HOST, CAPTURE_UNREAD};
    return size_bytes > 0 && address >= start && address - start < size_bytes;
}

static bool find_known(const capture_launch *out, uint64_t address, uint32_t *place)
{
    for (*place = 0; *place < out->allocation_count; ++*place) {
        const capture_allocation *a = &out->allocations[*place];
        if (address >= a->address && address - a->address < a->size_bytes)
            return true;
    }
    return false;
}

/* Finds or adds the allocation that contains an address. Returns false if there is none. */
static bool find_allocation(const snapshot *s, uint64_t address, uint32_t *place)
{
    capture_launch *out = s->out;
    capture_allocation found;
    if (find_known(out, address, place))
        return true;
    if (!ask_allocation(s, address, &found))
        return false;
    if (*place == CAPTURE_MOST_ALLOCATIONS) {
        launch_table_trouble(out->trouble,
                             "the arguments of the launch point into more than %d allocations",
                             CAPTURE_MOST_ALLOCATIONS);
        return false;
    }
    out->allocations[out->allocation_count++] = found;
    return true;
}

/* Finds pointers at any eight bytes of an argument, because a structure may hold them anywhere. The
 * end of an allocation counts as an address in it. */
static void find_pointers(const snapshot *s)
{
    capture_launch *out = s->out;
    for (uint32_t i = 0; i < out->argument_count; i++) {
        const capture_argument *a = &out->arguments[i];
        for (uint32_t at = (a->offset + 7) / 8 * 8; at + 8 <= a->offset + a->size_bytes; at += 8) {
            uint64_t word;
            uint32_t place;
            memcpy(&word, out->parameters + at, sizeof word);
            if (word == 0 || out->pointer_count == CAPTURE_MOST_POINTERS ||
                (!find_allocation(s, word, &place) && !find_known(out, word - 1, &place)))
                continue;
            out->pointers[out->pointer_count++] =
                (capture_pointer){at, place, word - out->allocations[place].address};
        }
    }
}

static void name_file(const snapshot *s, uint32_t k, const char *when, char name[64])
{
    snprintf(name, 64, "%d-%u-%s", s->place, k, when);
}

static bool read_piece(const snapshot *s, const capture_allocation *a, uint64_t offset, char *piece,
                       size_t size_bytes)
{
    CUresult result = CUDA_SUCCESS;
    if (a->is_host)
        memcpy(piece, (const void *)(uintptr_t)(a->address + offset), size_bytes);
    else
        result = s->driver->cuMemcpyDtoH(piece, a->address + offset, size_bytes);
    return result ? fail(s, result, "the memory of the launch cannot be read") : true;
}

/* Writes the contents of an allocation to a file. Unless `like` is NULL, sets `*differs` to whether
 * the file `like` has other contents. */
static bool write_contents(const snapshot *s, const capture_allocation *a, const char *name,
                           const char *like, bool *differs)
{
    char *piece = malloc(PIECE_BYTES);
    int fd = openat(s->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = piece && fd >= 0;
    if (!good)
        launch_table_trouble(s->out->trouble, "the folder of the capture cannot be written");
    for (uint64_t at = 0; good && at < a->size_bytes; at += PIECE_BYTES) {
        const size_t n =
            a->size_bytes - at < PIECE_BYTES ? (size_t)(a->size_bytes - at) : PIECE_BYTES;
        good = read_piece(s, a, at, piece, n);
        if (good && !inject_write_all(fd, piece, n)) {
            launch_table_trouble(s->out->trouble,
                                 "the folder of the capture cannot be written: is the "
                                 "disk full?");
            good = false;
        }
        if (good && like)
            *differs |= memcmp(piece, like + at, n) != 0;
    }
    if (fd >= 0)
        close(fd);
    free(piece);
    return good;
}

static bool take_inputs(const snapshot *s)
{
    capture_launch *out = s->out;
    uint64_t total = 0;
    char name[64];
    for (uint32_t k = 0; k < out->allocation_count; k++)
        total += out->allocations[k].size_bytes;
    if (total > s->limit_bytes) {
        launch_table_trouble(out->trouble,
                             "the launch's arguments point into allocations of %" PRIu64
                             " bytes, but --limit is %" PRIu64 ": give --limit %" PRIu64 "",
                             total, s->limit_bytes, total);
        return false;
    }
    for (uint32_t k = 0; k < out->allocation_count; k++) {
        name_file(s, k, "before", name);
        if (!write_contents(s, &out->allocations[k], name, NULL, NULL))
            return false;
        out->allocations[k].state = CAPTURE_BEFORE;
    }
    return true;
}

static void take_outputs(const snapshot *s)
{
    capture_launch *out = s->out;
    char before[64], after[64];
    for (uint32_t k = 0; k < out->allocation_count; k++) {
        capture_allocation *a = &out->allocations[k];
        bool differs = false;
        name_file(s, k, "before", before);
        name_file(s, k, "after", after);
        int fd = openat(s->folder, before, O_RDONLY | O_CLOEXEC);
        void *like = fd < 0 ? MAP_FAILED : mmap(NULL, a->size_bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (fd >= 0)
            close(fd);
        if (like == MAP_FAILED) {
            launch_table_trouble(out->trouble, "the captured files cannot be read again");
            return;
        }
        const bool good = write_contents(s, a, after, like, &differs);
        munmap(like, a->size_bytes);
        if (!good)
            return;
        a->state = differs ? CAPTURE_CHANGED : CAPTURE_UNCHANGED;
        if (!differs)
            unlinkat(s->folder, after, 0);
    }
    out->state = CAPTURE_DONE;
}

static void describe_device(const snapshot *s)
{
    CUdevice device;
    int major = 0, minor = 0;
    const snapshot_driver *d = s->driver;
    if (d->cuCtxGetDevice(&device))
        return;
    d->cuDeviceGetName(s->out->device, sizeof s->out->device, device);
    d->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    d->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    s->out->major = major;
    s->out->minor = minor;
}

/* The library or module of the kernel. The CUDA runtime launches kernels of a CUlibrary. */
typedef struct origin {
    CUlibrary library;
    CUmodule module;
} origin;

static origin find_origin(const snapshot *s, CUfunction f)
{
    origin o = {NULL, NULL};
    if (s->driver->cuKernelGetLibrary(&o.library, (CUkernel)f) == CUDA_SUCCESS)
        return o;
    o.library = NULL;
    if (s->driver->cuFuncGetModule(&o.module, f) != CUDA_SUCCESS)
        o.module = NULL;
    return o;
}

static void take_module(const snapshot *s, const origin *o)
{
    char name[64];
    snprintf(name, sizeof name, "%d-module", s->place);
    s->out->module_bytes = modules_write(
        s->modules, o->library ? (const void *)o->library : o->module, s->folder, name);
}

/* Captures a variable of the module, but none of the compiler's own (texts of printf()). */
static void take_variable(const snapshot *s, const origin *o, const char *name)
{
    capture_launch *out = s->out;
    capture_variable *v = &out->variables[out->variable_count];
    CUdeviceptr address = 0;
    size_t size_bytes = 0;
    char file[64];
    CUresult result = o->library
                          ? s->driver->cuLibraryGetGlobal(&address, &size_bytes, o->library, name)
                          : s->driver->cuModuleGetGlobal(&address, &size_bytes, o->module, name);
    if (result || out->variable_count == CAPTURE_MOST_VARIABLES) {
        out->variables_unread += *name != '$';
        return;
    }
    snprintf(v->name, sizeof v->name, "%s", name);
    v->address = address;
    v->size_bytes = size_bytes;
    snprintf(file, sizeof file, "%d-variable-%u", s->place, out->variable_count);
    const capture_allocation memory = {address, size_bytes, 0, CAPTURE_UNREAD};
    if (write_contents(s, &memory, file, NULL, NULL))
        out->variable_count++;
}

/* Captures the variables that the module's PTX names. Without PTX, captures none: the kernel can
 * then only be tuned from a source. */
static void take_variables(const snapshot *s, const origin *o, const char *kernel)
{
    size_t size_bytes;
    char arch[16], name[IMAGE_NAME_BYTES], *ptx = NULL;
    at_error ignored = {0};
    const void *image =
        modules_bytes(s->modules, o->library ? (const void *)o->library : o->module, &size_bytes);
    snprintf(arch, sizeof arch, "sm_%d%d", s->out->major, s->out->minor);
    if (!image || image_ptx(image, size_bytes, kernel, arch, "module", &ptx, &ignored))
        return;
    for (const char *at = ptx; (at = image_next_variable(at, name)) != NULL;)
        take_variable(s, o, name);
    free(ptx);
}

/* Changes the thread's capture mode and returns the earlier one: if another thread records a graph,
 * waiting for the GPU would end the recording. */
static CUstreamCaptureMode relax(const snapshot *s, CUstreamCaptureMode mode)
{
    s->driver->cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

bool snapshot_before(const snapshot *s, const char *kernel, CUfunction f, void **arguments,
                     void **extra)
{
    const origin o = find_origin(s, f);
    describe_device(s);
    take_module(s, &o);
    if (!take_arguments(s, f, arguments, extra))
        return false;
    find_pointers(s);
    s->out->state = CAPTURE_ARGUMENTS;
    if (s->out->trouble[0])
        return false;
    const CUstreamCaptureMode mode = relax(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUresult result = s->driver->cuCtxSynchronize();
    bool good =
        result ? fail(s, result, "the GPU had already failed before the launch") : take_inputs(s);
    if (good)
        take_variables(s, &o, kernel);
    good = good && !s->out->trouble[0];
    relax(s, mode);
    if (good)
        s->out->state = CAPTURE_INPUTS;
    return good;
}

void snapshot_after(const snapshot *s)
{
    const CUstreamCaptureMode mode = relax(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUresult result = s->driver->cuCtxSynchronize();
    if (result)
        fail(s, result, "it failed");
    else
        take_outputs(s);
    relax(s, mode);
}
