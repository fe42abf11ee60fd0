/* autotune completion: what shells complete, and the manual page, from the tables of commands and
 * options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/nearest.h"
#include "base/version.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "cmd/line/terminal.h"
#include "cmd/words.h"

static const char *const kinds[] = {"bash", "zsh", "fish", "man"};
enum { KINDS = sizeof kinds / sizeof *kinds };

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
    return json_pack("{ss ss ss ss ss ss so}", "name", c->name, "operand", operand, "summary",
                     c->summary, "words", options_are_words(first) ? first : "", "asks",
                     words_of_operand(operand), "details", details, "options", pack_options(c));
}

static at_status run(const options *o, at_error *error)
{
    char *text, page[32], about[OPTIONS_DETAILS_BYTES];
    size_t kind = 0;
    if (strcmp(o->operand, "words") == 0)
        return words_print(o, error);
    while (kind < KINDS && strcmp(o->operand, kinds[kind]) != 0)
        kind++;
    if (kind == KINDS) {
        const char *nearest = nearest_name(o->operand, kinds, KINDS);
        return error_set(error, AT_USAGE, "completion takes bash, zsh, fish or man, not '%s'%s%s%s",
                         o->operand, nearest ? "; did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    json_t *commands = json_array();
    for (size_t i = 0; i < o->command_count; i++)
        json_append(&commands, pack_command(o->commands[i]));
    snprintf(page, sizeof page, "completion_%s", kinds[kind]);
    options_details("autotune", about);
    at_status status = page_text(
        page,
        json_pack("{ss ss so}", "version", version_text(), "about", about, "commands", commands),
        NULL, &text, error);
    if (!status)
        status = terminal_or_file(NULL, text, strlen(text), error);
    free(text);
    return status;
}

const command cmd_completion = {
    .name = "completion",
    .operand = "bash|zsh|fish|man",
    .operands_least = 1,
    .operands_most = 3,
    .summary = "Print what bash, zsh or fish completes, or the manual page (man)",
    .raw = true,
    .run = run,
};
