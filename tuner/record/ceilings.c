#include "record/ceilings.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "record/schema.h"

#define CEILINGS_SCHEMA "autotune-device"

enum { CEILINGS_VERSION = 1, RATE_DIGITS = 5, FILE_LIMIT_BYTES = 1 << 20 };

static void read_version(record_reading *r, const json_t *root)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *version = json_object_get(root, "version");
    if (!schema || strcmp(schema, CEILINGS_SCHEMA) != 0 || !json_is_integer(version))
        r->status = error_set_at(
            r->error, AT_FORMAT, r->path, 0,
            "this is not a file of a device's ceilings (no \"schema\": \"" CEILINGS_SCHEMA
            "\"); move it away or choose another results folder");
    else if (json_integer_value(version) != CEILINGS_VERSION)
        r->status = error_set_at(
            r->error, AT_FORMAT, r->path, 0,
            "the file has ceilings of version %" JSON_INTEGER_FORMAT
            "; autotune %s reads version %d: use the autotune that wrote the file, or choose "
            "another results folder",
            json_integer_value(version), version_text(), CEILINGS_VERSION);
}

static void read_root(record_reading *r, const json_t *root, ceiling_rates *out)
{
    const json_t *ceilings = json_object_get(root, "ceilings");
    const char *gpu = json_string_value(json_object_get(root, "gpu"));
    read_version(r, root);
    if (!gpu || !*gpu || !record_is_text(gpu))
        record_bad(r, "gpu", "the GPU's name");
    if (!json_is_object(ceilings))
        record_bad(r, "ceilings", "an object");
    for (int i = CEILING_COPY; i < CEILING_KINDS; i++) {
        const json_t *one = json_object_get(ceilings, ceiling_get((ceiling_kind)i)->name);
        const double rate = json_number_value(json_object_get(one, "rate"));
        if (one && !(isfinite(rate) && rate > 0))
            record_bad(r, "ceilings.*.rate", "a number above 0");
        out->rates[i] = one ? rate : 0;
    }
}

static at_status parse(const char *text, size_t size_bytes, const char *path, ceiling_rates *out,
                       json_t **root, at_error *error)
{
    *out = (ceiling_rates){0};
    at_status status = json_text_parse(text, size_bytes, path, root, error);
    if (status)
        return status;
    record_reading r = {.path = path, .error = error};
    read_root(&r, *root, out);
    if (r.status) {
        json_decref(*root);
        *root = NULL;
        *out = (ceiling_rates){0};
    }
    return r.status;
}

at_status ceilings_parse(const char *text, size_t size_bytes, const char *path, ceiling_rates *out,
                         at_error *error)
{
    json_t *root = NULL;
    at_status status = parse(text, size_bytes, path, out, &root, error);
    json_decref(root);
    return status;
}

/* Reads a file. If `gpu` is not NULL, the file must be of that GPU. Sets `*root` to the file's
 * JSON, which the caller frees, or to NULL if there is no file. */
static at_status read_file(const char *path, const char *gpu, ceiling_rates *out, json_t **root,
                           at_error *error)
{
    char *text;
    size_t size_bytes;
    *out = (ceiling_rates){0};
    *root = NULL;
    at_status status = file_read(path, FILE_LIMIT_BYTES, &text, &size_bytes, error);
    if (status)
        return error_ignore(status, AT_NOT_FOUND, error);
    status = parse(text, size_bytes, path, out, root, error);
    free(text);
    const char *of = json_string_value(json_object_get(*root, "gpu"));
    if (!status && gpu && strcmp(of, gpu) != 0) {
        status = error_set_at(
            error, AT_FORMAT, path, 0,
            "these ceilings are of another GPU, '%s'; move the file away or choose another "
            "results folder",
            of);
        json_decref(*root);
        *root = NULL;
        *out = (ceiling_rates){0};
    }
    return status;
}

at_status ceilings_read(const char *results_dir, const char *gpu, ceiling_rates *out,
                        at_error *error)
{
    char path[RECORD_PATH_BYTES];
    json_t *root = NULL;
    *out = (ceiling_rates){0};
    at_status status = record_gpu_path(results_dir, gpu, CEILINGS_FILE, path, sizeof path, error);
    if (!status)
        status = read_file(path, gpu, out, &root, error);
    json_decref(root);
    return status;
}

static json_t *pack_head(const run_summary *s)
{
    char capability[16];
    snprintf(capability, sizeof capability, "%d.%d", s->device.limits.major,
             s->device.limits.minor);
    return json_pack("{ss si ss ss s{}}", "schema", CEILINGS_SCHEMA, "version", CEILINGS_VERSION,
                     "gpu", s->device.limits.name, "compute_capability", capability, "ceilings");
}

static json_t *pack_ceiling(const run_summary *s, const run_result *best, ceiling_kind kind)
{
    char unit[WORK_RATE_BYTES];
    const work_unit of = ceiling_get(kind)->unit;
    return json_pack("{so ss so so so so ss ss}", "rate",
                     json_rounded(best->rates[of], RATE_DIGITS), "unit",
                     work_rate_name(of, s->item, unit), "time", record_pack_time(&best->time),
                     "problem", record_pack_problem(s), "configuration",
                     json_from_values(s->parameters, best->values, s->parameter_count), "device",
                     record_pack_device(s), "date", s->date, "tool", version_text());
}

static at_status reads_ceilings(const char *text, size_t length, const char *path, at_error *error)
{
    ceiling_rates check;
    return ceilings_parse(text, length, path, &check, error);
}

