#include "export/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PAGE_COLUMNS = 98 };

static void print_upper(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), to);
}

/* Three octal digits always, so that a digit behind is not taken in; '?' for the trigraphs' sake,
 * '*' so that no text can end a comment put around it. */
void export_print_literal(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c < 0x7F && !strchr("\"\\?*", c))
            fputc(c, to);
        else
            fprintf(to, "\\%03o", c);
    }
    fputc('"', to);
}

static void print_slot(const export_model *m, const char *name, size_t length,
                       const export_slot *slots, FILE *to)
{
    while (strlen(slots->name) != length || strncmp(slots->name, name, length) != 0)
        slots++;
    if (slots->print)
        slots->print(m, to);
    else
        fputs(slots->text, to);
}

void export_print_text(const export_model *m, const char *text, const export_slot *slots, FILE *to)
{
    bool line_starts = true;
    for (; *text; text++) {
        if (*text == '@') {
            size_t length = strcspn(text + 1, "@");
            print_slot(m, text + 1, length, slots, to);
            text += 1 + length;
            text += line_starts && text[1] == '\n';
        } else if (*text == '$') {
            fputs(m->pattern, to);
        } else {
            fputc(*text, to);
        }
        line_starts = *text == '\n';
    }
}

void export_print_word(const export_model *m, const export_column *c, const export_word *w,
                       FILE *to)
{
    fputs("AUTOTUNE_", to);
    print_upper(m->pattern, to);
    fputc('_', to);
    print_upper(c->identifier, to);
    fprintf(to, "_%s", w->identifier);
}

static double number_of(value v)
{
    if (v.kind == VALUE_NUMBER)
        return v.number;
    return v.kind == VALUE_BOOLEAN ? v.boolean : (double)v.integer;
}

void export_print_long(int64_t v, FILE *to)
{
    if (v == INT64_MIN)
        fputs("INT64_MIN", to);
    else if (v > INT32_MAX || v < -INT32_MAX)
        fprintf(to, "INT64_C(%" PRId64 ")", v);
    else
        fprintf(to, "%" PRId64, v);
}

static void print_number(double v, FILE *to)
{
    char text[40];
    if (!isfinite(v))
        v = 0;
    value_format((value){.kind = VALUE_NUMBER, .number = v}, text, sizeof text);
    fputs(text, to);
}

void export_print_value(const export_model *m, const export_column *c, value v, FILE *to)
{
    switch (c->type) {
    case EXPORT_INTEGER:
    case EXPORT_LONG:
        export_print_long(v.integer, to);
        break;
    case EXPORT_NUMBER:
        print_number(number_of(v), to);
        break;
    case EXPORT_BOOLEAN:
        fputs(v.boolean ? "true" : "false", to);
        break;
    case EXPORT_WORD:
        export_print_word(m, c, export_find_word(c, v), to);
        break;
    }
}

/* How long what export_print_value() prints is. */
static size_t value_width(const export_model *m, const export_column *c, value v)
{
    char text[512] = "";
    FILE *to = fmemopen(text, sizeof text, "w");
    if (!to)
        return 0;
    export_print_value(m, c, v, to);
    fclose(to);
    return strlen(text);
}

static value nothing_of(const export_column *c)
{
    if (c->type == EXPORT_WORD)
        return (value){.kind = VALUE_STRING, .string = c->words[0].text};
    return (value){.kind = c->type == EXPORT_BOOLEAN  ? VALUE_BOOLEAN
                           : c->type == EXPORT_NUMBER ? VALUE_NUMBER
                                                      : VALUE_INTEGER};
}

/* A struct without members is not C, hence the 0. */
void export_print_values(const export_model *m, const export_column *columns, size_t count,
                         const record_values *values, size_t column, FILE *to)
{
    size_t at = column + 1;
    fputc('{', to);
    for (size_t i = 0; i < count; i++) {
        const value *given = record_get(values, columns[i].name);
        value v = given ? *given : nothing_of(&columns[i]);
        size_t width = value_width(m, &columns[i], v) + 2;
        if (i > 0 && at + width > PAGE_COLUMNS) {
            fprintf(to, ",\n%*s", (int)column + 1, "");
            at = column + 1;
        } else if (i > 0) {
            fputs(", ", to);
        }
        export_print_value(m, &columns[i], v, to);
        at += width;
    }
    fputs(count ? "}" : "0}", to);
}
