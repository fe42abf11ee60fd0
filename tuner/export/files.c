#include "export/files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_taken(const export_files *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].name, name) == 0)
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

void export_files_add(export_files *f, const char *name, char *text, size_t size_bytes)
{
    export_file file = {.text = text, .size_bytes = size_bytes};
    choose_name(f, name, file.name);
    memory_add(&f->files, &f->count, &file, sizeof file);
}

void export_files_deinit(export_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->files[i].text);
    free(f->files);
    *f = (export_files){0};
}
