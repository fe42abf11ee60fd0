/* A file's text with what a kernel needs of it, for a compiler of device code. */
#ifndef AUTOTUNE_CPP_RENDER_H
#define AUTOTUNE_CPP_RENDER_H

#include "cpp/unit.h"

/* The text with the declarations that are wanted, all directives but those that are missing or
 * define one of the `given` names, and everything else replaced by its ends of lines: the lines of
 * what is returned are the file's. Those that are empty only because something was left out hold a
 * vertical tab. The caller frees it; NULL: no memory. */
char *cpp_render(const cpp_unit *u, const cpp_span *given, size_t given_count);

#endif
