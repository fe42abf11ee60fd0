/* Preloaded into autotune and the tests of its library. Sets the locale $COMMA_LOCALE before
 * main(), as a program does that calls setlocale(LC_ALL, ""). Other programs do not change. */
#define _GNU_SOURCE /* for program_invocation_short_name */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

__attribute__((constructor)) static void take_locale(void)
{
    const char *name = getenv("COMMA_LOCALE"), *program = program_invocation_short_name;
    if (strncmp(program, "autotune", 8) != 0 && strncmp(program, "test_", 5) != 0)
        return;
    /* The address sanitizer replaces strcasecmp(), so this code does not use it. */
    if (!name || !setlocale(LC_ALL, name) || strcmp(localeconv()->decimal_point, ",") != 0 ||
        towlower(L'I') == L'i') {
        fprintf(stderr, "%s: there is no locale '%s' like Turkish\n", program, name ? name : "");
        abort();
    }
}
