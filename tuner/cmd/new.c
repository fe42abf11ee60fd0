/* autotune new: a commented script, template and reference to start from, that tune as they
 * stand. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "cmd/line/commands.h"

/* The word in the starter's files that becomes the pattern's name. */
static const char PLACE[] = "starter";
static const char *const suffixes[] = {".lua", ".cu.tmpl", "_ref.cu.tmpl"};
enum { FILES = sizeof suffixes / sizeof *suffixes, MOST_NAME = 60, MOST_BYTES = 1 << 16 };

static at_status check_name(const char *name, at_error *error)
{
    bool fits = (isalpha((unsigned char)name[0]) || name[0] == '_') && strlen(name) <= MOST_NAME;
    for (const char *c = name; *c && fits; c++)
        fits = isalnum((unsigned char)*c) || *c == '_';
    return fits ? AT_OK
                : error_set(
                      error, AT_USAGE,
                      "'%s' is not a pattern's name: letters, digits and _, no digit first, at "
                      "most %d; the files are written into the current folder",
                      name, MOST_NAME);
}

/* The caller frees the text; NULL: out of memory. */
static char *renamed(const char *text, const char *name)
{
    char *out = NULL;
    size_t size_bytes = 0;
    FILE *to = open_memstream(&out, &size_bytes);
    if (!to)
        return NULL;
    for (const char *found; (found = strstr(text, PLACE)) != NULL; text = found + strlen(PLACE))
        fprintf(to, "%.*s%s", (int)(found - text), text, name);
    fputs(text, to);
    if (fclose(to) == 0)
        return out;
    free(out);
    return NULL;
}

static at_status write_one(const char *from, const char *to, const char *name, at_error *error)
{
    char *text = NULL, *own = NULL;
    size_t size_bytes;
    int fd = -1;
    at_status status = file_read(from, MOST_BYTES, &text, &size_bytes, error);
    if (!status && !(own = renamed(text, name)))
        status = error_set(error, AT_NO_MEMORY, "out of memory");
    /* The file never replaces what someone wrote. */
    if (!status && (fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0)
        status = error_set(error, AT_IO, "%s cannot be written: %s", to, strerror(errno));
    if (!status)
        status = file_write_all(fd, to, own, strlen(own), error);
    if (fd >= 0 && close(fd) != 0 && !status)
        status = error_set(error, AT_IO, "%s cannot be written: %s", to, strerror(errno));
    if (status && fd >= 0)
        unlink(to);
    free(text);
    free(own);
    return status;
}

static at_status run(const options *o, at_error *error)
{
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
    if (!status)
        fprintf(stderr, "autotune: 'autotune %s' tunes it as it stands\n", to[0]);
    return status;
}

const command cmd_new = {
    .name = "new",
    .operand = "NAME",
    .summary = "Write a script, template and reference to start a pattern from",
    .run = run,
};
