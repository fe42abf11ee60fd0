/* autotune export: writes records for programs that run without autotune. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/export/exported.h"
#include "cmd/export/kernels.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "export/export.h"
#include "record/record.h"
#include "run/setup/setup.h"
#include "script/script.h"

enum { OWN_EXTENSION_BYTES = 40 };

/* The name and the extension of an exporter that uses a template of the user. */
typedef struct own_template {
    char name[PATHS_BYTES], extension[OWN_EXTENSION_BYTES];
} own_template;

/* Loading the script needs an architecture. Any will do, because no constraint is evaluated. */
static const char any_arch[] = "sm_90";

/* Loads the script, because its parameters may be newer than the records. AT_NOT_FOUND. */
static at_status load_script(const settings *run, script **out, at_error *error)
{
    arch_limits limits;
    at_status status = target_check_script(run, error);
    if (status == AT_USAGE)
        return AT_NOT_FOUND;
    if (!status)
        status = arch_find(any_arch, &limits, error);
    if (!status)
        status = target_load_script(run, &limits, out, error);
    return status ? status : script_check_baseline(*out, PROBLEM_TUNED, error);
}

/* Writes the pattern's name: "transpose" for "lua/transpose.lua". */
static void name_from_operand(const char *operand, char out[RECORD_NAME_BYTES])
{
    const char *slash = strrchr(operand, '/');
    snprintf(out, RECORD_NAME_BYTES, "%s", slash ? slash + 1 : operand);
    char *dot = strrchr(out, '.');
    if (dot && strcmp(dot, ".lua") == 0)
        *dot = '\0';
}

static void warn_of_missing(const options *o, const export_model *m)
{
    char folders[1024];
    record_folders searched;
    known_folders(o, &searched);
    record_folders_text(&searched, folders, sizeof folders);
    if (m->row_count == 0)
        fprintf(stderr,
                "autotune: warning: there are no results for %s in %s: only the script's default "
                "is exported. Record some by 'autotune tune %s' on a GPU, or name another folder "
                "by --results DIR\n",
                m->pattern, folders, o->operand_count == 1 ? o->operand : m->pattern);
    for (size_t i = 0; i < m->constraint_count; i++)
        if (!m->constraints[i].c)
            fprintf(stderr,
                    "autotune: a constraint of %s cannot be translated to C. Problems that were "
                    "not measured get the default: %.200s\n",
                    m->pattern, m->constraints[i].text);
    if (m->skipped > 0)
        fprintf(stderr,
                "autotune: %zu results are not exported, because %s has other variables or "
                "parameters now\n",
                m->skipped, m->pattern);
}

/* Prints how many kernels and problems are exported, and which variables kernels fix. */
static void print_kernel_count(const export_model *m, size_t problem_count)
{
    char names[1024] = "";
    for (size_t v = 0; v < m->variable_count; v++) {
        bool is_fixed = false;
        for (size_t u = 0; u < m->kernels.use_count && !is_fixed; u++)
            for (size_t c = 0; c < m->kernels.uses[u].condition_count; c++)
                is_fixed |= !m->kernels.uses[u].conditions[c].of_device &&
                            m->kernels.uses[u].conditions[c].index == v;
        if (is_fixed)
            text_add(names, sizeof names, "%s%s", *names ? ", " : "", m->variables[v].name);
    }
    fprintf(stderr, "autotune: %s: %zu kernel%s for %zu problem%s", m->pattern,
            m->kernels.source_count, m->kernels.source_count == 1 ? "" : "s", problem_count,
            problem_count == 1 ? "" : "s");
    if (*names)
        fprintf(stderr,
                "; values of %s are compiled in, so other problems get cudaErrorNotSupported "
                "(--over adds problems)",
                names);
    fputs("\n", stderr);
}

typedef struct subject {
    char name[RECORD_NAME_BYTES];
    script *script; /* NULL if it was not found */
    record_set records;
    export_model model;
    kernel_problems problems;
} subject;

static void subject_deinit(subject *s)
{
    export_model_deinit(&s->model);
    kernel_problems_deinit(&s->problems);
    record_set_deinit(&s->records);
    script_free(s->script);
}

