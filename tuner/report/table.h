/* A table of text with aligned columns, for people.
 *
 * Columns are declared, then cells are added row by row; widths follow from the cells. Control
 * characters, which a terminal would obey, become '?'. Running out of memory is remembered and
 * reported once, by table_print(). */
#ifndef AUTOTUNE_REPORT_TABLE_H
#define AUTOTUNE_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

enum { TABLE_MAX_COLUMNS = 96, TABLE_PAGE_COLUMNS = 80 };

typedef enum table_align { TABLE_RIGHT, TABLE_LEFT } table_align;

typedef enum table_style { TABLE_PLAIN, TABLE_BEST, TABLE_DIM } table_style;

typedef struct table {
    size_t column_count;
    struct {
        char *head;
        table_align align;
        size_t width; /* of the widest cell, head included, in characters */
    } columns[TABLE_MAX_COLUMNS];
    size_t cell_count;
    struct table_cell {
        char *text;
        table_style style; /* of the whole row, in its first cell */
        char *note;        /* below the row, in its first cell; NULL: none */
    } * cells;
    size_t page_columns; /* what a line may have; TABLE_PAGE_COLUMNS unless set otherwise */
    bool failed;
} table;

void table_init(table *t);
void table_deinit(table *t);

/* Declares the next column; before the first cell. More than TABLE_MAX_COLUMNS are ignored, and
 * rows must then have no cells for them. */
void table_add_column(table *t, const char *head, table_align align);

/* Declares several: their heads with commas between, '<' before those whose column is on the
 * left. */
void table_add_columns(table *t, const char *heads);

/* Adds the next cell, in reading order. */
void table_add_cell(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a note below the row of the last cell, wrapped to the page. */
void table_note_row(table *t, const char *words);

/* How the row of the last cell is shown, in a table with colour. */
void table_style_row(table *t, table_style style);

/* Characters of a line. */
size_t table_width(const table *t);

/* Prints the head and the rows, each line indented by two spaces. On a page that is too narrow a
 * last column of text is wrapped; other columns without room follow in a table of their own, which
 * repeats the first column. `colour`: use terminal escapes. */
at_status table_print(const table *t, bool colour, FILE *to, at_error *error);

/* Prints a label and words beside it, wrapped to a page of `columns`. `indent` is the width of the
 * label's column. */
void table_print_wrapped(size_t columns, int indent, const char *label, const char *words,
                         FILE *to);

/* Writes `text` to `out` with every control character replaced by '?', cut to fit; returns out. */
char *table_clean(const char *text, char *out, size_t out_bytes);

#endif
