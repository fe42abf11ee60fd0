/* Results that were worked out of files are kept for other processes in the compile cache: there is
 * no need to work them out again as long as the files are as they were.
 *
 * Nothing that goes wrong here is an error. What is not kept, or is of other states of the files,
 * is damaged, another user's or another version's, is worked out anew. */
#ifndef AUTOTUNE_LIBRARY_KEPT_H
#define AUTOTUNE_LIBRARY_KEPT_H

#include "base/pack.h"
#include "base/stamp.h"

/* Fetches what was kept of this kind ("records") and name, and the files of which it was made. The
 * caller frees both; false: there is nothing, and both are empty. */
bool kept_fetch(const char *kind, const char *name, stamped_files *files, pack *out);

/* Keeps the bytes, unless one of the files had been changed a moment before they were read, from
 * `since_ns` on (it may have been changed again without a trace), or has no absolute path. */
void kept_store(const char *kind, const char *name, const stamped_files *files, int64_t since_ns,
                const pack *bytes);

#endif
