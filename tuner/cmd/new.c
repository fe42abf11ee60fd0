/* autotune new: writes a script, a template and a reference to start from, which can be tuned at
 * once; or prints the comment that a kernel file needs. */
#define _GNU_SOURCE /* asprintf */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/paths.h"
#include "cmd/line/edit.h"
#include "cmd/line/options.h"
#include "cpp/token.h"
#include "run/setup/setup.h"

/* The word in the starter's files that the pattern's name replaces. */
static const char PLACE[] = "starter";
static const char *const suffixes[] = {".lua", ".cu.tmpl", "_ref.cu.tmpl"};
enum {
    FILES = sizeof suffixes / sizeof *suffixes,
    MOST_NAME = 60,
    MOST_BYTES = 1 << 16,
    MOST_FILE_BYTES = 4 << 20
};

static at_status check_name(const char *name, at_error *error)
{
    bool fits = (isalpha((unsigned char)name[0]) || name[0] == '_') && strlen(name) <= MOST_NAME;
    for (const char *c = name; *c && fits; c++)
        fits = isalnum((unsigned char)*c) || *c == '_';
    return fits
               ? AT_OK
               : error_set(
                     error, AT_USAGE,
                     "'%s' is not a valid name of a pattern: use at most %d letters, digits and _, "
                     "no digit first, without '.lua'. For a kernel in a file, give --from FILE.cu",
                     name, MOST_NAME);
}

/* Returns the text with `name` in place of PLACE. The caller frees it. */
static char *renamed(const char *text, const char *name)
{
    char *out = NULL;
    size_t size_bytes = 0;
    FILE *to = memory_open(&out, &size_bytes);
    for (const char *found; (found = strstr(text, PLACE)) != NULL; text = found + strlen(PLACE))
        fprintf(to, "%.*s%s", (int)(found - text), text, name);
    fputs(text, to);
    memory_close(to);
    return out;
}

