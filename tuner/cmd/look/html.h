/* Pieces of a self-contained HTML page. */
#ifndef AUTOTUNE_CMD_LOOK_HTML_H
#define AUTOTUNE_CMD_LOOK_HTML_H

#include <stdio.h>

/* Beginning (with style and script) and end of a page. HTML goes between them. */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

/* Writes HTML, in which each %s stands for the next text: its characters that have a meaning in
 * HTML are escaped. There are no other conversions. */
void html_put(FILE *to, const char *html, ...) __attribute__((format(printf, 2, 3)));

/* Writes the bytes of an SVG file as a picture of the page, with a description for those who cannot
 * see it.
 */
void html_picture(FILE *to, const void *bytes, size_t size_bytes, const char *words);

#endif
