/* A model's names and values as C.
 *
 * Texts from records appear only in string literals, with all but plain characters escaped, so that
 * no record can put code into a file. */
#ifndef AUTOTUNE_EXPORT_TEXT_H
#define AUTOTUNE_EXPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "export/model.h"

/* "a\054b" with its quotes. */
void export_print_literal(const char *text, FILE *to);

/* A place in a text, "@name@", and what stands there. */
typedef struct export_slot {
    const char *name;
    void (*print)(const export_model *m, FILE *to); /* prints it; NULL: it is `text` */
    const char *text;
} export_slot;

/* Prints `text`, with the pattern's name for '$', and for "@name@" what the slot of that name has.
 * Every name in `text` has a slot. A slot that is alone on its line prints whole lines, or none. */
void export_print_text(const export_model *m, const char *text, const export_slot *slots, FILE *to);

/* The constant of a word. */
void export_print_word(const export_model *m, const export_column *c, const export_word *w,
                       FILE *to);

void export_print_long(int64_t v, FILE *to);
void export_print_value(const export_model *m, const export_column *c, value v, FILE *to);

/* {1, 2, AUTOTUNE_...}, starting at `column` and continued on the next line where the page ends. A
 * name that is missing in `values` is 0, or the first word. */
void export_print_values(const export_model *m, const export_column *columns, size_t count,
                         const record_values *values, size_t column, FILE *to);

#endif
