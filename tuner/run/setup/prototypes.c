#include "run/setup/prototypes.h"

#include <stdio.h>

at_status prototypes_submit(script *s, problem_kind problem, const uint16_t *indices,
                            compile_pool *pool, const char *arch, uint64_t id, bool *asked,
                            at_error *error)
{
    emitted source = {0};
    launch_plan plan;
    const struct kernel_file *file;
    const char *const *defines;
    size_t define_count;
    *asked = false;
    if (script_file(s, &file, &defines, &define_count))
        return AT_OK;
    at_status status = script_launch_plan(s, problem, indices, &plan, error);
    if (!status)
        status = prototype_emit(s, problem, indices, &plan, &source, error);
    if (!status)
        status = compile_submit(pool,
                                &(compile_request){.id = id,
                                                   .source = source.source,
                                                   .name = script_pattern(s)->template_path,
                                                   .entry = "",
                                                   .arch = arch,
                                                   .options = source.options,
                                                   .option_count = source.option_count,
                                                   .headers = source.includes.headers,
                                                   .header_count = source.includes.count,
                                                   .want_ptx = true},
                                error);
    *asked = !status;
    emitted_deinit(&source);
    return status;
}

at_status prototypes_take(script *s, problem_kind problem, const uint16_t *indices,
                          const compile_result *r, prototype_doubt *doubt, void *context,
                          at_error *error)
{
    launch_plan plan;
    if (r->outcome != COMPILE_OK || !r->ptx)
        return AT_OK;
    at_status status = script_launch_plan(s, problem, indices, &plan, error);
    return status ? status
                  : prototype_compare(s, problem, indices, &plan, r->ptx, doubt, context, error);
}

at_status prototypes_check(script *s, problem_kind problem, const uint16_t *indices,
                           compile_pool *pool, const char *arch, prototype_doubt *doubt,
                           void *context, at_error *error)
{
    bool asked;
    compile_result r = {0};
    at_status status = prototypes_submit(s, problem, indices, pool, arch, 0, &asked, error);
    if (status || !asked)
        return status;
    status = compile_take(pool, -1, &r, error);
    if (!status)
        status = prototypes_take(s, problem, indices, &r, doubt, context, error);
    compile_result_deinit(&r);
    return status;
}

void prototypes_warn(void *context, const char *path, int line, const char *text)
{
    (void)context;
    fprintf(stderr, "autotune: warning: %s:%d: %s\n", path, line, text);
}
