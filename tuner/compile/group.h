/* Groups: several sources compiled as one program, because each call of NVRTC costs tens of
 * milliseconds. This module only reads and makes texts.
 *
 * Each member gets a namespace of its own, so that names of file scope do not conflict. A name with
 * C linkage (a kernel, a dynamic shared array) gets the suffix of the member by a macro, so that
 * messages quote the unchanged text. `#line` contains the member's index, so that every message can
 * be assigned to a member. If a member declares a name that the Toolkit declares too, overload
 * resolution could differ from a separate compilation. The program begins with an alias for each
 * declared name, so that its compilation fails in this case.
 *
 * A source is compiled alone if a group could change its meaning: if it has constant memory (which
 * belongs to the module), device variables, an include other than <...> at its top, or macros that
 * depend on the file or line. The scanner goes word by word; a source that it does not understand
 * is compiled alone. */
#ifndef AUTOTUNE_COMPILE_GROUP_H
#define AUTOTUNE_COMPILE_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "compile/compile.h"

typedef struct group_member {
    const char *source, *name, *entry; /* views of the compile_request */
    char *includes;                    /* owned: include lines taken out of the source; may be "" */
    char *renamed;                     /* owned: names that get the suffix, one per line */
    char *declared;                    /* owned: names of file scope, one per line */
    char *macros;  /* owned: macros to undefine after the member, one per line */
    char *dynamic; /* owned: declarations of dynamic shared arrays, one per line; equal in a group,
                      because ptxas rounds the shared memory of all kernels to their alignment */
} group_member;

/* Reads a source. Returns false, with an empty *out, if the source must be compiled alone or memory
 * is lacking. On success the caller calls group_member_deinit(). */
bool group_member_init(const char *source, const char *name, const char *entry, group_member *out);
void group_member_deinit(group_member *m);

/* Returns true if the two members may be in the same group. */
bool group_members_compatible(const group_member *a, const group_member *b);

/* Limit of members. Larger groups gain little and delay the results. */
enum { COMPILE_GROUP_MAX = 16 };

/* Returns the program of `count` members, any two of which are compatible. Returns NULL without
 * memory. The caller frees the program. */
char *group_source(const group_member *members, size_t count);
/* Returns the program's entries, one per line, or NULL without memory. The caller frees them. */
char *group_entries(const group_member *members, size_t count);

/* Returns the lines of member `index`. `lines` has one line for each of group_entries(). Returns
 * NULL without memory. The caller frees the text. */
char *group_lines(const group_member *members, size_t index, const char *lines);

/* Finds the members that caused errors in the log of a failed compilation, directly or by a name
 * that they declare. Sets broken[i] for each of `count` members. Returns how many are broken. */
size_t group_broken(const group_member *members, size_t count, const char *log, bool *broken);

/* Returns the part of the log about member `index`, without the reports of ptxas, as if the member
 * had been compiled alone. Returns NULL without memory. The caller frees it. */
char *group_log(const char *log, size_t index);

#endif
