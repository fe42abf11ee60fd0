#include "record/record.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "device/outcome.h"
#include "record/ceilings.h"
#include "record/schema.h"

at_status record_gpu_path(const char *results_dir, const char *gpu, const char *file, char *out,
                          size_t out_bytes, at_error *error)
{
    char slug[PATHS_SLUG_BYTES];
    paths_slug(gpu, slug);
    int n = snprintf(out, out_bytes, "%s/%s%s%s", results_dir, slug, *file ? "/" : "", file);
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(error, AT_USAGE,
                         "the path of the results folder is too long: choose a shorter one");
    return AT_OK;
}

at_status record_path(const char *results_dir, const char *gpu, const char *pattern_name, char *out,
                      size_t out_bytes, at_error *error)
{
    char file[RECORD_NAME_BYTES + sizeof ".json"];
    if (!record_is_name(pattern_name))
        return error_set(error, AT_USAGE,
                         "'%.80s' cannot be the name of a record: use at most 63 letters, digits "
                         "and underscores, and a letter first",
                         pattern_name);
    if (strcmp(pattern_name, "device") == 0)
        return error_set(error, AT_USAGE,
                         "a pattern that is recorded cannot be called 'device': " CEILINGS_FILE
                         " has the GPU's ceilings; choose another name");
    snprintf(file, sizeof file, "%s.json", pattern_name);
    return record_gpu_path(results_dir, gpu, file, out, out_bytes, error);
}

static void read_number(record_reading *r, const json_t *object, const char *name, double *out)
{
    const json_t *j = json_object_get(object, name);
    *out = json_number_value(j);
    if (j && !json_is_null(j) && (!json_is_number(j) || !isfinite(*out) || *out < 0))
        record_bad(r, name, "a number, not negative");
}

static const char *read_text(record_reading *r, const json_t *object, const char *name)
{
    const json_t *j = json_object_get(object, name);
    const char *text = json_is_string(j) ? json_string_value(j) : "";
    if ((j && !json_is_null(j) && !json_is_string(j)) || !record_is_text(text))
        record_bad(r, name, "a short text without control characters");
    return text;
}

/* Reads a member that is one of two words. A missing member means the first word. */
static void read_choice(record_reading *r, const json_t *object, const char *name,
                        const char *first, const char *second, bool *is_second)
{
    const char *text = read_text(r, object, name);
    *is_second = strcmp(text, second) == 0;
    if (!*is_second && *text && strcmp(text, first) != 0)
        record_bad(r, name, "one of the words that docs/development/records.md lists");
}

static void read_ns(record_reading *r, const json_t *object, const char *name, int64_t *out)
{
    const json_t *j = json_object_get(object, name);
    *out = json_integer_value(j);
    if (!json_is_integer(j) || *out <= 0)
        record_bad(r, name, "a whole number of nanoseconds above 0, under \"time\"");
}

static void read_time(record_reading *r, const json_t *of, int64_t *median, int64_t *low,
                      int64_t *high)
{
    const json_t *time = json_object_get(of, "time");
    read_ns(r, time, "median_ns", median);
    read_ns(r, time, "low_ns", low);
    read_ns(r, time, "high_ns", high);
}

static void read_baseline(record_reading *r, const json_t *baseline, record_entry *out)
{
    /* The member is null if the run ended before it tried the default. */
    if (!baseline || json_is_null(baseline))
        return;
    record_read_values(r, json_object_get(baseline, "configuration"), "baseline.configuration",
                       &out->baseline);
    if (json_object_get(baseline, "time"))
        read_time(r, baseline, &out->baseline_ns, &out->baseline_low_ns, &out->baseline_high_ns);
}

