#include "record/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "record/schema.h"

void *record_store_empty(const arch_limits *gpu, const char *pattern_name)
{
    char capability[16];
    snprintf(capability, sizeof capability, "%d.%d", gpu->major, gpu->minor);
    return json_pack("{ss si ss ss ss s[]}", "schema", RECORD_SCHEMA, "version", RECORD_VERSION,
                     "pattern", pattern_name, "gpu", gpu->name, "compute_capability", capability,
                     "entries");
}

at_status record_replace(const char *path, const json_t *root, record_reader *reads,
                         at_error *error)
{
    char *text = NULL;
    at_status status = json_text_format(root, 2, &text, error);
    if (status)
        return status;
    size_t length = strlen(text);
    status = reads(text, length, path, error);
    if (!status) {
        text[length] = '\n'; /* in the place of the NUL: a file of text ends in a newline */
        status = file_replace(path, text, length + 1, error);
    }
    free(text);
    return status;
}

static at_status reads_record(const char *text, size_t length, const char *path, at_error *error)
{
    record check;
    at_status status = record_parse(text, length, path, NULL, &check, error);
    if (!status)
        record_deinit(&check);
    return status;
}

at_status record_write(const char *path, const json_t *root, at_error *error)
{
    return record_replace(path, root, reads_record, error);
}

/* Reads what is there, or starts a new file. */
static at_status read_or_start(const char *path, const arch_limits *gpu, const char *pattern_name,
                               record *old, at_error *error)
{
    at_status status = record_read(path, old, error);
    if (status != AT_NOT_FOUND)
        return status;
    error_clear(error);
    *old = (record){.root = record_store_empty(gpu, pattern_name)};
    return old->root ? AT_OK : error_no_memory(error);
}

/* Makes the folder of a GPU's records, and those above it. */
static at_status make_folder(const char *results_dir, const char *gpu,
                             char folder[RECORD_PATH_BYTES], at_error *error)
{
    char slug[PATHS_SLUG_BYTES];
    paths_slug(gpu, slug);
    int n = snprintf(folder, RECORD_PATH_BYTES, "%s/%s", results_dir, slug);
    if (n < 0 || n >= RECORD_PATH_BYTES)
        return error_set(error, AT_USAGE, "the path of the results folder is too long");
    return file_make_folder(folder, error);
}

at_status record_lock_folder(const char *results_dir, const char *gpu, lock **out, at_error *error)
{
    char folder[RECORD_PATH_BYTES];
    at_status status = make_folder(results_dir, gpu, folder, error);
    return status ? status : lock_folder(folder, RECORD_LOCK_TIMEOUT_MS, out, error);
}

at_status record_check_writable(const char *results_dir, const char *gpu, const char *pattern_name,
                                at_error *error)
{
    char path[RECORD_PATH_BYTES], folder[RECORD_PATH_BYTES];
    record old;
    at_status status = record_path(results_dir, gpu, pattern_name, path, sizeof path, error);
    if (!status)
        status = make_folder(results_dir, gpu, folder, error);
    if (status)
        return status;
    status = record_read(path, &old, error);
    if (!status)
        record_deinit(&old);
    status = error_forgive(status, AT_NOT_FOUND, error);
    if (!status)
        status = file_check_writable(folder, error);
    return status ? status : lock_check(folder, error);
}

at_status record_store_open(record_store *s, const char *results_dir, const arch_limits *gpu,
                            const char *pattern_name, at_error *error)
{
    *s = (record_store){0};
    at_status status =
        record_path(results_dir, gpu->name, pattern_name, s->path, sizeof s->path, error);
    if (!status)
        status = record_lock_folder(results_dir, gpu->name, &s->lock, error);
    if (status)
        return status;
    status = read_or_start(s->path, gpu, pattern_name, &s->old, error);
    if (!status && s->old.gpu && strcmp(s->old.gpu, gpu->name) != 0)
        status = error_set_at(error, AT_FORMAT, s->path, 0,
                              "this record is of another GPU, '%s'; move it away or choose another "
                              "results folder",
                              s->old.gpu);
    if (status)
        record_store_close(s);
    return status;
}

at_status record_store_write(record_store *s, at_error *error)
{
    return record_write(s->path, s->old.root, error);
}

void record_store_close(record_store *s)
{
    record_deinit(&s->old);
    lock_close(s->lock);
}
