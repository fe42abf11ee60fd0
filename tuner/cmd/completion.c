/* autotune completion: what shells complete, and the manual page, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cmd/line/commands.h"

/* Calls `each` for every option of a command. */
typedef void (*option_visit)(const command *c, const char *name, const char *argument, const char *help);

static void visit_options(const command *c, option_visit each)
{
    const char *name, *argument, *help;
    for (size_t i = 0; options_describe(c, i, &name, &argument, &help); i++)
        each(c, name, argument, help);
}

/* ---- bash ---- */

static void print_word(const command *c, const char *name, const char *argument, const char *help)
{
    (void)c, (void)argument, (void)help;
    printf(" --%s", name);
}

static void print_bash(const command *const *all, size_t count)
{
    puts("# Completion of autotune for bash; autotune completion bash prints it.\n"
         "_autotune() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} options\n"
         "    case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < count; i++) {
        printf("        %s) options=\"", all[i]->name);
        visit_options(all[i], print_word);
        puts("\" ;;");
    }
    printf("        *) options=\"");
    visit_options(all[0], print_word);
    puts("\" ;;\n    esac");
    printf("    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    elif ((COMP_CWORD == 1)); then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? " " : "", all[i]->name);
    puts("\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "    fi\n"
         "    return 0\n"
         "}\n"
         "complete -o filenames -F _autotune autotune");
}

/* ---- zsh ---- */

/* Within single quotes and the brackets of _arguments. */
static void print_quoted(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(escaped, *text))
            putchar('\\');
        putchar(*text);
    }
}

static void print_zsh_option(const command *c, const char *name, const char *argument, const char *help)
{
    (void)c;
    printf(" \\\n            '--%s%s[", name, argument ? "=" : "");
    print_quoted(help, "[]:\\");
    printf("]%s'", argument ? ":value:_files" : "");
}

static void print_zsh(const command *const *all, size_t count)
{
    puts("#compdef autotune\n"
         "# Completion of autotune for zsh; autotune completion zsh prints it.\n"
         "_autotune() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", all[i]->name);
        print_quoted(all[i]->summary, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe command commands\n"
         "        _files\n"
         "        return\n"
         "    fi\n"
         "    case $words[2] in");
    for (size_t i = 0; i < count; i++) {
        printf("        %s) _arguments", all[i]->name);
        visit_options(all[i], print_zsh_option);
        puts(" \\\n            '*:file:_files' ;;");
    }
    puts("        *) _files ;;\n"
         "    esac\n"
         "}\n"
         "_autotune \"$@\"");
}

/* ---- fish ---- */

static void print_fish_option(const command *c, const char *name, const char *argument, const char *help)
{
    printf("complete -c autotune -n '__fish_seen_subcommand_from %s' -l %s%s -d '", c->name, name,
           argument ? " -r" : "");
    for (; *help; help++)
        printf(*help == '\'' ? "\\'" : "%c", *help);
    puts("'");
}

static void print_fish(const command *const *all, size_t count)
{
    puts("# Completion of autotune for fish; autotune completion fish prints it.");
    for (size_t i = 0; i < count; i++) {
        printf("complete -c autotune -n __fish_use_subcommand -a %s -d '", all[i]->name);
        for (const char *c = all[i]->summary; *c; c++)
            printf(*c == '\'' ? "\\'" : "%c", *c);
        puts("'");
        visit_options(all[i], print_fish_option);
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

static void print_man_option(const command *c, const char *name, const char *argument, const char *help)
{
    (void)c;
    fputs(".TP\n.B \\-\\-", stdout);
    print_roff(name);
    if (argument) {
        fputs(" \\fI", stdout);
        print_roff(argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(help);
    putchar('\n');
}

static void print_man(const command *const *all, size_t count)
{
    printf(".TH AUTOTUNE 1 \"\" \"autotune %s\"\n.SH NAME\nautotune \\- find the fastest configuration of a GPU memory "
           "access pattern\n.SH SYNOPSIS\n.B autotune\n[tune] SCRIPT [OPTION]...\n.br\n.B autotune\nCOMMAND ...\n"
           ".SH COMMANDS\n",
           version_text());
    for (size_t i = 0; i < count; i++) {
        printf(".SS autotune %s %s\n", all[i]->name, all[i]->operand ? all[i]->operand : "");
        print_roff(all[i]->summary);
        puts(".");
        visit_options(all[i], print_man_option);
        if (all[i]->details) {
            puts(".PP\n.nf");
            print_roff(all[i]->details);
            puts(".fi");
        }
    }
    puts(".SH EXIT STATUS\n0 done; 1 no variant worked; 2 the command line, the script or a template is wrong; 3 no usable\n"
         "device or toolchain; 4 a file or folder cannot be read or written; 5 a bug; 6 compare \\-\\-fail\\-on slower;\n"
         "130 interrupted.");
}

static const struct {
    const char *name;
    void (*print)(const command *const *all, size_t count);
} kinds[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}, {"man", print_man}};

static at_status run(const options *o, int *exit_code, at_error *error)
{
    (void)exit_code;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(o->operand, kinds[i].name) == 0) {
            kinds[i].print(o->commands, o->command_count);
            return AT_OK;
        }
    return error_set(error, AT_USAGE, "completion takes bash, zsh, fish or man, not '%s'", o->operand);
}

const command cmd_completion = {
    .name = "completion",
    .operand = "SHELL",
    .summary = "Print what bash, zsh or fish completes, or the manual page (man)",
    .details = "cmake --install puts all four where shells and man look for them. By hand:\n"
               "\n"
               "  autotune completion bash >~/.local/share/bash-completion/completions/autotune\n",
    .options = NULL,
    .option_count = 0,
    .raw = true,
    .run = run,
};
