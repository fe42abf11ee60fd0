#include "record/index_file.h"

#include <stdio.h>
#include <string.h>

#include "base/derived.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "record/pick_index.h"

static const char kind[] = "index of records";

/* False: it is too long. */
static bool name_index(const char *folder, const char *pattern_name, char out[PATHS_BYTES])
{
    const int n = snprintf(out, PATHS_BYTES, "%s/.index/%s", folder, pattern_name);
    return n > 0 && n < PATHS_BYTES && !strchr(pattern_name, '/');
}

static bool are_in(const char *folder, const stamped_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!paths_below(folder, files->items[i].path))
            return false;
    return files->count > 0;
}

bool record_index_fetch(const record_folders *folders, const char *pattern_name,
                        const stamped_files *files, pick_table *out, bool *were_read)
{
    size_t in = 0;
    char path[PATHS_BYTES];
    stamped_files are = *files;
    pack bytes;
    *out = (pick_table){0};
    *were_read = false;
    while (in < folders->count && !are_in(folders->paths[in], files))
        in++;
    if (in == folders->count || !name_index(folders->paths[in], pattern_name, path) ||
        !derived_fetch(path, kind, folders->paths[in], &are, &bytes, were_read))
        return false;
    const bool read = !pick_index_get(&bytes, out, NULL);
    if (!read)
        pick_table_deinit(out);
    pack_deinit(&bytes);
    return read;
}

void record_index_store(const char *folder, const char *pattern_name)
{
    char path[PATHS_BYTES];
    record_folders folders;
    stamped_files files;
    record_set set = {0};
    pick_table table = {0};
    pack bytes = {0};
    at_error none = {0};
    XXH128_hash_t sum;
    record_folders_find(folder, NULL, &folders);
    bool made = !record_find_files(&folders, pattern_name, &files, &none) && files.count > 0 &&
                derived_sum(folder, &files, &sum) &&
                !record_search(&folders, pattern_name, &set, &none) &&
                !pick_table_make(&set, &table, &none);
    if (made)
        pick_index_put(&bytes, &table);
    made = made && !bytes.failed && name_index(folder, pattern_name, path);
    if (made) {
        char *name = strrchr(path, '/');
        *name = '\0';
        made = !file_make_folder(path, &none);
        *name = '/';
    }
    if (made)
        derived_store(path, kind, folder, &files, sum, &bytes);
    pack_deinit(&bytes);
    pick_table_deinit(&table);
    record_set_deinit(&set);
    stamped_files_deinit(&files);
}
