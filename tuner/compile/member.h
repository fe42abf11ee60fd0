/* A source as a member of a group (compile/group.h): what it declares, and whether it can be one.
 *
 * A source is compiled alone if a group could change it: with constant memory (which belongs to the
 * module), with variables of the device, with an include other than <...> at its top, or with
 * macros that ask for the file or line. It is read word by word, not parsed: what is not understood
 * is compiled alone. */
#ifndef AUTOTUNE_COMPILE_MEMBER_H
#define AUTOTUNE_COMPILE_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pack.h"

typedef struct group_member {
    const char *source, *name, *entry; /* views of a compile_request's */
    char *includes;                    /* owned: the lines taken out of the source, "" for none */
    char *renamed;                     /* owned: names that get the suffix, each followed by '\n' */
    char *declared;                    /* owned: names of file scope, likewise */
    char *macros;                      /* owned: macros to forget after the member, likewise */
    char *dynamic; /* owned: dynamic shared arrays as declared, likewise: ptxas rounds
                    * each kernel's shared memory up to their alignment */
} group_member;

/* Reads a source. False when it must be compiled alone, or memory ran out; *out then holds nothing.
 * On success the caller frees it (group_member_deinit). */
bool group_member_init(const char *source, const char *name, const char *entry, group_member *out);
void group_member_deinit(group_member *m);

/* Whether two members may be in one program. */
bool group_members_fit(const group_member *a, const group_member *b);

/* A view of a word in a text. */
typedef struct word {
    const char *start;
    size_t size;
} word;

word word_at(const char *at); /* letters, digits and '_' from there on; of size 0: none */
bool word_is(word w, const char *name);

/* A list of names, each followed by '\n': adds one that it lacks. */
void names_add(pack *list, word name);
/* Has a list of `size` bytes the name? */
bool names_have(const void *list, size_t size, word name);

#endif
