#include "cuda/launcher.h"

#include <stdlib.h>
#include <string.h>

/* Larger clusters need a function attribute (Programming Guide, "Thread Block Clusters"). */
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

/* Returns the most dynamic shared memory that any launch of the kernel of launch `i` needs. */
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
                         "%s asks for %u bytes of dynamic shared memory; together with its static "
                         "shared memory this is more than a block can have on this device",
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
        status =
            error_set(error, AT_COMPILE,
                      "the variable %s has %zu bytes, but its buffer has %llu: make both equal",
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
                                  const launch_plan *plan, uint32_t index,
                                  const cuda_range *buffers, uint64_t *chunk, CUstream stream,
                                  at_error *error)
{
    CUdeviceptr pointers[PLAN_MAX_ARGUMENTS];
    _Alignas(16) unsigned char structs[PLAN_MAX_STRUCT_BYTES];
    view_objects views;
    void *arguments[PLAN_MAX_ARGUMENTS + CUDA_CHUNK_ARGUMENTS];
    const kernel_launch *launch = &plan->launches[index];
    at_status status = make_views(l, cuda, plan, buffers, &views, error);
    if (status)
        return status;
    plan_copy_structs(plan, address_of, buffers, structs);
    for (uint32_t j = 0; j < launch->argument_count; j++) {
        const argument_plan *a = &plan->arguments[launch->first_argument + j];
        pointers[j] = a->is_buffer ? buffers[a->buffer].address : 0;
        /* The driver does not write to arguments, although its interface is not const. */
        arguments[j] = a->is_buffer ? (void *)&pointers[j]
                       : a->is_view ? view_object(plan, &views, (uint32_t)a->bits)
                                    : (void *)(uintptr_t)plan_argument_in(a, structs);
    }
    for (uint32_t j = 0; chunk && j < CUDA_CHUNK_ARGUMENTS; j++)
        arguments[launch->argument_count + j] = &chunk[j];
    CUresult result = queue_one(cuda, l->functions[index], launch, arguments, stream);
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
