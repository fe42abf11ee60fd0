#include "library/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "compile/cache.h"

static compile_key key_of(const char *kind, const char *name)
{
    char made_for[128];
    snprintf(made_for, sizeof made_for, "libautotune %s %s", kind, version_text());
    return compile_cache_key(made_for, name, strlen(name));
}

bool kept_fetch(const char *kind, const char *name, stamped_files *files, pack *out)
{
    compile_cache cache;
    pack all = {0};
    *files = (stamped_files){0};
    *out = (pack){0};
    if (compile_cache_open(NULL, 0, &cache, NULL) ||
        compile_cache_get(&cache, key_of(kind, name), &all.bytes, &all.size_bytes))
        return false;
    all.capacity_bytes = all.size_bytes;
    size_t size_bytes;
    stamped_files_get(&all, files);
    const void *bytes = pack_get_bytes(&all, &size_bytes);
    if (pack_complete(&all)) {
        pack_narrow(&all, bytes, size_bytes);
        *out = all;
        return true;
    }
    pack_deinit(&all);
    stamped_files_deinit(files);
    return false;
}

void kept_store(const char *kind, const char *name, const stamped_files *files, int64_t since_ns,
                const pack *bytes)
{
    compile_cache cache;
    pack all = {0};
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].path[0] != '/')
            return;
    if (!stamped_files_are_settled(files, since_ns) || compile_cache_open(NULL, 0, &cache, NULL))
        return;
    stamped_files_put(&all, files);
    pack_put_bytes(&all, bytes->bytes, bytes->size_bytes);
    if (!all.failed)
        compile_cache_put(&cache, key_of(kind, name), all.bytes, all.size_bytes, NULL);
    pack_deinit(&all);
}
