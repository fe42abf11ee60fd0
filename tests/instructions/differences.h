/* Known differences between a GPU and the simulated device, which are read from a text file. The
 * first lines of tests/gpu/instructions.txt describe its format. */
#ifndef AUTOTUNE_TESTS_DIFFERENCES_H
#define AUTOTUNE_TESTS_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "forms.h"

/* The result of comparing a form, from best to worst. */
typedef enum likeness {
    STATE_EQUAL,
    STATE_NAN,
    STATE_NEAR,
    STATE_DIFFERS,
    STATE_REFUSED,
    STATE_COUNT
} likeness;
extern const char *const difference_names[STATE_COUNT];

/* Whether the result of a form may differ in a random program, although it is equal alone. */
typedef enum among { AMONG_NEVER, AMONG_NAN, AMONG_ALWAYS } among;

typedef struct difference {
    char pattern[FORM_NAME_BYTES];
    likeness state;
    bool alone;            /* whether random programs leave the form out */
    among among;           /* when the result of the form is unknown in random programs */
    double ulps, absolute; /* tolerance of STATE_NEAR */
    char reason[160];
} difference;

enum { DIFFERENCES_MOST = 256 };

typedef struct differences {
    difference lines[DIFFERENCES_MOST];
    size_t count;
} differences;

/* Reads a file. Returns false and prints a message to stderr if the file cannot be read. */
bool differences_read(differences *d, const char *path);

/* Returns the first line whose pattern matches, or a line with STATE_EQUAL if no pattern
 * matches. */
const difference *differences_find(const differences *d, const char *name);

#endif
