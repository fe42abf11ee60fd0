#include "check.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TESTS = 128 };

/* What the constructors of a program's tests leave for its main(): `tests`, ordered by their
   `lines`, since no order is promised among constructors. */
static struct {
    struct CMUnitTest tests[MOST_TESTS];
    int lines[MOST_TESTS];
    size_t count;
    CMFixtureFunction set_up, tear_down;
} list;

void check_add(int line, struct CMUnitTest test)
{
    if (list.count == MOST_TESTS) {
        fprintf(stderr, "%s is test %d: raise MOST_TESTS in %s\n", test.name, MOST_TESTS + 1,
                __FILE__);
        abort();
    }
    size_t at = list.count++;
    for (; at > 0 && list.lines[at - 1] > line; at--) {
        list.tests[at] = list.tests[at - 1];
        list.lines[at] = list.lines[at - 1];
    }
    list.tests[at] = test;
    list.lines[at] = line;
}

void check_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    list.set_up = set_up;
    list.tear_down = tear_down;
}

int main(void)
{
    return _cmocka_run_group_tests("tests", list.tests, list.count, list.set_up, list.tear_down);
}
