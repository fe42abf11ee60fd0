/* The header of all unit tests: cmocka, and macros that list tests. The tests of a folder of tuner/
 * are one program. For example, `test_ROOM unit/ROOM/test_FILE.c` runs the tests of one file. */
#ifndef AUTOTUNE_CHECK_H
#define AUTOTUNE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* Asserts that a call succeeds. A failure shows the message of `error`. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        if ((call) != AT_OK)                                                                       \
            fail_msg("%s: %s:%d: %s", #call, (error).file, (error).line, (error).message);         \
    } while (0)

/* A test with thousands of similar cases runs only every TEST_STRIDE-th case. */
enum { TEST_STRIDE = 3 };

/* TEST(behaviour) { ... } defines a test and adds it to the list. Tests run in the order of
 * their file. cmocka passes `state` to the test. */
#define TEST(name) TEST_IN(name, NULL, NULL)

/* Defines a test with its own fixture. `set_up` runs before the test and `tear_down` after it;
 * both may be NULL. */
#define TEST_IN(name, set_up, tear_down)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_is_listed(void)                                \
    {                                                                                              \
        check_add(__FILE__, __LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});  \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

/* Defines the fixture that all tests of a file share. `set_up` runs before the first test, and
 * `tear_down` after the last. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void check_group_is_known(void)                            \
    {                                                                                              \
        check_group(__FILE__, set_up, tear_down);                                                  \
    }

/* The macros above call these functions before main(). A full list ends the program. */
void check_add(const char *file, int line, struct CMUnitTest test);
void check_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