static at_status subject_init(const options *o, const exporter *e, const char *operand,
                              kernel_ptx *ptx, subject *out, at_error *error)
{
    settings run = o->run;
    at_error not_found = {0};
    run.pattern.script = operand;
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
    at_status status = known_records(o, out->name, !o->results, &out->records, error);
    if (status)
        return status;
    if (!out->script && out->records.count == 0)
        return error_set(error, AT_USAGE, "%s; there are no results for '%s' either",
                         not_found.message, out->name);
    status = exported_model(out->name, &out->records, out->script, &out->model, error);
    if (!status && e->kernels && out->script)
        status = exported_kernels(o, &run, &out->records, out->script, &out->model, &out->problems,
                                  ptx, error);
    return status;
}

/* Returns whether -o names a folder: the folder exists, or the name ends in a slash. */
static bool is_folder(const char *output)
{
    struct stat s;
    size_t length = output ? strlen(output) : 0;
    return length > 0 &&
           (output[length - 1] == '/' || (stat(output, &s) == 0 && S_ISDIR(s.st_mode)));
}

/* Writes the name of the output, without folder and extension, as plain text for templates. */
static void stem_of(const char *output, char out[EXPORT_FILE_NAME_BYTES])
{
    enum { MOST_BYTES = 100 };
    const char *slash = strrchr(output, '/');
    plain_text_escape(slash ? slash + 1 : output, out, MOST_BYTES + 1);
    char *dot = strrchr(out, '.');
    if (dot && dot != out)
        *dot = '\0';
}

/* Writes all files into the folder, or no file if one of them may not be replaced. If `first` is
 * not NULL, it is the path of the first file. */
static at_status write_into(const options *o, const char *folder, const char *first,
                            const export_files *files, at_error *error)
{
    char path[PATHS_BYTES];
    at_status status = file_make_folder(folder, error);
    for (size_t i = 0; i < 2 * files->count && !status; i++) {
        const export_file *f = &files->files[i % files->count];
        const bool is_first = first && f == files->files, checks = i < files->count;
        if (!is_first && snprintf(path, sizeof path, "%s/%s", folder, f->name) >= (int)sizeof path)
            return error_set(error, AT_USAGE, "%.200s...: the path is too long", folder);
        status = (checks ? output_check : output_write)(o, is_first ? first : path, f->text,
                                                        f->size_bytes, error);
    }
    return status;
}

/* Writes the file of -o, and the file that it includes, into one folder. */
static at_status write_pair(const options *o, const export_files *files, at_error *error)
{
    char folder[PATHS_BYTES];
    const char *slash = strrchr(o->output, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - o->output + 1) : 1,
             slash ? o->output : ".");
    return write_into(o, folder, o->output, files, error);
}

/* Rejects wrong options before kernels are compiled. AT_USAGE. */
static at_status check_output(const options *o, const exporter *e, at_error *error)
{
    const char *to = o->output ? o->output : "";
    size_t length = strlen(to), ending = e->pair ? strlen(e->extension) : 0;
    if (is_folder(o->output))
        return AT_OK;
    if (o->operand_count > 1 && !e->several)
        return error_set(error, AT_USAGE,
                         "%s is a file of one pattern, but there are %zu: name a folder for their "
                         "files with -o FOLDER/",
                         e->name, o->operand_count);
    if (e->pair && !o->output)
        return error_set(error, AT_USAGE,
                         "--format %s makes two files, the kernels and a header: name them with -o "
                         "FILE%s, or a folder for them with -o FOLDER/",
                         e->name, e->extension);
    if (length < ending || strcmp(to + length - ending, e->pair ? e->extension : "") != 0)
        return error_set(error, AT_USAGE,
                         "-o %.200s: its name must end in %s; the header lies beside it", to,
                         e->extension);
    return AT_OK;
}

