/* autotune convert: recorded measurements in the format of another tool. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "cmd/look/plot.h"
#include "history/recorded.h"
#include "script/render.h"

static at_status run(const options *o, at_error *error)
{
    json_t *source, *given, *document = NULL;
    char *text = NULL;
    if (!o->format)
        return error_set(error, AT_USAGE, "--format says what to write: kernel-tuner or t4");
    at_status status = recorded_open(o->operand, &source, error);
    if (status)
        return status;
    given = json_pack("{so ss so}", "source", source, "format", o->format, "name",
                      plot_file_name(o->operand));
    status = script_compute("commands.convert", o->operand, given, &document, error);
    if (!status)
        status = json_text_format(document, 1, &text, error);
    size_t length = text ? strlen(text) : 0;
    if (!status) {
        text[length] = '\n'; /* in the place of the NUL: a file of text ends in a newline */
        status = terminal_or_file(o->output, text, length + 1, error);
    }
    free(text);
    json_decref(document);
    json_decref(given);
    return status;
}

const command cmd_convert = {
    .name = "convert",
    .operand = "FILE",
    .summary = "Write measurements in the format of another tool",
    .options = "format output",
    .chooses = "format",
    .words = "kernel-tuner|t4",
    .raw = true,
    .run = run,
};
