/* autotune help: the pages of docs/, the includes of templates, and the help of commands. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/wrap.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"

enum { MOST_BYTES = 1 << 20, MOST_TOPICS = 96, TOPIC_BYTES = 48 };

/* The folder of the pages for people who work on autotune, below the folder of the other pages. */
#define BUILDERS "development"

/* The topics of help: pages for users with the tutorial first, pages for builders, then
 * commands. */
typedef struct topics {
    char pages[MOST_TOPICS][TOPIC_BYTES];
    const char *names[MOST_TOPICS];
    size_t user_count, page_count, count;
} topics;

static bool starts_with(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Prints the first comment of a template, and each global function with its comment. */
static void print_template(const char *name, char *text)
{
    char *rest = text, *comment = NULL;
    bool at_top = true;
    printf("\n%s\n", name);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        bool is_comment = starts_with(line, "% -- ");
        if (at_top && is_comment) {
            printf("  %s\n", line + 5);
            continue;
        }
        at_top = false;
        if (starts_with(line, "% function ")) {
            printf("\n  %s\n", line + 11);
            for (char *c = comment; c && c < line; c += strlen(c) + 1)
                printf("      %s\n", c + 5);
        }
        comment = !is_comment ? NULL : comment ? comment : line;
    }
}

static at_status read_text(const char *folder, const char *name, char **text, at_error *error)
{
    char path[PATHS_BYTES + 300];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_read(path, MOST_BYTES, text, &size_bytes, error);
}

