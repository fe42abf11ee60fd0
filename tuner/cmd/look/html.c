#include "cmd/look/html.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static const char style[] = {
#include "page.css.inc"
};

/* Sorts a table by the column whose head was pressed: by number where all its cells begin with
 * one. */
static const char script[] = {
#include "page.js.inc"
};

static void put_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        default:
            fputc(*text, to);
        }
}

void html_put(FILE *to, const char *html, ...)
{
    va_list texts;
    va_start(texts, html);
    for (const char *at; (at = strstr(html, "%s")) != NULL; html = at + 2) {
        fwrite(html, 1, (size_t)(at - html), to);
        put_text(to, va_arg(texts, const char *));
    }
    fputs(html, to);
    va_end(texts);
}

void html_begin(FILE *to, const char *title)
{
    html_put(to,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n",
             title);
    fputs(style, to);
    html_put(to, "</style></head>\n<body>\n<h1>%s</h1>\n", title);
}

void html_end(FILE *to)
{
    fprintf(to, "<script>\n%s</script>\n</body></html>\n", script);
}

void html_picture(FILE *to, const void *bytes, size_t size_bytes, const char *words)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    html_put(to, "<figure><img alt=\"%s\" src=\"data:image/svg+xml;base64,", words);
    for (size_t i = 0; i < size_bytes; i += 3) {
        size_t left = size_bytes - i;
        uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
                     (left > 2 ? b[i + 2] : 0u);
        fputc(digits[v >> 18], to);
        fputc(digits[v >> 12 & 63], to);
        fputc(left > 1 ? digits[v >> 6 & 63] : '=', to);
        fputc(left > 2 ? digits[v & 63] : '=', to);
    }
    html_put(to, "\"><figcaption>%s</figcaption></figure>\n", words);
}
