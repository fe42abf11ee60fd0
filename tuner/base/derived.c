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

/* ---- stamps ----
 *
 * To hash the files takes as long as all else of a fetch where they are large. So what is written
 * has a stamp of each, too: of one that is still the same, the contents are. That holds only where
 * any later writing makes it another. A stamp is therefore zeroed, and its file hashed whenever it
 * is asked for, where the file was written so shortly before it was hashed that the clock of its
 * file system may not have gone on; where that is another one than the folder's, whose clock this
 * is; and where times of change are no clock's (file_stamp_of_new()). A copy, or a file that was
 * unpacked or installed, has another inode and time of change, whatever its time of writing says,
 * and is hashed. The number of the device is left out: it may differ on each machine, and after
 * each boot. */

/* Hashes the files, and adds them to *out: with their paths below the folder, and their stamps. */
static bool sum_and_stamp(const char *folder, const stamped_files *files, XXH128_hash_t *sum,
                          stamped_files *out)
{
    file_stamp now, stamp;
    const bool clocked = file_stamp_of_new(folder, &now);
    for (size_t i = 0; i < files->count; i++) {
        const char *name = paths_below(folder, files->items[i].path);
        if (!file_stamp_of(files->items[i].path, &stamp) || !clocked ||
            stamp.device != now.device || stamp.changed_ns % 1000000000 == 0 ||
            !file_stamp_is_settled(&stamp, now.changed_ns))
            stamp = (file_stamp){0};
        stamp.device = 0;
        if (!name || !stamped_files_add(out, name, &stamp))
            return false;
    }
    return derived_sum(folder, files, sum);
}

static bool is_stamped(const stamped_file *f, const char *path, const char *name)
{
    static const file_stamp none;
    file_stamp now;
    if (strcmp(f->path, name) != 0 || file_stamp_same(&f->stamp, &none) ||
        !file_stamp_of_opened(path, &now))
        return false;
    now.device = 0;
    return file_stamp_same(&f->stamp, &now);
}

/* Are these the files that were stamped, in whatever order, and is each as it was? */
static bool are_as_stamped(const char *folder, const stamped_files *files,
                           const stamped_files *stamped)
{
    bool same = files->count == stamped->count;
    for (size_t i = 0; i < files->count && same; i++) {
        const char *path = files->items[i].path, *name = paths_below(folder, path);
        bool found = false;
        for (size_t k = 0; name && k < stamped->count && !found; k++)
            found = is_stamped(&stamped->items[(i + k) % stamped->count], path, name);
        same = found;
    }
    return same;
}

/* The files that were stamped, in their folder; false where one is not there. */
static bool name_files(const char *folder, const stamped_files *stamped, stamped_files *files)
{
    for (size_t i = 0; i < stamped->count; i++) {
        file_stamp stamp;
        pack path = {0};
        pack_append_text(&path, folder);
        pack_append_text(&path, "/");
        pack_append_text(&path, stamped->items[i].path);
        char *text = pack_take_text(&path);
        const bool added =
            text && file_stamp_of(text, &stamp) && stamped_files_add(files, text, &stamp);
        free(text);
        if (!added)
            return false;
    }
    return true;
}

/* ---- the file ---- */

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
                   pack *out, bool *were_read)
{
    char *bytes = NULL;
    size_t size_bytes;
    XXH128_hash_t sum, now;
    stamped_files stamped;
    const bool given = files->count > 0;
    *out = (pack){0};
    *were_read = false;
    if (file_read(path, MOST_BYTES, &bytes, &size_bytes, NULL))
        return false;
    pack all = {
        .bytes = (unsigned char *)bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    bool fetched = is_whole(&all) && strcmp(pack_get_string(&all), version_text()) == 0 &&
                   strcmp(pack_get_string(&all), kind) == 0;
    stamped_files_get(&all, &stamped);
    sum.low64 = pack_get_u64(&all);
    sum.high64 = pack_get_u64(&all);
    const void *inner = pack_get_bytes(&all, &size_bytes);
    fetched = fetched && pack_complete(&all) && (given || name_files(folder, &stamped, files));
    *were_read = fetched && !are_as_stamped(folder, files, &stamped);
    if (*were_read)
        fetched = derived_sum(folder, files, &now) && XXH128_isEqual(sum, now);
    if (fetched) {
        pack_narrow(&all, inner, size_bytes);
        *out = all;
    } else
        pack_deinit(&all);
    if (!fetched && !given)
        stamped_files_deinit(files);
    stamped_files_deinit(&stamped);
    return fetched;
}

void derived_store(const char *path, const char *kind, const char *folder,
                   const stamped_files *files, XXH128_hash_t sum, const pack *bytes)
{
    XXH128_hash_t now;
    stamped_files stamped = {0};
    pack all = {0};
    all.failed = !sum_and_stamp(folder, files, &now, &stamped) || !XXH128_isEqual(sum, now);
    pack_put_string(&all, version_text());
    pack_put_string(&all, kind);
    stamped_files_put(&all, &stamped);
    pack_put_u64(&all, sum.low64);
    pack_put_u64(&all, sum.high64);
    pack_put_bytes(&all, bytes->bytes, bytes->size_bytes);
    if (!all.failed)
        pack_put_u64(&all, XXH3_64bits(all.bytes, all.size_bytes));
    if (!all.failed)
        (void)file_replace(path, all.bytes, all.size_bytes, NULL);
    stamped_files_deinit(&stamped);
    pack_deinit(&all);
}
