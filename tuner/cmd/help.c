/* autotune help: the pages of docs/, what templates can include, and the help of commands. */
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
#include "cmd/line/terminal.h"

enum { MOST_BYTES = 1 << 20, MOST_TOPICS = 96, TOPIC_BYTES = 48 };

/* Pages first, then commands. */
typedef struct topics {
    char pages[MOST_TOPICS][TOPIC_BYTES];
    const char *names[MOST_TOPICS];
    size_t page_count, count;
} topics;

static bool starts_with(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Prints of a template what its first comment says, and each global function with its comment. */
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

/* Templates of a pattern are its own: their names start with the pattern's. */
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

static at_status find_topics(const options *o, const char *folder, topics *out, at_error *error)
{
    struct dirent **list = NULL;
    int count = scandir(folder, &list, is_page, alphasort);
    if (count < 0)
        return error_set(error, AT_IO, "%s, which has the pages, cannot be read", folder);
    *out = (topics){0};
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
    out->page_count = out->count;
    for (size_t i = 0; i < o->command_count && out->count < MOST_TOPICS; i++)
        out->names[out->count++] = o->commands[i]->name;
    return AT_OK;
}

/* Returns the text of a row's first cell, without what is beside it; *rest gets the cells after it.
 */
static char *take_cell(char **rest)
{
    char *cell = *rest + strspn(*rest, "| "), *end = strstr(cell, " |");
    end = end ? end : cell + strlen(cell);
    *rest = end + strspn(end, " |");
    *end = '\0';
    return cell;
}

/* Prints a row of a table that the page has no room for: its first cell, and the others beside or
 * below it. `line` is changed. */
static void print_row(char *line, size_t columns)
{
    enum { LABEL = 28, INDENT = 4 };
    char *rest = line;
    const char *label = take_cell(&rest);
    const bool beside = strlen(label) < LABEL;
    if (!beside)
        wrap_print(columns, 0, "", label, stdout);
    while (*rest) {
        wrap_print(columns, beside ? LABEL : INDENT, beside ? label : "", take_cell(&rest), stdout);
        label = "";
    }
}

/* Is a row of the table that begins here too long for the page? */
static bool is_wide_table(const char *text, size_t columns)
{
    bool is_wide = false;
    for (; *text == '|'; text += strcspn(text, "\n"), text += *text == '\n')
        is_wide = is_wide || strcspn(text, "\n") > columns;
    return is_wide;
}

/* Prints the text of a page, with tables that fit the terminal. */
static void print_lines(char *text)
{
    const size_t columns = terminal_page();
    bool in_table = false, is_wide = false;
    for (char *line, *rest = text; rest && *rest;) {
        if (*rest == '|' && !in_table)
            is_wide = is_wide_table(rest, columns);
        in_table = *rest == '|';
        line = strsep(&rest, "\n");
        if (!in_table || !is_wide)
            puts(line);
        else if (line[strspn(line, "|- ")] != '\0')
            print_row(line, columns);
    }
}

static at_status read_page(const char *folder, const char *page, char **text, at_error *error)
{
    char name[TOPIC_BYTES + 4];
    snprintf(name, sizeof name, "%s.md", page);
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

/* Prints the pages, each beside its heading, which is its first line. */
static at_status print_topics(const char *folder, const topics *t, at_error *error)
{
    at_status status = AT_OK;
    puts("'autotune help PAGE' prints a page:");
    for (size_t i = 0; !status && i < t->page_count; i++) {
        char *text = NULL;
        status = read_page(folder, t->names[i], &text, error);
        if (!status)
            printf("  %-16s  %.*s\n", t->names[i], (int)strcspn(text, "\n") - 2, text + 2);
        free(text);
    }
    puts("'autotune help COMMAND' explains a command; 'autotune --help' lists them.");
    return status;
}

static const command *find_command(const options *o, const char *name)
{
    for (size_t i = 0; i < o->command_count; i++)
        if (strcmp(o->commands[i]->name, name) == 0)
            return o->commands[i];
    return NULL;
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
    const command *c = find_command(o, o->operand);
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
