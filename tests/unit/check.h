/* What every unit test includes: cmocka with the headers that it needs before it, and the list of a
 * program's tests. */
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

/* TEST(behaviour) { ... } defines a test and puts it on its program's list, which check.c's main()
   runs in the order of the file. It may use `state`, as cmocka hands it to a test. */
#define TEST(name) TEST_IN(name, NULL, NULL)

/* A test with a fixture of its own: `set_up` and `tear_down` run around it, and may be NULL. */
#define TEST_IN(name, set_up, tear_down)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_is_listed(void)                                \
    {                                                                                              \
        check_add(__LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});            \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

/* The fixture that all tests of the program share: set up before the first, torn down after the
 * last. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void check_group_is_known(void)                            \
    {                                                                                              \
        check_group(set_up, tear_down);                                                            \
    }

/* What the macros above call, before main(). More tests than the list holds end the program. */
void check_add(int line, struct CMUnitTest test);
void check_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