static void read_contenders(record_reading *r, const json_t *list, record_entry *out)
{
    if (!list || json_is_null(list))
        return;
    if (!json_is_array(list) || json_array_size(list) > RECORD_MAX_CONTENDERS)
        record_bad(r, "contenders", "an array of 16 at most");
    for (size_t i = 0; i < json_array_size(list) && !r->status; i++) {
        const json_t *j = json_array_get(list, i);
        record_contender *c = &out->contenders[out->contender_count++];
        record_read_values(r, json_object_get(j, "configuration"), "contenders.configuration",
                           &c->configuration);
        read_time(r, j, &c->time_ns, &c->time_low_ns, &c->time_high_ns);
    }
}

/* Reads the optional name of the oracle. If the name is missing, the oracle is a reference. */
static const char *read_oracle(record_reading *r, const json_t *entry)
{
    oracle_kind kind = ORACLE_REFERENCE;
    const char *name = read_text(r, entry, "oracle");
    if (*name && (!oracle_find(name, &kind) || kind == ORACLE_NONE))
        record_bad(r, "oracle", "\"reference\", \"baseline\" or \"file\"");
    return oracle_name(kind);
}

static void read_entry(record_reading *r, const json_t *entry, record_entry *out)
{
    const json_t *measured = json_object_get(entry, "measured"),
                 *hashes = json_object_get(entry, "hashes");
    if (!json_is_object(entry))
        record_bad(r, "it", "an object");
    record_read_values(r, json_object_get(entry, "problem"), "problem", &out->problem);
    record_read_values(r, json_object_get(entry, "configuration"), "configuration",
                       &out->configuration);
    read_baseline(r, json_object_get(entry, "baseline"), out);
    read_time(r, entry, &out->time_ns, &out->time_low_ns, &out->time_high_ns);
    read_contenders(r, json_object_get(entry, "contenders"), out);
    read_number(r, entry, "gbps", &out->gbps);
    read_number(r, entry, "gflops", &out->gflops);
    read_number(r, entry, "gitems", &out->gitems);
    read_number(r, entry, "ceiling_fraction", &out->ceiling_fraction);
    read_number(r, entry, "speedup", &out->speedup);
    read_choice(r, measured, "cache", "cold", "warm", &out->warm_cache);
    out->after = read_text(r, measured, "after");
    read_choice(r, measured, "objective", "time", "energy", &out->energy);
    out->oracle = read_oracle(r, entry);
    out->item = read_text(r, entry, "item");
    out->ceiling = read_text(r, entry, "ceiling");
    out->date = read_text(r, entry, "date");
    out->tool = read_text(r, entry, "tool");
    out->effort = read_text(r, json_object_get(entry, "search"), "effort");
    out->script_hash = read_text(r, hashes, "script");
    out->template_hash = read_text(r, hashes, "template");
    out->source_hash = read_text(r, hashes, "source");
}

/* Reads a compute capability, which must be spelt like "9.0". */
static bool read_capability(const char *text, int *major, int *minor)
{
    char again[16];
    if (sscanf(text, "%3d.%1d", major, minor) != 2 || *major < 1)
        return false;
    snprintf(again, sizeof again, "%d.%d", *major, *minor);
    return strcmp(text, again) == 0;
}

/* Checks schema and version first, so that another version gets no other error. */
static void read_version(record_reading *r, const json_t *root)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *version = json_object_get(root, "version");
    if (!schema || strcmp(schema, RECORD_SCHEMA) != 0 || !json_is_integer(version))
        r->status = error_set_at(r->error, AT_FORMAT, r->path, 0,
                                 "this is not a record of autotune (no \"schema\": \"" RECORD_SCHEMA
                                 "\"); move it away or choose another results folder");
    else if (json_integer_value(version) < 1)
        record_bad(r, "version", "a whole number from 1 on");
    else if (json_integer_value(version) > RECORD_VERSION)
        r->status =
            error_set_at(r->error, AT_FORMAT, r->path, 0,
                         "a record of version %" JSON_INTEGER_FORMAT
                         ", which a newer autotune wrote; autotune %s reads versions up to %d: "
                         "update autotune, or choose another results folder",
                         json_integer_value(version), version_text(), RECORD_VERSION);
}

