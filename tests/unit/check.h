/* Every unit test includes this header: cmocka with the headers that cmocka needs, and the list of
 * tests. The tests of a room are one program; `test_ROOM unit/ROOM/test_FILE.c` runs those of a
 * file. */
#ifndef AUTOTUNE_CHECK_H
#define AUTOTUNE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* Fails with the error's own text if a call that must succeed fails. */
#define assert_ok(call, error)                                                                     \
    do {                                                                                           \
        if ((call) != AT_OK)                                                                       \
            fail_msg("%s: %s:%d: %s", #call, (error).file, (error).line, (error).message);         \
    } while (0)

/* Tests that could repeat a load thousands of times make only every TEST_STRIDE-th one. */
enum { TEST_STRIDE = 3 };

/* TEST(behaviour) { ... } defines a test and lists it; the tests of a file run in the order of the
 * file. The test may use `state`, which cmocka passes to tests. */
#define TEST(name) TEST_IN(name, NULL, NULL)

/* Defines a test with a fixture of its own: `set_up` and `tear_down` run around it. Either may be
 * NULL. */
#define TEST_IN(name, set_up, tear_down)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_is_listed(void)                                \
    {                                                                                              \
        check_add(__FILE__, __LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});  \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

/* Names the fixture that the tests of a file share: set up before the first, torn down after the
 * last. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void check_group_is_known(void)                            \
    {                                                                                              \
        check_group(__FILE__, set_up, tear_down);                                                  \
    }

/* The macros above call these before main(). They end the program if a list is full. */
void check_add(const char *file, int line, struct CMUnitTest test);
void check_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
