/* The records that a command reads: of --results, or of the folders that are known. */
#ifndef AUTOTUNE_CMD_LINE_KNOWN_H
#define AUTOTUNE_CMD_LINE_KNOWN_H

#include "cmd/line/options.h"
#include "record/folders.h"

/* Which folders they are. */
void known_folders(const options *o, record_folders *out);

/* Reads the records of a pattern (NULL: all) as record_search(); stderr tells what could not be read.
 * That there is no such folder is no error where `may_be_none`. */
at_status known_records(const options *o, const char *pattern_name, bool may_be_none, record_set *out,
                        at_error *error);

#endif
