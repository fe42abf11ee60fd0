#include "cuda/queue.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

/* Resident blocks of a support kernel per SM: enough warps to saturate memory on every chip. */
enum { SUPPORT_BLOCKS_PER_SM = 8 };

static const char *const support_names[SUPPORT_COUNT] = {
    [SUPPORT_FILL] = "at_fill",
    [SUPPORT_GUARDS_SET] = "at_guards_set",
    [SUPPORT_GUARDS_CHECK] = "at_guards_check",
    [SUPPORT_COMPARE_EXACT] = "at_compare_exact",
    [SUPPORT_MAGNITUDE] = "at_magnitude",
    [SUPPORT_COMPARE_CLOSE] = "at_compare_close",
    [SUPPORT_CHECKSUM] = "at_checksum",
    [SUPPORT_FLUSH_WRITE] = "at_flush_write",
    [SUPPORT_FLUSH_READ] = "at_flush_read",
    [SUPPORT_GATE] = "at_gate",
    [SUPPORT_EMPTY] = "at_empty",
    [SUPPORT_CLOCK] = "at_clock",
    [SUPPORT_SCRUB] = "at_scrub",
};

const char *cuda_support_name(support_kernel kernel)
{
    return support_names[kernel];
}

at_status cuda_done(device *d, CUresult result, const char *what, at_error *error)
{
    return cuda_check(&d->cuda, result, AT_DEVICE, what, error);
}

at_status cuda_allocate(device *d, uint64_t size_bytes, const char *what, CUdeviceptr *out,
                        at_error *error)
{
    CUresult result = d->cuda.cuMemAlloc(out, size_bytes > 0 ? (size_t)size_bytes : 1);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    *out = 0;
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return cuda_done(d, result, what, error);
    size_t free_bytes = 0, total_bytes = 0;
    d->cuda.cuMemGetInfo(&free_bytes, &total_bytes);
    return error_set(error, AT_DEVICE,
                     "%s needs %.1f MiB of device memory, but only %.1f of %.1f MiB are free: "
                     "choose a smaller problem",
                     what, (double)size_bytes / 1048576.0, (double)free_bytes / 1048576.0,
                     (double)total_bytes / 1048576.0);
}

at_status cuda_allocate_pinned(device *d, size_t size_bytes, unsigned flags, void **out,
                               at_error *error)
{
    at_status status = cuda_done(d, d->cuda.cuMemHostAlloc(out, size_bytes, flags),
                                 "cannot allocate pinned host memory", error);
    if (!status)
        memset(*out, 0, size_bytes);
    return status;
}

at_status cuda_wait(device *d, const char *what, at_error *error)
{
    return cuda_done(d, d->cuda.cuStreamSynchronize(d->stream), what, error);
}

