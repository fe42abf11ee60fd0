#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/version.h"
#include "record/ceilings.h"
#include "record/schema.h"

enum { PATH_BYTES = 4096 };

/* A record of a hundred problems is some 200 KiB. */
static const size_t file_limit_bytes = 16u << 20;

at_status record_path(const char *results_dir, const char *gpu, const char *pattern_name, char *out,
                      size_t out_bytes, at_error *error)
{
    if (!record_is_name(pattern_name))
        return error_set(error, AT_USAGE,
                         "'%.80s' cannot name a record: use letters, digits and underscores, "
                         "starting with a letter, 63 at most",
                         pattern_name);
    if (strcmp(pattern_name, "device") == 0)
        return error_set(error, AT_USAGE,
                         "a pattern that is recorded cannot be called 'device': " CEILINGS_FILE
                         " has the GPU's ceilings; choose another name");
    char slug[PATHS_SLUG_BYTES];
    paths_slug(gpu, slug);
    int n = snprintf(out, out_bytes, "%s/%s/%s.json", results_dir, slug, pattern_name);
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(error, AT_USAGE, "the path of the results folder is too long");
    return AT_OK;
}

/* An optional member that is a number of at least 0. */
static at_status read_number(const record_reading *r, const json_t *object, const char *name, double *out)
{
    const json_t *j = json_object_get(object, name);
    *out = 0;
    if (!j || json_is_null(j))
        return AT_OK;
    *out = json_number_value(j);
    if (!json_is_number(j) || !isfinite(*out) || *out < 0)
        return record_bad(r, name, "a number, not negative");
    return AT_OK;
}

/* An optional member that is a short text; "" without it. */
static at_status read_text(const record_reading *r, const json_t *object, const char *name,
                           const char **out)
{
    const json_t *j = json_object_get(object, name);
    *out = "";
    if (!j || json_is_null(j))
        return AT_OK;
    if (!json_is_string(j) || !record_is_text(json_string_value(j)))
        return record_bad(r, name, "a short text without control characters");
    *out = json_string_value(j);
    return AT_OK;
}

/* One of two words; the first without the member. */
static at_status read_choice(const record_reading *r, const json_t *object, const char *name,
                             const char *first, const char *second, bool *is_second)
{
    const char *text;
    at_status status = read_text(r, object, name, &text);
    if (status)
        return status;
    *is_second = strcmp(text, second) == 0;
    if (!*is_second && *text && strcmp(text, first) != 0)
        return record_bad(r, name, "one of the words that results/README.md lists");
    return AT_OK;
}

static at_status read_ns(const record_reading *r, const json_t *object, const char *name,
                         int64_t *out)
{
    const json_t *j = json_object_get(object, name);
    *out = json_integer_value(j);
    if (!json_is_integer(j) || *out <= 0)
        return record_bad(r, name, "a whole number of nanoseconds above 0, under \"time\"");
    return AT_OK;
}

/* Median and interval. */
static at_status read_time(const record_reading *r, const json_t *of, int64_t *median, int64_t *low,
                           int64_t *high)
{
    const json_t *time = json_object_get(of, "time");
    at_status status = read_ns(r, time, "median_ns", median);
    if (!status)
        status = read_ns(r, time, "low_ns", low);
    return status ? status : read_ns(r, time, "high_ns", high);
}

static at_status read_baseline(const record_reading *r, const json_t *baseline, record_entry *out)
{
    /* null: the run ended before the default was tried. */
    if (!baseline || json_is_null(baseline))
        return AT_OK;
    at_status status = record_read_values(r, json_object_get(baseline, "configuration"),
                                          "baseline.configuration", &out->baseline);
    if (status || !json_object_get(baseline, "time"))
        return status;
    return read_time(r, baseline, &out->baseline_ns, &out->baseline_low_ns, &out->baseline_high_ns);
}

static at_status read_contenders(const record_reading *r, const json_t *list, record_entry *out)
{
    if (!list || json_is_null(list))
        return AT_OK;
    if (!json_is_array(list) || json_array_size(list) > RECORD_MAX_CONTENDERS)
        return record_bad(r, "contenders", "an array of 16 at most");
    at_status status = AT_OK;
    for (size_t i = 0; i < json_array_size(list) && !status; i++) {
        const json_t *j = json_array_get(list, i);
        record_contender *c = &out->contenders[out->contender_count++];
        status = record_read_values(r, json_object_get(j, "configuration"),
                                    "contenders.configuration", &c->configuration);
        if (!status)
            status = read_time(r, j, &c->time_ns, &c->time_low_ns, &c->time_high_ns);
    }
    return status;
}

