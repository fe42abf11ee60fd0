/* autotune results validate: what is wrong with records, where, and what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "cmd/line/known.h"
#include "cmd/results/entry.h"
#include "cmd/results/results.h"
#include "record/record.h"
#include "script/render.h"

enum { EXIT_FAULTS = 4 };

typedef struct file_list {
    size_t count;
    char **paths; /* owned */
} file_list;

static void add_file(file_list *list, const char *path)
{
    char *copy = memory_text(path);
    memory_add(&list->paths, &list->count, &copy, sizeof copy);
}

/* A file of which nothing can be read is a fault of the folder's, with no pointer. */
static at_status add_folder(file_list *list, const char *folder, bool may_lack, at_error *error)
{
    record_set set;
    at_status status = record_load_all(folder, NULL, &set, error);
    if (status)
        return may_lack ? error_forgive(status, AT_NOT_FOUND, error) : status;
    for (size_t i = 0; i < set.count; i++)
        add_file(list, set.records[i].path);
    for (size_t i = 0; i < set.faults.count; i++)
        if (!*set.faults.items[i].pointer)
            add_file(list, set.faults.items[i].path);
    record_set_deinit(&set);
    return AT_OK;
}

static at_status list_files(const options *o, file_list *list, at_error *error)
{
    record_folders folders;
    at_status status = AT_OK;
    for (size_t i = 1; i < o->operand_count && !status; i++) {
        struct stat s;
        if (stat(o->operands[i], &s) == 0 && S_ISDIR(s.st_mode))
            status = add_folder(list, o->operands[i], false, error);
        else
            add_file(list, o->operands[i]);
    }
    if (o->operand_count > 1)
        return status;
    known_folders(o, &folders);
    for (size_t i = 0; i < folders.count && !status; i++)
        status = add_folder(list, folders.paths[i], !o->results, error);
    return status || list->count > 0 ? status : record_check_folders(&folders, error);
}

/* The last part of the path, or the one before it. */
static json_t *pack_part(const char *path, bool folder)
{
    const char *end = strrchr(path, '/'), *begin = end;
    char text[256];
    while (begin && begin > path && begin[-1] != '/')
        begin--;
    if (folder)
        snprintf(text, sizeof text, "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
    return json_said(folder ? text : end ? end + 1 : path);
}

/* Packs what lua/commands/results_validate.lua is given of a file: with what readers refuse. */
static json_t *pack_file(const char *path, const char *text, size_t size_bytes, json_t *root,
                         size_t *entries)
{
    record_set one = {.records = memory_new(1, sizeof *one.records), .count = 1};
    record_faults found = {0};
    at_error why = {0};
    char slug[PATHS_SLUG_BYTES] = "";
    json_t *faults = json_array(), *records = NULL;
    at_status status = record_parse(text, size_bytes, path, &found, one.records, &why);
    if (status)
        json_append(&faults,
                    json_pack("{ss so}", "pointer", "", "message", json_said(why.message)));
    for (size_t i = 0; i < found.count; i++)
        json_append(&faults, json_pack("{ss so}", "pointer", found.items[i].pointer, "message",
                                       json_said(found.items[i].message)));
    if (!status) {
        *entries = one.records->entry_count;
        paths_slug(one.records->gpu, slug);
        records = results_pack(NULL, &one);
    }
    json_t *given =
        json_pack("{sO so so? so so ss}", "root", root, "faults", faults, "record",
                  json_incref(json_array_get(records, 0)), "file", pack_part(path, false), "folder",
                  pack_part(path, true), "slug", slug);
    json_decref(records);
    record_faults_deinit(&found);
    if (status)
        free(one.records);
    else
        record_set_deinit(&one);
    return given;
}

/* Adds the faults of a file. */
static at_status validate(const char *path, record_faults *faults, size_t *entries, at_error *error)
{
    char *text;
    size_t size_bytes, i;
    json_t *root, *given, *all = NULL, *f;
    at_error why = {0};
    *entries = 0;
    at_status status = file_read(path, RECORD_FILE_BYTES, &text, &size_bytes, &why);
    if (status == AT_FORMAT)
        return record_faults_add(faults, path, "", &why, error);
    if (status) {
        *error = why;
        return status;
    }
    if (json_text_parse(text, size_bytes, path, &root, &why)) {
        status = record_faults_add(faults, path, "", &why, error);
    } else {
        given = pack_file(path, text, size_bytes, root, entries);
        status = script_compute("commands.results_validate", path, given, &all, error);
        json_decref(given);
        json_decref(root);
    }
    json_array_foreach(all, i, f)
    {
        const char *pointer = json_string_value(json_object_get(f, "pointer"));
        why = (at_error){.line = json_pointer_line(text, pointer)};
        snprintf(why.message, sizeof why.message, "%s",
                 json_string_value(json_object_get(f, "message")));
        if (!status)
            status = record_faults_add(faults, path, pointer, &why, error);
    }
    json_decref(all);
    free(text);
    return status;
}

static at_status print_json(const record_faults *faults, size_t files, size_t entries,
                            at_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults->count; i++) {
        const record_fault *f = &faults->items[i];
        json_append(&list,
                    json_pack("{so ss sI ss}", "file", json_path(f->path), "pointer", f->pointer,
                              "line", (json_int_t)f->line, "message", f->message));
    }
    return json_text_print(json_pack("{sI sI so}", "files", (json_int_t)files, "entries",
                                     (json_int_t)entries, "problems", list),
                           1, stdout, error);
}

at_status results_validate(const options *o, int *exit_code, at_error *error)
{
    file_list list = {0};
    record_faults faults = {0};
    size_t entries = 0;
    at_status status = list_files(o, &list, error);
    for (size_t i = 0; i < list.count && !status; i++) {
        size_t found;
        status = validate(list.paths[i], &faults, &found, error);
        entries += found;
    }
    if (!status && o->json)
        status = print_json(&faults, list.count, entries, error);
    for (size_t i = 0; i < faults.count && !status && !o->json; i++)
        puts(faults.items[i].text);
    if (!status && !o->json)
        printf("files: %zu, entries: %zu, faults: %zu\n", list.count, entries, faults.count);
    if (faults.count)
        *exit_code = EXIT_FAULTS;
    for (size_t i = 0; i < list.count; i++)
        free(list.paths[i]);
    free(list.paths);
    record_faults_deinit(&faults);
    return status;
}
