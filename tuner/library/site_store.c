#include "library/sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "library/library.h"
#include "record/merge.h"
#include "record/schema.h"

/* The most entries of a file. A further entry replaces the oldest, likely of an old driver. */
enum { MOST_ENTRIES = 2000, LARGEST_BYTES = 64 << 20, TEXT_BYTES = 1024 };

static const char code_name[] = "at_code", driver_name[] = "at_driver";

typedef struct loaded {
    char *name;
    record_set set; /* the records of all GPUs */
} loaded;

struct site_store {
    char folder[PATHS_BYTES];
    arch_limits gpu;
    char driver[RECORD_TEXT_BYTES], code[RECORD_TEXT_BYTES];
    loaded *loaded;
    size_t loaded_count;
};

static at_status find_folder(const char *folder, char *out, size_t out_bytes, at_error *error)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (folder)
        n = snprintf(out, out_bytes, "%s", folder);
    else if (xdg && xdg[0] == '/')
        n = snprintf(out, out_bytes, "%s/autotune/sites", xdg);
    else if (home && *home)
        n = snprintf(out, out_bytes, "%s/.cache/autotune/sites", home);
    else
        return error_set(
            error, AT_IO,
            "there is no folder for the store of sites: neither XDG_CACHE_HOME nor HOME "
            "is set; set one, or pass a folder");
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(error, AT_USAGE,
                         "the path of the store's folder is too long: pass a shorter one");
    return AT_OK;
}

at_status site_store_open(const char *folder, const arch_limits *gpu, const char *driver,
                          const char *code, site_store **out, at_error *error)
{
    if (!record_is_text(code) || !record_is_text(driver))
        return error_set(error, AT_USAGE,
                         "the version of the code must be one line of at most 255 letters");
    site_store *s = calloc(1, sizeof *s);
    if (!s)
        return error_no_memory(error);
    s->gpu = *gpu;
    snprintf(s->driver, sizeof s->driver, "%s", driver);
    snprintf(s->code, sizeof s->code, "%s", code);
    at_status status = find_folder(folder, s->folder, sizeof s->folder, error);
    if (status)
        free(s);
    else
        *out = s;
    return status;
}

void site_store_close(site_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->loaded_count; i++) {
        free(s->loaded[i].name);
        record_set_deinit(&s->loaded[i].set);
    }
    free(s->loaded);
    free(s);
}

static void write_key(const site_key *key, char *out, size_t out_bytes)
{
    size_t used = (size_t)snprintf(out, out_bytes, "%s(", key->name);
    for (size_t i = 0; i < key->variable_count && used < out_bytes; i++) {
        char shown[RECORD_TEXT_BYTES + 32];
        value_format(argument_value(&key->variables[i]), shown, sizeof shown);
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s=%s", i ? ", " : "",
                                 key->variables[i].name, shown);
    }
    if (used < out_bytes)
        snprintf(out + used, out_bytes - used, ")");
}

static void report_missed(const site_key *key, const char *why, site_reporter *report,
                          void *context)
{
    char text[TEXT_BYTES], shown[TEXT_BYTES / 2];
    write_key(key, shown, sizeof shown);
    snprintf(text, sizeof text, "%s: %s; the site is tuned again", shown, why);
    report(context, text);
}

/* Reads the records of a name, of all GPUs, once. Reports unreadable files and entries. */
static const loaded *load(site_store *s, const char *name, site_reporter *report, void *context)
{
    for (size_t i = 0; i < s->loaded_count; i++)
        if (strcmp(s->loaded[i].name, name) == 0)
            return &s->loaded[i];
    loaded l = {.name = strdup(name)};
    at_error error = {0};
    if (!l.name || !array_add(&s->loaded, &s->loaded_count, &l, sizeof l)) {
        free(l.name);
        return NULL;
    }
    loaded *kept = &s->loaded[s->loaded_count - 1];
    at_status status = record_load_all(s->folder, name, &kept->set, &error);
    if (status && status != AT_NOT_FOUND)
        report(context, error.message);
    for (size_t i = 0; i < kept->set.faults.count; i++)
        report(context, kept->set.faults.items[i].text);
    return kept;
}

static const char *text_of(const record_values *values, const char *name)
{
    const value *v = record_get(values, name);
    return v && v->kind == VALUE_STRING ? v->string : NULL;
}

/* Returns whether the entry is of the key's problem, whatever its driver and code. */
static bool is_of_problem(const record_entry *e, const site_key *key)
{
    if (e->problem.count != key->variable_count + 2)
        return false;
    for (size_t i = 0; i < key->variable_count; i++) {
        const value *v = record_get(&e->problem, key->variables[i].name);
        if (!v || !value_equal(*v, argument_value(&key->variables[i])))
            return false;
    }
    return text_of(&e->problem, code_name) && text_of(&e->problem, driver_name);
}

