/* Several sources as one program.
 *
 * Each call of NVRTC costs tens of milliseconds before it does any work, so sources that share
 * their options are compiled together. Each member gets a namespace of its own, which keeps names
 * of file scope apart. A name with C linkage (the kernels, dynamic shared arrays) gets the member's
 * suffix by a macro, so that messages quote the text unchanged. `#line` names the member, so that
 * every message can be assigned to it.
 *
 * A name that the toolkit declares too would hide there what it overloads here; an alias of that
 * name at the top of the program makes it fail to compile.
 *
 * In: members, which were read before (compile/member.h). Out: the text of a program, and each
 * member's part of its log. Nothing is compiled here. */
#ifndef AUTOTUNE_COMPILE_GROUP_H
#define AUTOTUNE_COMPILE_GROUP_H

#include "compile/compile.h"
#include "compile/member.h"

/* More members than 16 gain little, and make the last of them wait. */
enum { COMPILE_GROUP_MAX = 16 };

/* The program of `count` members that fit each other, and the entries of all of them, on a line
 * each; both owned by the caller. NULL: no memory. */
char *group_source(const group_member *members, size_t count);
char *group_entries(const group_member *members, size_t count);

/* Those of such lines that are of the entries of member `index`; owned by the caller. NULL: no
 * memory. */
char *group_lines(const group_member *members, size_t index, const char *lines);

/* Finds the members that the log of a failed compilation complains about, directly or by a name
 * that they declare: sets `broken[i]` for each of `count`. Returns how many. */
size_t group_broken(const group_member *members, size_t count, const char *log, bool *broken);

/* One member's part of the log, without ptxas's reports, worded as if it had been compiled alone;
 * owned by the caller. NULL: no memory. */
char *group_log(const char *log, size_t index);

#endif
