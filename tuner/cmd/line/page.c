#include "cmd/line/page.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "cmd/line/terminal.h"
#include "script/render.h"

at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error)
{
    char file[64];
    *text = NULL;
    json_t *table = found ? json_copy(found) : NULL;
    if (table && also && json_object_update(table, also) != 0) {
        json_decref(table);
        table = NULL;
    }
    json_put(&table, "page",
             json_pack("{sI sb sb sb}", "columns", (json_int_t)terminal_page(), "is_wide",
                       (int)(terminal_columns(SIZE_MAX) == 0), "colour",
                       (int)terminal_wants_colour(), "utf8", (int)terminal_speaks_utf8()));
    snprintf(file, sizeof file, "pages/%s.tmpl", name);
    at_status status = script_render(file, table, text, error);
    json_decref(table);
    json_decref(found);
    json_decref(also);
    return status;
}

at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error)
{
    char *text;
    if (o->json) {
        json_decref(also);
        return json_text_print(found, indent, stdout, error);
    }
    at_status status = page_text(name, found, also, &text, error);
    if (!status && (fputs(text, stdout) == EOF || ferror(stdout)))
        status = error_set_errno(error, errno, "stdout could not be written");
    free(text);
    return status;
}

at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error)
{
    char module[64];
    json_t *answer;
    snprintf(module, sizeof module, "commands.%s", name);
    at_status status = script_compute(module, data_path, given, &answer, error);
    json_decref(given);
    if (!status)
        status = page_show(o, name, indent, json_incref(json_array_get(answer, 0)),
                           json_incref(json_array_get(answer, 1)), error);
    json_decref(answer);
    return status;
}
