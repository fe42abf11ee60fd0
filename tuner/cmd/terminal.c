#include "cmd/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
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
