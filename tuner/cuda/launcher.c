#include "cuda/launcher.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

/* Clusters of up to so many blocks are allowed without asking (CUDA C++ Programming Guide, "Thread
 * Block Clusters"). */
enum { PORTABLE_CLUSTER_BLOCKS = 8 };

at_status cuda_launcher_init(cuda_launcher *l, const cuda_driver *cuda, CUmodule module,
                             const launch_plan *plan, const char *symbols, at_error *error)
{
    *l = (cuda_launcher){.module = module};
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        char *symbol = plan_symbol(plan, i, symbols);
        if (!symbol)
            return error_no_memory(error);
        CUresult result = cuda->cuModuleGetFunction(&l->functions[i], module, symbol);
        free(symbol);
        if (result != CUDA_SUCCESS)
            return cuda_check(cuda, result, cuda_refusal_status(result), plan_entry(plan, i),
                              error);
        int limit = 0;
        cuda->cuFuncGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 l->functions[i]);
        l->dynamic_limit_bytes[i] = limit > 0 ? (uint32_t)limit : 0;
    }
    return AT_OK;
}

/* The most that the kernel of launch `i` needs: it may be launched more than once. */
static uint32_t shared_needed(const cuda_launcher *l, const launch_plan *plan, uint32_t i)
{
    uint32_t most = 0;
    for (uint32_t j = 0; j < plan->launch_count; j++)
        if (l->functions[j] == l->functions[i] && plan->launches[j].dynamic_shared_bytes > most)
            most = plan->launches[j].dynamic_shared_bytes;
    return most;
}

static at_status raise_shared_limit(cuda_launcher *l, const cuda_driver *cuda,
                                    const launch_plan *plan, uint32_t i, at_error *error)
{
    uint32_t wanted = shared_needed(l, plan, i);
    if (wanted <= l->dynamic_limit_bytes[i])
        return AT_OK;
    CUresult result = cuda->cuFuncSetAttribute(
        l->functions[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)wanted);
    if (result != CUDA_SUCCESS && cuda_refusal_status(result) == AT_COMPILE)
        return error_set(error, AT_COMPILE,
                         "%s asks for %u bytes of dynamic shared memory, more than the device "
                         "gives a block with its static part",
                         plan_entry(plan, i), wanted);
    at_status status = cuda_check(cuda, result, AT_DEVICE,
                                  "cannot raise the limit of dynamic shared memory", error);
    if (!status)
        l->dynamic_limit_bytes[i] = wanted;
    return status;
}

static at_status allow_cluster(const cuda_driver *cuda, CUfunction function,
                               const kernel_launch *launch, at_error *error)
{
    if (plan_cluster_blocks(launch) <= PORTABLE_CLUSTER_BLOCKS)
        return AT_OK;
    CUresult result =
        cuda->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return cuda_check(cuda, result, cuda_refusal_status(result),
                      "clusters of more than 8 blocks are refused", error);
}

at_status cuda_launcher_prepare(cuda_launcher *l, const cuda_driver *cuda, const launch_plan *plan,
                                at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < plan->launch_count; i++) {
        status = raise_shared_limit(l, cuda, plan, i, error);
        if (!status)
            status = allow_cluster(cuda, l->functions[i], &plan->launches[i], error);
    }
    return status;
}

