#include "cmd/look/html.h"

#include <stdint.h>

static const char style[] = {
#include "page.css.inc"
};

/* Sorts a table by the column whose head was pressed: by number where all its cells begin with one. */
static const char script[] = {
#include "page.js.inc"
};

void html_begin(FILE *to, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          to);
    html_text(to, title);
    fprintf(to, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
    html_text(to, title);
    fputs("</h1>\n", to);
}

void html_end(FILE *to)
{
    fprintf(to, "<script>\n%s</script>\n</body></html>\n", script);
}

void html_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        case '\'': fputs("&#39;", to); break;
        default: fputc(*text, to);
        }
}

void html_picture(FILE *to, const void *bytes, size_t size_bytes, const char *words)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    fputs("<figure><img alt=\"", to);
    html_text(to, words);
    fputs("\" src=\"data:image/svg+xml;base64,", to);
    for (size_t i = 0; i < size_bytes; i += 3) {
        size_t left = size_bytes - i;
        uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0u);
        fputc(digits[v >> 18], to);
        fputc(digits[v >> 12 & 63], to);
        fputc(left > 1 ? digits[v >> 6 & 63] : '=', to);
        fputc(left > 2 ? digits[v & 63] : '=', to);
    }
    fputs("\"><figcaption>", to);
    html_text(to, words);
    fputs("</figcaption></figure>\n", to);
}
