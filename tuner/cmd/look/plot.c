/* autotune plot: a picture of measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/look/plot.h"
#include "history/recorded.h"
#include "record/ceilings.h"
#include "script/render.h"

enum { NAME_BYTES = 512 };

json_t *plot_file_name(const char *path)
{
    char name[NAME_BYTES];
    const char *slash = strrchr(path, '/');
    plain_text_escape(slash ? slash + 1 : path, name, sizeof name);
    return json_string(name);
}

at_status plot_ceilings(const char *file, const record_folders *folders, const char *gpu,
                        json_t **out, bool *any, at_error *error)
{
    static const char *const units[WORK_UNITS] = {"bytes", "flops", "items"};
    const char *slash = strrchr(file, '/');
    char beside[PATHS_BYTES];
    ceiling_rates kept = {0};
    at_status status = AT_OK;
    snprintf(beside, sizeof beside, "%.*s/..", slash ? (int)(slash - file) : 1, slash ? file : ".");
    *any = false;
    *out = json_array();
    for (size_t i = 0; !status && *gpu && !*any && i <= (folders ? folders->count : 0); i++) {
        status = ceilings_read(i ? folders->paths[i - 1] : beside, gpu, &kept, error);
        for (int kind = 0; !status && kind < CEILING_KINDS; kind++)
            *any = *any || kept.rates[kind] > 0;
    }
    for (int i = CEILING_NONE + 1; i < CEILING_KINDS && !status; i++) {
        const ceiling_info *c = ceiling_get((ceiling_kind)i);
        json_append(out, json_pack("{ss ss so}", "name", c->name, "unit", units[c->unit], "rate",
                                   json_exact(kept.rates[i])));
    }
    if (status) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

at_status plot_draw(const char *path, json_t *given, char **picture, size_t *size_bytes,
                    json_t **drawn, at_error *error)
{
    char *program = NULL;
    json_t *found;
    *picture = NULL;
    *size_bytes = 0;
    at_status status = script_compute("commands.plot", path, given, &found, error);
    if (!status)
        status = page_text(json_string_value(json_object_get(found, "page")),
                           json_incref(json_object_get(found, "picture")), NULL, &program, error);
    if (!status && json_is_true(json_object_get(found, "is_text"))) {
        *picture = program;
        *size_bytes = strlen(program);
        program = NULL;
    } else if (!status) {
        status = page_draw(program, picture, size_bytes, error);
    }
    /* gnuplot begins a picture of characters with a form feed. */
    if (!status && (*picture)[0] == '\f')
        (*picture)[0] = '\n';
    if (!status && drawn)
        *drawn = json_incref(found);
    free(program);
    json_decref(found);
    json_decref(given);
    return status;
}

static at_status choose_format(const options *o, const char **out, at_error *error)
{
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    const char *name = o->format ? o->format : dot ? dot + 1 : o->output ? "svg" : "terminal";
    *out = strcmp(name, "txt") == 0 ? "terminal" : name;
    if (strcmp(*out, "svg") != 0 && strcmp(*out, "png") != 0 && strcmp(*out, "terminal") != 0)
        return error_set(error, AT_USAGE, "--format takes svg, png or terminal, not '%s'", name);
    return AT_OK;
}

/* Prints the name of the file with all variants, if known: a record has only the best ones. */
static void mention_landscape(const options *o, const json_t *drawn)
{
    char path[PATHS_BYTES];
    const char *slash = strrchr(o->operand, '/');
    snprintf(path, sizeof path, "%.*slandscapes/%s.json.gz",
             slash ? (int)(slash - o->operand + 1) : 0, o->operand,
             json_string_value(json_object_get(drawn, "kernel")));
    if (json_is_true(json_object_get(drawn, "is_record")) && access(path, R_OK) == 0)
        fprintf(stderr,
                "autotune: these are the best few and the default; the whole space is in %s\n",
                path);
}

static at_status put_ceilings(const options *o, json_t *given, at_error *error)
{
    record_folders folders;
    json_t *read, *ceilings;
    bool any;
    known_folders(o, &folders);
    at_status status = script_compute("commands.recorded", o->operand,
                                      json_object_get(given, "source"), &read, error);
    if (!status)
        status =
            plot_ceilings(o->operand, &folders, json_string_value(json_object_get(read, "device")),
                          &ceilings, &any, error);
    if (!status)
        json_object_set_new(given, "ceilings", ceilings);
    json_decref(read);
    return status;
}

static at_status run(const options *o, at_error *error)
{
    json_t *source, *given, *drawn = NULL;
    const char *format, *kind = o->kind ? o->kind : "rank";
    char *picture = NULL;
    size_t size_bytes = 0;
    at_status status = choose_format(o, &format, error);
    if (!status)
        status = recorded_open(o->operand, &source, error);
    if (status)
        return status;
    given = memory_require(json_pack("{so ss ss* ss so}", "source", source, "kind", kind, "by",
                                     o->by, "format", format, "name", plot_file_name(o->operand)));
    if (strcmp(kind, "roofline") == 0)
        status = put_ceilings(o, given, error);
    if (!status)
        status = plot_draw(o->operand, json_incref(given), &picture, &size_bytes, &drawn, error);
    /* A PNG goes to stdout directly; other formats are text, which is escaped for a terminal. */
    if (!status && !o->output && strcmp(format, "png") == 0)
        status = file_write_all(STDOUT_FILENO, "stdout", picture, size_bytes, error);
    else if (!status)
        status = output_write(o, o->output, picture, size_bytes, error);
    if (!status)
        mention_landscape(o, drawn);
    free(picture);
    json_decref(drawn);
    json_decref(given);
    return status;
}

const command cmd_plot = {
    .name = "plot",
    .operand = "FILE",
    .summary = "Draw what was measured, by gnuplot",
    .options = "kind by format output results",
    .chooses = "format",
    .words = "svg|png|terminal",
    .raw = true,
    .run = run,
};
