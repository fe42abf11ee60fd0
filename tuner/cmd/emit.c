/* autotune emit: the CUDA source, or the PTX, of one variant. */
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "compile/compile.h"
#include "script/emit.h"
#include "run/setup.h"

static at_status open_output(const char *path, FILE **out, at_error *error)
{
    *out = path ? fopen(path, "w") : stdout;
    if (*out)
        return AT_OK;
    return error_set(error, AT_IO, "cannot write %s", path);
}

static at_status print_ptx(const emitted *source, script *s, const uint16_t *indices,
                           const arch_limits *arch, FILE *to, at_error *error)
{
    compile_pool *pool = NULL;
    compile_result result = {0};
    launch_plan launch;
    const pattern *p = script_pattern(s);
    at_status status = script_launch_plan(s, PROBLEM_TUNED, indices, &launch, error);
    if (!status)
        status = compile_pool_new(&(compile_options){.jobs = 1, .use_cache = true}, &pool, error);
    if (status)
        return status;
    status = submit_source(pool, 0, source, p->template_path, &launch, arch->name, true, error);
    if (!status)
        status = compile_take(pool, -1, &result, error);
    if (status)
        goto cleanup;
    if (result.outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "the variant does not compile (%s):\n%s",
                           compile_outcome_name(result.outcome), result.log ? result.log : "");
    else
        fputs(result.ptx, to);
cleanup:
    compile_result_deinit(&result);
    compile_pool_free(pool);
    return status;
}

/* A configuration that breaks a constraint is still emitted: people look at it to see why. */
static at_status warn_if_invalid(script *s, const uint16_t *indices, at_error *error)
{
    bool valid;
    size_t broken;
    at_status status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, error);
    if (!status && !valid) {
        const space_constraint *c = &script_pattern(s)->constraints[broken];
        fprintf(stderr, "autotune: warning: the configuration breaks the constraint of line %d: %s\n",
                c->line, c->text);
    }
    return status;
}

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    arch_limits arch;
    script *s = NULL;
    uint16_t *indices = NULL;
    emitted source = {0};
    FILE *to = NULL;
    at_status status = target_find(o->run.arch, &arch, error);
    if (!status)
        status = target_load_script(&o->run, &arch, &s, error);
    if (status)
        return status;
    const pattern *p = script_pattern(s);
    indices = calloc(p->parameter_count ? p->parameter_count : 1, sizeof *indices);
    if (!indices) {
        status = error_set(error, AT_NO_MEMORY, "out of memory");
        goto cleanup;
    }
    status = script_parse_configuration(s, o->configuration ? o->configuration : "", indices, error);
    if (!status)
        status = warn_if_invalid(s, indices, error);
    if (!status)
        status = emit_variant(s, PROBLEM_TUNED, indices, !o->no_line, &source, error);
    if (!status)
        status = open_output(o->output, &to, error);
    if (status)
        goto cleanup;
    if (o->ptx)
        status = print_ptx(&source, s, indices, &arch, to, error);
    else
        fputs(source.source, to);
cleanup:
    if (to && to != stdout && fclose(to) != 0 && !status)
        status = error_set(error, AT_IO, "cannot write %s", o->output);
    emitted_deinit(&source);
    free(indices);
    script_free(s);
    return status;
}

static const option_id options_taken[] = {OPTION_CONFIG, OPTION_SET,   OPTION_ARCH,
                                          OPTION_PTX,    OPTION_PLAIN, OPTION_OUTPUT};

const command cmd_emit = {
    .name = "emit",
    .operand = "SCRIPT",
    .summary = "Print the source of one variant",
    .details = "Without --config it is the script's default. The source is what the tuner compiles;\n"
               "#line directives lead back to the template, --no-line leaves them out.\n",
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof *options_taken,
    .run = run,
};