static void read_head(record_reading *r, const json_t *root, record *out)
{
    read_version(r, root);
    out->pattern = read_text(r, root, "pattern");
    if (!record_is_name(out->pattern))
        record_bad(r, "pattern", "an identifier");
    out->gpu = read_text(r, root, "gpu");
    if (!*out->gpu)
        record_bad(r, "gpu", "the GPU's name");
    if (!read_capability(read_text(r, root, "compute_capability"), &out->major, &out->minor))
        record_bad(r, "compute_capability", "a text like \"9.0\"");
}

static void entry_deinit(record_entry *e)
{
    free(e->problem.pairs);
    free(e->configuration.pairs);
    free(e->baseline.pairs);
    for (size_t c = 0; c < e->contender_count; c++)
        free(e->contenders[c].configuration.pairs);
    *e = (record_entry){0};
}

static void read_entries(record_reading *r, const json_t *entries, record *out)
{
    size_t count = json_array_size(entries);
    if (!json_is_array(entries) || count > RECORD_MAX_ENTRIES)
        record_bad(r, "entries", "an array of 10000 entries at most");
    if (r->status)
        return;
    out->entries = calloc(count ? count : 1, sizeof *out->entries);
    if (!out->entries)
        record_no_memory(r);
    for (size_t i = 0; i < count && !r->status; i++) {
        record_entry *e = &out->entries[out->entry_count++];
        r->entry = i + 1;
        e->place = i;
        read_entry(r, json_array_get(entries, i), e);
        if (r->status) {
            entry_deinit(e);
            out->entry_count--;
            record_leave_out(r, "entries", i);
        }
    }
    r->entry = 0;
    record_index_questions(r, out);
}

static at_status read_root(const char *path, record_faults *faults, record *out, at_error *error)
{
    record_reading r = {.path = path, .faults = faults, .error = error};
    read_head(&r, out->root, out);
    if (r.status)
        return r.status;
    out->path = strdup(path);
    if (!out->path)
        record_no_memory(&r);
    read_entries(&r, json_object_get(out->root, "entries"), out);
    record_read_portfolios(&r, out->root, out);
    record_note_comparisons(&r, out->root, out);
    return r.status;
}

at_status record_parse(const char *text, size_t size_bytes, const char *path, record_faults *faults,
                       record *out, at_error *error)
{
    *out = (record){0};
    json_t *root;
    at_status status = json_text_parse(text, size_bytes, path, &root, error);
    if (status)
        return status;
    out->root = root;
    status = read_root(path, faults, out, error);
    if (status)
        record_deinit(out);
    return status;
}

at_status record_read_file(const char *path, record_faults *faults, record *out, at_error *error)
{
    char *text;
    size_t size_bytes;
    *out = (record){0};
    at_status status = file_read(path, RECORD_FILE_BYTES, &text, &size_bytes, error);
    if (status)
        return status;
    status = record_parse(text, size_bytes, path, faults, out, error);
    free(text);
    return status;
}

at_status record_read(const char *path, record *out, at_error *error)
{
    return record_read_file(path, NULL, out, error);
}

void record_deinit(record *r)
{
    for (size_t i = 0; i < r->entry_count; i++)
        entry_deinit(&r->entries[i]);
    record_portfolios_deinit(r);
    free(r->entries);
    record_classes_deinit(&r->problems);
    keymap_deinit(&r->questions);
    free(r->path);
    json_decref(r->root);
    *r = (record){0};
}

void record_format_values(const record_values *values, char *text, size_t size_bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < values->count; i++) {
        char v[RECORD_TEXT_BYTES];
        value_format(values->pairs[i].value, v, sizeof v);
        text_add(text, size_bytes, "%s%s=%s", i ? "," : "", values->pairs[i].name, v);
    }
}
