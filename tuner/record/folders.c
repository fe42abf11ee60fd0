#include "record/folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/paths.h"
#include "base/text.h"
#include "record/ceilings.h"
#include "record/record.h"
#include "record/schema.h"

static at_status set_add(record_set *set, const char *path, at_error *error)
{
    record r;
    at_error why = {0};
    at_status status = record_read_file(path, &set->faults, &r, &why);
    if (!status && array_add(&set->records, &set->count, &r, sizeof r))
        return AT_OK;
    if (status && status != AT_NO_MEMORY)
        return record_faults_add(&set->faults, path, "", &why, error);
    record_deinit(&r);
    return error_no_memory(error);
}

static bool is_record_file(const char *name, const char *pattern_name)
{
    size_t length = strlen(name);
    if (strcmp(name, CEILINGS_FILE) == 0 || length <= 5 || name[0] == '.' ||
        strcmp(name + length - 5, ".json") != 0)
        return false;
    return !pattern_name ||
           (strlen(pattern_name) == length - 5 && strncmp(name, pattern_name, length - 5) == 0);
}

typedef struct loading {
    const char *pattern_name;
    record_set *set;
} loading;

static at_status load_folder(void *context, const char *folder, at_error *error)
{
    const loading *l = context;
    at_status status = AT_OK;
    DIR *d = opendir(folder);
    if (!d)
        return error_set_errno(error, errno, "cannot open the folder %s", folder);
    for (struct dirent *e; !status && (e = readdir(d));) {
        char path[RECORD_PATH_BYTES + 300];
        if (!is_record_file(e->d_name, l->pattern_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        status = set_add(l->set, path, error);
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

at_status record_each_gpu(const char *results_dir, record_visitor *visit, void *context,
                          at_error *error)
{
    at_status status = AT_OK;
    DIR *d = opendir(results_dir);
    if (!d && errno == ENOENT)
        return error_set(error, AT_NOT_FOUND, "there is no results folder %s", results_dir);
    if (!d)
        return error_set_errno(error, errno, "cannot open the results folder %s", results_dir);
    for (struct dirent *e; !status && (e = readdir(d));) {
        char folder[RECORD_PATH_BYTES];
        struct stat s;
        int n = snprintf(folder, sizeof folder, "%s/%s", results_dir, e->d_name);
        if (e->d_name[0] == '.' || n < 0 || n >= RECORD_PATH_BYTES)
            continue;
        if (stat(folder, &s) == 0 && S_ISDIR(s.st_mode))
            status = visit(context, folder, error);
    }
    closedir(d);
    return status;
}

at_status record_load_all(const char *results_dir, const char *pattern_name, record_set *out,
                          at_error *error)
{
    record_set own = {0};
    loading l = {pattern_name, out};
    *out = (record_set){0};
    at_status status = record_each_gpu(results_dir, load_folder, &l, error);
    /* `results_dir` may be the folder of one GPU, whose subfolders hold no records. */
    l.set = &own;
    if (!status && out->count == 0)
        status = load_folder(&l, results_dir, error);
    if (!status && out->count == 0 && (own.count > 0 || out->faults.count == 0)) {
        record_set_deinit(out);
        *out = own;
        own = (record_set){0};
    }
    record_set_deinit(&own);
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

static bool is_listed(const record_folders *f, const char *path)
{
    struct stat a, b;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->paths[i], path) == 0 || (stat(f->paths[i], &a) == 0 && stat(path, &b) == 0 &&
                                               a.st_dev == b.st_dev && a.st_ino == b.st_ino))
            return true;
    return false;
}

static void add(record_folders *f, const char *path)
{
    if (path && *path && strlen(path) < PATHS_BYTES && !is_listed(f, path))
        snprintf(f->paths[f->count++], PATHS_BYTES, "%s", path);
}

void record_folders_find(const char *given, const paths *own, record_folders *out)
{
    char installed[PATHS_BYTES];
    *out = (record_folders){0};
    add(out, given);
    if (given)
        return;
    add(out, getenv("AUTOTUNE_RESULTS"));
    add(out, "results");
    if (own && paths_shared_file(own, "results", installed, sizeof installed))
        add(out, installed);
}

void record_folders_text(const record_folders *f, char *text, size_t size_bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < f->count; i++)
        text_add(text, size_bytes, "%s%s",
                 i == 0             ? ""
                 : i + 1 < f->count ? ", "
                                    : " and ",
                 f->paths[i]);
}

/* Returns whether the first `count` records answer every question of `r` (record_find_question). */
static bool adds_nothing(const record_set *all, size_t count, const record *r)
{
    bool nothing = r->portfolio_count == 0 && r->entry_count > 0;
    for (size_t i = 0; i < r->entry_count && nothing; i++) {
        nothing = false;
        for (size_t k = 0; k < count && !nothing; k++)
            nothing = record_find_question(&all->records[k], r, &r->entries[i]) != NULL;
    }
    return nothing;
}

/* Moves the records and faults of `more` to the end of `all`, without records that add nothing.
 * Frees `more` in any case. */
static at_status append(record_set *all, record_set *more, at_error *error)
{
    size_t before = all->count;
    record *records = realloc(all->records, (before + more->count + 1) * sizeof *records);
    if (records)
        all->records = records;
    size_t faults = all->faults.count + more->faults.count;
    record_fault *items = realloc(all->faults.items, (faults + 1) * sizeof *items);
    if (items)
        all->faults.items = items;
    if (!records || !items) {
        record_set_deinit(more);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < more->faults.count; i++)
        items[all->faults.count++] = more->faults.items[i];
    for (size_t i = 0; i < more->count; i++) {
        if (adds_nothing(all, before, &more->records[i]))
            record_deinit(&more->records[i]);
        else
            records[all->count++] = more->records[i];
    }
    free(more->records);
    free(more->faults.items);
    return AT_OK;
}

static at_status refuse_missing(const record_folders *folders, at_error *error)
{
    char names[3 * PATHS_BYTES];
    record_folders_text(folders, names, sizeof names);
    return error_set(error, AT_NOT_FOUND,
                     "there is no folder of results; looked for %.1000s. 'autotune tune' on a GPU "
                     "makes one, --results DIR names another",
                     names);
}

at_status record_search(const record_folders *folders, const char *pattern_name, record_set *out,
                        at_error *error)
{
    bool found = false;
    at_status status = AT_OK;
    *out = (record_set){0};
    for (size_t i = 0; i < folders->count && !status; i++) {
        record_set more;
        at_error none = {0};
        status = record_load_all(folders->paths[i], pattern_name, &more, error ? error : &none);
        found = found || !status;
        status = status ? error_ignore(status, AT_NOT_FOUND, error) : append(out, &more, error);
    }
    if (!status && !found)
        status = refuse_missing(folders, error);
    if (status)
        record_set_deinit(out);
    return status;
}

static at_status check_folder(void *context, const char *folder, at_error *error)
{
    (void)context;
    DIR *d = opendir(folder);
    if (!d)
        return error_set_errno(error, errno, "cannot open the folder %s", folder);
    closedir(d);
    return AT_OK;
}

at_status record_check_folders(const record_folders *folders, at_error *error)
{
    bool found = false;
    at_status status = AT_OK;
    for (size_t i = 0; i < folders->count && !status; i++) {
        at_error none = {0};
        status = record_each_gpu(folders->paths[i], check_folder, NULL, error ? error : &none);
        found = found || !status;
        status = error_ignore(status, AT_NOT_FOUND, error);
    }
    return status || found ? status : refuse_missing(folders, error);
}
