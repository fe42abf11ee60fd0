#define _GNU_SOURCE /* strcasestr */
#include "cmd/line/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"

bool terminal_wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

bool terminal_speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

size_t terminal_columns(size_t most)
{
    enum { LEAST = 40 };
    struct winsize size;
    const char *given = getenv("COLUMNS");
    long columns = given ? strtol(given, NULL, 10) : 0;
    if (columns <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        return 0;
    return columns < LEAST ? LEAST : (size_t)columns > most ? most : (size_t)columns;
}

size_t terminal_page(void)
{
    enum { WIDEST = 200, USUAL = 80 };
    size_t columns = terminal_columns(WIDEST);
    return columns ? columns : USUAL;
}

at_status terminal_or_file(const char *path, const void *bytes, size_t size_bytes, at_error *error)
{
    if (path)
        return file_replace(path, bytes, size_bytes, error);
    if (fwrite(bytes, 1, size_bytes, stdout) != size_bytes || fflush(stdout) != 0)
        return error_set_errno(error, errno, "stdout could not be written");
    return AT_OK;
}
