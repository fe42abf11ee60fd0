#include "base/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

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
    /* Python 2 writes this suffix after a long integer. */
    if (found && r->at < r->end && *r->at == 'L')
        r->at++;
    return found;
}

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

/* Takes a member. Returns its flag (HAS_DESCR ...), 0 if it is malformed. Sets `*structured` if the
 * type is a list, that is, elements are structures. */
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
        return error_set(error, AT_FORMAT, "its NumPy header is not a dictionary");
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
        return error_set(error, AT_FORMAT, "its NumPy header has text after the dictionary");
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
            return error_set(
                error, AT_FORMAT,
                "its shape has more than 2^63 bytes of elements, which no file can have");
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
        return error_set(error, AT_FORMAT, "it does not begin like a NumPy file (.npy)");
    const unsigned version = size_bytes > 6 ? from[6] : 0;
    const size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return error_set(error, AT_FORMAT,
                         "its NumPy format has version %u, but only versions 1 to 3 can be read: "
                         "save it again by numpy.save()",
                         version);
    if (size_bytes < start)
        return error_set(error, AT_FORMAT, "it ends within its NumPy header: it was cut off");
    uint64_t length = 0;
    for (size_t i = start; i-- > 8;)
        length = length << 8 | from[i];
    if (length > NPY_MAX_HEADER_BYTES - start)
        return error_set(
            error, AT_FORMAT,
            "its NumPy header has %" PRIu64 " bytes by its length field: it is damaged", length);
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
