#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "export/table.h"
#include "script/render.h"

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
