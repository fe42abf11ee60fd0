#include "base/derived.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/version.h"

enum { MOST_BYTES = 256 << 20, CHUNK_BYTES = 128 << 10 };

static bool hash_file(const char *path, XXH3_state_t *into, char *chunk)
{
    int fd;
    uint64_t size_bytes, done = 0;
    ssize_t n = 0;
    if (file_open_regular(path, &fd, &size_bytes, NULL))
        return false;
    while ((n = read(fd, chunk, CHUNK_BYTES)) > 0) {
        XXH3_128bits_update(into, chunk, (size_t)n);
        done += (uint64_t)n;
    }
    close(fd);
    XXH3_128bits_update(into, &done, sizeof done);
    return n == 0 && done == size_bytes;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool derived_sum(const char *folder, const stamped_files *files, XXH128_hash_t *out)
{
    const char **sorted = calloc(files->count + 1, sizeof *sorted);
    char *chunk = malloc(CHUNK_BYTES);
    XXH3_state_t *state = XXH3_createState();
    bool done = sorted && chunk && state;
    for (size_t i = 0; i < files->count && done; i++) {
        sorted[i] = files->items[i].path;
        done = paths_below(folder, sorted[i]) != NULL;
    }
    if (done) {
        XXH3_128bits_reset(state);
        qsort(sorted, files->count, sizeof *sorted, compare_paths);
    }
    for (size_t i = 0; i < files->count && done; i++) {
        const char *name = paths_below(folder, sorted[i]);
        XXH3_128bits_update(state, name, strlen(name) + 1);
        done = hash_file(sorted[i], state, chunk);
    }
    if (done)
        *out = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    free(chunk);
    free(sorted);
    return done;
}

/* The names become files, unless they are given; false where one is not there. */
static bool name_files(pack *from, const char *folder, stamped_files *files)
{
    const bool given = files->count > 0;
    const size_t count = pack_get_count(from, UINT32_MAX, 1);
    for (size_t i = 0; i < count && !from->failed; i++) {
        file_stamp stamp;
        pack path = {0};
        const char *name = pack_get_string(from);
        if (given)
            continue;
        pack_append_text(&path, folder);
        pack_append_text(&path, "/");
        pack_append_text(&path, name);
        char *text = pack_take_text(&path);
        const bool added = text && !from->failed && file_stamp_of(text, &stamp) &&
                           stamped_files_add(files, text, &stamp);
        free(text);
        if (!added)
            return false;
    }
    return !from->failed && files->count == count;
}

/* The bytes end with a hash of those before. */
static bool is_whole(pack *all)
{
    if (all->size_bytes < sizeof(XXH64_hash_t))
        return false;
    all->size_bytes -= sizeof(XXH64_hash_t);
    return pack_load(all->bytes + all->size_bytes, sizeof(XXH64_hash_t)) ==
           XXH3_64bits(all->bytes, all->size_bytes);
}

bool derived_fetch(const char *path, const char *kind, const char *folder, stamped_files *files,
                   pack *out)
{
    char *bytes = NULL;
    size_t size_bytes;
    XXH128_hash_t sum, now;
    const bool given = files->count > 0;
    *out = (pack){0};
    if (file_read(path, MOST_BYTES, &bytes, &size_bytes, NULL))
        return false;
    pack all = {
        .bytes = (unsigned char *)bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    bool fetched = is_whole(&all) && strcmp(pack_get_string(&all), version_text()) == 0 &&
                   strcmp(pack_get_string(&all), kind) == 0 && name_files(&all, folder, files);
    sum.low64 = pack_get_u64(&all);
    sum.high64 = pack_get_u64(&all);
    const void *inner = pack_get_bytes(&all, &size_bytes);
    fetched = fetched && pack_complete(&all) && derived_sum(folder, files, &now) &&
              XXH128_isEqual(sum, now);
    if (fetched)
        pack_append(out, inner, size_bytes);
    if (fetched && out->failed) {
        pack_deinit(out);
        fetched = false;
    }
    if (!fetched && !given)
        stamped_files_deinit(files);
    pack_deinit(&all);
    return fetched;
}

void derived_store(const char *path, const char *kind, const char *folder,
                   const stamped_files *files, XXH128_hash_t sum, const pack *bytes)
{
    XXH128_hash_t now;
    pack all = {0};
    if (!derived_sum(folder, files, &now) || !XXH128_isEqual(sum, now))
        return;
    pack_put_string(&all, version_text());
    pack_put_string(&all, kind);
    pack_put_u32(&all, (uint32_t)files->count);
    for (size_t i = 0; i < files->count; i++)
        pack_put_string(&all, paths_below(folder, files->items[i].path));
    pack_put_u64(&all, sum.low64);
    pack_put_u64(&all, sum.high64);
    pack_put_bytes(&all, bytes->bytes, bytes->size_bytes);
    if (!all.failed)
        pack_put_u64(&all, XXH3_64bits(all.bytes, all.size_bytes));
    if (!all.failed)
        (void)file_replace(path, all.bytes, all.size_bytes, NULL);
    pack_deinit(&all);
}
