#include <autotune.h>
#include <stdio.h>
#include <string.h>

const char *engine_version(void);

/* Each has its own libautotune, where one would have two texts at one place. */
int main(void)
{
    printf("%s %s\n", strcmp(engine_version(), at_version()) == 0 ? "alike" : "not alike",
           engine_version() == at_version() ? "one" : "two");
    return 0;
}
