/* autotune convert: recorded measurements in the format of another tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "history/history.h"

enum { NAME_BYTES = 512 };

/* The file's name, to call a kernel that the file does not name. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static at_status convert_recorded(const options *o, char **text, at_error *error)
{
    recorded r = {0};
    char name[NAME_BYTES];
    at_status status = recorded_read(o->operand, &r, error);
    /* Other tools want a name, in UTF-8. */
    plain_text_escape(last_part(o->operand), name, sizeof name);
    if (!status && r.kernel[0] == '\0')
        r.kernel = name;
    if (!status)
        status = recorded_write(&r, o->format, text, error);
    recorded_deinit(&r);
    return status;
}

static at_status run(const options *o, at_error *error)
{
    char *text = NULL;
    if (!o->format)
        return error_set(error, AT_USAGE, "--format says what to write: kernel-tuner or t4");
    at_status status = convert_recorded(o, &text, error);
    size_t length = text ? strlen(text) : 0;
    if (!status) {
        text[length] = '\n'; /* in the place of the NUL: a file of text ends in a newline */
        status = terminal_or_file(o->output, text, length + 1, error);
    }
    free(text);
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
