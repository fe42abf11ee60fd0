#include "export/files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/kernels.h"

static bool is_taken(const export_files *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i]->name, name) == 0)
            return true;
    return false;
}

static void choose_name(const export_files *f, const char *name, char out[EXPORT_FILE_NAME_BYTES])
{
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot ? (size_t)(dot - name) : strlen(name));
    if (stem > EXPORT_FILE_NAME_BYTES - 40)
        stem = EXPORT_FILE_NAME_BYTES - 40;
    snprintf(out, EXPORT_FILE_NAME_BYTES, "%.*s%.20s", stem, name, dot ? dot : "");
    for (unsigned n = 2; is_taken(f, out); n++)
        snprintf(out, EXPORT_FILE_NAME_BYTES, "%.*s-%u%.20s", stem, name, n, dot ? dot : "");
}

at_status export_files_open(export_files *f, const char *name, FILE **to, at_error *error)
{
    /* The stream keeps the addresses of text and size. */
    export_file *file = calloc(1, sizeof *file);
    if (file)
        choose_name(f, name, file->name);
    if (!file || !array_add(&f->files, &f->count, &file, sizeof file)) {
        free(file);
        return export_no_memory(error);
    }
    file->stream = *to = open_memstream(&file->text, &file->size_bytes);
    return *to ? AT_OK : export_no_memory(error);
}

at_status export_files_close(export_files *f, at_error *error)
{
    export_file *last = f->files[f->count - 1];
    bool failed = ferror(last->stream) != 0;
    failed = fclose(last->stream) != 0 || failed;
    last->stream = NULL;
    return failed ? export_no_memory(error) : AT_OK;
}

void export_files_deinit(export_files *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->files[i]->stream)
            fclose(f->files[i]->stream);
        free(f->files[i]->text);
        free(f->files[i]);
    }
    free(f->files);
    *f = (export_files){0};
}