static at_status copy_constant(const cuda_launcher *l, const cuda_driver *cuda,
                               const constant_plan *c, const cuda_range *buffer, bool back,
                               CUstream stream, at_error *error)
{
    CUdeviceptr address;
    size_t size_bytes;
    CUresult result = cuda->cuModuleGetGlobal(&address, &size_bytes, l->module, c->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return error_set(error, AT_COMPILE,
                         "the kernel's module has no variable %s: use it in the kernel, and "
                         "declare it outside of namespaces, or extern \"C\"",
                         c->name);
    at_status status = cuda_check(cuda, result, AT_DEVICE, c->name, error);
    if (!status && size_bytes < buffer->size_bytes)
        status = error_set(error, AT_COMPILE, "the variable %s has %zu bytes, its buffer %llu",
                           c->name, size_bytes, (unsigned long long)buffer->size_bytes);
    if (status)
        return status;
    return cuda_check(cuda,
                      cuda->cuMemcpyDtoDAsync(back ? buffer->address : address,
                                              back ? address : buffer->address,
                                              (size_t)buffer->size_bytes, stream),
                      AT_DEVICE, "cannot copy a variable of the module", error);
}

at_status cuda_launcher_copy_constants(const cuda_launcher *l, const cuda_driver *cuda,
                                       const launch_plan *plan, const cuda_range *buffers,
                                       bool back, CUstream stream, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < plan->constant_count; i++)
        if (!back || plan->constants[i].is_result)
            status = copy_constant(l, cuda, &plan->constants[i],
                                   &buffers[plan->constants[i].buffer], back, stream, error);
    return status;
}

static CUresult launch_with_attributes(const cuda_driver *cuda, CUfunction function,
                                       const kernel_launch *launch, void **arguments,
                                       CUstream stream)
{
    CUlaunchAttribute attributes[3];
    unsigned count = 0;
    memset(attributes, 0, sizeof attributes);
    if (launch->cooperative) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[count++].value.cooperative = 1;
    }
    if (plan_cluster_blocks(launch) > 1) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count].value.clusterDim.x = launch->cluster[0];
        attributes[count].value.clusterDim.y = launch->cluster[1];
        attributes[count++].value.clusterDim.z = launch->cluster[2];
    }
    if (launch->balanced) {
        attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
        attributes[count++].value.clusterSchedulingPolicyPreference =
            CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    }
    const CUlaunchConfig config = {.gridDimX = launch->grid[0],
                                   .gridDimY = launch->grid[1],
                                   .gridDimZ = launch->grid[2],
                                   .blockDimX = launch->block[0],
                                   .blockDimY = launch->block[1],
                                   .blockDimZ = launch->block[2],
                                   .sharedMemBytes = launch->dynamic_shared_bytes,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = count};
    return cuda->cuLaunchKernelEx(&config, function, arguments, NULL);
}

static CUresult queue_one(const cuda_driver *cuda, CUfunction function, const kernel_launch *launch,
                          void **arguments, CUstream stream)
{
    if (launch->cooperative || plan_cluster_blocks(launch) > 1)
        return launch_with_attributes(cuda, function, launch, arguments, stream);
    return cuda->cuLaunchKernel(function, launch->grid[0], launch->grid[1], launch->grid[2],
                                launch->block[0], launch->block[1], launch->block[2],
                                launch->dynamic_shared_bytes, stream, arguments, NULL);
}

/* The driver's objects of views, each at the view's place. */
typedef struct view_objects {
    CUtensorMap maps[PLAN_MAX_VIEWS];
    CUtexObject textures[PLAN_MAX_VIEWS];
} view_objects;

static at_status get_texture(const cuda_launcher *l, const cuda_driver *cuda, const view_plan *view,
                             const cuda_range *buffers, CUtexObject *out, at_error *error)
{
    if (!l->textures)
        return error_set(error, AT_COMPILE,
                         "the kernel takes a texture or surface, which is not supported here");
    return cuda_textures_get(l->textures, cuda, view, buffers[view->buffer].address, out, error);
}

static at_status make_views(const cuda_launcher *l, const cuda_driver *cuda,
                            const launch_plan *plan, const cuda_range *buffers, view_objects *out,
                            at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; i < plan->view_count && !status; i++) {
        const view_plan *v = &plan->views[i];
        if (v->kind == VIEW_TENSOR)
            status = cuda_view_encode(cuda, v, buffers[v->buffer].address, &out->maps[i], error);
        else
            status = get_texture(l, cuda, v, buffers, &out->textures[i], error);
    }
    return status;
}