/* Returns whether the template belongs to a pattern: its name starts with the pattern's name. */
static bool is_of_pattern(const paths *p, const char *name)
{
    char path[PATHS_BYTES + 300];
    for (const char *c = name; (c = strchr(c, '_')) != NULL; c++) {
        snprintf(path, sizeof path, "%s/%.*s.lua", p->lua_dir, (int)(c - name), name);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static int is_plain_template(const struct dirent *e)
{
    const char *dot = strchr(e->d_name, '.');
    return dot && strcmp(dot, ".tmpl") == 0;
}

static at_status print_includes(const paths *p, at_error *error)
{
    struct dirent **list = NULL;
    int count = scandir(p->template_dir, &list, is_plain_template, alphasort);
    if (count < 0)
        return error_set(error, AT_IO, "%s cannot be read", p->template_dir);
    at_status status = AT_OK;
    for (int i = 0; i < count; i++) {
        char *text = NULL;
        if (!status && !is_of_pattern(p, list[i]->d_name)) {
            status = read_text(p->template_dir, list[i]->d_name, &text, error);
            if (!status)
                print_template(list[i]->d_name, text);
        }
        free(text);
        free(list[i]);
    }
    free(list);
    return status;
}

static int is_page(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return dot && strcmp(dot, ".md") == 0 && dot - e->d_name < TOPIC_BYTES;
}

static at_status add_pages(const char *folder, topics *out, at_error *error)
{
    struct dirent **list = NULL;
    int count = scandir(folder, &list, is_page, alphasort);
    if (count < 0)
        return error_set(error, AT_IO, "%s, which has the pages, cannot be read", folder);
    for (int i = 0; i < count; i++) {
        if (out->count < MOST_TOPICS) {
            char *page = out->pages[out->count];
            snprintf(page, TOPIC_BYTES, "%.*s", (int)(strlen(list[i]->d_name) - 3),
                     list[i]->d_name);
            out->names[out->count++] = page;
        }
        free(list[i]);
    }
    free(list);
    return AT_OK;
}

static at_status find_topics(const options *o, const char *folder, topics *out, at_error *error)
{
    char builders[PATHS_BYTES + sizeof BUILDERS];
    snprintf(builders, sizeof builders, "%s/" BUILDERS, folder);
    *out = (topics){0};
    at_status status = add_pages(folder, out, error);
    out->user_count = out->count;
    for (size_t i = out->user_count; i-- > 1;)
        if (strcmp(out->names[i], "tutorial") == 0) {
            const char *first = out->names[i];
            memmove(out->names + 1, out->names, i * sizeof *out->names);
            out->names[0] = first;
            break;
        }
    if (!status)
        status = add_pages(builders, out, error);
    out->page_count = out->count;
    for (size_t i = 0; i < o->command_count && out->count < MOST_TOPICS; i++)
        out->names[out->count++] = o->commands[i]->name;
    return status;
}

/* Returns the first cell of a table row, without blanks around it, and sets *rest behind the bar
 * that ends the cell. The cell may be empty. Changes the row. */
static char *take_cell(char **rest)
{
    char *cell = *rest + strspn(*rest, " ");
    char *end = *cell == '|' ? cell : strstr(cell, " |");
    *rest = end ? end + strspn(end, " ") + 1 : cell + strlen(cell);
    if (end)
        *end = '\0';
    return cell;
}

enum { MOST_COLUMNS = 8, GAP = 2, LEAST_COLUMN = 8, MOST_PARAGRAPH_LINE = 1024 };

/* Splits a row into cells and returns their number. Changes the row. */
static size_t take_cells(char *row, char *cells[MOST_COLUMNS])
{
    size_t count = 0;
    for (char *rest = row + 1; *rest && count < MOST_COLUMNS;)
        cells[count++] = take_cell(&rest);
    return count;
}

/* Narrows the widest columns until all columns fit on the page. */
static void fit_columns(size_t widths[MOST_COLUMNS], size_t count, size_t page)
{
    for (;;) {
        size_t sum = GAP * (count - 1), widest = 0;
        for (size_t i = 0; i < count; i++) {
            sum += widths[i];
            widest = widths[i] > widths[widest] ? i : widest;
        }
        if (sum <= page || widths[widest] <= LEAST_COLUMN)
            return;
        widths[widest]--;
    }
}

/* Returns the length of the text that fits into a line, up to a blank if there is one. */
static size_t cut_line(const char *text, size_t width)
{
    const size_t length = strlen(text);
    size_t at = width;
    if (length <= width)
        return length;
    while (at > 0 && text[at] != ' ')
        at--;
    return at > 0 ? at : width;
}

static void print_cells(char *cells[MOST_COLUMNS], size_t count, const size_t widths[MOST_COLUMNS])
{
    for (bool is_more = count > 0; is_more;) {
        size_t blanks = 0;
        is_more = false;
        for (size_t i = 0; i < count; i++) {
            const size_t length = cut_line(cells[i], widths[i]);
            if (length > 0)
                printf("%*s%.*s", (int)blanks, "", (int)length, cells[i]);
            blanks = (length > 0 ? 0 : blanks) + widths[i] - length + GAP;
            cells[i] += length + strspn(cells[i] + length, " ");
            is_more = is_more || *cells[i];
        }
        puts("");
    }
}

/* Prints a table: its head, a line, and the rows, with cells wrapped in their columns. Changes the
 * text. */
static void print_table(char *text, size_t page)
{
    char *cells[MOST_COLUMNS];
    size_t widths[MOST_COLUMNS] = {0}, column_count = 0, row = 0;
    char *measured = strdup(text);
    for (char *line, *rest = measured; (line = strsep(&rest, "\n")) != NULL;) {
        const size_t count = line[strspn(line, "|- ")] ? take_cells(line, cells) : 0;
        column_count = count > column_count ? count : column_count;
        for (size_t i = 0; i < count; i++)
            widths[i] = strlen(cells[i]) > widths[i] ? strlen(cells[i]) : widths[i];
    }
    free(measured);
    if (column_count > 0)
        fit_columns(widths, column_count, page);
    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        if (!line[strspn(line, "|- ")])
            continue;
        print_cells(cells, take_cells(line, cells), widths);
        for (size_t i = 0; row == 0 && i < column_count; i++) {
            for (size_t k = 0; k < widths[i]; k++)
                putchar('-');
            printf("%*s", i + 1 < column_count ? GAP : 0, "");
        }
        if (row++ == 0)
            puts("");
    }
}

/* Returns the length of the mark that begins a list item, "- " or "1. ", or 0 for other lines. */
static size_t item_mark(const char *line)
{
    const size_t digits = strspn(line, "0123456789");
    if (line[0] == '-' && line[1] == ' ')
        return 2;
    return digits > 0 && line[digits] == '.' && line[digits + 1] == ' ' ? digits + 2 : 0;
}

/* Returns whether the line continues the paragraph or list item above it. `mark` is the length of
 * the item's mark, 0 for a paragraph. */
static bool goes_on(const char *line, size_t mark)
{
    const size_t blanks = strspn(line, " ");
    return line[blanks] != '\n' && line[blanks] && !strchr("|#", *line) &&
           strncmp(line, "```", 3) != 0 && !item_mark(line) &&
           (blanks == 0 || (mark > 0 && blanks == mark));
}

/* Prints a paragraph or list item with new line breaks, and returns the text after it. */
static const char *print_paragraph(const char *at, size_t page)
{
    char text[8192] = "", mark_text[16];
    const size_t mark = item_mark(at);
    snprintf(mark_text, sizeof mark_text, "%.*s", (int)mark, at);
    at += mark;
    do {
        at += strspn(at, " ");
        const size_t length = strcspn(at, "\n");
        text_add(text, sizeof text, "%s%.*s", *text ? " " : "", (int)length, at);
        at += length + (at[length] == '\n');
    } while (goes_on(at, mark));
    wrap_print(page, (int)mark, mark_text, text, stdout);
    return at;
}

/* Prints the text of a page. Paragraphs and tables fit the terminal; code stays as it is. Changes
 * the text. */
static void print_lines(char *text)
{
    const size_t page = terminal_page();
    bool is_code = false;
    for (char *at = text; *at;) {
        char *end = at;
        while (!is_code && *end == '|') {
            end += strcspn(end, "\n");
            end += *end == '\n';
        }
        if (end > at) {
            end[-1] = '\0';
            print_table(at, page);
            at = end;
            continue;
        }
        if (!is_code && !strchr(" #\n", *at) && !starts_with(at, "```") &&
            strcspn(at, "\n") < MOST_PARAGRAPH_LINE) {
            at = text + (print_paragraph(at, page) - text);
            continue;
        }
        is_code = is_code != starts_with(at, "```");
        end += strcspn(end, "\n");
        printf("%.*s\n", (int)(end - at), at);
        at = end + (*end == '\n');
    }
}

static at_status read_page(const char *folder, const char *page, char **text, at_error *error)
{
    char path[PATHS_BYTES + TOPIC_BYTES], name[TOPIC_BYTES + sizeof BUILDERS + 8];
    snprintf(name, sizeof name, "%s.md", page);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, F_OK) != 0)
        snprintf(name, sizeof name, BUILDERS "/%s.md", page);
    return read_text(folder, name, text, error);
}