static at_status merge(const char *path, const run_summary *s, const run_result *best,
                       ceiling_kind kind, at_error *error)
{
    ceiling_rates before;
    json_t *root, *ceiling;
    at_status status = read_file(path, s->device.limits.name, &before, &root, error);
    if (status)
        return status;
    if (!root)
        root = pack_head(s);
    ceiling = pack_ceiling(s, best, kind);
    if (!root || !ceiling ||
        json_object_set(json_object_get(root, "ceilings"), ceiling_get(kind)->name, ceiling) != 0)
        status = error_no_memory(error);
    if (!status)
        status = record_replace(path, root, reads_ceilings, error);
    json_decref(ceiling);
    json_decref(root);
    return status;
}

at_status ceilings_merge(const char *results_dir, const run_summary *s, ceiling_kind kind,
                         char *path, size_t path_bytes, at_error *error)
{
    char file[RECORD_PATH_BYTES];
    const run_result *best = run_summary_best(s);
    lock *held = NULL;
    if (s->device.predicted || s->compiled_only)
        return error_set(
            error, AT_USAGE,
            "nothing is recorded for %s: ceilings must be measured on a real GPU, not predicted",
            s->device.spec);
    if (!best || best->time.count == 0 || best->rates[ceiling_get(kind)->unit] <= 0)
        return error_set(error, AT_USAGE, "the ceiling %s was not measured",
                         ceiling_get(kind)->name);
    at_status status = record_gpu_path(results_dir, s->device.limits.name, CEILINGS_FILE, file,
                                       sizeof file, error);
    if (!status)
        status = record_lock_folder(results_dir, s->device.limits.name, &held, error);
    if (status)
        return status;
    status = merge(file, s, best, kind, error);
    if (!status)
        snprintf(path, path_bytes, "%s", file);
    lock_close(held);
    return status;
}

typedef struct combining {
    const char *results_dir;
    bool dry;
    ceilings_reporter *tell;
    void *context;
    record_faults *faults;
    size_t *count;
} combining;

static const char *date_of(const json_t *ceiling)
{
    const char *date = json_string_value(json_object_get(ceiling, "date"));
    return date ? date : "";
}

/* Returns the change that merging `one` makes. ISO dates in UTC are compared as texts. */
static combine_change change_of(const json_t *one, const json_t *there)
{
    if (!there)
        return COMBINE_ADDED;
    if (json_equal(one, there))
        return COMBINE_SAME;
    return strcmp(date_of(one), date_of(there)) > 0 ? COMBINE_REPLACED : COMBINE_KEPT;
}

static at_status combine(const combining *c, json_t *from, const char *gpu, const char *path,
                         at_error *error)
{
    ceiling_rates before;
    json_t *root, *one;
    const char *name;
    bool changed = false, done = true;
    at_status status = read_file(path, gpu, &before, &root, error);
    if (status)
        return status;
    if (!root) {
        root = json_copy(from);
        done = root && json_object_set_new(root, "ceilings", json_object()) == 0;
    }
    json_t *into = json_object_get(root, "ceilings");
    json_object_foreach(json_object_get(from, "ceilings"), name, one)
    {
        /* The file may come from another version or person: invalid names are left out. */
        if (!done || !record_is_name(name))
            continue;
        const combine_change change = change_of(one, json_object_get(into, name));
        const bool taken = change == COMBINE_ADDED || change == COMBINE_REPLACED;
        c->tell(c->context, gpu, name, change,
                change == COMBINE_REPLACED || change == COMBINE_KEPT ? "the newer one is taken"
                                                                     : "");
        changed = changed || taken;
        done = !taken || json_object_set(into, name, one) == 0;
    }
    if (!done)
        status = error_no_memory(error);
    if (!status && changed && !c->dry)
        status = record_replace(path, root, reads_ceilings, error);
    json_decref(root);
    return status;
}

static at_status combine_folder(void *context, const char *folder, at_error *error)
{
    const combining *c = context;
    char path[RECORD_PATH_BYTES + sizeof "/" CEILINGS_FILE], to[RECORD_PATH_BYTES];
    ceiling_rates rates;
    json_t *from;
    lock *held = NULL;
    at_error why = {0};
    snprintf(path, sizeof path, "%s/" CEILINGS_FILE, folder);
    at_status status = read_file(path, NULL, &rates, &from, &why);
    if (!status && !from)
        return AT_OK;
    if (status)
        return record_faults_add(c->faults, path, "", &why, error);
    ++*c->count;
    const char *gpu = json_string_value(json_object_get(from, "gpu"));
    status = record_gpu_path(c->results_dir, gpu, CEILINGS_FILE, to, sizeof to, error);
    if (!status && !c->dry)
        status = record_lock_folder(c->results_dir, gpu, &held, error);
    if (!status)
        status = combine(c, from, gpu, to, error);
    lock_close(held);
    json_decref(from);
    return status;
}

at_status ceilings_combine(const char *from, const char *results_dir, bool dry,
                           ceilings_reporter *tell, void *context, record_faults *faults,
                           size_t *count, at_error *error)
{
    combining c = {results_dir, dry, tell, context, faults, count};
    *count = 0;
    /* `from` is the folder of one GPU or of all GPUs, so both are tried. */
    at_status status = combine_folder(&c, from, error);
    return status ? status : record_each_gpu(from, combine_folder, &c, error);
}
