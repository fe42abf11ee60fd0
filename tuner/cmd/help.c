/* autotune help: the pages of docs/, the includes of templates, and the help of commands. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/wrap.h"
#include "cmd/line/page.h"
#include "cmd/table.h"
#include "search/strategy.h"

enum { MOST_BYTES = 1 << 20, MOST_TOPICS = 96, TOPIC_BYTES = 48 };

#define BUILDERS "development"

/* Topics of help, in this order: pages for users, tutorial first; for developers; commands. */
typedef struct topics {
    char pages[MOST_TOPICS][TOPIC_BYTES];
    const char *names[MOST_TOPICS];
    size_t user_count, page_count, count;
} topics;

static at_status read_text(const char *folder, const char *name, char **text, at_error *error)
{
    char path[PATHS_BYTES + 300];
    size_t size_bytes;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_read(path, MOST_BYTES, text, &size_bytes, error);
}

/* Returns whether the template's name starts with the name of a pattern. */
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

/* Packs {name, text} of each template that other templates can include. */
static at_status pack_templates(const paths *p, json_t **out, at_error *error)
{
    struct dirent **list = NULL;
    int count = scandir(p->template_dir, &list, is_plain_template, alphasort);
    if (count < 0)
        return error_set(error, AT_IO, "%s cannot be read", p->template_dir);
    at_status status = AT_OK;
    for (int i = 0; i < count; i++) {
        char *text = NULL;
        if (!status && !is_of_pattern(p, list[i]->d_name))
            status = read_text(p->template_dir, list[i]->d_name, &text, error);
        if (text)
            json_append(out, json_pack("{ss ss}", "name", list[i]->d_name, "text", text));
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

static at_status read_page(const char *folder, const char *page, char **text, at_error *error)
{
    char path[PATHS_BYTES + TOPIC_BYTES], name[TOPIC_BYTES + sizeof BUILDERS + 8];
    snprintf(name, sizeof name, "%s.md", page);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, F_OK) != 0)
        snprintf(name, sizeof name, BUILDERS "/%s.md", page);
    return read_text(folder, name, text, error);
}

static at_status print_page(const options *o, const paths *p, const char *folder, const char *page,
                            at_error *error)
{
    char *text = NULL;
    json_t *templates = json_array();
    at_status status = read_page(folder, page, &text, error);
    if (!status && strcmp(page, "templates") == 0)
        status = pack_templates(p, &templates, error);
    if (status)
        json_decref(templates);
    else
        status = page_show(o, "help", 0, json_pack("{ss so}", "text", text, "templates", templates),
                           NULL, error);
    free(text);
    return status;
}

static at_status print_topics(const char *folder, const topics *t, at_error *error)
{
    char builders[1024] = "for those who work on autotune itself:";
    at_status status = AT_OK;
    puts("'autotune help PAGE' prints a page:");
    for (size_t i = 0; !status && i < t->user_count; i++) {
        char *text = NULL;
        status = read_page(folder, t->names[i], &text, error);
        char label[64];
        snprintf(label, sizeof label, "  %-16s  ", t->names[i]);
        if (!status) {
            text[strcspn(text, "\n")] = '\0';
            wrap_print(terminal_page(), (int)strlen(label), label, text + 2, stdout);
        }
        free(text);
    }
    for (size_t i = t->user_count; i < t->page_count; i++)
        text_add(builders, sizeof builders, "%s %s", i > t->user_count ? "," : "", t->names[i]);
    wrap_print(terminal_page(), 0, "", builders, stdout);
    puts("'autotune help COMMAND' explains a command; 'autotune --help' lists them.");
    return status;
}

/* All commands have these codes. The help of a command explains its further codes. */
static const char exit_codes[] =
    "Exit codes of every command: 0 done, 2 the command line or the script is wrong, or a file "
    "that they name is missing, 3 there is no usable device or CUDA toolchain, 4 a file cannot be "
    "read or written, 5 a bug, 130 interrupted.\n";

enum { PARAGRAPH_BYTES = 4096, MOST_HELP_COLUMNS = 110 };

