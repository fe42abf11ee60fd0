#include "cmd/export/kernel_ptx.h"

#include <stdio.h>

#include "base/clock.h"
#include "export/inline_ptx.h"
#include "run/setup/setup.h"

enum {
    CAPABILITIES = 1000
}; /* a request's number is that of its source, times this, plus the capability */

static at_status open_pool(kernel_ptx *k, at_error *error)
{
    at_status status =
        compile_pool_new(&(compile_options){.use_cache = true, .jobs = k->jobs}, &k->pool, error);
    k->unavailable = status == AT_NO_TOOLCHAIN;
    if (k->unavailable)
        fprintf(stderr,
                "autotune: the file has no PTX, so a clang compiles the sources itself: %s\n",
                error->message);
    return error_forgive(status, AT_NO_TOOLCHAIN, error);
}

at_status kernel_ptx_add(kernel_ptx *k, export_kernels *kernels, size_t place,
                         const emitted *variant, const char *name, const launch_plan *plan,
                         int capability, at_error *error)
{
    export_source *source = &kernels->sources[place];
    char arch[16];
    at_status status = k->pool || k->unavailable ? AT_OK : open_pool(k, error);
    if (status || k->unavailable)
        return status;
    if (plan->launch_count == 0 || (source->capability > 0 && source->capability <= capability))
        return AT_OK;
    source->capability = capability;
    k->submitted++;
    snprintf(arch, sizeof arch, "sm_%d", capability);
    return submit_source(k->pool, place * CAPABILITIES + (size_t)capability, variant, name, plan,
                         arch, true, error);
}

/* Gives a source its kernels, if it is compiled for the least of its capabilities. */
static at_status keep(const compile_result *r, const export_launch *launch, export_kernels *kernels,
                      at_error *error)
{
    export_source *source = &kernels->sources[r->id / CAPABILITIES];
    if (r->outcome != COMPILE_OK || source->capability != (int)(r->id % CAPABILITIES))
        return AT_OK;
    at_status status = export_inline_ptx(r->ptx, r->ptx_bytes, r->symbols, source->entries,
                                         launch->entry_count, &source->ptx, error);
    return error_forgive(status, AT_FORMAT, error); /* legal PTX that the parser does not know */
}

at_status kernel_ptx_finish(kernel_ptx *k, const export_launch *launch, export_kernels *kernels,
                            at_error *error)
{
    at_status status = AT_OK;
    size_t refused = 0;
    while (k->pool && compile_pending(k->pool) > 0 && !status) {
        compile_result r = {0};
        status = compile_take(k->pool, -1, &r, error);
        progress_update(k->shown, &(progress_state){.stage = "compiled",
                                                    .done = ++k->taken,
                                                    .total = k->submitted,
                                                    .now_ns = clock_now_ns()});
        if (!status)
            status = keep(&r, launch, kernels, error);
        if (!status && r.outcome != COMPILE_OK && refused++ == 0)
            fprintf(stderr, "autotune: NVRTC does not compile all of the kernels (%s): %.400s\n",
                    compile_outcome_name(r.outcome), r.log ? r.log : "");
        compile_result_deinit(&r);
    }
    return status;
}

void kernel_ptx_deinit(kernel_ptx *k)
{
    compile_pool_free(k->pool);
    progress_free(k->shown);
    *k = (kernel_ptx){0};
}
