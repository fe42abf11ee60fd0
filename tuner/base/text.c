#define _GNU_SOURCE /* fopencookie */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"

/* ---- plain text ---- */

enum { LONGEST_SEQUENCE = 8, ESCAPED_BYTES = 7, CHUNK_BYTES = 4096 };

/* Reads one character of UTF-8 (RFC 3629): its bytes, 0 when there is none, -1 if it may go on
 * after the end. */
static int read_character(const unsigned char *at, size_t left, uint32_t *out)
{
    int length = at[0] < 0x80                    ? 1
                 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                 : 0;
    uint32_t c = length == 1 ? at[0] : length > 1 ? at[0] & (0x7fu >> length) : 0;
    for (int i = 1; i < length; i++) {
        if ((size_t)i == left)
            return -1;
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (length == 0 || c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *out = c;
    return length;
}

/* C0, DEL and C1; line separators; what turns the direction of writing. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
           c == 0x200f || c == 0x61c || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Shows the text's next character: its bytes as they are, or escaped in `shown`. Returns how many
 * bytes of the text it takes, and -1 if it may go on after the end. */
static int next_shown(const unsigned char *at, size_t left, char shown[ESCAPED_BYTES],
                      size_t *shown_bytes)
{
    uint32_t c = 0xfffd;
    int taken = read_character(at, left, &c);
    if (taken < 0)
        return -1;
    if (taken > 0 && (c == '\n' || c == '\t' || !is_control(c))) {
        memcpy(shown, at, (size_t)taken);
        *shown_bytes = (size_t)taken;
        return taken;
    }
    *shown_bytes =
        (size_t)snprintf(shown, ESCAPED_BYTES, "\\u%04x", (unsigned)(taken > 0 ? c : 0xfffd));
    return taken > 0 ? taken : 1;
}

void plain_text_escape(const char *text, char *out, size_t out_bytes)
{
    size_t used = 0, left = strlen(text), shown_bytes = 0;
    while (left > 0) {
        char shown[ESCAPED_BYTES];
        /* The NUL after the end is no part of a sequence: none goes on. */
        int taken = next_shown((const unsigned char *)text, left + 1, shown, &shown_bytes);
        if (used + shown_bytes >= out_bytes)
            break;
        memcpy(out + used, shown, shown_bytes);
        used += shown_bytes;
        text += taken;
        left -= (size_t)taken;
    }
    if (out_bytes > 0)
        out[used] = '\0';
}

bool plain_text_is_line(const char *text, size_t size_bytes)
{
    while (size_bytes > 0) {
        uint32_t c;
        int taken = read_character((const unsigned char *)text, size_bytes, &c);
        if (taken <= 0 || is_control(c))
            return false;
        text += taken;
        size_bytes -= (size_t)taken;
    }
    return true;
}

/* ---- the stream ---- */

typedef struct plain_stream {
    int fd;
    bool ink;
    unsigned char pending[LONGEST_SEQUENCE]; /* begun, and cut by the end of a write */
    size_t pending_bytes;
    char out[CHUNK_BYTES];
    size_t out_bytes;
} plain_stream;

static bool flush_out(plain_stream *s)
{
    for (size_t done = 0; done < s->out_bytes;) {
        ssize_t n = write(s->fd, s->out + done, s->out_bytes - done);
        if (n < 0 && descriptor_try_again(s->fd))
            continue;
        if (n < 0) {
            s->out_bytes = 0;
            return false;
        }
        done += (size_t)n;
    }
    s->out_bytes = 0;
    return true;
}

/* One of the program's colours: its bytes, 0 when it is none, -1 when it may be one with more. */
static int read_ink(const unsigned char *at, size_t left)
{
    static const char *const inks[] = PLAIN_TEXT_INKS;
    int found = 0;
    for (size_t i = 0; i < sizeof inks / sizeof *inks; i++) {
        size_t length = strlen(inks[i]), common = length < left ? length : left;
        if (memcmp(at, inks[i], common) != 0)
            continue;
        if (left >= length)
            return (int)length;
        found = -1;
    }
    return found;
}

static int put_next(plain_stream *s, const unsigned char *at, size_t left, bool *fine)
{
    char shown[ESCAPED_BYTES];
    size_t shown_bytes;
    int taken = s->ink && at[0] == '\033' ? read_ink(at, left) : 0;
    const char *from = (const char *)at;
    if (taken < 0)
        return -1;
    shown_bytes = (size_t)taken;
    if (taken == 0) {
        taken = next_shown(at, left, shown, &shown_bytes);
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
    while (s->pending_bytes > 0 && at < end) {
        s->pending[s->pending_bytes++] = *at++;
        int taken = put_next(s, s->pending, s->pending_bytes, &fine);
        if (taken > 0) {
            s->pending_bytes -= (size_t)taken;
            memmove(s->pending, s->pending + taken, s->pending_bytes);
            /* The rest begins anew: it is at most a few bytes, looked at one by one. */
            while (s->pending_bytes > 0 &&
                   (taken = put_next(s, s->pending, s->pending_bytes, &fine)) > 0) {
                s->pending_bytes -= (size_t)taken;
                memmove(s->pending, s->pending + taken, s->pending_bytes);
            }
        }
    }
    while (at < end) {
        int taken = put_next(s, at, (size_t)(end - at), &fine);
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
    static const char cut[] = "\\ufffd";
    if (s->pending_bytes > 0) {
        memcpy(s->out, cut, sizeof cut - 1);
        s->out_bytes = sizeof cut - 1;
    }
    int failed = flush_out(s) ? 0 : EOF;
    free(s);
    return failed;
}

FILE *plain_text_stream(int fd, bool ink, bool buffered)
{
    plain_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = fd;
    s->ink = ink;
    FILE *f =
        fopencookie(s, "w", (cookie_io_functions_t){.write = write_plain, .close = close_plain});
    if (!f)
        free(s);
    else
        setvbuf(f, NULL, !buffered ? _IONBF : isatty(fd) ? _IOLBF : _IOFBF, BUFSIZ);
    return f;
}

/* ---- appended text ---- */

void text_add(char *text, size_t size_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size_bytes - used, format, args);
    va_end(args);
}

const char *text_line(const char *text, size_t index, size_t *length)
{
    for (; index > 0 && *text; index--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *length = strcspn(text, "\n");
    return text;
}

/* ---- nearest names ---- */

enum { LONGEST = 63 }; /* a longer name is not misspelt by a letter or two */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, replace);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b_length];
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

const char *nearest_name(const char *typed, const char *const *names, size_t count)
{
    size_t length = strlen(typed);
    if (length == 0 || length > LONGEST)
        return NULL;
    size_t most = length / 3 > 1 ? length / 3 : 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST)
            continue;
        size_t d = distance(typed, length, names[i], other);
        /* Among equals the one that begins alike wins: "row" is "rows", and not "how". */
        if (d > most || (nearest && d == most &&
                         common_prefix(typed, names[i]) <= common_prefix(typed, nearest)))
            continue;
        most = d;
        nearest = names[i];
    }
    return nearest;
}
