#include "export/export.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/table.h"
#include "script/render.h"

/* ---- files ---- */

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

/* Adds a file, whose text it owns in any case. If the name is taken, "-2" (or more) goes before its
 * extension. */
static void export_files_add(export_files *f, const char *name, char *text, size_t size_bytes)
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

/* ---- exporters ---- */

static const exporter table[] = {
    {.name = "header", .extension = ".h", .template_name = "export/header.tmpl", .several = true},
    {.name = "cuda",
     .extension = ".cu",
     .template_name = "export/cuda.tmpl",
     .several = true,
     .pair = true,
     .kernels = true},
    {.name = "json", .extension = ".json", .template_name = "export/json.tmpl", .several = true},
    {.name = "wisdom", .extension = ".wisdom", .template_name = "export/wisdom.tmpl"},
    {.name = "t4", .extension = ".json", .template_name = "export/t4.tmpl"},
};

at_status exporter_find(const char *name, const exporter **out, at_error *error)
{
    char known[256] = "";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *out = &table[i];
            return AT_OK;
        }
        text_add(known, sizeof known, "%s%s", i ? ", " : "", table[i].name);
    }
    return error_set(error, AT_USAGE, "no format '%.80s'; there is: %s", name, known);
}

at_status exporter_write(const exporter *e, const export_model *const *models, size_t count,
                         const char *stem, export_files *files, at_error *error)
{
    char unnamed[EXPORT_FILE_NAME_BYTES];
    rendered texts;
    json_t *data = export_table(models, count, stem);
    at_status status = script_render_files(e->template_name, e->path, data, &texts, error);
    json_decref(data);
    snprintf(unnamed, sizeof unnamed, "%.100s%s", stem, e->extension);
    for (size_t i = 0; i < texts.count && !status; i++) {
        rendered_file *f = &texts.files[i];
        if (f->name[0] == '\0' && f->size_bytes == 0 && !e->path)
            continue;
        export_files_add(files, f->name[0] ? f->name : unnamed, f->text, f->size_bytes);
        f->text = NULL;
    }
    rendered_deinit(&texts);
    return status;
}