static at_status write_one(const options *o, const exporter *e, const export_files *files,
                           at_error *error)
{
    if (files->count == 0)
        return error_set(error, AT_USAGE,
                         "%s exports measurements, but there are no records of %s: tune it first, "
                         "or name their folder by --results DIR",
                         e->name, o->operand);
    if (files->count > 1)
        return error_set(
            error, AT_USAGE,
            "this makes %zu files (%.80s, %.80s%s): name a folder for them with -o FOLDER/",
            files->count, files->files[0].name, files->files[1].name,
            files->count > 2 ? " and more" : "");
    return output_write(o, o->output, files->files[0].text, files->files[0].size_bytes, error);
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
    if (folder) {
        for (size_t i = 0; i < count && !status; i++)
            status = exporter_write(e, &models[i], 1, subjects[i].name, &files, error);
    } else {
        if (o->output)
            stem_of(o->output, stem);
        else
            snprintf(stem, sizeof stem, "%s", count == 1 ? subjects[0].name : "autotune");
        status = exporter_write(e, models, count, stem, &files, error);
    }
    if (!status)
        status = folder                 ? write_into(o, o->output, NULL, &files, error)
                 : e->pair && o->output ? write_pair(o, &files, error)
                                        : write_one(o, e, &files, error);
    export_files_deinit(&files);
    return status;
}

/* Writes the extension of the output: ".cuh" for "policy.cuh.tmpl". */
static void extension_of(const char *template, char out[OWN_EXTENSION_BYTES])
{
    char name[PATHS_BYTES];
    const char *slash = strrchr(template, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : template);
    char *dot = strrchr(name, '.');
    if (dot && strcmp(dot, ".tmpl") == 0)
        *dot = '\0';
    dot = strrchr(name, '.');
    snprintf(out, OWN_EXTENSION_BYTES, "%s", dot ? dot : "");
}

/* Makes `e` an exporter for --template: a file, or the name of an installed template. */
static at_status use_template(const char *template, own_template *own, exporter *e, at_error *error)
{
    paths p;
    char path[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    extension_of(template, own->extension);
    snprintf(own->name, sizeof own->name, "export/%.100s.tmpl", template);
    snprintf(path, sizeof path, "%.3900s/%s", p.template_dir, own->name);
    e->path = template;
    if (access(template, F_OK) != 0) {
        if (strchr(template, '/') || access(path, F_OK) != 0)
            return error_set(
                error, AT_USAGE,
                "--template %.200s: there is no such file, nor a template of that name "
                "in %.200s/export; 'autotune help record_table' has one to begin with",
                template, p.template_dir);
        e->path = NULL;
        e->template_name = own->name;
    }
    e->name = template;
    e->extension = own->extension;
    e->several = true;
    e->pair = false;
    return AT_OK;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    const exporter *format;
    own_template own;
    at_status status = exporter_find(o->format ? o->format : "header", &format, error);
    if (status)
        return status;
    exporter written = *format, *e = &written;
    if (o->template_path)
        status = use_template(o->template_path, &own, e, error);
    if (status)
        return status;
    if (o->sweep_count > 0 && !e->kernels)
        return error_set(error, AT_USAGE, "--over is for kernels (--format cuda): %s has none",
                         e->name);
    status = check_output(o, e, error);
    if (status)
        return status;
    kernel_ptx ptx = {.jobs = o->run.machine.jobs,
                      .shown = e->kernels ? progress_new(STDERR_FILENO, o->run.quiet) : NULL};
    subject *subjects = memory_new(o->operand_count, sizeof *subjects);
    for (size_t i = 0; i < o->operand_count && !status; i++) {
        status = subject_init(o, e, o->operands[i], &ptx, &subjects[i], error);
        for (size_t j = 0; j < i && !status; j++)
            if (strcmp(subjects[i].name, subjects[j].name) == 0)
                status = error_set(error, AT_USAGE, "'%s' is named twice", subjects[i].name);
    }
    progress_clear(ptx.shown);
    if (!status)
        status = write_subjects(o, e, subjects, error);
    for (size_t i = 0; i < o->operand_count && !status; i++) {
        warn_of_missing(o, &subjects[i].model);
        *exit_code |= subjects[i].records.faults.count > 0;
        if (e->kernels)
            print_kernel_count(&subjects[i].model, subjects[i].problems.wanted);
    }
    for (size_t i = 0; i < o->operand_count; i++)
        subject_deinit(&subjects[i]);
    kernel_ptx_deinit(&ptx);
    free(subjects);
    return status;
}

const command cmd_export = {
    .name = "export",
    .operand = "PATTERN...",
    .operands_least = 1,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Write the recorded configurations of all GPUs for use without autotune",
    .options = "describe format template output over results set include jobs quiet",
    .chooses = "format",
    .words = "header|cuda|json|wisdom|t4",
    .raw = true,
    .answer = answer,
};
