/* What is known to differ between a GPU and the simulated device, as a text says: its head tells
 * how it is written (tests/gpu/instructions.txt). */
#ifndef AUTOTUNE_TESTS_DIFFERENCES_H
#define AUTOTUNE_TESTS_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "forms.h"

/* What a form is, worst last. */
typedef enum likeness {
    STATE_EQUAL,
    STATE_NAN,
    STATE_NEAR,
    STATE_DIFFERS,
    STATE_REFUSED,
    STATE_COUNT
} likeness;
extern const char *const difference_names[STATE_COUNT];

/* When the result of a form that is equal alone is not always so among other instructions. */
typedef enum among { AMONG_NEVER, AMONG_NAN, AMONG_ALWAYS } among;

typedef struct difference { /* a line */
    char pattern[FORM_NAME_BYTES];
    likeness state;
    bool alone;            /* no random program has it */
    among among;           /* when random programs leave its result open */
    double ulps, absolute; /* of STATE_NEAR */
    char reason[160];
} difference;

enum { DIFFERENCES_MOST = 256 };

typedef struct differences {
    difference lines[DIFFERENCES_MOST];
    size_t count;
} differences;

/* Says on stderr what cannot be read, or not understood. */
bool differences_read(differences *d, const char *path);

/* The first line whose pattern fits; one that says STATE_EQUAL where none does. */
const difference *differences_find(const differences *d, const char *name);

#endif
