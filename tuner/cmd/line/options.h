/* The command line. One table in cmd/line/options.c has a row per option: its name, help, allowed
 * values and the member that stores it. options_parse() turns argv into plain data. */
#ifndef AUTOTUNE_CMD_LINE_OPTIONS_H
#define AUTOTUNE_CMD_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "run/setup/settings.h"

enum { OPTIONS_MAX_REPEATS = SETTINGS_MAX_VARIABLES };

enum { OPTIONS_MAX_OPERANDS = 64 };

struct command;

typedef struct options {
    const struct command *const
        *commands; /* all commands, for commands that list them; main.c sets it */
    size_t command_count;
    const char
        *operand; /* the first of `operands`: SCRIPT, PATTERN or FILE; NULL if there is none */
    const char *operands[OPTIONS_MAX_OPERANDS];
    size_t operand_count;
    settings run; /* settings of a run; other commands share some of them */
    script_setting sweeps[OPTIONS_MAX_REPEATS]; /* --over NAME=V1,V2,... */
    size_t sweep_count;
    const char *configuration;
    uint64_t repeat; /* 0 if not given */
    uint64_t top;
    size_t problems, held_out, max; /* options of the command `portfolio` */
    bool recorded;                  /* show records instead of measuring */
    const char *picture;            /* file for a picture; NULL if not given */
    bool dry_run, stale;
    const char *older_than; /* an age or a date; NULL if not given */
    bool list, json, no_line, ptx, help;
    bool write, per_arch;
    const char *from; /* a kernel's file; NULL if not given */
    bool whole, shared_spills, race;
    const char *fail_on; /* a condition, such as "slower"; NULL if not given */
    const char *kind, *by;
    const char *metrics; /* names of counters; NULL for the usual selection */
    const char *gpu;
    const char *results; /* folder of the records; NULL for all known folders */
    bool best;
    const char *format;
    const char *template_path; /* a template of the user */
    const char *output;
    struct {
        const char *kernel; /* NULL if not given */
        uint64_t nth, shapes, limit_bytes;
        bool timed;
    } capture;
    char *const *program; /* a program to run and its arguments, ending with NULL */
} options;

/* A subcommand. templates/commands.txt has the paragraphs of its --help. */
typedef struct command {
    const char *name;
    const char *operand;                  /* such as "SCRIPT"; NULL if the command takes none */
    size_t operands_least, operands_most; /* 0 and 0 mean exactly one operand */
    const char *summary;                  /* one line */
    const char *options; /* names of its options without --help, separated by blanks; may be NULL */
    const char *chooses, *words; /* name of an option that accepts other words in this command, and
                                    these words ("svg|png"); may be NULL */
    bool runs_program;           /* the operands are a program and the program's arguments */
    bool raw; /* output is not wrapped: other programs read it, or it is a picture */
    /* Either `run` or `answer` is set. Both print results to stdout. `answer` also sets the exit
     * code, if that is not 0; the exit code of an error depends on its status. */
    at_status (*run)(const options *options, at_error *error);
    at_status (*answer)(const options *options, int *exit_code, at_error *error);
} command;

/* Returns the command called `name` among all commands, or NULL. */
const command *options_command(const options *o, const char *name);

/* Parses argv[1..] for `command`. Strings are borrowed from argv, which is changed in place
 * (NAME=VALUE is split). AT_USAGE; the message has the wrong word and the nearest right word. */
at_status options_parse(int argc, char **argv, const command *command, options *out,
                        at_error *error);

enum { OPTION_WORDS_BYTES = 256 };

typedef struct option_description {
    const char *name, *help;
    const char *argument;           /* NULL if the option takes none */
    char words[OPTION_WORDS_BYTES]; /* accepted words, "cold|warm"; "" if any text is accepted */
} option_description;

/* Describes the command's option `i`. Returns false if the command has fewer options. */
bool options_describe(const command *command, size_t i, option_description *out);

/* Returns whether `argument` is a choice such as "cold|warm": it has only lower-case letters,
 * digits, '-' and '|'. */
bool options_are_words(const char *argument);

enum { OPTIONS_DETAILS_BYTES = 4096 };

/* Copies the paragraphs for the --help of the command `name`, or of the program if `name` is
 * "autotune". Copies "" if there are none. */
void options_details(const char *name, char text[OPTIONS_DETAILS_BYTES]);

#endif
