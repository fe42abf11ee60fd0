/* What every unit test includes: cmocka and the headers that it needs before it. */
#ifndef AUTOTUNE_CHECK_H
#define AUTOTUNE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* Fails with the error's own text when a call that must succeed does not. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        if ((call) != AT_OK)                                                                       \
            fail_msg("%s: %s:%d: %s", #call, (error).file, (error).line, (error).message);         \
    } while (0)

#endif
