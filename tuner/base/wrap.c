#define _GNU_SOURCE /* fopencookie */
#include "base/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { LEAST_ROOM = 20, FURTHER_IN = 2 };

typedef struct wrapped {
    FILE *to;
    size_t columns;
    char *line; /* owned; not ended yet */
    size_t used;
    char *rest;   /* owned; the end of a line that was broken; NULL: none */
    size_t hang;  /* where it goes on */
    bool is_open; /* where it goes on is for the next line to say, if that is further in than
                     `start` */
    size_t start;
} wrapped;

/* Bytes of an escape for colours that starts at `text`; 0: none does. */
static size_t escape_bytes(const char *text, size_t left)
{
    if (left < 2 || text[0] != '\033' || text[1] != '[')
        return 0;
    for (size_t i = 2; i < left; i++)
        if (isalpha((unsigned char)text[i]))
            return i + 1;
    return left;
}

/* Characters of UTF-8, without escapes for colours. */
static size_t width_of(const char *text, size_t size_bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < size_bytes;) {
        size_t escape = escape_bytes(text + i, size_bytes - i);
        width += !escape && ((unsigned char)text[i] & 0xC0) != 0x80;
        i += escape ? escape : 1;
    }
    return width;
}

size_t wrap_cut(const char *text, size_t columns, size_t *skip)
{
    size_t length = strlen(text), best = 0, width = 0;
    *skip = 0;
    if (width_of(text, length) <= columns)
        return length;
    for (size_t i = 0; i < length;) {
        size_t escape = escape_bytes(text + i, length - i);
        bool blank = text[i] == ' ' && i > 0;
        bool comma = text[i] == ',' && isalpha((unsigned char)text[i + 1]);
        width += !escape && ((unsigned char)text[i] & 0xC0) != 0x80;
        /* A blank may stand beyond the edge: it is not printed. */
        if ((blank && width <= columns + 1) || (comma && width <= columns))
            best = i + (comma ? 1 : 0);
        if (width > columns + 1 && best > 0)
            break;
        if (width > columns + 1 && (blank || comma)) {
            best = i + (comma ? 1 : 0);
            break;
        }
        i += escape ? escape : 1;
    }
    if (best == 0)
        return length;
    *skip = strspn(text + best, " ");
    while (best > 0 && text[best - 1] == ' ') {
        best--;
        ++*skip;
    }
    return best;
}

void wrap_print(size_t columns, int indent, const char *label, const char *words, FILE *to)
{
    size_t room = columns > (size_t)indent ? columns - (size_t)indent : 1;
    fprintf(to, "%-*s", indent, label);
    for (;;) {
        size_t skip, cut = wrap_cut(words, room, &skip);
        fprintf(to, "%.*s\n", (int)cut, words);
        words += cut + skip;
        if (*words == '\0')
            return;
        fprintf(to, "%*s", indent, "");
    }
}

static size_t indentation(const char *text)
{
    return strspn(text, " ");
}

/* The column at which the rest of a line goes on. */
static size_t find_hang(const char *text, size_t columns)
{
    size_t start = indentation(text), found = 0;
    for (size_t i = start + 1; text[i]; i++)
        if (text[i] != ' ' && i >= start + 2 && text[i - 1] == ' ' && text[i - 2] == ' ') {
            size_t at = width_of(text, i);
            if (at + LEAST_ROOM <= columns && at <= columns / 2)
                found = at;
        }
    return found ? found : start + FURTHER_IN + LEAST_ROOM <= columns ? start + FURTHER_IN : 0;
}

/* Prints lines of `text` until the rest fits on one; returns that. */
static const char *put_lines(wrapped *w, const char *text)
{
    for (;;) {
        size_t skip, cut = wrap_cut(text, w->columns - w->hang, &skip);
        if (text[cut] == '\0')
            return text;
        fprintf(w->to, "%*s%.*s\n", (int)w->hang, "", (int)cut, text);
        text += cut + skip;
    }
}

static void flush_rest(wrapped *w)
{
    if (w->rest)
        fprintf(w->to, "%*s%s\n", (int)w->hang, "", put_lines(w, w->rest));
    free(w->rest);
    w->rest = NULL;
}

/* Prints the first line of `text`; the rest waits for a line that goes on from it. */
static void break_line(wrapped *w, const char *text)
{
    /* The blanks that it begins with are no place to break it. */
    size_t skip, lead = indentation(text);
    size_t cut = lead + wrap_cut(text + lead, w->columns - lead, &skip);
    fprintf(w->to, "%.*s\n", (int)cut, text);
    text += cut + skip;
    w->rest = *text ? strdup(w->is_open ? text : put_lines(w, text)) : NULL;
    if (*text && !w->rest)
        fprintf(w->to, "%*s%s\n", (int)w->hang, "", put_lines(w, text));
}

static void put_line(wrapped *w, const char *text)
{
    char *joined = NULL;
    size_t length = strlen(text), in = indentation(text);
    if (w->rest && w->is_open && in > w->start && text[in] && in + LEAST_ROOM <= w->columns)
        w->hang = in;
    bool goes_on = w->rest && in == w->hang && text[in];
    if (goes_on && (joined = malloc(strlen(w->rest) + length + 2)) != NULL) {
        sprintf(joined, "%*s%s %s", (int)w->hang, "", w->rest, text + w->hang);
        free(w->rest);
        w->rest = NULL;
        text = joined;
    } else {
        flush_rest(w);
    }
    if (indentation(text) >= w->columns || width_of(text, strlen(text)) <= w->columns) {
        fprintf(w->to, "%s\n", text);
    } else {
        w->start = joined ? w->start : indentation(text);
        w->hang = joined ? w->hang : find_hang(text, w->columns);
        w->is_open = !joined && w->hang == w->start + FURTHER_IN;
        break_line(w, text);
    }
    free(joined);
}

static ssize_t write_wrapped(void *cookie, const char *bytes, size_t size_bytes)
{
    wrapped *w = cookie;
    for (size_t i = 0; i < size_bytes; i++) {
        const char c = bytes[i] == '\n' ? '\0' : bytes[i];
        if (!array_add(&w->line, &w->used, &c, 1))
            return 0;
        if (bytes[i] != '\n')
            continue;
        w->used = 0;
        put_line(w, w->line);
    }
    return fflush(w->to) == 0 ? (ssize_t)size_bytes : 0;
}

static int close_wrapped(void *cookie)
{
    wrapped *w = cookie;
    flush_rest(w);
    if (w->used)
        fprintf(w->to, "%.*s", (int)w->used, w->line);
    int failed = fflush(w->to);
    free(w->line);
    free(w);
    return failed;
}

FILE *wrap_stream(FILE *to, size_t columns)
{
    wrapped *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (wrapped){.to = to, .columns = columns};
    FILE *f = fopencookie(w, "w",
                          (cookie_io_functions_t){.write = write_wrapped, .close = close_wrapped});
    if (!f)
        free(w);
    else
        setvbuf(f, NULL, _IOLBF, BUFSIZ);
    return f;
}
