#include "base/data_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/text.h"

struct data_file {
    int users;
    int fd; /* -1 for a list of values */
    char *path;
    data_description about;
    uint64_t offset;       /* file offset of the elements */
    XXH128_hash_t *sums;   /* hashes of the chunks; NULL until the file has been read */
    unsigned char *values; /* the list of values, NULL for a file */
    size_t values_bytes;
    unsigned char key[DATA_KEY_BYTES];
};

static void repeat_values(const data_file *f, uint64_t offset, unsigned char *to, size_t size_bytes)
{
    while (size_bytes > 0) {
        const size_t at = (size_t)(offset % f->values_bytes), left = f->values_bytes - at;
        const size_t n = left < size_bytes ? left : size_bytes;
        memcpy(to, f->values + at, n);
        to += n;
        offset += n;
        size_bytes -= n;
    }
}

static at_status read_at(const data_file *f, uint64_t offset, void *out, size_t size_bytes,
                         at_error *error)
{
    unsigned char *to = out;
    if (f->values) {
        repeat_values(f, offset, to, size_bytes);
        return AT_OK;
    }
    while (size_bytes > 0) {
        ssize_t n = pread(f->fd, to, size_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(error, errno, "cannot read %s", f->path);
        if (n == 0)
            return error_set(
                error, AT_IO,
                "%s became shorter while it was in use: do not change it until the run has ended",
                f->path);
        to += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return AT_OK;
}

static at_status use_header(data_file *f, const npy_header *h, const dtype *raw, at_error *error)
{
    char name[NPY_NAME_BYTES];
    data_description *about = &f->about;
    if (h->big_endian)
        return error_set(error, AT_FORMAT,
                         "its elements are big-endian; numpy.save(FILE, "
                         "a.astype(a.dtype.newbyteorder('<'))) writes them little-endian");
    if (!npy_dtype(h, &about->type))
        return error_set(error, AT_FORMAT,
                         "its elements are %s, which no buffer has; convert them: "
                         "a.astype('float32'), or a.view() for the parts of complex numbers",
                         npy_name(h, name));
    if (h->fortran)
        return error_set(error, AT_FORMAT,
                         "its columns come first (Fortran's order): numpy.save(FILE, "
                         "numpy.ascontiguousarray(a)) writes rows first, numpy.save(FILE, a.T) "
                         "writes the same bytes as the transposed array");
    if (raw && *raw != about->type)
        return error_set(
            error, AT_FORMAT,
            "its elements are %s, but the script says '%s': change the script, or convert the file",
            npy_name(h, name), dtype_get(*raw)->name);
    about->count = h->count;
    about->rank = h->rank > 0 ? h->rank : 1;
    about->shape[0] = 1;
    memcpy(about->shape, h->shape, h->rank * sizeof *h->shape);
    f->offset = h->data_offset;
    return AT_OK;
}

static at_status describe(data_file *f, uint64_t file_bytes, const dtype *raw, at_error *error)
{
    static const size_t most_bytes = NPY_MAX_HEADER_BYTES;
    data_description *about = &f->about;
    const size_t size = file_bytes < most_bytes ? (size_t)file_bytes : most_bytes;
    npy_header header = {0};
    char *bytes = malloc(size + 1);
    if (!bytes)
        return error_no_memory(error);
    at_status status = read_at(f, 0, bytes, size, error);
    const bool has_header = !status && npy_is(bytes, size);
    if (!status && !has_header && !raw)
        status = error_set(error, AT_FORMAT,
                           "it is not a NumPy file (.npy). If it has only raw elements, give their "
                           "type: at.file(\"NAME\", { dtype = \"float\" })");
    if (!status && has_header)
        status = npy_parse(bytes, size, &header, error);
    if (!status && has_header)
        status = use_header(f, &header, raw, error);
    free(bytes);
    if (status)
        return status;
    if (!has_header) {
        about->type = *raw;
        about->count = file_bytes / dtype_get(*raw)->size_bytes;
        about->rank = 1;
        about->shape[0] = about->count;
    }
    about->size_bytes = about->count * dtype_get(about->type)->size_bytes;
    if (about->size_bytes != file_bytes - f->offset)
        return error_set(
            error, AT_FORMAT,
            has_header ? "it has %" PRIu64 " bytes of elements, but its shape needs %" PRIu64
                         ": it was cut off, or something was appended"
                       : "its %" PRIu64 " bytes are not a whole number of elements, but %" PRIu64
                         " would be: give another dtype, or mend the file",
            file_bytes - f->offset, about->size_bytes);
    return about->count > 0
               ? AT_OK
               : error_set(error, AT_FORMAT, "it is empty: a data file needs at least one element");
}

static at_status new_file(const char *path, data_file **out, at_error *error)
{
    *out = NULL;
    data_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return error_no_memory(error);
    }
    f->users = 1;
    f->fd = -1;
    f->about.path = f->path;
    *out = f;
    return AT_OK;
}

static at_status open_path(const char *path, data_file **out, uint64_t *file_bytes, at_error *error)
{
    at_status status = new_file(path, out, error);
    return status ? status : file_open_regular(path, &(*out)->fd, file_bytes, error);
}

static void describe_row(data_file *f, dtype type, uint64_t count)
{
    f->about.type = type;
    f->about.count = count;
    f->about.rank = 1;
    f->about.shape[0] = count;
    f->about.size_bytes = count * dtype_get(type)->size_bytes;
}

static at_status end_opening(at_status status, data_file **out, at_error *error)
{
    if (status == AT_FORMAT)
        error_prefix(error, "%s", (*out)->path);
    if (!status)
        return AT_OK;
    data_file_free(*out);
    *out = NULL;
    return status;
}

at_status data_file_open(const char *path, const dtype *raw, data_file **out, at_error *error)
{
    uint64_t file_bytes = 0;
    at_status status = open_path(path, out, &file_bytes, error);
    if (!status)
        status = describe(*out, file_bytes, raw, error);
    return end_opening(status, out, error);
}

at_status data_file_open_part(const char *path, dtype type, uint64_t offset, uint64_t count,
                              data_file **out, at_error *error)
{
    uint64_t file_bytes = 0;
    const uint64_t size = dtype_get(type)->size_bytes;
    at_status status = open_path(path, out, &file_bytes, error);
    if (!status && (offset > file_bytes || count > (file_bytes - offset) / size))
        status = error_set(error, AT_FORMAT,
                           "it has %" PRIu64 " bytes, fewer than %" PRIu64 " elements from byte "
                           "%" PRIu64 " on need",
                           file_bytes, count, offset);
    if (status)
        return end_opening(status, out, error);
    (*out)->offset = offset;
    describe_row(*out, type, count);
    return AT_OK;
}

at_status data_file_repeat(const char *name, dtype type, const void *values, uint64_t value_count,
                           uint64_t count, data_file **out, at_error *error)
{
    const size_t size = (size_t)value_count * dtype_get(type)->size_bytes;
    at_status status = new_file(name, out, error);
    if (!status && !((*out)->values = malloc(size)))
        status = error_no_memory(error);
    if (status)
        return end_opening(status, out, error);
    memcpy((*out)->values, values, size);
    (*out)->values_bytes = size;
    describe_row(*out, type, count);
    const XXH128_hash_t sum = XXH3_128bits(values, size);
    const uint64_t parts[] = {type, count, sum.low64, sum.high64};
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(parts, sizeof parts));
    memcpy((*out)->key, canonical.digest, sizeof(*out)->key);
    return AT_OK;
}

