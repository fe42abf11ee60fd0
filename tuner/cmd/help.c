/* autotune help: what scripts and templates can say, from the comments where it is defined. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "cmd/line/commands.h"
#include "cmd/line/terminal.h"

enum { MOST_BYTES = 1 << 20 };

static bool starts_with(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Prints the comment that the file starts with, then each that starts with `---`. */
static void print_lua(char *text)
{
    bool at_top = true, in_doc = false;
    /* A terminal breaks paragraphs itself: their lines are put together again. */
    bool flows = terminal_columns(SIZE_MAX) > 0, in_paragraph = false;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        bool comment = starts_with(line, "--");
        at_top = at_top && comment;
        if (!in_doc && !at_top && starts_with(line, "---")) {
            in_doc = true;
            fputs(in_paragraph ? "\n\n" : "\n", stdout);
            in_paragraph = false;
        }
        in_doc = in_doc && comment;
        if (at_top || in_doc) {
            line += strspn(line, "-");
            line += *line == ' ';
            bool begins = *line == ' ' || *line == '\0';
            printf("%s%s", in_paragraph ? begins ? "\n" : " " : "", line);
            in_paragraph = flows && !begins;
            fputs(in_paragraph ? "" : "\n", stdout);
        }
    }
    fputs(in_paragraph ? "\n" : "", stdout);
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

static at_status print_lua_file(const paths *p, const char *name, at_error *error)
{
    char *text = NULL;
    at_status status = read_text(p->lua_dir, name, &text, error);
    if (!status)
        print_lua(text);
    free(text);
    return status;
}

static at_status print_scripts(const paths *p, at_error *error)
{
    at_status status = print_lua_file(p, "lib/autotune.lua", error);
    puts("\nLists of values and conditional parameters\n");
    return status ? status : print_lua_file(p, "lib/space.lua", error);
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

static at_status print_templates(const paths *p, at_error *error)
{
    struct dirent **list = NULL;
    at_status status = print_lua_file(p, "lib/template.lua", error);
    int count = status ? 0 : scandir(p->template_dir, &list, is_plain_template, alphasort);
    if (count < 0)
        return error_set(error, AT_IO, "%s cannot be read", p->template_dir);
    if (!status)
        puts("\nTemplates to include: % include \"vector.tmpl\"");
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

static at_status run(const options *o, at_error *error)
{
    static const char *const topics[] = {"scripts", "templates"};
    paths p;
    at_status status = paths_find(&p, error);
    if (status)
        return status;
    if (strcmp(o->operand, topics[0]) == 0)
        return print_scripts(&p, error);
    if (strcmp(o->operand, topics[1]) == 0)
        return print_templates(&p, error);
    const char *nearest = nearest_name(o->operand, topics, 2);
    return error_set(
        error, AT_USAGE,
        "there is no help on '%s'%s%s%s; 'scripts' and 'templates' are the topics, and "
        "'autotune COMMAND --help' explains a command",
        o->operand, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

const command cmd_help = {
    .name = "help",
    .operand = "scripts|templates",
    .summary = "List what scripts or templates can use (help scripts, help templates)",
    .run = run,
};
