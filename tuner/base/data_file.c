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

/* ---- the header of a NumPy file ---- */

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* A cursor in the text of the header. */
typedef struct reader {
    const char *at, *end;
} reader;

bool npy_is(const void *bytes, size_t size_bytes)
{
    return size_bytes >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n\f\v", *r->at) && *r->at)
        r->at++;
}

/* Skips blanks and takes the character `c`. Returns false if another character follows. */
static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* Takes a quoted string without escapes. */
static bool take_string(reader *r, char *out, size_t size_bytes)
{
    size_t length = 0;
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    const char quote = *r->at++;
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (*r->at == '\\' || *r->at == '\0' || length + 1 == size_bytes)
            return false;
        out[length++] = *r->at;
    }
    out[length] = '\0';
    return r->at++ < r->end;
}

static bool take_number(reader *r, uint64_t *out)
{
    const char *first;
    skip_blanks(r);
    *out = 0;
    for (first = r->at; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (*out > (UINT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (uint64_t)(*r->at - '0');
    }
    bool found = r->at > first;
    /* The suffix of a long integer in Python 2. */
    if (found && r->at < r->end && *r->at == 'L')
        r->at++;
    return found;
}

/* Parses an element type: "<f4", "|u1" ... */
static bool read_descr(const char *text, npy_header *out)
{
    uint64_t item = 8;
    reader digits = {text + 2, text + strlen(text)};
    if (strcmp(text, "|O") == 0) { /* Python objects */
        out->kind = 'O';
        out->item_bytes = (uint32_t)item;
        return true;
    }
    if (strlen(text) < 3 || !strchr("<>|=", text[0]) || !strchr("fiubcVmMOSUa", text[1]) ||
        !take_number(&digits, &item) || item == 0 || item > UINT32_MAX)
        return false;
    out->kind = text[1];
    out->item_bytes = (uint32_t)item;
    out->big_endian = text[0] == '>' && item > 1;
    return true;
}

static bool take_shape(reader *r, npy_header *out)
{
    if (!take(r, '('))
        return false;
    bool separated = true;
    while (!take(r, ')')) {
        if (!separated || out->rank == NPY_MAX_RANK || !take_number(r, &out->shape[out->rank++]))
            return false;
        separated = take(r, ',');
    }
    /* In Python (3) is a number; a tuple of one item is (3,). */
    return out->rank != 1 || separated;
}

static bool take_truth(reader *r, bool *out)
{
    *out = take_word(r, "True");
    return *out || take_word(r, "False");
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* Takes a member. Returns its flag (HAS_DESCR ...), 0 if it is malformed. A list instead of a type
 * means elements that are structures. */
static int take_member(reader *r, npy_header *out, bool *structured)
{
    char key[16], descr[32];
    if (!take_string(r, key, sizeof key) || !take(r, ':'))
        return 0;
    if (strcmp(key, "descr") == 0) {
        *structured = take(r, '[');
        return take_string(r, descr, sizeof descr) && read_descr(descr, out) ? HAS_DESCR : 0;
    }
    if (strcmp(key, "fortran_order") == 0)
        return take_truth(r, &out->fortran) ? HAS_ORDER : 0;
    return strcmp(key, "shape") == 0 && take_shape(r, out) ? HAS_SHAPE : 0;
}

static at_status read_dictionary(reader *r, npy_header *out, at_error *error)
{
    int seen = 0;
    bool separated = true, structured = false;
    if (!take(r, '{'))
        return error_set(error, AT_FORMAT, "its NumPy header is no dictionary");
    while (!take(r, '}')) {
        int one = separated ? take_member(r, out, &structured) : 0;
        if (structured)
            return error_set(error, AT_FORMAT,
                             "its elements are structures; save each field as an array of its own");
        if (one == 0 || (seen & one))
            return error_set(error, AT_FORMAT,
                             "its NumPy header is damaged: it should be like {'descr': '<f4', "
                             "'fortran_order': False, 'shape': (64, 64), }");
        seen |= one;
        separated = take(r, ',');
    }
    skip_blanks(r);
    if (r->at != r->end)
        return error_set(error, AT_FORMAT, "its NumPy header goes on after the dictionary's end");
    return seen == HAS_ALL ? AT_OK
                           : error_set(error, AT_FORMAT, "its NumPy header lacks '%s'",
                                       !(seen & HAS_DESCR)   ? "descr"
                                       : !(seen & HAS_ORDER) ? "fortran_order"
                                                             : "shape");
}

static at_status count_elements(npy_header *out, at_error *error)
{
    uint32_t longer = 0;
    out->count = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        longer += out->shape[i] != 1;
        if (out->shape[i] > 0 && out->count > INT64_MAX / out->item_bytes / out->shape[i])
            return error_set(error, AT_FORMAT, "its shape has more elements than any file");
        out->count *= out->shape[i];
    }
    out->fortran = out->fortran && longer > 1;
    return AT_OK;
}

at_status npy_parse(const void *bytes, size_t size_bytes, npy_header *out, at_error *error)
{
    const unsigned char *from = bytes;
    *out = (npy_header){0};
    if (!npy_is(bytes, size_bytes))
        return error_set(error, AT_FORMAT, "it does not begin as a NumPy file (.npy) does");
    const unsigned version = size_bytes > 6 ? from[6] : 0;
    const size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return error_set(error, AT_FORMAT,
                         "its NumPy format has version %u, and 1 to 3 are read; numpy.save() "
                         "writes them",
                         version);
    if (size_bytes < start)
        return error_set(error, AT_FORMAT, "it ends within its NumPy header: it was cut off");
    uint64_t length = 0;
    for (size_t i = start; i-- > 8;)
        length = length << 8 | from[i];
    if (length > NPY_MAX_HEADER_BYTES - start)
        return error_set(error, AT_FORMAT, "its NumPy header claims %" PRIu64 " bytes: damaged",
                         length);
    if (length > size_bytes - start)
        return error_set(error, AT_FORMAT, "it ends within its NumPy header: it was cut off");
    const char *text = (const char *)bytes + start;
    reader r = {text, text + length};
    out->data_offset = start + length;
    at_status status = read_dictionary(&r, out, error);
    return status ? status : count_elements(out, error);
}

bool npy_dtype(const npy_header *h, dtype *out)
{
    static const struct {
        char kind;
        uint32_t item_bytes;
        dtype type;
    } types[] = {
        {'i', 1, DTYPE_INT8},   {'u', 1, DTYPE_UINT8},    {'b', 1, DTYPE_UINT8},
        {'i', 2, DTYPE_INT16},  {'u', 2, DTYPE_UINT16},   {'i', 4, DTYPE_INT32},
        {'u', 4, DTYPE_UINT32}, {'i', 8, DTYPE_INT64},    {'u', 8, DTYPE_UINT64},
        {'f', 2, DTYPE_HALF},   {'V', 2, DTYPE_BFLOAT16}, {'f', 4, DTYPE_FLOAT},
        {'f', 8, DTYPE_DOUBLE},
    };
    for (size_t i = 0; !h->big_endian && i < sizeof types / sizeof *types; i++)
        if (types[i].kind == h->kind && types[i].item_bytes == h->item_bytes) {
            *out = types[i].type;
            return true;
        }
    return false;
}

const char *npy_name(const npy_header *h, char text[NPY_NAME_BYTES])
{
    const char *kind = h->kind == 'f'   ? "float"
                       : h->kind == 'i' ? "int"
                       : h->kind == 'u' ? "uint"
                       : h->kind == 'c' ? "complex"
                                        : NULL;
    if (h->kind == 'b')
        snprintf(text, NPY_NAME_BYTES, "bool");
    else if (kind)
        snprintf(text, NPY_NAME_BYTES, "%s%" PRIu64, kind, 8 * (uint64_t)h->item_bytes);
    else
        snprintf(text, NPY_NAME_BYTES, "%c%" PRIu32, h->kind, h->item_bytes);
    return text;
}

/* ---- files of data ---- */

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

/* Writes `size_bytes` of the repeated list, from byte `offset` on. */
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

/* Reads exactly `size_bytes`, from `offset` on. */
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
            return error_set(error, AT_IO,
                             "%s became shorter while it was in use: leave it alone until the run "
                             "has ended",
                             f->path);
        to += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return AT_OK;
}

/* Takes the type and shape from a NumPy header. */
static at_status use_header(data_file *f, const npy_header *h, const dtype *raw, at_error *error)
{
    char name[NPY_NAME_BYTES];
    data_description *about = &f->about;
    if (h->big_endian)
        return error_set(error, AT_FORMAT,
                         "its elements are big-endian; numpy.save(FILE, "
                         "a.astype(a.dtype.newbyteorder('<'))) writes what a GPU reads");
    if (!npy_dtype(h, &about->type))
        return error_set(error, AT_FORMAT,
                         "its elements are %s, which no buffer has; convert them: "
                         "a.astype('float32'), or a.view() for the parts of complex numbers",
                         npy_name(h, name));
    if (h->fortran)
        return error_set(error, AT_FORMAT,
                         "it is in Fortran's order, columns first; numpy.save(FILE, "
                         "numpy.ascontiguousarray(a)) writes rows first, or numpy.save(FILE, a.T) "
                         "the same bytes as the transposed array");
    if (raw && *raw != about->type)
        return error_set(error, AT_FORMAT, "its elements are %s, and the script says '%s'",
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
                           "it is no NumPy file (.npy); if it has elements alone say of which "
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
        return error_set(error, AT_FORMAT,
                         has_header ? "it has %" PRIu64 " bytes of elements where its shape needs "
                                      "%" PRIu64 ": it was cut off, or something was appended"
                                    : "its %" PRIu64 " bytes are no whole number of elements: "
                                      "%" PRIu64 " would be",
                         file_bytes - f->offset, about->size_bytes);
    return about->count > 0 ? AT_OK : error_set(error, AT_FORMAT, "it has no elements");
}

/* Makes a description of elements that are not open yet. */
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

/* Opens the file without reading it. */
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
        status = error_set(error, AT_IO,
                           "%s changed while it was in use: leave it alone until the run has ended",
                           f->path);
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
    /* The hashes that tell of changes are of whole chunks. */
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