data_file *data_file_keep(data_file *f)
{
    f->users++;
    return f;
}

void data_file_free(data_file *f)
{
    if (!f || --f->users > 0)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->sums);
    free(f->values);
    free(f);
}

const data_description *data_file_describe(const data_file *f)
{
    return &f->about;
}

static uint64_t count_chunks(const data_file *f)
{
    return (f->about.size_bytes + DATA_CHUNK_BYTES - 1) / DATA_CHUNK_BYTES;
}

static at_status read_chunk(const data_file *f, uint64_t chunk, void *out, size_t *size_bytes,
                            at_error *error)
{
    const uint64_t first = chunk * DATA_CHUNK_BYTES, left = f->about.size_bytes - first;
    *size_bytes = left < DATA_CHUNK_BYTES ? (size_t)left : DATA_CHUNK_BYTES;
    return read_at(f, f->offset + first, out, *size_bytes, error);
}

at_status data_file_key(data_file *f, unsigned char key[DATA_KEY_BYTES], at_error *error)
{
    const uint64_t chunks = count_chunks(f);
    const uint64_t head[] = {f->about.type, f->about.size_bytes};
    at_status status = AT_OK;
    if (!f->sums && !f->values) {
        XXH128_hash_t *sums = malloc(((size_t)chunks + 1) * sizeof *sums);
        void *bytes = malloc(DATA_CHUNK_BYTES);
        if (!sums || !bytes)
            status = error_no_memory(error);
        for (uint64_t i = 0; !status && i < chunks; i++) {
            size_t size;
            status = read_chunk(f, i, bytes, &size, error);
            if (!status)
                sums[i] = XXH3_128bits(bytes, size);
        }
        free(bytes);
        if (status) {
            free(sums);
            return status;
        }
        f->sums = sums;
        sums[chunks] = XXH3_128bits(head, sizeof head);
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical,
                                 XXH3_128bits(sums, ((size_t)chunks + 1) * sizeof *sums));
        memcpy(f->key, canonical.digest, sizeof f->key);
    }
    memcpy(key, f->key, sizeof f->key);
    return AT_OK;
}

at_status data_file_read(const data_file *f, uint64_t chunk, void *out, size_t *size_bytes,
                         at_error *error)
{
    at_status status = read_chunk(f, chunk, out, size_bytes, error);
    if (!status && !f->values && !XXH128_isEqual(XXH3_128bits(out, *size_bytes), f->sums[chunk]))
        status = error_set(
            error, AT_IO,
            "%s changed while it was in use: do not change it until the run has ended", f->path);
    return status;
}

at_status data_file_head(data_file *f, uint64_t size_bytes, void **out, at_error *error)
{
    unsigned char key[DATA_KEY_BYTES];
    const uint64_t chunks = (size_bytes + DATA_CHUNK_BYTES - 1) / DATA_CHUNK_BYTES;
    at_status status = data_file_key(f, key, error);
    *out = NULL;
    if (status)
        return status;
    /* Reads whole chunks, because a hash, which reveals a changed file, covers a whole chunk. */
    unsigned char *bytes = malloc((size_t)chunks * DATA_CHUNK_BYTES);
    if (!bytes)
        return error_set(error, AT_NO_MEMORY, "no memory for %" PRIu64 " bytes of %s", size_bytes,
                         f->path);
    for (uint64_t i = 0; !status && i < chunks; i++) {
        size_t size;
        status = data_file_read(f, i, bytes + i * DATA_CHUNK_BYTES, &size, error);
    }
    if (status)
        free(bytes);
    else
        *out = bytes;
    return status;
}
