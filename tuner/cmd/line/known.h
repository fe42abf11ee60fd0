/* The records that a command reads: those of --results, or of all known folders. */
#ifndef AUTOTUNE_CMD_LINE_KNOWN_H
#define AUTOTUNE_CMD_LINE_KNOWN_H

#include "cmd/line/options.h"
#include "record/folders.h"

/* Is that how a GPU may be asked for: by its name, that of its folder, or whole words of the
 * latter, "h100" for nvidia-h100-80gb-hbm3? *exactly: it is all of them. */
bool known_gpu(const char *gpu, const char *asked, bool *exactly);

/* Lists these folders. */
void known_folders(const options *o, record_folders *out);

/* Writes their names as a sentence has them. */
void known_folders_text(const options *o, char *text, size_t size_bytes);

/* Reads the records of a pattern (NULL: of all), as record_search(); what cannot be read is
 * reported on stderr. With `may_be_none` a missing folder is no error. */
at_status known_records(const options *o, const char *pattern_name, bool may_be_none,
                        record_set *out, at_error *error);

#endif
