#include "base/thread_state.h"

at_status thread_state_plain(thread_state *before, at_error *error)
{
    /* The C library keeps this one: asking for it allocates nothing in glibc and in musl. */
    before->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!before->own)
        return error_no_memory(error);
    before->before = uselocale(before->own);
    fegetenv(&before->arithmetic);
    fesetenv(FE_DFL_ENV);
    return AT_OK;
}

void thread_state_restore(thread_state *before)
{
    fesetenv(&before->arithmetic);
    uselocale(before->before);
    freelocale(before->own);
}
