/* autotune completion: what shells complete, and the manual page, from the tables of commands and
 * options. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/version.h"
#include "cmd/line/commands.h"

static const char bash_text[] = {
#include "completion.bash.inc"
};
static const char zsh_text[] = {
#include "completion.zsh.inc"
};
static const char man_text[] = {
#include "completion.man.inc"
};

/* Prints the text up to a mark; what stands behind that. */
static const char *print_until(const char *text, const char *mark)
{
    const char *end = strstr(text, mark);
    fwrite(text, 1, (size_t)(end - text), stdout);
    return end + strlen(mark);
}

/* Calls `each` for every option of a command. */
typedef void (*option_visit)(const option_description *o);

static void visit_options(const command *c, option_visit each)
{
    option_description o;
    for (size_t i = 0; options_describe(c, i, &o); i++)
        each(&o);
}

/* "list|show ..." with spaces instead of bars, up to where the words end, and what comes after
 * them. */
static void print_words(const char *words, const char *after)
{
    for (; *words && *words != ' '; words++)
        putchar(*words == '|' ? ' ' : *words);
    fputs(after, stdout);
}

/* Within single quotes: `quote` stands for one, and a backslash before each of the `escaped`. */
static void print_quoted(const char *text, const char *quote, const char *escaped)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf(strchr(escaped, *text) ? "\\%c" : "%c", *text);
}

/* The words that a command's operand may be; NULL: a file, or a name. */
static const char *operand_words(const command *c)
{
    char first[OPTION_WORDS_BYTES];
    snprintf(first, sizeof first, "%.*s", c->operand ? (int)strcspn(c->operand, " ") : 0,
             c->operand ? c->operand : "");
    return options_are_words(first) ? c->operand : NULL;
}

/* ---- bash ---- */

static void print_bash_option(const option_description *o)
{
    printf(" --%s", o->name);
}

static void print_bash_words(const option_description *o)
{
    if (!*o->words)
        return;
    printf("                --%s) words=\"", o->name);
    print_words(o->words, "\" ;;\n");
}

static void print_bash_command(const command *c, const char *typed)
{
    const char *operand = operand_words(c);
    printf("        %s)\n            options=\"", typed);
    visit_options(c, print_bash_option);
    puts("\"\n            case $before in");
    visit_options(c, print_bash_words);
    if (operand) {
        printf("                %s) words=\"", c->name);
        print_words(operand, "\" ;;\n");
    }
    puts("            esac ;;");
}

static void print_bash(const command *const *all, size_t count)
{
    const char *rest = print_until(bash_text, "@COMMANDS@\n");
    for (size_t i = 0; i < count; i++)
        print_bash_command(all[i], all[i]->name);
    print_bash_command(all[0], "*");
    rest = print_until(rest, "@NAMES@");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? " " : "", all[i]->name);
    fputs(rest, stdout);
}

/* ---- zsh ---- */

static void print_zsh_option(const option_description *o)
{
    printf(" \\\n            '--%s%s[", o->name, o->argument ? "=" : "");
    print_quoted(o->help, "'\\''", "[]:\\");
    fputs(o->argument ? "]:value:" : "]", stdout);
    if (*o->words) {
        putchar('(');
        print_words(o->words, ")'");
    } else {
        fputs(o->argument ? "_files'" : "'", stdout);
    }
}

/* Where the first word is the command, the arguments begin at the second. */
static void print_zsh_command(const command *c, const char *typed)
{
    const char *operand = operand_words(c);
    printf("        %s) _arguments", typed);
    visit_options(c, print_zsh_option);
    if (operand) {
        fputs(" \\\n            '2:what:(", stdout);
        print_words(operand, ")'");
    }
    puts(" \\\n            '*:file:_files' ;;");
}

static void print_zsh(const command *const *all, size_t count)
{
    const char *rest = print_until(zsh_text, "@SUMMARIES@\n");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", all[i]->name);
        print_quoted(all[i]->summary, "'\\''", ":\\");
        puts("'");
    }
    rest = print_until(rest, "@COMMANDS@\n");
    for (size_t i = 0; i < count; i++)
        print_zsh_command(all[i], all[i]->name);
    print_zsh_command(all[0], "*");
    fputs(rest, stdout);
}

/* ---- fish ---- */

/* tune is what is meant where no command is named. */
static void print_fish_condition(const command *c, const command *const *all, size_t count)
{
    if (c != all[0]) {
        printf("complete -c autotune -n '__fish_seen_subcommand_from %s'", c->name);
        return;
    }
    fputs("complete -c autotune -n 'not __fish_seen_subcommand_from", stdout);
    for (size_t i = 1; i < count; i++)
        printf(" %s", all[i]->name);
    putchar('\'');
}

static void print_fish(const command *const *all, size_t count)
{
    option_description o;
    puts("# Completion of autotune for fish; autotune completion fish prints it.");
    for (size_t i = 0; i < count; i++) {
        const char *operand = operand_words(all[i]);
        printf("complete -c autotune -n __fish_use_subcommand -a %s -d '", all[i]->name);
        print_quoted(all[i]->summary, "\\'", "\\");
        puts("'");
        for (size_t k = 0; options_describe(all[i], k, &o); k++) {
            print_fish_condition(all[i], all, count);
            printf(" -l %s%s -d '", o.name, *o.words ? " -x" : o.argument ? " -r" : "");
            print_quoted(o.help, "\\'", "\\");
            if (*o.words) {
                fputs("' -a '", stdout);
                print_words(o.words, "");
            }
            puts("'");
        }
        if (operand) {
            print_fish_condition(all[i], all, count);
            fputs(" -a '", stdout);
            print_words(operand, "'\n");
        }
    }
}

/* ---- man ---- */

/* A line of text, nothing of which is an order to roff. */
static void print_roff(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        start = *text == '\n';
    }
}

static void print_man_option(const option_description *o)
{
    fputs(".TP\n.B \\-\\-", stdout);
    print_roff(o->name);
    if (o->argument) {
        fputs(" \\fI", stdout);
        print_roff(o->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(o->help);
    putchar('\n');
}

static void print_man(const command *const *all, size_t count)
{
    const char *rest = print_until(man_text, "@VERSION@");
    fputs(version_text(), stdout);
    rest = print_until(rest, "@COMMANDS@\n");
    for (size_t i = 0; i < count; i++) {
        printf(".SS autotune %s %s\n", all[i]->name, all[i]->operand ? all[i]->operand : "");
        print_roff(all[i]->summary);
        puts(".");
        visit_options(all[i], print_man_option);
        char details[OPTIONS_DETAILS_BYTES];
        options_details(all[i]->name, details);
        if (*details) {
            puts(".PP\n.nf");
            print_roff(details);
            puts(".fi");
        }
    }
    fputs(rest, stdout);
}

static const struct {
    const char *name;
    void (*print)(const command *const *all, size_t count);
} kinds[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}, {"man", print_man}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static at_status run(const options *o, at_error *error)
{
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(o->operand, kinds[i].name) == 0) {
            kinds[i].print(o->commands, o->command_count);
            return AT_OK;
        }
    }
    const char *nearest = nearest_name(o->operand, names, KINDS);
    return error_set(error, AT_USAGE, "completion takes bash, zsh, fish or man, not '%s'%s%s%s",
                     o->operand, nearest ? "; did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "");
}

const command cmd_completion = {
    .name = "completion",
    .operand = "bash|zsh|fish|man",
    .summary = "Print what bash, zsh or fish completes, or the manual page (man)",
    .raw = true,
    .run = run,
};
