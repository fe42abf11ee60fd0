/* autotune convert: recorded measurements, or a script, in the format of another tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"
#include "history/history.h"
#include "run/setup/setup.h"
#include "script/t1.h"

enum { NAME_BYTES = 512 };

/* The file's name, to call a kernel that the file does not name. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void tell_left_out(void *context, int line, const char *text)
{
    const char *path = context;
    if (line)
        fprintf(stderr, "autotune: warning: %s:%d: %s\n", path, line, text);
    else
        fprintf(stderr, "autotune: warning: %s: %s\n", path, text);
}

/* The text, without a newline at its end, is the caller's. */
static at_status convert_script(const options *o, char **text, at_error *error)
{
    settings asked = o->run;
    arch_limits limits;
    script *s = NULL;
    asked.script = o->operand;
    at_status status = target_find(o->run.arch, &limits, error);
    if (!status)
        status = target_load_script(&asked, &limits, &s, error);
    if (!status)
        status = t1_write(s, tell_left_out, (void *)(uintptr_t)o->operand, text, error);
    script_free(s);
    return status;
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
        return error_set(error, AT_USAGE,
                         "--format says what to write: kernel-tuner or t4 (of measurements), or t1 "
                         "(of a script)");
    at_status status = strcmp(o->format, "t1") == 0 ? convert_script(o, &text, error)
                                                    : convert_recorded(o, &text, error);
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
    .summary = "Write measurements or a script in the format of another tool",
    .options = "format output set arch",
    .chooses = "format",
    .words = "kernel-tuner|t4|t1",
    .raw = true,
    .run = run,
};