static at_status read_entry(const record_reading *r, const json_t *entry, record_entry *out)
{
    const json_t *measured = json_object_get(entry, "measured"), *hashes = json_object_get(entry, "hashes");
    const struct {
        const char *name;
        double *out;
    } numbers[] = {{"gbps", &out->gbps},
                   {"gflops", &out->gflops},
                   {"gitems", &out->gitems},
                   {"ceiling_fraction", &out->ceiling_fraction},
                   {"speedup", &out->speedup}};
    const struct {
        const json_t *of;
        const char *name, **out;
    } texts[] = {{entry, "item", &out->item},
                 {entry, "ceiling", &out->ceiling},
                 {entry, "date", &out->date},
                 {entry, "tool", &out->tool},
                 {json_object_get(entry, "search"), "effort", &out->effort},
                 {hashes, "script", &out->script_hash},
                 {hashes, "template", &out->template_hash},
                 {hashes, "source", &out->source_hash}};
    at_status status = json_is_object(entry) ? AT_OK : record_bad(r, "it", "an object");
    if (!status)
        status = record_read_values(r, json_object_get(entry, "problem"), "problem", &out->problem);
    if (!status)
        status = record_read_values(r, json_object_get(entry, "configuration"), "configuration",
                             &out->configuration);
    if (!status)
        status = read_baseline(r, json_object_get(entry, "baseline"), out);
    if (!status)
        status = read_time(r, entry, &out->time_ns, &out->time_low_ns, &out->time_high_ns);
    if (!status)
        status = read_contenders(r, json_object_get(entry, "contenders"), out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !status; i++)
        status = read_number(r, entry, numbers[i].name, numbers[i].out);
    if (!status)
        status = read_choice(r, measured, "cache", "cold", "warm", &out->warm_cache);
    if (!status)
        status = read_choice(r, measured, "objective", "time", "energy", &out->energy);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !status; i++)
        status = read_text(r, texts[i].of, texts[i].name, texts[i].out);
    return status;
}

/* "9.0" exactly. */
static bool read_capability(const char *text, int *major, int *minor)
{
    char again[16];
    if (sscanf(text, "%3d.%1d", major, minor) != 2 || *major < 1)
        return false;
    snprintf(again, sizeof again, "%d.%d", *major, *minor);
    return strcmp(text, again) == 0;
}

/* The schema and its version come first: a file of another version is named as that, whatever else
 * it holds. */
static at_status read_version(const record_reading *r, const json_t *root)
{
    const json_t *schema = json_object_get(root, "schema");
    const json_t *version = json_object_get(root, "version");
    if (!json_is_string(schema) || strcmp(json_string_value(schema), RECORD_SCHEMA) != 0 ||
        !json_is_integer(version))
        return error_set_at(r->error, AT_FORMAT, r->path, 0,
                            "not a record of autotune (no \"schema\": \"" RECORD_SCHEMA
                            "\"); move it away or choose another results folder");
    if (json_integer_value(version) < 1)
        return record_bad(r, "version", "a whole number from 1 on");
    if (json_integer_value(version) > RECORD_VERSION)
        return error_set_at(r->error, AT_FORMAT, r->path, 0,
                            "a record of version %" JSON_INTEGER_FORMAT
                            ", which a newer autotune wrote; autotune %s reads versions up to %d: "
                            "update autotune, or choose another results folder",
                            json_integer_value(version), version_text(), RECORD_VERSION);
    return AT_OK;
}

