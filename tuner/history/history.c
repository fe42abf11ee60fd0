#define _GNU_SOURCE /* memmem */
#include "history/history.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "journal/journal.h"

/* Unpacked: a few MiB of gzip may become anything. */
static const size_t size_limit_bytes = (size_t)512 << 20;

/* The limit of the parsed document. */
static const size_t memory_limit_bytes = (size_t)4 << 30;

static const recorded_format *const formats[] = {
    &recorded_kernel_tuner,
    &recorded_run, /* has "results" too: before T4 */
    &recorded_t4,
    &recorded_record,
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

/* Kernel Tuner leaves out the last two brackets of a cache that it may go on writing. */
static at_status parse_unclosed(const char *text, size_t size_bytes, const char *path,
                                json_t **root, at_error *error)
{
    static const char closing[] = "}\n}";
    while (size_bytes > 0 && strchr(" \t\r\n,", text[size_bytes - 1]))
        size_bytes--;
    char *closed = memory_new(size_bytes + sizeof closing, 1);
    memcpy(closed, text, size_bytes);
    memcpy(closed + size_bytes, closing, sizeof closing);
    at_status status = json_text_parse(closed, size_bytes + sizeof closing - 1, path, root, error);
    free(closed);
    return status;
}

static at_status read_document(recorded *out, const char *path, at_error *error)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->detect(out->root))
            return formats[i]->read(out, path, error);
    return error_set_at(
        error, AT_FORMAT, path, 0,
        "neither a record, a run's --json, a Kernel Tuner cache, T4 results, wisdom nor a journal");
}

/* About what jansson takes on a 64-bit machine: an object begins with a table of 8 buckets, an
 * array with 8 places, and any other value is a number or a short string, with its key perhaps. */
static size_t parsed_bytes(const char *text, size_t size_bytes)
{
    enum { OBJECT_BYTES = 320, ARRAY_BYTES = 128, VALUE_BYTES = 64 };
    size_t total = size_bytes;
    for (size_t i = 0; i < size_bytes; i++)
        total += text[i] == '{'   ? OBJECT_BYTES
                 : text[i] == '[' ? ARRAY_BYTES
                 : text[i] == ',' ? VALUE_BYTES
                                  : 0;
    return total;
}

/* The names that Python's json module writes for what is no number. */
static const char *const nonfinite[] = {"NaN", "Infinity", "-Infinity"};

/* The length of such a word at `at`, of which `left` bytes are text; 0: there is none. */
static size_t nonfinite_length(const char *at, size_t left)
{
    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++) {
        size_t length = strlen(nonfinite[i]);
        if (length <= left && memcmp(at, nonfinite[i], length) == 0)
            return length;
    }
    return 0;
}

/* Observers of other tools write NaN and Infinity, which JSON lacks, for values that they could not
 * measure: they become null, which is a missing value. The caller frees. */
static char *drop_nonfinite(const char *text, size_t size_bytes, size_t *out_bytes)
{
    static const char missing[] = "null";
    bool quoted = false;
    *out_bytes = 0;
    char *out = memory_new(size_bytes + size_bytes / strlen(nonfinite[0]), 1);
    for (size_t i = 0, taken; i < size_bytes; i += taken) {
        size_t word = quoted ? 0 : nonfinite_length(text + i, size_bytes - i);
        size_t plain = quoted && text[i] == '\\' && i + 1 < size_bytes ? 2 : 1;
        size_t kept = word ? strlen(missing) : plain;
        quoted ^= text[i] == '"';
        taken = word ? word : plain;
        memcpy(out + *out_bytes, word ? missing : text + i, kept);
        *out_bytes += kept;
    }
    return out;
}

static at_status parse_finite(const char *text, size_t size_bytes, const char *path, recorded *out,
                              at_error *error)
{
    at_error ignored = {0};
    size_t needed_bytes = parsed_bytes(text, size_bytes);
    if (needed_bytes > memory_limit_bytes)
        return error_set_at(error, AT_FORMAT, path, 0,
                            "reading this would take about %zu MiB of memory; the limit is %zu MiB",
                            needed_bytes >> 20, memory_limit_bytes >> 20);
    at_status status = json_text_parse(text, size_bytes, path, &out->root, error);
    if (status == AT_FORMAT && !parse_unclosed(text, size_bytes, path, &out->root, &ignored)) {
        status = AT_OK;
        error_clear(error);
    }
    return status ? status : read_document(out, path, error);
}

