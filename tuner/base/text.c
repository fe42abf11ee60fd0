#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Decodes one character of UTF-8 (RFC 3629). Returns its length in bytes, 0 if the bytes are not
 * UTF-8, or -1 if the character may continue after the end. */
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

/* Returns whether `c` is C0, DEL, C1, a line separator, or a mark of the writing direction. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
           c == 0x200f || c == 0x61c || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

int plain_text_character(const unsigned char *text, size_t left,
                         char out[PLAIN_TEXT_CHARACTER_BYTES], size_t *out_bytes)
{
    uint32_t c = 0xfffd;
    int taken = read_character(text, left, &c);
    if (taken < 0)
        return -1;
    if (taken > 0 && (c == '\n' || c == '\t' || !is_control(c))) {
        memcpy(out, text, (size_t)taken);
        *out_bytes = (size_t)taken;
        return taken;
    }
    *out_bytes = (size_t)snprintf(out, PLAIN_TEXT_CHARACTER_BYTES, "\\u%04x",
                                  (unsigned)(taken > 0 ? c : 0xfffd));
    return taken > 0 ? taken : 1;
}

void plain_text_escape(const char *text, char *out, size_t out_bytes)
{
    size_t used = 0, left = strlen(text), shown_bytes = 0;
    while (left > 0) {
        char shown[PLAIN_TEXT_CHARACTER_BYTES];
        /* The final NUL is passed too, so no character can continue after the end. */
        int taken =
            plain_text_character((const unsigned char *)text, left + 1, shown, &shown_bytes);
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

enum { LONGEST = 63 }; /* longer names are not compared */

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
        /* For "row", prefer "rows" to "how". */
        if (d > most || (nearest && d == most &&
                         common_prefix(typed, names[i]) <= common_prefix(typed, nearest)))
            continue;
        most = d;
        nearest = names[i];
    }
    size_t begun = 0;
    for (size_t i = 0; !nearest && length >= 3 && i < count; i++)
        begun += strncmp(typed, names[i], length) == 0;
    for (size_t i = 0; begun == 1 && i < count; i++)
        if (strncmp(typed, names[i], length) == 0)
            nearest = names[i];
    return nearest;
}

/* Returns the number of decimals that give a number from 1 to 999 four significant digits. */
static int decimals_for(double v)
{
    v = fabs(v);
    if (v < 9.9995)
        return 3;
    return v < 99.995 ? 2 : 1;
}

char *units_time(int64_t time_ns, char out[UNITS_BYTES])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    double ns = (double)time_ns;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        /* 999,999 ns are written as 1.000 ms, not as 1000.0 us. */
        if (fabs(ns) >= units[i].ns * 0.99995) {
            double v = ns / units[i].ns;
            snprintf(out, UNITS_BYTES, "%.*f %s", decimals_for(v), v, units[i].name);
            return out;
        }
    }
    snprintf(out, UNITS_BYTES, "%" PRId64 " ns", time_ns);
    return out;
}

char *units_duration(double seconds, char out[UNITS_BYTES])
{
    if (!(seconds >= 0))
        seconds = 0;
    if (seconds >= 1e6 * 3600) {
        snprintf(out, UNITS_BYTES, "%.3g s", seconds);
    } else if (seconds < 9.995) {
        snprintf(out, UNITS_BYTES, "%.2f s", seconds);
    } else if (seconds < 119.95) {
        snprintf(out, UNITS_BYTES, "%.1f s", seconds);
    } else {
        uint64_t whole = (uint64_t)(seconds + 0.5);
        if (whole < 3600)
            snprintf(out, UNITS_BYTES, "%" PRIu64 " min %02" PRIu64 " s", whole / 60, whole % 60);
        else
            snprintf(out, UNITS_BYTES, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
                     whole % 3600 / 60);
    }
    return out;
}

char *units_size(uint64_t size_bytes, char out[UNITS_BYTES])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    uint64_t scale = 1;
    while (unit + 1 < sizeof names / sizeof *names && size_bytes / scale >= 1024) {
        scale *= 1024;
        unit++;
    }
    if (size_bytes % scale == 0)
        snprintf(out, UNITS_BYTES, "%" PRIu64 " %s", size_bytes / scale, names[unit]);
    else
        snprintf(out, UNITS_BYTES, "%.1f %s", (double)size_bytes / (double)scale, names[unit]);
    return out;
}

char *units_rate(double gbps, char out[UNITS_BYTES])
{
    int decimals = 0;
    if (fabs(gbps) < 9.9995)
        decimals = 3;
    else if (fabs(gbps) < 99.95)
        decimals = 1;
    snprintf(out, UNITS_BYTES, "%.*f", decimals, gbps);
    return out;
}

char *units_count(uint64_t count, char out[UNITS_BYTES])
{
    char digits[UNITS_BYTES];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t n = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = '\0';
    return out;
}

char *units_percent(double fraction, char out[UNITS_BYTES])
{
    snprintf(out, UNITS_BYTES, "%.1f %%", 100 * fraction);
    return out;
}
