#include <autotune.h>
#include <stdio.h>
#include <string.h>

const char *engine_version(void);

/* Each has its own libautotune; a shared one would have its static text overwritten. */
int main(void)
{
    printf("%s %s\n", strcmp(engine_version(), at_version()) == 0 ? "alike" : "not alike",
           engine_version() == at_version() ? "one" : "two");
    return 0;
}