at_status cuda_launcher_make_textures(const cuda_launcher *l, const cuda_driver *cuda,
                                      const launch_plan *plan, const cuda_range *buffers,
                                      at_error *error)
{
    view_objects made;
    return make_views(l, cuda, plan, buffers, &made, error);
}

at_status cuda_launcher_copy_arrays(const cuda_launcher *l, const cuda_driver *cuda,
                                    const launch_plan *plan, const cuda_range *buffers, bool back,
                                    CUstream stream, at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; i < plan->view_count && !status; i++) {
        const view_plan *v = &plan->views[i];
        if (v->in_array && (!back || v->kind == VIEW_SURFACE))
            status = cuda_textures_copy(l->textures, cuda, v, buffers[v->buffer].address, back,
                                        stream, error);
    }
    return status;
}

static void *view_object(const launch_plan *plan, view_objects *made, uint32_t view)
{
    return plan->views[view].kind == VIEW_TENSOR ? (void *)&made->maps[view]
                                                 : (void *)&made->textures[view];
}

static uint64_t address_of(const void *buffers, uint32_t buffer)
{
    return ((const cuda_range *)buffers)[buffer].address;
}

at_status cuda_launcher_queue_one(const cuda_launcher *l, const cuda_driver *cuda,
                                  const launch_plan *plan, uint32_t place,
                                  const cuda_range *buffers, uint64_t *chunk, CUstream stream,
                                  at_error *error)
{
    CUdeviceptr pointers[PLAN_MAX_ARGUMENTS];
    _Alignas(16) unsigned char structs[PLAN_MAX_STRUCT_BYTES];
    view_objects views;
    void *arguments[PLAN_MAX_ARGUMENTS + CUDA_CHUNK_ARGUMENTS];
    const kernel_launch *launch = &plan->launches[place];
    at_status status = make_views(l, cuda, plan, buffers, &views, error);
    if (status)
        return status;
    plan_copy_structs(plan, address_of, buffers, structs);
    for (uint32_t j = 0; j < launch->argument_count; j++) {
        const argument_plan *a = &plan->arguments[launch->first_argument + j];
        pointers[j] = a->is_buffer ? buffers[a->buffer].address : 0;
        /* The driver promises nothing, and changes nothing. */
        arguments[j] = a->is_buffer ? (void *)&pointers[j]
                       : a->is_view ? view_object(plan, &views, (uint32_t)a->bits)
                                    : (void *)(uintptr_t)plan_argument_in(a, structs);
    }
    for (uint32_t j = 0; chunk && j < CUDA_CHUNK_ARGUMENTS; j++)
        arguments[launch->argument_count + j] = &chunk[j];
    CUresult result = queue_one(cuda, l->functions[place], launch, arguments, stream);
    return cuda_check(cuda, result, cuda_refusal_status(result),
                      launch->cooperative               ? "the cooperative launch was refused"
                      : plan_cluster_blocks(launch) > 1 ? "the launch in clusters was refused"
                                                        : "the launch was refused",
                      error);
}

at_status cuda_launcher_queue_some(const cuda_launcher *l, const cuda_driver *cuda,
                                   const launch_plan *plan, const cuda_range *buffers,
                                   launch_walk *walk, uint32_t most, CUstream stream,
                                   at_error *error)
{
    at_status status = AT_OK;
    for (uint32_t i = 0; !status && i < most && plan_walk(plan, walk); i++)
        status = cuda_launcher_queue_one(l, cuda, plan, walk->place, buffers, NULL, stream, error);
    return status;
}

at_status cuda_launcher_queue(const cuda_launcher *l, const cuda_driver *cuda,
                              const launch_plan *plan, const cuda_range *buffers, CUstream stream,
                              at_error *error)
{
    launch_walk walk = {0};
    return cuda_launcher_queue_some(l, cuda, plan, buffers, &walk, UINT32_MAX, stream, error);
}

/* ---- modules ---- */

