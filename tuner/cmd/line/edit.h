/* Edits of a text file that a user wrote: prints them as a unified diff, and writes the file. */
#ifndef AUTOTUNE_CMD_LINE_EDIT_H
#define AUTOTUNE_CMD_LINE_EDIT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* The replacement of the `length` bytes at `begin` by `text`. */
typedef struct edit {
    size_t begin, length;
    char *text; /* owned by the list */
} edit;

typedef struct edit_list {
    edit *edits; /* owned; they do not overlap */
    size_t count;
} edit_list;

/* Frees the edits. `list` may be zeroed. */
void edit_list_deinit(edit_list *list);

/* Appends an edit with a copy of `text`. */
void edit_add(edit_list *list, size_t begin, size_t length, const char *text);

/* Returns the number of lines that begin in the bytes from `begin` to before `end`, which begins a
 * line. */
size_t edit_count_lines(const char *text, size_t begin, size_t end);

/* Returns the text with all edits made. The caller frees it. */
char *edit_apply(const edit_list *list, const char *text);

/* Prints a unified diff of `path`, with three lines of context, from `before` to the edited text.
 * Prints nothing if the texts are equal. */
void edit_print(const edit_list *list, const char *before, const char *path, FILE *to);

/* Replaces the file's text `before` by `after`. AT_USAGE if the file has another text; AT_IO. */
at_status edit_write(const char *path, const char *before, const char *after, at_error *error);

#endif