/* Prints paragraphs, wrapped at `columns`. Indented lines keep their line breaks. */
static void print_paragraphs(const char *text, size_t columns)
{
    char paragraph[PARAGRAPH_BYTES];
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (*text == ' ' || *text == '\n') {
            printf("%.*s\n", (int)length, text);
            text += length + (text[length] == '\n');
            continue;
        }
        paragraph[0] = '\0';
        for (; *text && *text != ' ' && *text != '\n'; length = strcspn(text, "\n")) {
            text_add(paragraph, sizeof paragraph, "%s%.*s", *paragraph ? " " : "", (int)length,
                     text);
            text += length + (text[length] == '\n');
        }
        wrap_print(columns, 0, "", paragraph, stdout);
    }
}

/* Prints a name in the left column, and its description in the right column. */
static void print_described(const char *name, const char *words, size_t columns)
{
    char label[64];
    int indent = snprintf(label, sizeof label, "  %-24s ", name);
    wrap_print(columns, indent < (int)sizeof label ? indent : 0, label, words, stdout);
}

static void print_strategies(size_t columns)
{
    size_t count;
    const strategy_kind *const *kinds = strategy_kinds(&count);
    printf("\nStrategies (without --strategy: %s):\n", kinds[0]->name);
    for (size_t i = 0; i < count; i++)
        print_described(kinds[i]->name, kinds[i]->summary, columns);
}

void help_print(const command *c)
{
    size_t columns = terminal_page() < MOST_HELP_COLUMNS ? terminal_page() : MOST_HELP_COLUMNS;
    /* The program's own options follow the program. */
    printf("Usage: autotune %s%s%s%s%s\n\n", c->name, c->runs_program ? " [OPTION]..." : "",
           c->operand ? " " : "", c->operand ? c->operand : "",
           c->runs_program ? "" : " [OPTION]...");
    wrap_print(columns, 0, "", c->summary, stdout);
    puts("\nOptions:");
    option_description o;
    bool searches = false;
    for (size_t i = 0; options_describe(c, i, &o); i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", o.name, o.argument ? o.argument : "");
        print_described(left, o.help, columns);
        searches = searches || strcmp(o.name, "strategy") == 0;
    }
    if (searches)
        print_strategies(columns);
    char text[OPTIONS_DETAILS_BYTES];
    options_details(c->name, text);
    fputs(*text ? "\n" : "", stdout);
    print_paragraphs(text, columns);
    puts("");
    print_paragraphs(exit_codes, columns);
}

static at_status run(const options *o, at_error *error)
{
    paths p;
    topics t;
    char folder[PATHS_BYTES];
    at_status status = paths_find(&p, error);
    if (!status && !paths_shared_file(&p, "docs", folder, sizeof folder))
        status = error_set(error, AT_IO,
                           "the path of the documentation pages is too long: install autotune in a "
                           "folder with a shorter path");
    if (!status)
        status = find_topics(o, folder, &t, error);
    if (status)
        return status;
    if (!o->operand)
        return print_topics(folder, &t, error);
    const command *c = options_command(o, o->operand);
    for (size_t i = 0; i < t.page_count; i++)
        if (strcmp(t.names[i], o->operand) == 0) {
            status = print_page(o, &p, folder, o->operand, error);
            if (!status && c)
                printf("\n'autotune %s --help' has the options of the command.\n", c->name);
            return status;
        }
    if (c) {
        FILE *whole = terminal_wrap_begin(true);
        help_print(c);
        terminal_wrap_end(whole);
        return AT_OK;
    }
    const char *nearest = nearest_name(o->operand, t.names, t.count);
    return error_set(error, AT_USAGE,
                     "there is no help on '%s': 'autotune help' lists the pages, and "
                     "'autotune --help' the commands%s%s%s",
                     o->operand, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

const command cmd_help = {
    .name = "help",
    .operand = "[PAGE or COMMAND]",
    .operands_most = 1,
    .summary = "Print a page of the documentation, or explain a command",
    .raw = true, /* pages are wrapped already, and lines of code must stay whole */
    .run = run,
};
