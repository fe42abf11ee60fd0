/* A file that is installed or written beside others has what was worked out of them: there is no
 * need to work it out again as long as their contents are what they were, on whatever machine.
 *
 * Nothing that goes wrong here is an error. What is not there, is damaged, is of other contents or
 * of another version of autotune, is worked out anew. */
#ifndef AUTOTUNE_BASE_DERIVED_H
#define AUTOTUNE_BASE_DERIVED_H

#include <xxhash.h>

#include "base/pack.h"
#include "base/stamp.h"

/* Hashes the contents of the files, and their paths below `folder`, in whatever order they stand.
 * False: one is not below it, or cannot be read. */
bool derived_sum(const char *folder, const stamped_files *files, XXH128_hash_t *out);

/* Fetches from the file at `path` what was worked out of these files, whose paths begin with
 * `folder`; with none given it says which they were, and gives their stamps. Files are read only
 * where their stamps do not say that no one has written to them since; *were_read says so. `kind`
 * says what it is ("facts"). The caller frees both; false: there is nothing, and *out is empty. */
bool derived_fetch(const char *path, const char *kind, const char *folder, stamped_files *files,
                   pack *out, bool *were_read);

/* Writes it. `sum` is derived_sum() from before the files were read: where it is another now,
 * nothing is written. */
void derived_store(const char *path, const char *kind, const char *folder,
                   const stamped_files *files, XXH128_hash_t sum, const pack *bytes);

#endif