at_status cuda_support_queue(device *d, support_kernel kernel, uint64_t items, void **arguments,
                             at_error *error)
{
    uint64_t most = (uint64_t)d->properties.limits.sm_count * SUPPORT_BLOCKS_PER_SM;
    uint64_t blocks = items / CUDA_BLOCK_THREADS + (items % CUDA_BLOCK_THREADS != 0);
    unsigned grid = (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
    unsigned threads = items == 1 ? 1 : CUDA_BLOCK_THREADS;
    return cuda_done(d,
                     d->cuda.cuLaunchKernel(d->support_kernels[kernel], grid, 1, 1, threads, 1, 1,
                                            0, d->stream, arguments, NULL),
                     support_names[kernel], error);
}

at_status cuda_scrub(device *d, int pattern, at_error *error)
{
    static const char what[] = "cannot fill shared memory";
    static const uint32_t values[] = {0x7fc00000, 0xfe000000, 0x3f000000, 0x7e000000};
    uint32_t bytes = (uint32_t)d->properties.limits.max_shared_per_block_bytes / 4 * 4;
    uint32_t word = values[pattern & 3];
    void *arguments[] = {&bytes, &word};
    CUfunction kernel = d->support_kernels[SUPPORT_SCRUB];
    at_status status = AT_OK;
    if (!d->scrubs)
        status = cuda_done(d,
                           d->cuda.cuFuncSetAttribute(
                               kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
                           what, error);
    d->scrubs = !status;
    /* A block fills an SM; twice as many blocks as SMs reach every SM. */
    if (!status)
        status = cuda_done(
            d,
            d->cuda.cuLaunchKernel(kernel, 2 * (unsigned)d->properties.limits.sm_count, 1, 1,
                                   CUDA_BLOCK_THREADS, 1, 1, bytes, d->stream, arguments, NULL),
            what, error);
    return status;
}

/* ---- modules ----
 * An image with several kernels is loaded once. Its kernels are usually tried in succession, so the
 * module stays loaded for a while after the last kernel is freed. A module keeps a copy, on the
 * device, of the initial contents of its variables. */

/* The number of unused modules that stay loaded, enough for the next variants on two problems. */
enum { MODULES_KEPT = 4 };

typedef struct module_variable {
    CUdeviceptr address;
    size_t size_bytes;
} module_variable;

typedef struct cuda_module {
    struct cuda_module *next; /* modules are listed by their last use, the last one first */
    uint64_t hash[2];         /* XXH3-128 of the image */
    size_t size_bytes;        /* size of the image */
    bool shared;              /* the image has several kernels */
    CUmodule module;
    size_t users;               /* number of kernels that use the module */
    module_variable *variables; /* owned */
    size_t variable_count;
    CUdeviceptr initial; /* initial contents of the variables, one after the other; owned */
} cuda_module;

/* An image in a message is not aligned, but the driver may expect an ELF file to be. */
CUresult cuda_module_load(const cuda_driver *cuda, const device_image *image, CUmodule *out)
{
    *out = NULL;
    if ((uintptr_t)image->bytes % 16 == 0)
        return cuda->cuModuleLoadData(out, image->bytes);
    void *aligned = malloc(image->size_bytes > 0 ? image->size_bytes : 1);
    if (!aligned)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(aligned, image->bytes, image->size_bytes);
    CUresult result = cuda->cuModuleLoadData(out, aligned);
    free(aligned);
    return result;
}

/* Copies a struct out of the unaligned image. Returns false beyond the image's end. */
static bool read_at(const device_image *image, uint64_t offset, void *out, size_t size_bytes)
{
    if (offset > image->size_bytes || image->size_bytes - offset < size_bytes)
        return false;
    memcpy(out, (const char *)image->bytes + offset, size_bytes);
    return true;
}

static CUresult add_variable(const cuda_driver *cuda, const device_image *image,
                             const Elf64_Shdr *names, const Elf64_Sym *symbol, cuda_module *m)
{
    const uint64_t at = names->sh_offset + symbol->st_name;
    const char *name = (const char *)image->bytes + at;
    module_variable v;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
        at >= image->size_bytes || !memchr(name, '\0', image->size_bytes - at) ||
        cuda->cuModuleGetGlobal(&v.address, &v.size_bytes, m->module, name) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    module_variable *grown = array_grow(m->variables, m->variable_count, sizeof v);
    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->variables = grown;
    grown[m->variable_count++] = v;
    return CUDA_SUCCESS;
}

static CUresult find_variables(const cuda_driver *cuda, const device_image *image, cuda_module *m)
{
    Elf64_Ehdr h;
    Elf64_Shdr s, names;
    Elf64_Sym symbol;
    CUresult result = CUDA_SUCCESS;
    if (!read_at(image, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return CUDA_SUCCESS;
    for (uint64_t i = 0; i < h.e_shnum && read_at(image, h.e_shoff + i * sizeof s, &s, sizeof s);
         i++)
        for (uint64_t n = 0;
             s.sh_type == SHT_SYMTAB && result == CUDA_SUCCESS && n < s.sh_size / sizeof symbol &&
             read_at(image, s.sh_offset + n * sizeof symbol, &symbol, sizeof symbol) &&
             read_at(image, h.e_shoff + s.sh_link * sizeof names, &names, sizeof names);
             n++)
            result = add_variable(cuda, image, &names, &symbol, m);
    return result;
}

/* Queues copies of all variables to `m->initial`; with `back`, in the other direction. */
static CUresult copy_variables(const cuda_driver *cuda, const cuda_module *m, bool back,
                               CUstream stream)
{
    CUdeviceptr kept = m->initial;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < m->variable_count && result == CUDA_SUCCESS; i++) {
        const module_variable *v = &m->variables[i];
        result = cuda->cuMemcpyDtoDAsync(back ? v->address : kept, back ? kept : v->address,
                                         v->size_bytes, stream);
        kept += v->size_bytes;
    }
    return result;
}

static CUresult keep_variables(const cuda_driver *cuda, const device_image *image, CUstream stream,
                               cuda_module *m)
{
    size_t all_bytes = 0;
    CUresult result = find_variables(cuda, image, m);
    for (size_t i = 0; i < m->variable_count; i++)
        all_bytes += m->variables[i].size_bytes;
    if (result != CUDA_SUCCESS || all_bytes == 0)
        return result;
    result = cuda->cuMemAlloc(&m->initial, all_bytes);
    return result == CUDA_SUCCESS ? copy_variables(cuda, m, false, stream) : result;
}

static void unload(const cuda_driver *cuda, cuda_module *m)
{
    if (m && m->initial)
        cuda->cuMemFree(m->initial);
    if (m && m->module)
        cuda->cuModuleUnload(m->module);
    if (m)
        free(m->variables);
    free(m);
}

/* Loads an image or finds it loaded, for one more kernel. Returns the driver's result. */
static CUresult acquire_module(device *d, const device_image *image, cuda_module **out)
{
    XXH128_hash_t hash = XXH3_128bits(image->bytes, image->size_bytes);
    *out = NULL;
    for (cuda_module **link = &d->modules; *link; link = &(*link)->next) {
        cuda_module *m = *link;
        if (!image->shared || !m->shared || m->hash[0] != hash.high64 || m->hash[1] != hash.low64 ||
            m->size_bytes != image->size_bytes)
            continue;
        *link = m->next;
        m->next = d->modules;
        d->modules = m;
        m->users++;
        *out = m;
        return CUDA_SUCCESS;
    }
    cuda_module *m = calloc(1, sizeof *m);
    CUresult result = m ? cuda_module_load(&d->cuda, image, &m->module) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = keep_variables(&d->cuda, image, d->stream, m);
    if (result != CUDA_SUCCESS) {
        unload(&d->cuda, m);
        return result;
    }
    m->next = d->modules;
    m->hash[0] = hash.high64;
    m->hash[1] = hash.low64;
    m->size_bytes = image->size_bytes;
    m->shared = image->shared;
    m->users = 1;
    d->modules = m;
    *out = m;
    return CUDA_SUCCESS;
}

void cuda_modules_drop(device *d, size_t kept)
{
    for (cuda_module **link = &d->modules; *link;) {
        cuda_module *m = *link;
        if (m->users > 0 || (m->shared && kept > 0)) {
            kept -= m->users == 0;
            link = &m->next;
            continue;
        }
        *link = m->next;
        unload(&d->cuda, m);
    }
}

static void set_range(uint32_t buffer, device_buffer *const *buffers,
                      cuda_range out[PLAN_MAX_BUFFERS])
{
    out[buffer] = (cuda_range){buffers[buffer]->data, buffers[buffer]->size_bytes};
}

void cuda_ranges(const launch_plan *plan, device_buffer *const *buffers,
                 cuda_range out[PLAN_MAX_BUFFERS])
{
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (plan->arguments[i].is_buffer)
            set_range(plan->arguments[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->address_count; i++)
        set_range(plan->addresses[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->view_count; i++)
        set_range(plan->views[i].buffer, buffers, out);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        set_range(plan->constants[i].buffer, buffers, out);
}

at_status cuda_kernel_prepare_buffers(device *d, device_kernel *k, const launch_plan *plan,
                                      device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    cuda_ranges(plan, buffers, ranges);
    at_status status = cuda_launcher_make_textures(&k->launcher, &d->cuda, plan, ranges, error);
    return status ? status
                  : cuda_launcher_copy_arrays(&k->launcher, &d->cuda, plan, ranges, false,
                                              d->stream, error);
}

at_status cuda_kernel_take_back(device *d, device_kernel *k, const launch_plan *plan,
                                device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    cuda_ranges(plan, buffers, ranges);
    at_status status =
        cuda_launcher_copy_arrays(&k->launcher, &d->cuda, plan, ranges, true, d->stream, error);
    return status ? status
                  : cuda_launcher_copy_constants(&k->launcher, &d->cuda, plan, ranges, true,
                                                 d->stream, error);
}

at_status cuda_kernel_prepare(device *d, device_kernel *k, const launch_plan *plan,
                              device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    at_status status = cuda_launcher_prepare(&k->launcher, &d->cuda, plan, error);
    if (!status)
        status = cuda_done(d, copy_variables(&d->cuda, k->module, true, d->stream),
                           "cannot reset the module's variables", error);
    if (!status)
        status = cuda_kernel_prepare_buffers(d, k, plan, buffers, error);
    if (status || plan->constant_count == 0)
        return status;
    cuda_ranges(plan, buffers, ranges);
    return cuda_launcher_copy_constants(&k->launcher, &d->cuda, plan, ranges, false, d->stream,
                                        error);
}

at_status cuda_kernel_queue_some(device *d, device_kernel *k, const launch_plan *plan,
                                 device_buffer *const *buffers, launch_walk *walk, uint32_t most,
                                 at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    cuda_ranges(plan, buffers, ranges);
    return cuda_launcher_queue_some(&k->launcher, &d->cuda, plan, ranges, walk, most, d->stream,
                                    error);
}

at_status cuda_kernel_queue(device *d, device_kernel *k, const launch_plan *plan,
                            device_buffer *const *buffers, at_error *error)
{
    launch_walk walk = {0};
    return cuda_kernel_queue_some(d, k, plan, buffers, &walk, UINT32_MAX, error);
}

at_status cuda_kernel_queue_one(device *d, device_kernel *k, const launch_plan *plan,
                                uint32_t index, device_buffer *const *buffers, at_error *error)
{
    cuda_range ranges[PLAN_MAX_BUFFERS] = {{0}};
    cuda_ranges(plan, buffers, ranges);
    return cuda_launcher_queue_one(&k->launcher, &d->cuda, plan, index, ranges, NULL, d->stream,
                                   error);
}

void cuda_kernel_free(device *d, device_kernel *k)
{
    if (!k)
        return;
    if (k->module) {
        k->module->users--;
        cuda_modules_drop(d, MODULES_KEPT);
    }
    free(k);
}

at_status cuda_kernel_new(device *d, const device_image *image, const launch_plan *plan,
                          device_kernel **out, at_error *error)
{
    *out = NULL;
    device_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return error_no_memory(error);
    CUresult result = acquire_module(d, image, &k->module);
    at_status status =
        cuda_check(&d->cuda, result, cuda_refusal_status(result), "cannot load the kernel", error);
    if (!status)
        status = cuda_launcher_init(&k->launcher, &d->cuda, k->module->module, plan, image->symbols,
                                    error);
    k->launcher.textures = &d->textures;
    if (status)
        cuda_kernel_free(d, k);
    else
        *out = k;
    return status;
}