static bool is_same(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* Returns NULL, and sets `*out`, if the entry applies to the key. Otherwise returns the reason. */
static const char *why_stale(const site_store *s, const record_entry *e, const site_key *key,
                             uint32_t *out, char *text, size_t text_bytes)
{
    const char *driver = text_of(&e->problem, driver_name), *code = text_of(&e->problem, code_name);
    if (!is_same(driver, s->driver))
        snprintf(text, text_bytes,
                 "the stored result is of driver '%.60s', but this is driver '%.60s'", driver,
                 s->driver);
    else if (!is_same(code, s->code))
        snprintf(text, text_bytes,
                 "the stored result is of code version '%.60s', but this is '%.60s'", code,
                 s->code);
    else if (!is_same(e->script_hash, key->space->hash) ||
             !site_space_find(key->space, &e->configuration, out))
        snprintf(text, text_bytes, "the stored result is of other parameters or values");
    else
        return NULL;
    return text;
}

bool site_store_find(site_store *s, const site_key *key, site_reporter *report, void *context,
                     uint32_t *out)
{
    const loaded *l = load(s, key->name, report, context);
    char text[TEXT_BYTES / 2];
    const char *why = NULL;
    for (size_t r = 0; l && r < l->set.count; r++) {
        const record *one = &l->set.records[r];
        bool here = strcmp(one->gpu, s->gpu.name) == 0;
        for (size_t i = 0; i < one->entry_count; i++) {
            const record_entry *e = &one->entries[i];
            if (!is_of_problem(e, key))
                continue;
            if (here) {
                why = why_stale(s, e, key, out, text, sizeof text);
                if (!why)
                    return true;
            } else if (!why) {
                snprintf(text, sizeof text, "the stored result is of '%.60s', but this is '%.60s'",
                         one->gpu, s->gpu.name);
                why = text;
            }
        }
    }
    if (why)
        report_missed(key, why, report, context);
    return false;
}

static json_t *pack_variables(const at_variable *variables, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_put(&object, variables[i].name, json_from_value(argument_value(&variables[i])));
    return object;
}

static json_t *pack_configuration(const site_space *of, uint32_t configuration)
{
    at_variable values[RECORD_MAX_VALUES];
    site_space_values(of, configuration, values);
    return pack_variables(values, of->list_count);
}

static json_t *pack_entry(const site_store *s, const site_key *key, const site_decision *d)
{
    char date[32];
    run_summary_date(date, sizeof date);
    json_t *problem = pack_variables(key->variables, key->variable_count);
    json_put(&problem, driver_name, json_string(s->driver));
    json_put(&problem, code_name, json_string(s->code));
    json_t *entry = json_pack("{so so so ss s{ss} s{ss} ss ss}", "problem", problem,
                              "configuration", pack_configuration(key->space, d->configuration),
                              "time", record_pack_time(&d->time), "verdict",
                              run_verdict_name(d->verdict), "hashes", "script", key->space->hash,
                              "device", "driver", s->driver, "date", date, "tool", version_text());
    if (entry && d->baseline.count > 0)
        json_put(&entry, "baseline",
                 json_pack("{so so}", "configuration", pack_configuration(key->space, d->fallback),
                           "time", record_pack_time(&d->baseline)));
    return entry;
}

static at_status rename_damaged(const site_store *s, const char *name, at_error *error)
{
    char path[RECORD_PATH_BYTES], aside[RECORD_PATH_BYTES + 16], *text = NULL;
    size_t size_bytes;
    lock *held = NULL;
    json_t *root = NULL;
    at_error none = {0};
    at_status status = record_path(s->folder, s->gpu.name, name, path, sizeof path, error);
    if (!status)
        status = record_lock_folder(s->folder, s->gpu.name, &held, error);
    if (status)
        return status;
    bool damaged = file_read(path, LARGEST_BYTES, &text, &size_bytes, &none) == AT_OK &&
                   json_text_parse(text, size_bytes, path, &root, &none) == AT_FORMAT;
    snprintf(aside, sizeof aside, "%s.damaged", path);
    if (damaged && rename(path, aside) != 0)
        status = error_set_errno(error, errno, "cannot put '%s' aside", path);
    json_decref(root);
    free(text);
    lock_close(held);
    return status;
}

/* Appends the entry; removes the earlier entry of its key, and oldest entries above the limit. */
static bool put_entry(record_store *file, json_t *entry)
{
    json_t *entries = json_object_get(file->old.root, "entries"), *problem;
    size_t i;
    json_t *one;
    problem = json_object_get(entry, "problem");
    for (i = json_array_size(entries); i-- > 0;) {
        one = json_array_get(entries, i);
        if (json_equal(json_object_get(one, "problem"), problem))
            json_array_remove(entries, i);
    }
    while (json_array_size(entries) >= MOST_ENTRIES)
        json_array_remove(entries, 0);
    return json_array_append(entries, entry) == 0;
}

at_status site_store_put(site_store *s, const site_key *key, const site_decision *d,
                         at_error *error)
{
    record_store file;
    json_t *entry = pack_entry(s, key, d);
    if (!entry)
        return error_no_memory(error);
    at_status status = rename_damaged(s, key->name, error);
    if (!status)
        status = record_store_open(&file, s->folder, &s->gpu, key->name, error);
    if (!status) {
        status =
            put_entry(&file, entry) ? record_store_write(&file, error) : error_no_memory(error);
        record_store_close(&file);
    }
    json_decref(entry);
    return status;
}