static at_status parse_json(const char *text, size_t size_bytes, const char *path, recorded *out,
                            at_error *error)
{
    bool has_any = false;
    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++)
        has_any = has_any || memmem(text, size_bytes, nonfinite[i], strlen(nonfinite[i]));
    if (!has_any)
        return parse_finite(text, size_bytes, path, out, error);
    size_t finite_bytes;
    char *finite = drop_nonfinite(text, size_bytes, &finite_bytes);
    at_status status = parse_finite(finite, finite_bytes, path, out, error);
    free(finite);
    return status;
}

at_status recorded_parse(const char *text, size_t size_bytes, const char *path, recorded *out,
                         at_error *error)
{
    *out = (recorded){.device = "", .kernel = "", .objective = "time"};
    at_status status = AT_OK;
    if (recorded_journal_detect(text, size_bytes))
        recorded_journal_read(text, size_bytes, out);
    else if (recorded_wisdom_detect(text, size_bytes))
        status = recorded_wisdom_read(text, size_bytes, path, out, error);
    else
        status = parse_json(text, size_bytes, path, out, error);
    if (!status)
        recorded_drop_repeated(out);
    if (!status && out->result_count == 0)
        status = error_set_at(error, AT_FORMAT, path, 0, "holds no results");
    if (status)
        recorded_deinit(out);
    return status;
}

/* Reads a whole file, unpacking it when it is gzip. */
static at_status read_file(const char *path, char **out, size_t *size_bytes, at_error *error)
{
    int fd;
    at_status status = file_open_regular(path, &fd, NULL, error);
    if (status)
        return status;
    gzFile file = gzdopen(fd, "rb");
    memory_have(file);
    size_t capacity = (size_t)1 << 16, used = 0;
    char *text = NULL;
    for (;;) {
        text = memory_have(realloc(text, capacity));
        int got = gzread(file, text + used, (unsigned)(capacity - used));
        if (got < 0) {
            int code;
            status =
                error_set_at(error, AT_IO, path, 0, "cannot be read: %s", gzerror(file, &code));
            break;
        }
        used += (size_t)got;
        if (used < capacity)
            break;
        if (capacity >= size_limit_bytes) {
            status = error_set_at(error, AT_FORMAT, path, 0, "holds more than %zu MiB, unpacked",
                                  size_limit_bytes >> 20);
            break;
        }
        capacity *= 2;
    }
    if (gzclose_r(file) == Z_BUF_ERROR && !status)
        status = error_set_at(error, AT_FORMAT, path, 0,
                              "the gzip data ends too early: the file is cut off");
    if (status) {
        free(text);
        return status;
    }
    *out = text;
    *size_bytes = used;
    return AT_OK;
}

at_status recorded_read(const char *path, recorded *out, at_error *error)
{
    char *text = NULL;
    size_t size_bytes = 0;
    *out = (recorded){0};
    at_status status = read_file(path, &text, &size_bytes, error);
    if (status == AT_NOT_FOUND) {
        char journals[PATHS_BYTES];
        bool known = journal_folder(journals, sizeof journals, NULL) == AT_OK;
        status =
            error_set(error, status,
                      "there is no file %.1000s. 'autotune SCRIPT --json --top 1000000 >FILE' "
                      "writes one%s%s",
                      path, known ? ", and runs keep journals in " : "", known ? journals : "");
    }
    if (!status)
        status = recorded_parse(text, size_bytes, path, out, error);
    free(text);
    return status;
}

at_status recorded_write(const recorded *r, const char *format, char **out, at_error *error)
{
    const char *names[FORMAT_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (!formats[i]->write)
            continue;
        names[count++] = formats[i]->name;
        if (strcmp(formats[i]->name, format) != 0)
            continue;
        json_t *root = formats[i]->write(r);
        if (!root)
            return error_no_memory(error);
        at_status status = json_text_format(root, 1, out, error);
        json_decref(root);
        return status;
    }
    const char *nearest = nearest_name(format, names, count);
    return error_set(error, AT_USAGE, "there is no format '%s': did you mean '%s'?", format,
                     nearest ? nearest : names[0]);
}
