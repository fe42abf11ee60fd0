/* Names for expressions that tests read without a script: integers x and y, booleans p and q,
 * text w, fields of `device`, and helper functions. The name z does not exist. */
#ifndef AUTOTUNE_TESTS_READER_FIXTURE_H
#define AUTOTUNE_TESTS_READER_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "script/expression/term.h"

enum { X, Y, P, Q, W, INPUTS };
static const char reader_input_names[] = "xypqw";

static inline size_t reader_input(const node *leaf)
{
    return (size_t)(strchr(reader_input_names, leaf->name[0]) - reader_input_names);
}

static const node *reader_fixture_name(void *context, tree *t, token name, token next)
{
    (void)context;
    (void)next;
    node input = {.op = NODE_INPUT, .name = name.text, .length = 1};
    if (name.length == 1 && strchr(reader_input_names, *name.text))
        return tree_add(t, &input);
    return token_is(name, "z") ? NULL : reader_plain_name(t, name);
}

static const node *reader_fixture_field(void *context, tree *t, const node *of, token name)
{
    (void)context;
    node field = {.op = NODE_DEVICE, .name = name.text, .length = name.length};
    return strcmp(of->name, "device") == 0 ? tree_add(t, &field) : reader_plain_field(t, of, name);
}

static const reader_names reader_inputs = {NULL, reader_fixture_name, reader_fixture_field};

static inline bool reader_leaf(void *context, const char *name, term_type *type, char *text,
                               size_t size_bytes)
{
    (void)context;
    static const term_type types[INPUTS] = {[P] = TERM_TRUTH, [Q] = TERM_TRUTH, [W] = TERM_TEXT};
    *type = types[strchr(reader_input_names, *name) - reader_input_names];
    if (text)
        snprintf(text, size_bytes, "%s", name);
    return true;
}

#endif
