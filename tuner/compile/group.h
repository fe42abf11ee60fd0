/* Several sources as one program.
 *
 * NVRTC costs tens of milliseconds a call before it does any work: sources that share their options
 * are compiled together. Each member gets a namespace of its own, so that names of file scope stay
 * apart; what C linkage would bring together (the kernels, dynamic shared arrays) gets the member's
 * suffix by a macro, which leaves the text that messages quote as it is; and `#line` names the member,
 * so that every message finds its way back.
 *
 * A source that this could change is not grouped: one with constant memory (which is the module's), with
 * variables of the device, with an include other than <...> at its top, with macros that ask for the
 * file or line. A name that the toolkit declares too would hide there what it overloads here: the
 * program then does not compile, by an alias of that name at its top.
 *
 * In: sources. Out: a program's text, and each member's part of its log. Nothing here compiles. */
#ifndef AUTOTUNE_COMPILE_GROUP_H
#define AUTOTUNE_COMPILE_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "compile/compile.h"

/* More than 16 members gain little more, and make the last of them wait. */
enum { COMPILE_GROUP_MAX = 16 };

typedef struct group_member {
    const char *source, *name, *entry; /* views of a compile_request's */
    char *includes;                    /* owned: the lines taken out of the source, "" for none */
    char *renamed;                     /* owned: names that get the suffix, each followed by '\n' */
    char *declared;                    /* owned: names of file scope, likewise */
    char *macros;                      /* owned: macros to forget after the member, likewise */
    char *dynamic;                     /* owned: dynamic shared arrays as declared, likewise: ptxas rounds
                                        * each kernel's shared memory up to their alignment */
} group_member;

/* Reads a source. False when it must be compiled alone, or memory ran out; *out then holds nothing.
 * On success the caller frees it (group_member_deinit). */
bool group_member_init(const char *source, const char *name, const char *entry, group_member *out);
void group_member_deinit(group_member *m);

/* "_at3_" of the fourth member: what follows its entry's name in the program. */
void group_suffix(size_t index, char out[COMPILE_SUFFIX_BYTES]);

/* Whether two members may be in one program. */
bool group_members_fit(const group_member *a, const group_member *b);

/* The program of `count` members that fit each other; owned by the caller. NULL: no memory. */
char *group_source(const group_member *members, size_t count);

/* Which members the log of a failed compilation complains of, or of names that they declare: `broken[i]`
 * is set for each of `count`. Returns how many. */
size_t group_broken(const group_member *members, size_t count, const char *log, bool *broken);

/* What the log, without ptxas's reports, says of one member, in the words of a log of its own; owned by
 * the caller. NULL: no memory. */
char *group_log(const char *log, size_t index);

#endif