static at_status write_one(const char *from, const char *to, const char *name, at_error *error)
{
    char *text = NULL, *own = NULL;
    size_t size_bytes;
    int fd = -1;
    at_status status = file_read(from, MOST_BYTES, &text, &size_bytes, error);
    if (!status)
        own = renamed(text, name);
    /* With O_EXCL, an existing file is never replaced. */
    if (!status && (fd = descriptor_open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0)
        status = error_set(error, AT_IO, "%s cannot be written: %s", to, strerror(errno));
    if (!status)
        status = file_write_all(fd, to, own, strlen(own), error);
    if (fd >= 0 && descriptor_close(fd) != 0 && !status)
        status = error_set(error, AT_IO, "%s cannot be written: %s", to, strerror(errno));
    if (status && fd >= 0)
        unlink(to);
    free(text);
    free(own);
    return status;
}

static int count_lines(const char *text, const char *end)
{
    int lines = 0;
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

/* Returns the comment and a blank line, to insert at line `at` of `path`. The comment names lines
 * of the file ("kernel.cu:12"): numbers from `at` on are moved. The caller frees the text. */
static char *moved(const char *comment, const char *path, int at)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int by = count_lines(comment, comment + strlen(comment)) + 1;
    char *out = NULL;
    size_t size_bytes = 0;
    FILE *to = memory_open(&out, &size_bytes);
    for (const char *found; (found = strstr(comment, name)) != NULL;) {
        char *end = NULL;
        const char *number = found + strlen(name) + 1;
        const long line =
            number[-1] == ':' && isdigit((unsigned char)*number) ? strtol(number, &end, 10) : 0;
        fprintf(to, "%.*s", (int)(number - 1 - comment), comment);
        if (line > 0)
            fprintf(to, ":%ld", line < at ? line : line + by);
        comment = line > 0 ? end : number - 1;
    }
    fprintf(to, "%s\n", comment);
    memory_close(to);
    return out;
}

/* Inserts the comment after the file's licence, before the first declaration or directive. */
static at_status write_comment(const char *path, const char *comment, at_error *error)
{
    char *text = NULL;
    size_t size_bytes;
    at_status status = file_read(path, MOST_FILE_BYTES, &text, &size_bytes, error);
    if (status)
        return status;
    cpp_lexer l = cpp_lexer_make(text, size_bytes, 1);
    const char *first = cpp_next(&l).span.text;
    while (first > text && first[-1] != '\n')
        first--;
    edit_list edits = {0};
    char *with_blank = moved(comment, path, count_lines(text, first) + 1), *after = NULL;
    fprintf(stdout, "%.*s", (int)strlen(with_blank) - 1, with_blank);
    edit_add(&edits, (size_t)(first - text), 0, with_blank);
    after = edit_apply(&edits, text);
    status = edit_write(path, text, after, error);
    edit_list_deinit(&edits);
    free(with_blank);
    free(after);
    free(text);
    return status;
}

static at_status run_from(const options *o, at_error *error)
{
    settings with = o->run;
    arch_limits limits;
    char *comment = NULL;
    const script_sketch_of of = {o->capture.kernel, o->operands, o->operand_count};
    with.pattern.script = o->from;
    at_status status = target_find(o->run.machine.arch, &limits, error);
    if (!status)
        status = target_sketch(&with, &of, &limits, &comment, error);
    if (!status && !o->write)
        fputs(comment, stdout);
    if (!status && o->write)
        status = write_comment(o->from, comment, error);
    if (!status)
        fprintf(stderr,
                o->write ? "autotune: %s has the comment now%s\n"
                         : "autotune: put the comment into %s, or --write does%s\n",
                o->from, strstr(comment, "at.ask") ? "; answer each at.ask in it" : "");
    if (!status && strstr(comment, "set by the command line"))
        fprintf(stderr,
                "autotune: fewer questions remain if you give the program's arguments: autotune "
                "new --from %s -- ARGUMENT...\n",
                o->from);
    free(comment);
    return status;
}

static at_status run(const options *o, at_error *error)
{
    if (o->from)
        return run_from(o, error);
    if (!o->operand)
        return error_set(error, AT_USAGE,
                         "NAME is missing: give a name for the new script, or --from FILE.cu for "
                         "an existing kernel");
    if (o->operand_count > 1)
        return error_set(error, AT_USAGE, "only one NAME is possible: '%s' is one too many",
                         o->operands[1]);
    paths p;
    char to[FILES][MOST_NAME + 32];
    size_t made = 0;
    at_status status = check_name(o->operand, error);
    if (!status)
        status = paths_find(&p, error);
    for (size_t i = 0; !status && i < FILES; i++) {
        snprintf(to[i], sizeof to[i], "%s%s", o->operand, suffixes[i]);
        if (access(to[i], F_OK) == 0)
            status = error_set(error, AT_USAGE,
                               "%s exists, and 'autotune new' overwrites nothing: "
                               "choose another name",
                               to[i]);
    }
    for (size_t i = 0; !status && i < FILES; i++) {
        char from[PATHS_BYTES + 64];
        snprintf(from, sizeof from, "%s/../starter/%s%s", p.lua_dir, PLACE, suffixes[i]);
        status = write_one(from, to[i], o->operand, error);
        made += !status;
    }
    for (size_t i = 0; i < made; i++)
        if (status)
            unlink(to[i]);
        else
            puts(to[i]);
    char installed[PATHS_BYTES + 64];
    if (!status) {
        fprintf(stderr, "autotune: 'autotune %s' tunes it as it stands\n", to[0]);
        snprintf(installed, sizeof installed, "%s/%s", p.lua_dir, to[0]);
        if (access(installed, F_OK) == 0)
            fprintf(stderr,
                    "autotune: warning: an installed pattern is called '%s', too; in this folder "
                    "the name now means the new one\n",
                    o->operand);
    }
    return status;
}

const command cmd_new = {
    .name = "new",
    .operand = "[NAME | -- ARGUMENT...]",
    .operands_least = 0,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Write a script, template and reference to start from, or a kernel's comment",
    .options = "from kernel write include arch no-cache",
    .run = run,
};
