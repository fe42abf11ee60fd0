#define _GNU_SOURCE /* memmem */
#include "history/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "journal/journal.h"
#include "journal/line.h"
#include "script/render.h"

/* Limit of the unpacked size: a few MiB of gzip may expand to many GiB. */
static const size_t size_limit_bytes = (size_t)512 << 20;

/* The limit of memory for the parsed document. */
static const size_t memory_limit_bytes = (size_t)4 << 30;

/* Parses a cache of Kernel Tuner, which lacks the last two brackets until its search ends. */
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

/* Estimates the memory that jansson needs for the document, in bytes, on a 64-bit machine: an
 * object begins with a table of 8 buckets, an array with room for 8 elements. */
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

/* Words for numbers that are not finite, as Python's json module writes them. */
static const char *const nonfinite[] = {"NaN", "Infinity", "-Infinity"};

/* Returns the length of the word of `nonfinite` at the start of the `left` bytes at `at`, or 0. */
static size_t nonfinite_length(const char *at, size_t left)
{
    for (size_t i = 0; i < sizeof nonfinite / sizeof *nonfinite; i++) {
        size_t length = strlen(nonfinite[i]);
        if (length <= left && memcmp(at, nonfinite[i], length) == 0)
            return length;
    }
    return 0;
}

/* Copies the text, with null for each word of `nonfinite`. The caller frees the copy. */
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

static at_status parse_finite(const char *text, size_t size_bytes, const char *path, json_t **out,
                              at_error *error)
{
    at_error ignored = {0};
    size_t needed_bytes = parsed_bytes(text, size_bytes);
    if (needed_bytes > memory_limit_bytes)
        return error_set_at(error, AT_FORMAT, path, 0,
                            "reading this would take about %zu MiB of memory; the limit is %zu MiB",
                            needed_bytes >> 20, memory_limit_bytes >> 20);
    at_status status = json_text_parse(text, size_bytes, path, out, error);
    if (status == AT_FORMAT && !parse_unclosed(text, size_bytes, path, out, &ignored)) {
        status = AT_OK;
        error_clear(error);
    }
    return status;
}

static at_status parse_json(const char *text, size_t size_bytes, const char *path, json_t **out,
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

static size_t line_length(const char *text, size_t size_bytes)
{
    const char *end = memchr(text, '\n', size_bytes);
    return end ? (size_t)(end - text) : size_bytes;
}

static bool is_journal(const char *text, size_t size_bytes)
{
    const size_t length = line_length(text, size_bytes);
    journal_line line;
    bool is_line = length < size_bytes && journal_line_parse(text, length, &line);
    if (is_line)
        journal_line_deinit(&line);
    return is_line;
}

/* Lists the journal's lines of variants, newest first. */
static json_t *read_journal(const char *text, size_t size_bytes)
{
    json_t *lines = json_array();
    size_t end = size_bytes;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        size_t length = end - start - (text[end - 1] == '\n');
        journal_line line;
        if (journal_line_parse(text + start, length, &line)) {
            if (!line.is_finish && !*line.entry.asked)
                json_append(&lines, json_incref(line.root));
            journal_line_deinit(&line);
        }
        end = start;
    }
    return lines;
}

static bool is_wisdom(const char *text, size_t size_bytes)
{
    at_error ignored = {0};
    json_t *head;
    size_t length = line_length(text, size_bytes);
    if (length == size_bytes || json_text_parse(text, length, "", &head, &ignored))
        return false;
    bool is = json_is_array(json_object_get(head, "tunable_parameters"));
    json_decref(head);
    return is;
}

/* Lists the lines of a wisdom file as {line, value}, without comments and empty lines. */
static at_status read_wisdom(const char *text, size_t size_bytes, const char *path, json_t **lines,
                             at_error *error)
{
    at_status status = AT_OK;
    *lines = json_array();
    int number = 1;
    for (size_t at = 0; at < size_bytes && !status; number++) {
        const size_t length = line_length(text + at, size_bytes - at);
        const char *from = text + at;
        json_t *line = NULL;
        at += length + 1;
        if (number > 1 && (length == 0 || *from == '#' || *from == '/'))
            continue;
        status = json_text_parse(from, length, path, &line, error);
        if (status)
            error->line = number;
        else
            json_append(lines, json_pack("{si so}", "line", number, "value", line));
    }
    if (status) {
        json_decref(*lines);
        *lines = NULL;
    }
    return status;
}

at_status recorded_open_text(const char *text, size_t size_bytes, const char *path, json_t **out,
                             at_error *error)
{
    json_t *content = NULL;
    const char *format = "document";
    at_status status = AT_OK;
    if (is_journal(text, size_bytes)) {
        format = "journal";
        content = read_journal(text, size_bytes);
    } else if (is_wisdom(text, size_bytes)) {
        format = "wisdom";
        status = read_wisdom(text, size_bytes, path, &content, error);
    } else {
        status = parse_json(text, size_bytes, path, &content, error);
    }
    *out =
        status ? NULL : memory_require(json_pack("{ss so}", "format", format, "content", content));
    return status;
}

