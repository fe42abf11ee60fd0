/* Reads the array of a signature from PTX, which lists bytes and may omit zeroes at the end. */
#include "cpp/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the words of each parameter, in the order of templates/kernel_file/signature.h */
enum { POINTER, CONST, TYPE, LANES, BYTES, MEMBERS };

/* Reads little-endian words from a list of bytes. Returns the number of bytes read. */
static size_t read_words(const char *at, int32_t *words, size_t capacity)
{
    size_t byte = 0;
    memset(words, 0, capacity * sizeof *words);
    while (byte / 4 < capacity) {
        char *end;
        unsigned long v = strtoul(at, &end, 10);
        if (end == at)
            break;
        words[byte / 4] |= (int32_t)((uint32_t)(v & 0xff) << (8 * (byte % 4)));
        byte++;
        at = end + strspn(end, ", \n\t");
    }
    return byte;
}

bool cpp_signature_read(const char *ptx, const char *name, cpp_argument out[CPP_MAX_PARAMETERS],
                        size_t *count)
{
    char sign[80];
    int32_t words[1 + MEMBERS * CPP_MAX_PARAMETERS];
    snprintf(sign, sizeof sign, " %s[", name);
    const char *found = strstr(ptx, sign);
    const char *open = found ? strchr(found, '{') : NULL;
    const char *semicolon = found ? strchr(found, ';') : NULL;
    if (!open || !semicolon || open > semicolon)
        return false;
    if (read_words(open + 1, words, sizeof words / sizeof *words) == 0)
        return false;
    const int32_t n = words[0] - 1;
    if (n < 0)
        return false;
    *count = (size_t)n;
    for (int32_t i = 0; n <= CPP_MAX_PARAMETERS && i < n; i++)
        out[i] = (cpp_argument){.is_pointer = words[1 + POINTER * n + i] != 0,
                                .is_const = words[1 + CONST * n + i] != 0,
                                .type = words[1 + TYPE * n + i],
                                .lanes = (uint32_t)words[1 + LANES * n + i],
                                .bytes = (uint32_t)words[1 + BYTES * n + i]};
    return true;
}
