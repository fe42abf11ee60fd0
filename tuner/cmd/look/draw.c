/* autotune plot: a picture of what was measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/line/commands.h"
#include "cmd/line/known.h"
#include "cmd/line/terminal.h"
#include "cmd/look/plot.h"
#include "cmd/look/roofline.h"

enum { TITLE_BYTES = 1024 };

static at_status choose_format(const options *o, plot_format *out, at_error *error)
{
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    const char *name = o->format ? o->format : dot ? dot + 1 : o->output ? "svg" : "terminal";
    if (strcmp(name, "svg") == 0)
        *out = PLOT_SVG;
    else if (strcmp(name, "png") == 0)
        *out = PLOT_PNG;
    else if (strcmp(name, "terminal") == 0 || strcmp(name, "txt") == 0)
        *out = PLOT_TERMINAL;
    else
        return error_set(error, AT_USAGE, "--format takes svg, png or terminal, not '%s'", name);
    return AT_OK;
}

/* A record keeps the best few; beside some lies the whole space. */
static void tell_landscape(const options *o, const recorded *r)
{
    char path[PATHS_BYTES];
    const char *slash = strrchr(o->operand, '/');
    snprintf(path, sizeof path, "%.*slandscapes/%s.json.gz",
             slash ? (int)(slash - o->operand + 1) : 0, o->operand, r->kernel);
    if (r->is_record && access(path, R_OK) == 0)
        fprintf(stderr,
                "autotune: these are the best few and the default; the whole space is in %s\n",
                path);
}

static at_status run(const options *o, at_error *error)
{
    recorded r = {0};
    ceiling_rates ceilings;
    record_folders folders;
    char title[TITLE_BYTES], *picture = NULL;
    size_t size_bytes = 0;
    plot_request q = {
        .kind = o->kind ? o->kind : "rank", .by = o->by, .title = title, .ceilings = &ceilings};
    at_status status = choose_format(o, &q.format, error);
    if (!status)
        status = recorded_read(o->operand, &r, error);
    known_folders(o, &folders);
    if (!status)
        status = roofline_ceilings(o->operand, &folders, r.device, &ceilings, error);
    if (!status) {
        const char *name = strrchr(o->operand, '/');
        const char *subject = *r.kernel ? r.kernel : name ? name + 1 : o->operand;
        snprintf(title, sizeof title, "%.*s%s%s%s%s%s%s", (int)strcspn(subject, "."), subject,
                 *r.device ? " on " : "", r.device, *r.problem ? ", " : "", r.problem,
                 r.predicted ? " (predicted)" : "",
                 r.is_record ? ": the best few and the default" : "");
        status = plot_draw(&r, &q, &picture, &size_bytes, error);
    }
    /* A PNG is the only output to stdout that is no text for a terminal. */
    if (!status && !o->output && q.format == PLOT_PNG)
        status = file_write_all(STDOUT_FILENO, "stdout", picture, size_bytes, error);
    else if (!status)
        status = terminal_or_file(o->output, picture, size_bytes, error);
    if (!status)
        tell_landscape(o, &r);
    free(picture);
    recorded_deinit(&r);
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
