/* Renders a page, which is the text that a template of templates/pages prints. */
#ifndef AUTOTUNE_RENDERED_H
#define AUTOTUNE_RENDERED_H

#include <jansson.h>
#include <stdio.h>

#include "check.h"
#include "script/render.h"

/* Returns the text, which the caller frees. Takes ownership of `found` and `also` (may be NULL). */
static inline char *render_page(const char *name, json_t *found, json_t *also, int columns,
                                bool colour)
{
    char file[128], *text;
    at_error error = {0};
    assert_non_null(found);
    if (also)
        assert_int_equal(json_object_update(found, also), 0);
    assert_int_equal(json_object_set_new(found, "page",
                                         json_pack("{si sb sb}", "columns", columns, "colour",
                                                   (int)colour, "utf8", 1)),
                     0);
    snprintf(file, sizeof file, "pages/%s.tmpl", name);
    assert_ok(script_render(file, found, &text, &error), error);
    json_decref(found);
    json_decref(also);
    return text;
}

#endif
