#include "report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { CELL_BYTES = 512, NOTE_BYTES = 2048, GAP = 2, NOTE_INDENT = 6 };

static const char *const style_codes[] = {
    [TABLE_PLAIN] = "", [TABLE_BEST] = "\033[1;32m", [TABLE_DIM] = "\033[2m"};
static const char head_code[] = "\033[1m", end_code[] = "\033[0m";

void table_init(table *t)
{
    *t = (table){.page_columns = TABLE_PAGE_COLUMNS};
}

void table_deinit(table *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        free(t->columns[i].head);
    for (size_t i = 0; i < t->cell_count; i++) {
        free(t->cells[i].text);
        free(t->cells[i].note);
    }
    free(t->cells);
    *t = (table){0};
}

/* Characters, not bytes: every byte but the continuations of UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

char *table_clean(const char *text, char *out, size_t out_bytes)
{
    size_t n = 0;
    for (; *text && n + 1 < out_bytes; text++) {
        unsigned char c = (unsigned char)*text;
        bool c1 = c == 0xC2 && (unsigned char)text[1] < 0xA0;
        bool control = c < 0x20 || c == 0x7F || c1;
        if (c1 && text[1])
            text++;
        out[n++] = control ? '?' : (char)c;
    }
    out[n] = '\0';
    return out;
}

void table_add_column(table *t, const char *head, table_align align)
{
    if (t->column_count == TABLE_MAX_COLUMNS)
        return;
    char clean[CELL_BYTES];
    size_t i = t->column_count;
    t->columns[i].head = strdup(table_clean(head, clean, sizeof clean));
    t->columns[i].align = align;
    t->columns[i].width = width_of(clean);
    if (!t->columns[i].head)
        t->failed = true;
    t->column_count++;
}

void table_add_cell(table *t, const char *format, ...)
{
    if (t->failed || t->column_count == 0)
        return;
    struct table_cell *cells = array_grow(t->cells, t->cell_count, sizeof *cells);
    if (!cells) {
        t->failed = true;
        return;
    }
    t->cells = cells;
    char text[CELL_BYTES], clean[CELL_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *copy = strdup(table_clean(text, clean, sizeof clean));
    if (!copy) {
        t->failed = true;
        return;
    }
    size_t column = t->cell_count % t->column_count;
    size_t width = width_of(copy);
    if (width > t->columns[column].width)
        t->columns[column].width = width;
    t->cells[t->cell_count++] = (struct table_cell){.text = copy};
}

static struct table_cell *first_of_row(table *t)
{
    size_t last = t->cell_count - 1;
    return t->cell_count ? &t->cells[last - last % t->column_count] : NULL;
}

void table_style_row(table *t, table_style style)
{
    struct table_cell *first = first_of_row(t);
    if (first)
        first->style = style;
}

void table_note_row(table *t, const char *words)
{
    char clean[NOTE_BYTES];
    struct table_cell *first = first_of_row(t);
    if (!first || t->failed)
        return;
    free(first->note);
    first->note = strdup(table_clean(words, clean, sizeof clean));
    if (!first->note)
        t->failed = true;
}

size_t table_width(const table *t)
{
    size_t width = 0;
    for (size_t i = 0; i < t->column_count; i++)
        width += GAP + t->columns[i].width;
    return width;
}

/* No spaces after the last cell of a line. */
static void print_cell(const table *t, size_t column, const char *text, FILE *to)
{
    size_t width = width_of(text);
    size_t pad = t->columns[column].width > width ? t->columns[column].width - width : 0;
    bool left = t->columns[column].align == TABLE_LEFT;
    bool last = column + 1 == t->column_count;
    fprintf(to, "%*s%s%*s", (int)(GAP + (left ? 0 : pad)), "", text, (int)(left && !last ? pad : 0),
            "");
}

void table_print_wrapped(size_t columns, int indent, const char *label, const char *words, FILE *to)
{
    size_t room = columns > (size_t)indent ? columns - (size_t)indent : 1;
    fprintf(to, "%-*s", indent, label);
    for (;;) {
        size_t length = strlen(words), cut = length;
        if (length > room) {
            for (cut = room; cut > 0 && words[cut] != ' ';)
                cut--;
            if (cut == 0) /* a word longer than the line */
                cut = strcspn(words, " ");
        }
        fprintf(to, "%.*s\n", (int)cut, words);
        if (words[cut] == '\0')
            return;
        words += cut + 1;
        fprintf(to, "%*s", indent, "");
    }
}

at_status table_print(const table *t, bool colour, FILE *to, at_error *error)
{
    if (t->failed)
        return error_set(error, AT_NO_MEMORY, "out of memory while making a table");
    fputs(colour ? head_code : "", to);
    for (size_t c = 0; c < t->column_count; c++)
        print_cell(t, c, t->columns[c].head, to);
    fprintf(to, "%s\n", colour ? end_code : "");
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t column = i % t->column_count;
        const struct table_cell *first = &t->cells[i - column];
        if (column == 0 && colour)
            fputs(style_codes[first->style], to);
        print_cell(t, column, t->cells[i].text, to);
        if (column + 1 < t->column_count && i + 1 < t->cell_count)
            continue;
        fprintf(to, "%s\n", colour && first->style != TABLE_PLAIN ? end_code : "");
        if (first->note) {
            fputs(colour ? style_codes[TABLE_DIM] : "", to);
            table_print_wrapped(t->page_columns, NOTE_INDENT, "", first->note, to);
            fputs(colour ? end_code : "", to);
        }
    }
    return AT_OK;
}
