#include "base/version.h"

const char *version_text(void)
{
    return AUTOTUNE_VERSION;
}