static at_status print_page(const paths *p, const char *folder, const char *page, at_error *error)
{
    char *text = NULL;
    at_status status = read_page(folder, page, &text, error);
    if (!status)
        print_lines(text);
    free(text);
    return !status && strcmp(page, "templates") == 0 ? print_includes(p, error) : status;
}

/* Prints the names of the pages, each with its heading, which is its first line. */
static at_status print_topics(const char *folder, const topics *t, at_error *error)
{
    char builders[1024] = "for those who work on autotune itself:";
    at_status status = AT_OK;
    puts("'autotune help PAGE' prints a page:");
    for (size_t i = 0; !status && i < t->user_count; i++) {
        char *text = NULL;
        status = read_page(folder, t->names[i], &text, error);
        if (!status)
            printf("  %-16s  %.*s\n", t->names[i], (int)strcspn(text, "\n") - 2, text + 2);
        free(text);
    }
    for (size_t i = t->user_count; i < t->page_count; i++)
        text_add(builders, sizeof builders, "%s %s", i > t->user_count ? "," : "", t->names[i]);
    wrap_print(terminal_page(), 0, "", builders, stdout);
    puts("'autotune help COMMAND' explains a command; 'autotune --help' lists them.");
    return status;
}

static at_status run(const options *o, at_error *error)
{
    paths p;
    topics t;
    char folder[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    if (!status && !paths_share(&p, "docs", folder, sizeof folder))
        status = error_set(error, AT_IO, "the path of the pages is too long");
    if (!status)
        status = find_topics(o, folder, &t, error);
    if (status)
        return status;
    if (!o->operand)
        return print_topics(folder, &t, error);
    const command *c = options_command(o, o->operand);
    for (size_t i = 0; i < t.page_count; i++)
        if (strcmp(t.names[i], o->operand) == 0) {
            status = print_page(&p, folder, o->operand, error);
            if (!status && c)
                printf("\n'autotune %s --help' has the options of the command.\n", c->name);
            return status;
        }
    if (c) {
        options_print_help(c, stdout);
        return AT_OK;
    }
    const char *nearest = nearest_name(o->operand, t.names, t.count);
    return error_set(error, AT_USAGE,
                     "there is no help on '%s'%s%s%s; 'autotune help' lists the pages, and "
                     "'autotune --help' the commands",
                     o->operand, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

const command cmd_help = {
    .name = "help",
    .operand = "[PAGE or COMMAND]",
    .operands_most = 1,
    .summary = "Print a page of the documentation, or explain a command",
    .run = run,
};
