/* Tests the remedies in a compiler's log. tests/cli/remedies.py tests with the compiler that
 * they help. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "compile/log.h"

static void assert_log(const char *log, const char *expected)
{
    char *changed = strdup(log);
    compile_log_add_remedy(&changed, "");
    assert_string_equal(changed, expected);
    free(changed);
}

TEST(only_the_first_error_gets_a_remedy)
{
    assert_log(
        "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
        "k.cu(1): error: identifier \"uint\" is undefined\n  uint x;\n  ^\n\n"
        "k.cu(2): error: identifier \"half\" is undefined\n",
        "k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
        "k.cu(1): error: identifier \"uint\" is undefined; write unsigned int\n  uint x;\n  ^\n\n"
        "k.cu(2): error: identifier \"half\" is undefined\n");
    assert_log("k.cu(1): catastrophic error: cannot open source file \"cstdio\"",
               "k.cu(1): catastrophic error: cannot open source file \"cstdio\"; printf needs no "
               "header here: leave it out");
}

TEST(unknown_errors_stay_unchanged)
{
    static const char *const logs[] = {
        "", "error: ", "k.cu(1): error: identifier \"mine\" is undefined\n",
        "k.cu(1): error: identifier \"", "k.cu(1): error: cannot open source file \"\"\n",
        "nvrtc: error: invalid value for --gpu-architecture\n",
        /* Only the first error gets a remedy. */
        "k.cu(1): error: expected a \";\"\nk.cu(2): error: identifier \"half\" is undefined\n"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_log(logs[i], logs[i]);
}

TEST(a_name_of_any_length_is_read_without_harm)
{
    char *log = malloc(10000);
    for (size_t length = 100; length < 9000; length += 997) {
        memset(log, 'x', 9500);
        memcpy(log, "k.cu(1): error: cannot open source file \"", 41);
        memcpy(log + 41 + length, "\"\n", 3);
        char *changed = strdup(log);
        compile_log_add_remedy(&changed, "/nowhere");
        assert_memory_equal(changed, log, strlen(log) - 1);
        free(changed);
    }
    free(log);
}
