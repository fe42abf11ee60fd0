#include "cmd/export/kernel_ptx.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "export/inline_ptx.h"
#include "run/setup/setup.h"

enum { CAPABILITIES = 1000 }; /* a request's number is that of its source, times this, plus the capability */

static at_status open_pool(kernel_ptx *k, at_error *error)
{
    at_error none = {0};
    at_status status = compile_pool_new(&(compile_options){.use_cache = true}, &k->pool, &none);
    if (status != AT_NO_TOOLCHAIN) {
        *error = none;
        return status;
    }
    k->unavailable = true;
    fprintf(stderr, "autotune: the file has no PTX, so a clang compiles the sources itself: %s\n", none.message);
    return AT_OK;
}

at_status kernel_ptx_add(kernel_ptx *k, size_t place, const emitted *variant, const char *name,
                         const launch_plan *plan, int capability, at_error *error)
{
    const int none = 0;
    char arch[16];
    at_status status = k->pool || k->unavailable ? AT_OK : open_pool(k, error);
    if (status || k->unavailable)
        return status;
    while (k->source_count <= place)
        if (!array_add(&k->capability, &k->source_count, &none, sizeof none))
            return export_no_memory(error);
    if (plan->launch_count == 0 || (k->capability[place] > 0 && k->capability[place] <= capability))
        return AT_OK;
    k->capability[place] = capability;
    snprintf(arch, sizeof arch, "sm_%d", capability);
    return submit_source(k->pool, place * CAPABILITIES + (size_t)capability, variant, name, plan, arch, true, error);
}

/* Gives a source its kernels, if it is compiled for the least of its capabilities. */
static at_status keep(const kernel_ptx *k, const compile_result *r, const export_launch *launch,
                      export_kernels *kernels, at_error *error)
{
    const size_t place = r->id / CAPABILITIES;
    if (r->outcome != COMPILE_OK || k->capability[place] != (int)(r->id % CAPABILITIES))
        return AT_OK;
    at_error unknown = {0};
    at_status status = export_inline_ptx(r->ptx, r->ptx_bytes, launch->entries, launch->entry_count,
                                         &kernels->sources[place].ptx, &unknown);
    if (status == AT_FORMAT) /* legal PTX that the parser does not know */
        return AT_OK;
    *error = unknown;
    return status;
}

at_status kernel_ptx_finish(kernel_ptx *k, const export_launch *launch, export_kernels *kernels, at_error *error)
{
    at_status status = AT_OK;
    size_t refused = 0;
    while (k->pool && compile_pending(k->pool) > 0 && !status) {
        compile_result r = {0};
        status = compile_take(k->pool, -1, &r, error);
        if (!status)
            status = keep(k, &r, launch, kernels, error);
        if (!status && r.outcome != COMPILE_OK && refused++ == 0)
            fprintf(stderr, "autotune: NVRTC does not compile all of the kernels (%s): %.400s\n",
                    compile_outcome_name(r.outcome), r.log ? r.log : "");
        compile_result_deinit(&r);
    }
    k->source_count = 0;
    return status;
}

void kernel_ptx_deinit(kernel_ptx *k)
{
    compile_pool_free(k->pool);
    free(k->capability);
    *k = (kernel_ptx){0};
}
