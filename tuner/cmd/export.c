/* autotune export: what was recorded, for programs that run without autotune. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "cmd/exported.h"
#include "cmd/known.h"
#include "export/export.h"
#include "base/file.h"
#include "base/paths.h"
#include "cmd/options.h"
#include "record/record.h"
#include "script/script.h"
#include "run/setup.h"

/* Constraints are exported, not asked, so that any architecture will do. */
static const char any_arch[] = "sm_90";

/* The pattern's script, when it can be found: its parameters and its default are the surest.
 * AT_NOT_FOUND without one. */
static at_status load_script(const settings *run, script **out, at_error *error)
{
    arch_limits limits;
    at_status status = target_check_script(run, error);
    if (status == AT_USAGE)
        return AT_NOT_FOUND;
    if (!status)
        status = arch_find(any_arch, &limits, error);
    return status ? status : target_load_script(run, &limits, out, error);
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

/* A pattern that is exported. */
typedef struct subject {
    char name[RECORD_NAME_BYTES];
    script *script; /* NULL: not found */
    record_set records;
    export_model model;
} subject;

static void subject_deinit(subject *s)
{
    export_model_deinit(&s->model);
    record_set_deinit(&s->records);
    script_free(s->script);
}

static at_status subject_init(const options *o, const char *operand, subject *out, at_error *error)
{
    settings run = o->run;
    at_error not_found = {0};
    run.script = operand;
    at_status found = load_script(&run, &out->script, &not_found);
    if (found && found != AT_NOT_FOUND) {
        if (error)
            *error = not_found;
        return found;
    }
    if (out->script)
        snprintf(out->name, sizeof out->name, "%s", script_pattern(out->script)->name);
    else
        name_from_operand(operand, out->name);
    at_status status = known_records(o, out->name, true, &out->records, error);
    if (status)
        return status;
    if (!out->script && out->records.count == 0)
        return error_set(error, AT_USAGE, "%s; nor are there results for '%s'",
                         not_found.message, out->name);
    return exported_model(out->name, &out->records, out->script, &out->model, error);
}

/* ---- where files go ---- */

/* Is -o a folder: one that is there, or a name with a slash at its end? */
static bool is_folder(const char *output)
{
    struct stat s;
    size_t length = output ? strlen(output) : 0;
    return length > 0 && (output[length - 1] == '/' || (stat(output, &s) == 0 && S_ISDIR(s.st_mode)));
}

/* What the output is called, without folder and extension. */
static void stem_of(const char *output, char out[EXPORT_FILE_NAME_BYTES])
{
    const char *slash = strrchr(output, '/');
    snprintf(out, EXPORT_FILE_NAME_BYTES, "%.100s", slash ? slash + 1 : output);
    char *dot = strrchr(out, '.');
    if (dot && dot != out)
        *dot = '\0';
}

static at_status write_into(const char *folder, const export_files *files, at_error *error)
{
    char path[PATHS_BYTES];
    at_status status = file_make_folder(folder, error);
    for (size_t i = 0; i < files->count && !status; i++) {
        const export_file *f = files->files[i];
        if (snprintf(path, sizeof path, "%s/%s", folder, f->name) >= (int)sizeof path)
            return error_set(error, AT_USAGE, "%.200s...: the path is too long", folder);
        status = file_replace(path, f->text, f->size_bytes, error);
    }
    return status;
}

static at_status write_one(const options *o, const exporter *e, const export_files *files,
                           at_error *error)
{
    if (files->count == 0)
        return error_set(error, AT_USAGE,
                         "%s says what was measured, and nothing is recorded of %s", e->name,
                         o->operand);
    if (files->count > 1)
        return error_set(error, AT_USAGE,
                         "this makes %zu files (%.80s, %.80s%s): name a folder for them with -o FOLDER/",
                         files->count, files->files[0]->name, files->files[1]->name,
                         files->count > 2 ? " ..." : "");
    const export_file *f = files->files[0];
    if (o->output)
        return file_replace(o->output, f->text, f->size_bytes, error);
    if (fwrite(f->text, 1, f->size_bytes, stdout) != f->size_bytes || fflush(stdout) != 0)
        return error_set_errno(error, errno, "cannot write the export");
    return AT_OK;
}

static at_status write_subjects(const options *o, const exporter *e, const subject *subjects,
                                at_error *error)
{
    const export_model *models[OPTIONS_MAX_OPERANDS];
    char stem[EXPORT_FILE_NAME_BYTES];
    export_files files = {0};
    bool folder = is_folder(o->output);
    size_t count = o->operand_count;
    at_status status = AT_OK;
    for (size_t i = 0; i < count; i++)
        models[i] = &subjects[i].model;
    if (count > 1 && !folder && !e->several)
        return error_set(error, AT_USAGE,
                         "%s is of one pattern: name a folder for the files of %zu with -o FOLDER/",
                         e->name, count);
    if (folder) {
        for (size_t i = 0; i < count && !status; i++)
            status = e->write(&models[i], 1, subjects[i].name, &files, error);
    } else {
        if (o->output)
            stem_of(o->output, stem);
        else
            snprintf(stem, sizeof stem, "%s", count == 1 ? subjects[0].name : "autotune");
        status = e->write(models, count, stem, &files, error);
    }
    if (!status)
        status = folder ? write_into(o->output, &files, error) : write_one(o, e, &files, error);
    export_files_deinit(&files);
    return status;
}

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    const exporter *e;
    at_status status = exporter_find(o->format ? o->format : "header", &e, error);
    if (status)
        return status;
    subject *subjects = calloc(o->operand_count, sizeof *subjects);
    if (!subjects)
        return error_set(error, AT_NO_MEMORY, "out of memory while exporting");
    for (size_t i = 0; i < o->operand_count && !status; i++) {
        status = subject_init(o, o->operands[i], &subjects[i], error);
        for (size_t j = 0; j < i && !status; j++)
            if (strcmp(subjects[i].name, subjects[j].name) == 0)
                status = error_set(error, AT_USAGE, "'%s' is named twice", subjects[i].name);
    }
    if (!status)
        status = write_subjects(o, e, subjects, error);
    for (size_t i = 0; i < o->operand_count && !status; i++)
        say_what_is_missing(&subjects[i].model);
    for (size_t i = 0; i < o->operand_count; i++)
        subject_deinit(&subjects[i]);
    free(subjects);
    return status;
}

