#include "report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/wrap.h"

enum { CELL_BYTES = 512, NOTE_BYTES = 2048, GAP = 2, NOTE_INDENT = 6, LEAST_WORDS = 16 };

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

void table_add_columns(table *t, const char *heads)
{
    for (size_t length = strcspn(heads, ",");; heads += length + 1, length = strcspn(heads, ",")) {
        char head[CELL_BYTES];
        bool left = *heads == '<';
        snprintf(head, sizeof head, "%.*s", (int)(length - left), heads + left);
        table_add_column(t, head, left ? TABLE_LEFT : TABLE_RIGHT);
        if (!heads[length])
            return;
    }
}

void table_add_cell(table *t, const char *format, ...)
{
    if (t->failed || t->column_count == 0)
        return;
    char text[CELL_BYTES], clean[CELL_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct table_cell cell = {.text = strdup(table_clean(text, clean, sizeof clean))};
    size_t column = t->cell_count % t->column_count;
    size_t width = width_of(clean);
    if (width > t->columns[column].width)
        t->columns[column].width = width;
    if (!cell.text || !array_add(&t->cells, &t->cell_count, &cell, sizeof cell)) {
        free(cell.text);
        t->failed = true;
    }
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
static void print_cell(const table *t, size_t column, const char *text, bool last, FILE *to)
{
    size_t width = width_of(text);
    size_t pad = t->columns[column].width > width ? t->columns[column].width - width : 0;
    bool left = t->columns[column].align == TABLE_LEFT;
    fprintf(to, "%*s%s%*s", (int)(GAP + (left ? 0 : pad)), "", text, (int)(left && !last ? pad : 0),
            "");
}

void table_print_wrapped(size_t columns, int indent, const char *label, const char *words, FILE *to)
{
    size_t room = columns > (size_t)indent ? columns - (size_t)indent : 1;
    fprintf(to, "%-*s", indent, label);
    for (;;) {
        size_t skip, cut = wrap_cut(words, room, &skip);
        fprintf(to, "%.*s\n", (int)cut, words);
        words += cut + skip;
        if (*words == '\0')
            return;
        fprintf(to, "%*s", indent, "");
    }
}

/* Which columns are printed side by side: the first of the table, then `from` to `end`. */
typedef struct band {
    size_t from, end;
    size_t word_columns; /* of the page, for words of the last column; 0: as wide as they are */
} band;

static size_t band_width(const table *t, size_t from, size_t end)
{
    size_t width = from > 0 ? GAP + t->columns[0].width : 0;
    for (size_t c = from; c < end; c++)
        width += GAP + t->columns[c].width;
    return width;
}

/* As many columns from `from` on as the page has room for, and one at least. */
static band next_band(const table *t, size_t from)
{
    size_t last = t->column_count - 1;
    band b = {.from = from, .end = from + (from == 0 && t->column_count > 1 ? 2 : 1)};
    while (b.end < t->column_count && band_width(t, from, b.end + 1) <= t->page_columns)
        b.end++;
    bool is_left_out = b.end == last || band_width(t, from, b.end) > t->page_columns;
    if (b.end >= last && is_left_out && last > from && t->columns[last].align == TABLE_LEFT &&
        band_width(t, from, last) + LEAST_WORDS <= t->page_columns) {
        b.end = t->column_count;
        b.word_columns = t->page_columns - band_width(t, from, last) - GAP;
    }
    return b;
}

static void print_words(const char *words, size_t columns, size_t indent, FILE *to)
{
    for (;;) {
        size_t skip, cut = wrap_cut(words, columns, &skip);
        fprintf(to, "%*s%.*s", GAP, "", (int)cut, words);
        words += cut + skip;
        if (*words == '\0')
            return;
        fprintf(to, "\n%*s", (int)indent, "");
    }
}

/* A line of `texts`, one a column of the table. */
static void print_row(const table *t, const band *b, const char *const *texts, FILE *to)
{
    if (b->from > 0)
        print_cell(t, 0, texts[0], false, to);
    for (size_t c = b->from; c < b->end; c++)
        if (b->word_columns && c + 1 == b->end)
            print_words(texts[c], b->word_columns, band_width(t, b->from, c), to);
        else
            print_cell(t, c, texts[c], c + 1 == b->end, to);
}

static void print_band(const table *t, const band *b, bool colour, FILE *to)
{
    const char *texts[TABLE_MAX_COLUMNS];
    for (size_t c = 0; c < t->column_count; c++)
        texts[c] = t->columns[c].head;
    fputs(colour ? head_code : "", to);
    print_row(t, b, texts, to);
    fprintf(to, "%s\n", colour ? end_code : "");
    for (size_t i = 0; i < t->cell_count; i += t->column_count) {
        const struct table_cell *first = &t->cells[i];
        for (size_t c = 0; c < t->column_count; c++)
            texts[c] = i + c < t->cell_count ? t->cells[i + c].text : "";
        fputs(colour ? style_codes[first->style] : "", to);
        print_row(t, b, texts, to);
        fprintf(to, "%s\n", colour && first->style != TABLE_PLAIN ? end_code : "");
        if (first->note && b->from == 0) {
            fputs(colour ? style_codes[TABLE_DIM] : "", to);
            table_print_wrapped(t->page_columns, NOTE_INDENT, "", first->note, to);
            fputs(colour ? end_code : "", to);
        }
    }
}

at_status table_print(const table *t, bool colour, FILE *to, at_error *error)
{
    if (t->failed)
        return error_set(error, AT_NO_MEMORY, "out of memory while making a table");
    band b = {0};
    do {
        if (b.end > 0)
            fputc('\n', to);
        b = next_band(t, b.end);
        print_band(t, &b, colour, to);
    } while (b.end < t->column_count);
    return AT_OK;
}
