/* Names of a PTX module and where they are visible.
 *
 * A stack of scopes: a name put in shadows an older one of the same text until its scope is popped.
 * A range entry stands for `count` names, text0 .. text(count-1), as `.reg .b32 %r<32>` declares.
 * Texts are borrowed. */
#ifndef AUTOTUNE_PTX_SCOPE_H
#define AUTOTUNE_PTX_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/token.h"

enum { PTX_SCOPE_BUCKETS = 256 };

typedef struct ptx_name {
    ptx_text text;
    int kind;  /* the caller's */
    int index; /* of the first name */
    int count; /* 0: exactly this name; else a range */
    int next;  /* older name of the bucket + 1; 0: none */
} ptx_name;

typedef struct ptx_scope {
    ptx_name *names;
    size_t count;
    int buckets[PTX_SCOPE_BUCKETS]; /* newest name + 1; 0: empty */
} ptx_scope;

void ptx_scope_deinit(ptx_scope *s); /* a zeroed ptx_scope is empty */

/* Adds a name to the innermost scope. */
void ptx_scope_put(ptx_scope *s, ptx_text text, int kind, int index, int count);

/* Finds the innermost name; false when there is none. *index is the name's own, also in a range. */
bool ptx_scope_find(const ptx_scope *s, ptx_text text, int *kind, int *index);

/* A scope ends: forgets all names put since `mark`, an earlier value of s->count. */
void ptx_scope_pop(ptx_scope *s, size_t mark);

#endif
