#include "cuda/module.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

CUresult cuda_module_acquire(const cuda_driver *cuda, cuda_module **loaded,
                             const device_image *image, cuda_module **out)
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
    if (result != CUDA_SUCCESS) {
        free(m);
        return result;
    }
    *m = (cuda_module){.next = *loaded,
                       .hash = {hash.high64, hash.low64},
                       .size_bytes = image->size_bytes,
                       .shared = image->shared,
                       .module = m->module,
                       .users = 1};
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
        cuda->cuModuleUnload(m->module);
        free(m);
    }
}
