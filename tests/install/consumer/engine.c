#include <autotune.h>

__attribute__((visibility("default"))) const char *engine_version(void);

const char *engine_version(void)
{
    return at_version();
}
