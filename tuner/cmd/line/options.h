/* The command line: one table of options, and which of them each command takes.
 *
 * options_parse() turns argv into plain data. Every option is spelt, explained and checked in one
 * place, the table in cmd/line/options.c: a row says where the value goes and which values are
 * allowed, so that
 * --help and the parser cannot disagree. */
#ifndef AUTOTUNE_CMD_LINE_OPTIONS_H
#define AUTOTUNE_CMD_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "run/setup/settings.h"

enum { OPTIONS_MAX_REPEATS = SETTINGS_MAX_VARIABLES };

enum { OPTIONS_MAX_OPERANDS = 64 };

struct command;

typedef struct options {
    const struct command *const
        *commands; /* all, for commands that list the others; main.c sets it */
    size_t command_count;
    const char *operand; /* SCRIPT, PATTERN or FILE; NULL when absent: the first of */
    const char *operands[OPTIONS_MAX_OPERANDS];
    size_t operand_count;
    settings run; /* of a run; other commands use the parts that they share with it */
    script_setting sweeps[OPTIONS_MAX_REPEATS]; /* --over NAME=V1,V2,... */
    size_t sweep_count;
    const char *configuration;
    uint64_t repeat; /* 0: not given */
    uint64_t top;
    size_t problems, held_out, max; /* of a portfolio */
    bool recorded;                  /* what records say, without measuring */
    const char *picture;            /* NULL: none */
    bool dry_run, stale;
    const char *older_than; /* an age or a date; NULL: not given */
    bool list, json, no_line, ptx, help;
    bool write, per_arch;
    const char *from; /* a kernel's file; NULL: not given */
    bool whole, shared_spills, race;
    const char *fail_on; /* "slower" */
    const char *kind, *by;
    const char *metrics; /* NULL: a useful selection */
    const char *gpu;
    const char *results; /* folder of the records; NULL: all known ones */
    bool best;
    const char *format;
    const char *template_path; /* of a user's own template */
    const char *output;
    const char *trace; /* NULL: none */
    struct {
        const char *kernel; /* NULL: none */
        uint64_t nth, shapes, limit_bytes;
        bool timed;
    } capture;
    char *const *program; /* and its arguments, ending with NULL: of a command that runs one */
} options;

/* A subcommand; each has a file of its own, and templates/commands.txt the paragraphs of its
 * --help. */
typedef struct command {
    const char *name;
    const char *operand;                  /* "SCRIPT", or NULL when it takes none */
    size_t operands_least, operands_most; /* 0, 0: exactly one */
    const char *summary;                  /* one line */
    const char *
        options; /* names of those that it takes besides --help, with blanks between; may be NULL */
    const char *chooses,
        *words; /* an option whose words are this command's own, and them: "svg|png"; or NULL */
    bool runs_program; /* its operands are one and its arguments, any number of them */
    bool raw;          /* its output is for programs, or a picture: lines are not wrapped */
    /* One of the two; results go to stdout. The exit code of an answer is a part of it, 0 where
     * nothing else is put there; an error's is its status's. */
    at_status (*run)(const options *options, at_error *error);
    at_status (*answer)(const options *options, int *exit_code, at_error *error);
} command;

/* Returns the command called `name` among all commands, or NULL. */
const command *options_command(const options *o, const char *name);

/* Parses argv[1..] for `command`. Strings are borrowed from argv, which is changed in place (NAME
 * and VALUE of --set are cut apart). AT_USAGE names the wrong word and the nearest right one. */
at_status options_parse(int argc, char **argv, const command *command, options *out,
                        at_error *error);

enum { OPTION_WORDS_BYTES = 256 };

typedef struct option_description {
    const char *name, *help;
    const char *argument;           /* NULL: takes none */
    char words[OPTION_WORDS_BYTES]; /* "cold|warm": what it may be; "": anything */
} option_description;

/* Describes the option at place `i` among those that the command takes; false past the last. */
bool options_describe(const command *command, size_t i, option_description *out);

/* Whether these are words to choose from: small letters and '|'. */
bool options_are_words(const char *argument);

enum { OPTIONS_DETAILS_BYTES = 4096 };

/* The paragraphs for the --help of a command, or of "autotune"; "" for none. */
void options_details(const char *name, char text[OPTIONS_DETAILS_BYTES]);

/* Prints the command's --help. */
void options_print_help(const command *command, FILE *to);

#endif
