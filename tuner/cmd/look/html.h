/* Pieces of a self-contained HTML page. */
#ifndef AUTOTUNE_CMD_LOOK_HTML_H
#define AUTOTUNE_CMD_LOOK_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Head (style and script inside it) and end of a page. Text between is HTML. */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

/* Writes text with everything that HTML would read as more than text spelt out. */
void html_text(FILE *to, const char *text);

/* Writes an SVG file's bytes as a picture within the page, with words for who cannot see it. */
void html_picture(FILE *to, const void *bytes, size_t size_bytes, const char *words);

#endif
