#include <autotune.h>
#include <stdio.h>
#include <string.h>

const char *engine_version(void);

/* The program and the engine have a libautotune each. If they shared one, the second call would
 * overwrite its static text. */
int main(void)
{
    printf("%s %s\n", strcmp(engine_version(), at_version()) == 0 ? "alike" : "not alike",
           engine_version() == at_version() ? "one" : "two");
    return 0;
}
