/* The index of a folder of records, in .index/PATTERN of the folder: with it a program that picks
 * from the folder for the first time need not parse the records. */
#ifndef AUTOTUNE_RECORD_INDEX_FILE_H
#define AUTOTUNE_RECORD_INDEX_FILE_H

#include "record/folders.h"
#include "record/pick_table.h"

/* Reads the table of the pattern's records where the index is of these files, as they are now
 * (record_find_files()), all of which are in one of the folders; *were_read says whether the files
 * had to be read for it. False: there is none, and *out is empty. Else the caller calls
 * pick_table_deinit(). */
bool record_index_fetch(const record_folders *folders, const char *pattern_name,
                        const stamped_files *files, pick_table *out, bool *were_read);

/* Makes it, of the records that the folder has now. Where that fails there is none. */
void record_index_store(const char *folder, const char *pattern_name);

#endif
