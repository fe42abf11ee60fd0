/* autotune results validate: what is wrong with records, where, and what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/known.h"
#include "cmd/results/results.h"
#include "record/validate.h"

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
        status = record_validate(list.paths[i], &faults, &found, error);
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
