/* gnuplot, as a program of its own: what it draws is taken from it, so that a picture is written
 * whole or not at all, and never by one that does not tell what it could not write. */
#ifndef AUTOTUNE_CMD_LINE_GNUPLOT_H
#define AUTOTUNE_CMD_LINE_GNUPLOT_H

#include <stddef.h>

#include "base/error.h"

/* Has gnuplot run the program, whose last command draws and which names no output. The picture is
 * the caller's to free. AT_NO_TOOLCHAIN, with the package's name, where there is no gnuplot; AT_IO
 * when it fails, which it tells on stderr. */
at_status gnuplot_run(const char *program, size_t program_bytes, char **picture, size_t *size_bytes,
                      at_error *error);

#endif
