/* Texts: escaping for terminals, appending, nearest names; numbers written for people. */
#ifndef AUTOTUNE_BASE_TEXT_H
#define AUTOTUNE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- plain text ----
 * Names, messages and records may come from anyone, and a terminal obeys control characters in
 * them. Plain text has these characters escaped as in JSON (\u001b), so that JSON stays valid.
 * Newline, tab and all other UTF-8 stay. A byte that is not UTF-8 becomes \ufffd. */

enum { PLAIN_TEXT_CHARACTER_BYTES = 7 }; /* the longest escape, with its NUL */

/* Escapes `text` into `out`, NUL-terminated. Stops before the first character that does not fit. */
void plain_text_escape(const char *text, char *out, size_t out_bytes);

/* Escapes the first character of `left` > 0 bytes at `text` into `out`, without a NUL, and sets
 * `*out_bytes`. Returns the number of bytes read, or -1 if the character may continue after the
 * end. */
int plain_text_character(const unsigned char *text, size_t left,
                         char out[PLAIN_TEXT_CHARACTER_BYTES], size_t *out_bytes);

/* Returns whether `text` is UTF-8 without control characters. Newline and tab are not allowed. */
bool plain_text_is_line(const char *text, size_t size_bytes);

/* ---- pieces of text ---- */

/* Appends formatted text to the text in an array of `size_bytes`. Cuts it if it does not fit. */
void text_add(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns line `index` of a text, not NUL-terminated, and its length without the newline. The line
 * is empty if the text has fewer lines. */
const char *text_line(const char *text, size_t index, size_t *length);

/* Finds the element of `names` to suggest for the misspelt name `typed`. The edit distance
 * (Damerau, "optimal string alignment") may be a third of the typed letters, or one. Of equally
 * near names, the longest common prefix wins, then the first name. If no name is near, finds the
 * only name that begins with the typed letters, which must be three or more. Returns NULL if no
 * name is found. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* ---- numbers for people ----
 * Each function writes to the caller's buffer of UNITS_BYTES and returns it, so that calls can be
 * arguments of printf. No function fails. */

enum { UNITS_BYTES = 32 };

/* Writes a time with four significant digits: "812 ns", "131.4 us", "2.105 ms", "12.34 s". */
char *units_time(int64_t time_ns, char out[UNITS_BYTES]);

/* Writes the length of a run: "73.4 s" below two minutes, then "2 min 13 s", "1 h 02 min", and
 * "1.2e+20 s" beyond a million hours. A negative number and NaN become 0. */
char *units_duration(double seconds, char out[UNITS_BYTES]);

/* Writes a size in binary units, without decimals if it is exact: "1000 B", "48 KiB", "1.5 MiB". */
char *units_size(uint64_t size_bytes, char out[UNITS_BYTES]);

/* Writes a rate in 10^9 bytes a second, at most four digits, without its unit: "3.142", "4057". */
char *units_rate(double gbps, char out[UNITS_BYTES]);

/* Writes a count with thousands separators: "2,048". */
char *units_count(uint64_t count, char out[UNITS_BYTES]);

/* Writes a fraction as a percentage: 0.948 gives "94.8 %". */
char *units_percent(double fraction, char out[UNITS_BYTES]);

/* ---- headers of sources ----
 * Header files that a CUDA source includes, read before compilation: NVRTC opens no file. */

/* Limit on the headers of a source. No real source includes more. */
enum { SOURCE_HEADERS_MAX = 512 };

typedef struct source_header {
    const char *name; /* as the #include spells it */
    const char *text; /* NUL-terminated */
} source_header;

#endif