/* Reads a whole file, and unpacks it if it is gzip. */
static at_status read_file(const char *path, char **out, size_t *size_bytes, at_error *error)
{
    int fd;
    at_status status = file_open_regular(path, &fd, NULL, error);
    if (status)
        return status;
    gzFile file = gzdopen(fd, "rb");
    memory_require(file);
    size_t capacity = (size_t)1 << 16, used = 0;
    char *text = NULL;
    for (;;) {
        text = memory_require(realloc(text, capacity));
        int got = gzread(file, text + used, (unsigned)(capacity - used));
        if (got < 0) {
            int code;
            status = error_set_at(error, AT_IO, path, 0, "the file cannot be read: %s",
                                  gzerror(file, &code));
            break;
        }
        used += (size_t)got;
        if (used < capacity)
            break;
        if (capacity >= size_limit_bytes) {
            status = error_set_at(error, AT_FORMAT, path, 0,
                                  "the unpacked file is larger than %zu MiB, the limit",
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

at_status recorded_open(const char *path, json_t **out, at_error *error)
{
    char *text = NULL;
    size_t size_bytes = 0;
    *out = NULL;
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
        status = recorded_open_text(text, size_bytes, path, out, error);
    if (status == AT_FORMAT && size_bytes > 0 && !memchr("{[ \n", text[0], 4))
        status = error_set_at(error, status, path, 0,
                              "this file has no results of a run: 'autotune SCRIPT --json --top "
                              "1000000 >FILE' writes such a file");
    free(text);
    return status;
}

/* Fills *out from the result of lua/commands/recorded.lua. Takes over `root`. */
static void fill(json_t *root, recorded *out)
{
    const json_t *names = json_object_get(root, "names"), *costs = json_object_get(root, "costs"),
                 *elapsed = json_object_get(root, "elapsed_s"),
                 *values = json_object_get(root, "values");
    *out = (recorded){.root = root,
                      .parameter_count = json_array_size(names),
                      .result_count = json_array_size(values),
                      .device = json_string_value(json_object_get(root, "device")),
                      .kernel = json_string_value(json_object_get(root, "kernel")),
                      .objective = json_string_value(json_object_get(root, "objective"))};
    out->names = memory_new(out->parameter_count, sizeof *out->names);
    out->results = memory_new(out->result_count, sizeof *out->results);
    for (size_t p = 0; p < out->parameter_count; p++)
        out->names[p] = json_string_value(json_array_get(names, p));
    for (size_t i = 0; i < out->result_count; i++) {
        const json_t *cost = json_array_get(costs, i);
        recorded_result *r = &out->results[i];
        r->cost = json_is_number(cost) ? json_number_value(cost) : INFINITY;
        r->elapsed_s = json_number_value(json_array_get(elapsed, i));
        r->values = memory_new(out->parameter_count, sizeof *r->values);
        for (size_t p = 0; p < out->parameter_count; p++)
            json_to_value(json_array_get(json_array_get(values, i), p), &r->values[p]);
    }
}

/* Runs lua/commands/recorded.lua on `source`. Takes over `source`. */
static at_status read_source(json_t *source, const char *path, recorded *out, at_error *error)
{
    json_t *root;
    at_status status = script_compute("commands.recorded", path, source, &root, error);
    if (!status)
        fill(root, out);
    json_decref(source);
    return status;
}

at_status recorded_parse(const char *text, size_t size_bytes, const char *path, recorded *out,
                         at_error *error)
{
    json_t *source;
    *out = (recorded){0};
    at_status status = recorded_open_text(text, size_bytes, path, &source, error);
    return status ? status : read_source(source, path, out, error);
}

at_status recorded_read(const char *path, recorded *out, at_error *error)
{
    json_t *source;
    *out = (recorded){0};
    at_status status = recorded_open(path, &source, error);
    return status ? status : read_source(source, path, out, error);
}

static int compare_values(const void *a, const void *b)
{
    return value_compare(*(const value *)a, *(const value *)b);
}

/* Returns the distinct values of parameter `p`, sorted. The caller frees them. */
static value *values_of(const recorded *r, size_t p, size_t *count)
{
    value *all = memory_new(r->result_count, sizeof *all);
    for (size_t i = 0; i < r->result_count; i++)
        all[i] = r->results[i].values[p];
    qsort(all, r->result_count, sizeof *all, compare_values);
    *count = 0;
    for (size_t i = 0; i < r->result_count; i++)
        if (*count == 0 || !value_equal(all[i], all[*count - 1]))
            all[(*count)++] = all[i];
    return all;
}

static int compare_costs(const void *left, const void *right)
{
    const recorded_result *a = *(const recorded_result *const *)left,
                          *b = *(const recorded_result *const *)right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a < b ? -1 : a > b;
}

const recorded_result **recorded_rank(const recorded *r, size_t *count)
{
    const recorded_result **all = memory_new(r->result_count, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < r->result_count; i++)
        if (isfinite(r->results[i].cost))
            all[(*count)++] = &r->results[i];
    qsort(all, *count, sizeof *all, compare_costs);
    return all;
}

void recorded_deinit(recorded *r)
{
    for (size_t i = 0; i < r->result_count; i++)
        free(r->results[i].values);
    free(r->results);
    free(r->names);
    json_decref(r->root);
    *r = (recorded){0};
}

/* ---- as a search space ---- */

/* Constraint n holds for the first n + 1 values if a recorded configuration begins with them. So
 * the space is built without walking the whole product of values. */
typedef struct prefixes {
    size_t parameter_count;
    keymap *known; /* for each n, the hashes of the first n + 1 value indices */
} prefixes;

static uint64_t hash_prefix(const uint16_t *indices, size_t length)
{
    return XXH3_64bits(indices, length * sizeof *indices);
}

static at_status test_prefix(void *context, const space_question *q, bool *holds, at_error *error)
{
    (void)error;
    const prefixes *p = context;
    for (size_t i = 0; i < q->count; i++) {
        uint64_t ignored;
        q->indices[q->varied] = q->choices[i];
        holds[i] = keymap_get(&p->known[q->constraint], hash_prefix(q->indices, q->constraint + 1),
                              &ignored);
    }
    return AT_OK;
}

static void indices_of(const recorded_space *rs, const recorded *r, size_t result,
                       uint16_t *indices)
{
    for (size_t p = 0; p < r->parameter_count; p++) {
        const space_parameter *of = &rs->parameters[p];
        const value *at = bsearch(&r->results[result].values[p], of->values, of->value_count,
                                  sizeof *at, compare_values);
        indices[p] = at ? (uint16_t)(at - of->values) : 0;
    }
}

static void collect_parameters(recorded_space *rs, const recorded *r)
{
    rs->parameters = memory_new(r->parameter_count, sizeof *rs->parameters);
    rs->values = memory_new(r->parameter_count, sizeof *rs->values);
    rs->parameter_count = r->parameter_count;
    for (size_t p = 0; p < r->parameter_count; p++) {
        rs->values[p] = values_of(r, p, &rs->parameters[p].value_count);
        rs->parameters[p].name = r->names[p];
        rs->parameters[p].values = rs->values[p];
    }
}

static void collect_prefixes(prefixes *known, const recorded_space *rs, const recorded *r)
{
    for (size_t i = 0; i < r->result_count; i++) {
        uint16_t indices[RECORDED_MAX_PARAMETERS];
        indices_of(rs, r, i, indices);
        for (size_t n = 0; n < r->parameter_count; n++)
            memory_require(keymap_put(&known->known[n], hash_prefix(indices, n + 1), 0) ? known
                                                                                        : NULL);
    }
}

static at_status make_space(recorded_space *rs, const recorded *r, at_error *error)
{
    size_t count = r->parameter_count;
    size_t places[RECORDED_MAX_PARAMETERS];
    prefixes known = {.parameter_count = count, .known = memory_new(count, sizeof *known.known)};
    space_constraint *constraints = memory_new(count, sizeof *constraints);
    collect_parameters(rs, r);
    collect_prefixes(&known, rs, r);
    for (size_t n = 0; n < count; n++) {
        places[n] = n;
        constraints[n] =
            (space_constraint){.text = "recorded", .parameters = places, .parameter_count = n + 1};
    }
    at_status status = space_new(rs->parameters, count, constraints, count, test_prefix, &known, 0,
                                 &rs->space, error);
    for (size_t n = 0; n < count; n++)
        keymap_deinit(&known.known[n]);
    free(known.known);
    free(constraints);
    return status;
}

static at_status fill_costs(recorded_space *rs, const recorded *r, at_error *error)
{
    rs->count = space_count(rs->space);
    /* A collision of 64-bit hashes would add a configuration that was not recorded. */
    if (rs->count != r->result_count)
        return error_set(
            error, AT_INTERNAL,
            "the recorded space has %llu configurations, but %zu are recorded: two hashes collide",
            (unsigned long long)rs->count, r->result_count);
    rs->cost = memory_new(rs->count, sizeof *rs->cost);
    rs->elapsed_s = memory_new(rs->count, sizeof *rs->elapsed_s);
    for (size_t i = 0; i < r->result_count; i++) {
        const recorded_result *result = &r->results[i];
        uint16_t indices[RECORDED_MAX_PARAMETERS];
        uint64_t index;
        indices_of(rs, r, i, indices);
        if (!space_find(rs->space, indices, &index))
            return error_set(error, AT_INTERNAL, "a recorded configuration is not in its space");
        rs->cost[index] = result->cost;
        rs->elapsed_s[index] = result->elapsed_s;
    }
    return AT_OK;
}

at_status recorded_space_init(recorded_space *rs, const recorded *r, at_error *error)
{
    *rs = (recorded_space){0};
    at_status status = make_space(rs, r, error);
    if (!status)
        status = fill_costs(rs, r, error);
    if (status)
        recorded_space_deinit(rs);
    return status;
}

void recorded_space_deinit(recorded_space *rs)
{
    space_free(rs->space);
    for (size_t p = 0; p < rs->parameter_count; p++)
        free(rs->values[p]);
    free(rs->values);
    free(rs->parameters);
    free(rs->cost);
    free(rs->elapsed_s);
    *rs = (recorded_space){0};
}
