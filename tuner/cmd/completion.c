/* autotune completion: what shells complete, and the manual pages, from the tables of commands and
 * options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/paths.h"
#include "base/text.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "cmd/line/terminal.h"
#include "cmd/words.h"
#include "search/strategy.h"

static const char *const kinds[] = {"bash", "zsh", "fish", "man"};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_COMMANDS = 64 };

/* {name, help, argument (null: it takes none), words ("cold|warm"; "": anything), asks (a kind of
 * 'completion words'; "": none)} each. */
static json_t *pack_options(const command *c)
{
    json_t *list = json_array();
    option_description o;
    for (size_t i = 0; options_describe(c, i, &o); i++)
        json_append(&list,
                    json_pack("{ss ss ss? ss ss}", "name", o.name, "help", o.help, "argument",
                              o.argument, "words", o.words, "asks", words_of_option(o.name)));
    return list;
}

/* `words`: what the operand may be; "": a file, or a name of the kind `asks`. */
static json_t *pack_command(const command *c)
{
    const char *operand = c->operand ? c->operand : "";
    char details[OPTIONS_DETAILS_BYTES], first[OPTION_WORDS_BYTES];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(operand, " "), operand);
    options_details(c->name, details);
    return json_pack("{ss ss ss ss ss ss ss so}", "files", words_files_of(operand), "name", c->name,
                     "operand", operand, "summary", c->summary, "words",
                     options_are_words(first) ? first : "", "asks", words_of_operand(operand),
                     "details", details, "options", pack_options(c));
}

static at_status print_page(const char *page, json_t *found, at_error *error)
{
    char *text;
    at_status status = page_text(page, found, NULL, &text, error);
    if (!status)
        status = terminal_or_file(NULL, text, strlen(text), error);
    free(text);
    return status;
}

/* [{name, summary}] */
static json_t *pack_strategies(void)
{
    size_t count;
    const strategy_kind *const *kinds_of_search = strategy_kinds(&count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&list, json_pack("{ss ss}", "name", kinds_of_search[i]->name, "summary",
                                     kinds_of_search[i]->summary));
    return list;
}

/* The manual page of one command. */
static at_status print_manual(const options *o, at_error *error)
{
    const char *names[MOST_COMMANDS], *wanted = o->operands[1];
    size_t count = 0;
    for (; count < o->command_count && count < MOST_COMMANDS; count++) {
        names[count] = o->commands[count]->name;
        if (strcmp(names[count], wanted) == 0)
            return print_page("completion_manual",
                              json_pack("{ss so so}", "version", version_text(), "command",
                                        pack_command(o->commands[count]), "strategies",
                                        pack_strategies()),
                              error);
    }
    const char *nearest = nearest_name(wanted, names, count);
    return error_set(error, AT_USAGE, "there is no command '%s'%s%s%s", wanted,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static at_status run(const options *o, at_error *error)
{
    char page[32], about[OPTIONS_DETAILS_BYTES];
    size_t kind = 0;
    if (strcmp(o->operand, "words") == 0)
        return words_print(o, error);
    if (strcmp(o->operand, "man") == 0 && o->operand_count > 1)
        return print_manual(o, error);
    while (kind < KINDS && strcmp(o->operand, kinds[kind]) != 0)
        kind++;
    if (kind == KINDS) {
        const char *nearest = nearest_name(o->operand, kinds, KINDS);
        return error_set(error, AT_USAGE, "completion takes bash, zsh, fish or man, not '%s'%s%s%s",
                         o->operand, nearest ? "; did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    /* The first is what is meant where no command is named. */
    json_t *commands = json_array();
    json_append(&commands, pack_command(&cmd_tune));
    for (size_t i = 0; i < o->command_count; i++)
        if (o->commands[i] != &cmd_tune)
            json_append(&commands, pack_command(o->commands[i]));
    snprintf(page, sizeof page, "completion_%s", kinds[kind]);
    options_details("autotune", about);
    return print_page(
        page,
        json_pack("{ss ss so}", "version", version_text(), "about", about, "commands", commands),
        error);
}

const command cmd_completion = {
    .name = "completion",
    .operand = "bash|zsh|fish|man",
    .operands_least = 1,
    .operands_most = 3,
    .summary = "Print what bash, zsh or fish completes, or a manual page (man [COMMAND])",
    .raw = true,
    .run = run,
};
