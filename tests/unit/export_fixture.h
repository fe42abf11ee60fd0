/* What an exporter writes, for tests. */
#ifndef AUTOTUNE_TESTS_EXPORT_FIXTURE_H
#define AUTOTUNE_TESTS_EXPORT_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "export/export.h"

/* The text of the exporter's file of this number (*size_bytes may be NULL); the caller frees it. */
static inline char *exported_text(const exporter *e, const export_model *const *models,
                                  size_t count, size_t file, size_t *size_bytes)
{
    export_files files = {0};
    at_error error = {0};
    assert_ok(e->write(models, count, "exported", &files, &error), error);
    assert_true(file < files.count);
    char *text = malloc(files.files[file]->size_bytes + 1);
    assert_non_null(text);
    memcpy(text, files.files[file]->text, files.files[file]->size_bytes + 1);
    if (size_bytes)
        *size_bytes = files.files[file]->size_bytes;
    export_files_deinit(&files);
    return text;
}

#endif
