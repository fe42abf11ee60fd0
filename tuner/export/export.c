#include "export/export.h"

#include <string.h>

#include "base/text.h"

static const exporter *const table[] = {&export_header, &export_cuda, &export_json, &export_wisdom,
                                        &export_t4};

at_status exporter_find(const char *name, const exporter **out, at_error *error)
{
    char known[256] = "";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i]->name, name) == 0) {
            *out = table[i];
            return AT_OK;
        }
        text_add(known, sizeof known, "%s%s", i ? ", " : "", table[i]->name);
    }
    return error_set(error, AT_USAGE, "no format '%.80s'; there is: %s", name, known);
}
