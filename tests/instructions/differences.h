/* The known differences between a GPU and the simulated device, read from a text file. The head of
 * tests/gpu/instructions.txt describes its form. */
#ifndef AUTOTUNE_TESTS_DIFFERENCES_H
#define AUTOTUNE_TESTS_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "forms.h"

/* How the results of a form compare, worst last. */
typedef enum likeness {
    STATE_EQUAL,
    STATE_NAN,
    STATE_NEAR,
    STATE_DIFFERS,
    STATE_REFUSED,
    STATE_COUNT
} likeness;
extern const char *const difference_names[STATE_COUNT];

/* When the result of a form among other instructions may differ, although it is equal alone. */
typedef enum among { AMONG_NEVER, AMONG_NAN, AMONG_ALWAYS } among;

/* A line of the file. */
typedef struct difference {
    char pattern[FORM_NAME_BYTES];
    likeness state;
    bool alone;            /* random programs leave it out */
    among among;           /* when its result is unknown in random programs */
    double ulps, absolute; /* tolerance of STATE_NEAR */
    char reason[160];
} difference;

enum { DIFFERENCES_MOST = 256 };

typedef struct differences {
    difference lines[DIFFERENCES_MOST];
    size_t count;
} differences;

/* Reads a file. Returns false, with a message on stderr, if the file cannot be read. */
bool differences_read(differences *d, const char *path);

/* Returns the first line whose pattern matches. If no line matches, returns one with STATE_EQUAL.
 */
const difference *differences_find(const differences *d, const char *name);

#endif
