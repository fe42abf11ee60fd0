/* The header of all unit tests: cmocka, and the macros that list tests. The tests of a room are one
 * program; `test_ROOM unit/ROOM/test_FILE.c` runs the tests of one file. */
#ifndef AUTOTUNE_CHECK_H
#define AUTOTUNE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* Asserts that a call succeeds. The failure shows the error's own text. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        if ((call) != AT_OK)                                                                       \
            fail_msg("%s: %s:%d: %s", #call, (error).file, (error).line, (error).message);         \
    } while (0)

/* Tests with thousands of similar cases run only every TEST_STRIDE-th case. */
enum { TEST_STRIDE = 3 };

/* TEST(behaviour) { ... } defines a test and adds it to the list. Tests run in the order of their
 * file. A test may use `state`, which cmocka passes to it. */
#define TEST(name) TEST_IN(name, NULL, NULL)

/* Defines a test with its own fixture: `set_up` runs before the test, `tear_down` after it. Either
 * may be NULL. */
#define TEST_IN(name, set_up, tear_down)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_is_listed(void)                                \
    {                                                                                              \
        check_add(__FILE__, __LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});  \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

/* Defines the fixture that all tests of a file share. It is set up before the first test and torn
 * down after the last test. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void check_group_is_known(void)                            \
    {                                                                                              \
        check_group(__FILE__, set_up, tear_down);                                                  \
    }

/* The macros above call these functions before main(). The functions end the program if a list is
 * full. */
void check_add(const char *file, int line, struct CMUnitTest test);
void check_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
