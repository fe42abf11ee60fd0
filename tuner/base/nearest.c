#include "base/nearest.h"

#include <string.h>

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
