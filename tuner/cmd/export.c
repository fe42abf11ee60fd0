/* autotune export: what was recorded, for programs that run without autotune. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/exported.h"
#include "cmd/known.h"
#include "export/export.h"
#include "base/file.h"
#include "cmd/options.h"
#include "record/record.h"
#include "script/script.h"
#include "run/setup.h"

/* Constraints are exported, not asked, so that any architecture will do. */
static const char any_arch[] = "sm_90";

/* The pattern's script, when it can be found: its parameters and its default are the surest.
 * AT_NOT_FOUND without one. */
static at_status load_script(const options *o, script **out, at_error *error)
{
    arch_limits limits;
    at_status status = target_check_script(&o->run, error);
    if (status == AT_USAGE)
        return AT_NOT_FOUND;
    if (!status)
        status = arch_find(any_arch, &limits, error);
    return status ? status : target_load_script(&o->run, &limits, out, error);
}

/* "lua/transpose.lua" -> "transpose". */
static void name_from_operand(const char *operand, char out[RECORD_NAME_BYTES])
{
    const char *slash = strrchr(operand, '/');
    snprintf(out, RECORD_NAME_BYTES, "%s", slash ? slash + 1 : operand);
    char *dot = strrchr(out, '.');
    if (dot && strcmp(dot, ".lua") == 0)
        *dot = '\0';
}

static at_status write_text(const options *o, const char *text, size_t size_bytes, at_error *error)
{
    if (o->output)
        return file_replace(o->output, text, size_bytes, error);
    if (fwrite(text, 1, size_bytes, stdout) != size_bytes || fflush(stdout) != 0)
        return error_set_errno(error, errno, "cannot write the header");
    return AT_OK;
}

static void say_what_is_missing(const export_model *m)
{
    if (m->row_count == 0)
        fprintf(stderr, "autotune: no results for %s: only the default is exported\n",
                m->pattern);
    for (size_t i = 0; i < m->constraint_count; i++)
        if (!m->constraints[i].c)
            fprintf(stderr,
                    "autotune: a constraint of %s cannot be said in C, so that only what was measured on "
                    "a problem, or the default, is given for it: %.200s\n",
                    m->pattern, m->constraints[i].text);
    if (m->skipped > 0)
        fprintf(stderr,
                "autotune: %zu results have other variables or parameters than %s has now: not "
                "exported\n",
                m->skipped, m->pattern);
}

static at_status export_model_text(const options *o, const exporter *e, const export_model *m,
                                   at_error *error)
{
    char *text = NULL;
    size_t size_bytes = 0;
    FILE *to = open_memstream(&text, &size_bytes);
    if (!to)
        return error_set(error, AT_NO_MEMORY, "out of memory while exporting");
    e->write(m, to);
    bool failed = ferror(to) != 0;
    failed = fclose(to) != 0 || failed;
    at_status status = failed ? error_set(error, AT_NO_MEMORY, "out of memory while exporting")
                              : write_text(o, text, size_bytes, error);
    free(text);
    if (!status)
        say_what_is_missing(m);
    return status;
}

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    script *s = NULL;
    record_set records = {0};
    export_model model = {0};
    const exporter *e;
    char name[RECORD_NAME_BYTES];
    at_error not_found = {0};
    at_status status = exporter_find(o->format ? o->format : "header", &e, error);
    if (status)
        return status;
    at_status found = load_script(o, &s, &not_found);
    if (found && found != AT_NOT_FOUND) {
        if (error)
            *error = not_found;
        return found;
    }
    name_from_operand(s ? script_pattern(s)->name : o->operand, name);
    status = known_records(o, name, true, &records, error);
    if (status)
        goto cleanup;
    if (!s && records.count == 0) {
        status = error_set(error, AT_USAGE, "%s; nor are there results for '%s'", not_found.message, name);
        goto cleanup;
    }
    status = exported_model(name, &records, s, &model, error);
    if (!status)
        status = export_model_text(o, e, &model, error);
cleanup:
    export_model_deinit(&model);
    record_set_deinit(&records);
    script_free(s);
    return status;
}

static const option_id takes[] = {OPTION_FORMAT, OPTION_OUTPUT, OPTION_RESULTS, OPTION_SET};

const command cmd_export = {
    .name = "export",
    .operand = "PATTERN",
    .summary = "Write the recorded configurations of all GPUs for use without autotune.",
    .details =
        "Formats: header (the default).\n"
        "\n"
        "The header is C11, C++17 (constexpr) and CUDA device code, and needs nothing but the standard\n"
        "library. Its look-up takes the device and the problem, and says which rule found the\n"
        "configuration, as 'autotune pick' does. What the script's constraints forbid is never given.\n"
        "\n"
        "  autotune export transpose --format header -o transpose_config.h\n",
    .options = takes,
    .option_count = sizeof takes / sizeof *takes,
    .run = run,
};
