#define _GNU_SOURCE /* for fopencookie() */
#include "base/wrap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"

static const char *const colour_escapes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[33m",
                                             "\033[1;32m"};

enum { LONGEST_SEQUENCE = 8, CHUNK_BYTES = 4096 };

typedef struct plain_stream {
    int fd;
    bool colours;
    unsigned char pending[LONGEST_SEQUENCE]; /* an incomplete character or escape sequence */
    size_t pending_bytes;
    char out[CHUNK_BYTES];
    size_t out_bytes;
} plain_stream;

static bool flush_out(plain_stream *s)
{
    size_t size_bytes = s->out_bytes;
    s->out_bytes = 0;
    for (size_t done = 0; done < size_bytes;) {
        ssize_t n = write(s->fd, s->out + done, size_bytes - done);
        if (n >= 0)
            done += (size_t)n;
        else if (!descriptor_try_again(s->fd))
            return false;
    }
    return true;
}

/* Returns the length of the colour escape at `text`, 0 without one, -1 if it may be cut off. */
static int read_colour(const unsigned char *text, size_t left)
{
    int found = 0;
    for (size_t i = 0; i < sizeof colour_escapes / sizeof *colour_escapes; i++) {
        size_t length = strlen(colour_escapes[i]), common = length < left ? length : left;
        if (memcmp(text, colour_escapes[i], common) != 0)
            continue;
        if (left >= length)
            return (int)length;
        found = -1;
    }
    return found;
}

/* Writes the first character or colour escape of `text`. Returns its length, or -1 if `text` may
 * end within it. Sets `*fine` to false if writing fails. */
static int put_next(plain_stream *s, const unsigned char *text, size_t left, bool *fine)
{
    char shown[PLAIN_TEXT_CHARACTER_BYTES];
    const char *from = (const char *)text;
    int taken = s->colours && text[0] == '\033' ? read_colour(text, left) : 0;
    size_t shown_bytes = (size_t)taken;
    if (taken == 0) {
        taken = plain_text_character(text, left, shown, &shown_bytes);
        from = shown;
    }
    if (taken < 0)
        return -1;
    if (s->out_bytes + LONGEST_SEQUENCE > sizeof s->out)
        *fine = flush_out(s) && *fine;
    memcpy(s->out + s->out_bytes, from, shown_bytes);
    s->out_bytes += shown_bytes;
    return taken;
}

static ssize_t write_plain(void *cookie, const char *bytes, size_t size_bytes)
{
    plain_stream *s = cookie;
    const unsigned char *at = (const unsigned char *)bytes, *end = at + size_bytes;
    bool fine = true;
    int taken;
    while (s->pending_bytes > 0 && at < end) {
        s->pending[s->pending_bytes++] = *at++;
        while (s->pending_bytes > 0 &&
               (taken = put_next(s, s->pending, s->pending_bytes, &fine)) > 0) {
            s->pending_bytes -= (size_t)taken;
            memmove(s->pending, s->pending + taken, s->pending_bytes);
        }
    }
    while (at < end) {
        taken = put_next(s, at, (size_t)(end - at), &fine);
        if (taken < 0) {
            s->pending_bytes = (size_t)(end - at);
            memcpy(s->pending, at, s->pending_bytes);
            break;
        }
        at += taken;
    }
    return flush_out(s) && fine ? (ssize_t)size_bytes : 0;
}

static int close_plain(void *cookie)
{
    plain_stream *s = cookie;
    static const char incomplete[] = "\\ufffd";
    if (s->pending_bytes > 0) {
        memcpy(s->out, incomplete, sizeof incomplete - 1);
        s->out_bytes = sizeof incomplete - 1;
    }
    int failed = flush_out(s) ? 0 : EOF;
    free(s);
    return failed;
}

/* Opens a stream to `write`. Frees `cookie` and returns NULL if memory ran out. */
static FILE *open_stream(void *cookie, cookie_write_function_t *write,
                         cookie_close_function_t *close, int buffering)
{
    FILE *f = fopencookie(cookie, "w", (cookie_io_functions_t){.write = write, .close = close});
    if (!f)
        free(cookie);
    else
        setvbuf(f, NULL, buffering, BUFSIZ);
    return f;
}

FILE *plain_text_stream(int fd, bool colours, bool buffered)
{
    plain_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = fd;
    s->colours = colours;
    return open_stream(s, write_plain, close_plain,
                       !buffered    ? _IONBF
                       : isatty(fd) ? _IOLBF
                                    : _IOFBF);
}

enum {
    LEAST_ROOM = 20, /* least width of a continuation */
    FURTHER_IN = 2   /* blanks by which a continuation is indented more than its line */
};

typedef struct wrapped {
    FILE *to;
    size_t columns;
    char *line;   /* the current line as far as it was written; owned */
    size_t used;  /* bytes of `line` */
    char *rest;   /* the part of a broken line that is not printed yet, or NULL; owned */
    size_t hang;  /* indentation of `rest` */
    bool is_open; /* the next line sets `hang` to its own indentation, if that is above `start` */
    size_t start; /* indentation of the broken line */
} wrapped;

static size_t escape_bytes(const char *text, size_t left)
{
    if (left < 2 || text[0] != '\033' || text[1] != '[')
        return 0;
    for (size_t i = 2; i < left; i++)
        if (isalpha((unsigned char)text[i]))
            return i + 1;
    return left;
}

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
        /* The blank at a break is not printed, so it may be just beyond the edge. */
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

/* Returns the indentation for the continuation of a line (see wrap.h). */
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

/* Prints the first line of `text` and keeps the rest, which the next line may continue. */
static void break_line(wrapped *w, const char *text)
{
    /* A line is not broken within its indentation. */
    size_t skip, lead = indentation(text);
    size_t cut = lead + wrap_cut(text + lead, w->columns - lead, &skip);
    fprintf(w->to, "%.*s\n", (int)cut, text);
    text += cut + skip;
    w->rest = *text ? strdup(w->is_open ? text : put_lines(w, text)) : NULL;
    if (*text && !w->rest)
        fprintf(w->to, "%*s%s\n", (int)w->hang, "", put_lines(w, text));
}

/* Prints a whole line. Joins it to the rest of the line before if it continues that line. */
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
    return open_stream(w, write_wrapped, close_wrapped, _IOLBF);
}