/* An image is an ELF file; one that comes in a message may start at any byte, which no driver
 * promises to read. */
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

/* Copies a struct out of the image, which need not be aligned. */
static bool read_at(const device_image *image, uint64_t offset, void *out, size_t size_bytes)
{
    if (offset > image->size_bytes || image->size_bytes - offset < size_bytes)
        return false;
    memcpy(out, (const char *)image->bytes + offset, size_bytes);
    return true;
}

/* Adds a symbol of the image, if it is a variable that the driver knows. */
static CUresult add_variable(const cuda_driver *cuda, const device_image *image,
                             const Elf64_Shdr *names, const Elf64_Sym *symbol, cuda_module *m)
{
    const uint64_t at = names->sh_offset + symbol->st_name;
    const char *name = (const char *)image->bytes + at;
    cuda_variable v;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
        at >= image->size_bytes || !memchr(name, '\0', image->size_bytes - at) ||
        cuda->cuModuleGetGlobal(&v.address, &v.size_bytes, m->module, name) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    cuda_variable *grown = array_grow(m->variables, m->variable_count, sizeof v);
    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->variables = grown;
    grown[m->variable_count++] = v;
    return CUDA_SUCCESS;
}

/* Finds the module's variables in the image's tables of symbols. */
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

/* Copies all variables, to where their first contents are kept or back. */
static CUresult copy_variables(const cuda_driver *cuda, const cuda_module *m, bool back,
                               CUstream stream)
{
    CUdeviceptr kept = m->initial;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < m->variable_count && result == CUDA_SUCCESS; i++) {
        const cuda_variable *v = &m->variables[i];
        result = cuda->cuMemcpyDtoDAsync(back ? v->address : kept, back ? kept : v->address,
                                         v->size_bytes, stream);
        kept += v->size_bytes;
    }
    return result;
}

CUresult cuda_module_reset(const cuda_driver *cuda, const cuda_module *m, CUstream stream)
{
    return copy_variables(cuda, m, true, stream);
}

/* Keeps what the image defines of its variables. */
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

CUresult cuda_module_acquire(const cuda_driver *cuda, cuda_module **loaded,
                             const device_image *image, CUstream stream, cuda_module **out)
{
    XXH128_hash_t hash = XXH3_128bits(image->bytes, image->size_bytes);
    *out = NULL;
    for (cuda_module **link = loaded; *link; link = &(*link)->next) {
        cuda_module *m = *link;
        if (!image->shared || !m->shared || m->hash[0] != hash.high64 || m->hash[1] != hash.low64 ||
            m->size_bytes != image->size_bytes)
            continue;
        *link = m->next;
        m->next = *loaded;
        *loaded = m;
        m->users++;
        *out = m;
        return CUDA_SUCCESS;
    }
    cuda_module *m = calloc(1, sizeof *m);
    CUresult result = m ? cuda_module_load(cuda, image, &m->module) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = keep_variables(cuda, image, stream, m);
    if (result != CUDA_SUCCESS) {
        unload(cuda, m);
        return result;
    }
    m->next = *loaded;
    m->hash[0] = hash.high64;
    m->hash[1] = hash.low64;
    m->size_bytes = image->size_bytes;
    m->shared = image->shared;
    m->users = 1;
    *loaded = m;
    *out = m;
    return CUDA_SUCCESS;
}

void cuda_module_release(const cuda_driver *cuda, cuda_module **loaded, cuda_module *m)
{
    m->users--;
    cuda_modules_drop(cuda, loaded, CUDA_MODULES_KEPT);
}

void cuda_modules_drop(const cuda_driver *cuda, cuda_module **loaded, size_t kept)
{
    for (cuda_module **link = loaded; *link;) {
        cuda_module *m = *link;
        if (m->users > 0 || (m->shared && kept > 0)) {
            kept -= m->users == 0;
            link = &m->next;
            continue;
        }
        *link = m->next;
        unload(cuda, m);
    }
}