static const option_id takes[] = {OPTION_FORMAT, OPTION_OUTPUT, OPTION_RESULTS, OPTION_SET};

const command cmd_export = {
    .name = "export",
    .operand = "PATTERN...",
    .operands_least = 1,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Write the recorded configurations of all GPUs for use without autotune.",
    .details =
        "Formats:\n"
        "\n"
        "  header (the default)     C11, C++17 (constexpr) and CUDA device code, with nothing but the\n"
        "                           standard library. Its look-up takes the device and the problem, and\n"
        "                           says which rule found the configuration, as 'autotune pick' does;\n"
        "                           what the script's constraints forbid is never given\n"
        "  json                     all that is recorded, constraints and defaults, as one document\n"
        "                           (share/autotune/schema/export.schema.json)\n"
        "  wisdom                   Kernel Launcher's wisdom: PATTERN_float.wisdom and so on\n"
        "  t4                       T4 results, for each GPU and problem the best, those that came next\n"
        "                           and the default; --warm-start and replay read them, and wisdom\n"
        "\n"
        "header and json take several patterns in one file. Where there are several files, and for\n"
        "several patterns of the other formats, -o names a folder (one that is there, or FOLDER/).\n"
        "\n"
        "  autotune export transpose --format header -o transpose_config.h\n"
        "  autotune export transpose dot --format t4 -o measured/\n",
    .options = takes,
    .option_count = sizeof takes / sizeof *takes,
    .run = run,
};
