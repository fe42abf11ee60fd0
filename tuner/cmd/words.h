/* The words that shells offer beside options: 'autotune completion words KIND [SCRIPT]', which the
 * printed completions call.
 *
 * In: a kind, and for some a script. Out: a word a line on stdout. A script that cannot be loaded
 * has no words, and that is no error: nobody asked for a message while typing. Values with letters
 * that mean something to a shell are left out: scripts come from others. */
#ifndef AUTOTUNE_CMD_WORDS_H
#define AUTOTUNE_CMD_WORDS_H

#include "cmd/line/options.h"

/* Prints the words of `operands[1]`, of the script `operands[2]`. AT_USAGE lists the kinds. */
at_status words_print(const options *o, at_error *error);

/* The kind of words that an option's value ("set"), or an operand ("SCRIPT"), is of; "": none. */
const char *words_of_option(const char *name);
const char *words_of_operand(const char *operand);

/* The endings of the files that an operand may be: "lua cu"; "": any. */
const char *words_files_of(const char *operand);

#endif