static at_status read_head(const record_reading *r, const json_t *root, record *out)
{
    const char *capability;
    at_status status = read_version(r, root);
    if (!status)
        status = read_text(r, root, "pattern", &out->pattern);
    if (!status && !record_is_name(out->pattern))
        status = record_bad(r, "pattern", "an identifier");
    if (!status)
        status = read_text(r, root, "gpu", &out->gpu);
    if (!status && !*out->gpu)
        status = record_bad(r, "gpu", "the GPU's name");
    if (!status)
        status = read_text(r, root, "compute_capability", &capability);
    if (!status && !read_capability(capability, &out->major, &out->minor))
        status = record_bad(r, "compute_capability", "a text like \"9.0\"");
    return status;
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

static at_status read_entries(record_reading *r, const json_t *entries, record *out)
{
    size_t count = json_array_size(entries);
    if (!json_is_array(entries) || count > RECORD_MAX_ENTRIES)
        return record_bad(r, "entries", "an array of 10000 entries at most");
    out->entries = calloc(count ? count : 1, sizeof *out->entries);
    if (!out->entries)
        return record_no_memory(r);
    at_status status = AT_OK;
    for (size_t i = 0; i < count && !status; i++) {
        record_entry *e = &out->entries[out->entry_count++];
        r->entry = i + 1;
        e->place = i;
        status = read_entry(r, json_array_get(entries, i), e);
        if (status) {
            entry_deinit(e);
            out->entry_count--;
            status = record_leave_out(r, status, "entries", i);
        }
    }
    r->entry = 0;
    return status;
}

static at_status read_root(const char *path, record_faults *faults, record *out, at_error *error)
{
    record_reading r = {.path = path, .faults = faults, .error = error};
    const json_t *root = out->root;
    at_status status = read_head(&r, root, out);
    if (status)
        return status;
    out->path = strdup(path);
    if (!out->path)
        return record_no_memory(&r);
    status = read_entries(&r, json_object_get(root, "entries"), out);
    if (!status)
        status = record_read_portfolios(&r, root, out);
    return status ? status : record_note_seen(&r, root, out);
}

at_status record_parse_sound(const char *text, size_t size_bytes, const char *path, record_faults *faults,
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

at_status record_parse(const char *text, size_t size_bytes, const char *path, record *out,
                       at_error *error)
{
    return record_parse_sound(text, size_bytes, path, NULL, out, error);
}

static at_status read_from(const char *path, record_faults *faults, record *out, at_error *error)
{
    char *text;
    size_t size_bytes;
    *out = (record){0};
    at_status status = file_read(path, file_limit_bytes, &text, &size_bytes, error);
    if (status)
        return status;
    status = record_parse_sound(text, size_bytes, path, faults, out, error);
    free(text);
    return status;
}

at_status record_read(const char *path, record *out, at_error *error)
{
    return read_from(path, NULL, out, error);
}

void record_deinit(record *r)
{
    for (size_t i = 0; i < r->entry_count; i++)
        entry_deinit(&r->entries[i]);
    record_portfolios_deinit(r);
    free(r->entries);
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

static at_status set_add(record_set *set, const char *path, at_error *error)
{
    record *larger = array_grow(set->records, set->count, sizeof *larger);
    if (!larger)
        return error_set(error, AT_NO_MEMORY, "no memory to read %s", path);
    set->records = larger;
    at_error why = {0};
    at_status status = read_from(path, &set->faults, &set->records[set->count], &why);
    if (!status)
        set->count++;
    else if (status == AT_NO_MEMORY)
        return error_set(error, AT_NO_MEMORY, "no memory to read %s", path);
    else
        return record_faults_add(&set->faults, path, "", &why, error);
    return AT_OK;
}

static bool is_record_file(const char *name, const char *pattern_name)
{
    size_t length = strlen(name);
    if (strcmp(name, CEILINGS_FILE) == 0 || length <= 5 || name[0] == '.' || strcmp(name + length - 5, ".json") != 0)
        return false;
    return !pattern_name ||
           (strlen(pattern_name) == length - 5 && strncmp(name, pattern_name, length - 5) == 0);
}

static at_status load_folder(const char *folder, const char *pattern_name, record_set *set,
                             at_error *error)
{
    at_status status = AT_OK;
    DIR *d = opendir(folder);
    if (!d)
        return error_set_errno(error, errno, "cannot open the folder %s", folder);
    for (struct dirent *e; !status && (e = readdir(d));) {
        char path[PATH_BYTES + 300];
        if (!is_record_file(e->d_name, pattern_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        status = set_add(set, path, error);
    }
    closedir(d);
    return status;
}

static int compare_records(const void *a, const void *b)
{
    const record *x = a, *y = b;
    int by_gpu = strcmp(x->gpu, y->gpu);
    return by_gpu ? by_gpu : strcmp(x->pattern, y->pattern);
}

at_status record_load_all(const char *results_dir, const char *pattern_name, record_set *out,
                          at_error *error)
{
    *out = (record_set){0};
    at_status status = AT_OK;
    DIR *d = opendir(results_dir);
    if (!d && errno == ENOENT)
        return error_set(error, AT_NOT_FOUND, "there is no results folder %s", results_dir);
    if (!d)
        return error_set_errno(error, errno, "cannot open the results folder %s", results_dir);
    for (struct dirent *e; !status && (e = readdir(d));) {
        char folder[PATH_BYTES];
        struct stat s;
        int n = snprintf(folder, sizeof folder, "%s/%s", results_dir, e->d_name);
        if (e->d_name[0] == '.' || n < 0 || n >= PATH_BYTES)
            continue;
        if (stat(folder, &s) == 0 && S_ISDIR(s.st_mode))
            status = load_folder(folder, pattern_name, out, error);
    }
    closedir(d);
    /* The folder of one GPU. */
    if (!status && out->count == 0 && out->faults.count == 0)
        status = load_folder(results_dir, pattern_name, out, error);
    if (status)
        record_set_deinit(out);
    else if (out->count)
        qsort(out->records, out->count, sizeof *out->records, compare_records);
    return status;
}

void record_set_deinit(record_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        record_deinit(&set->records[i]);
    free(set->records);
    record_faults_deinit(&set->faults);
    *set = (record_set){0};
}
