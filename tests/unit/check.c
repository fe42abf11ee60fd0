/* The main() of all unit test programs. `test_ROOM FILE...` runs the tests of the files whose
 * paths end in one of the FILEs. Without a FILE, all tests run. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 1024, MOST_FILES = 64 };

/* Constructors of tests fill these lists before main(). main() sorts `tests` by file and line. */
static struct {
    struct CMUnitTest tests[MOST_TESTS];
    const char *files[MOST_TESTS];
    int lines[MOST_TESTS];
    size_t count;
} list;

static struct {
    const char *file;
    CMFixtureFunction set_up, tear_down;
} groups[MOST_FILES];

static size_t group_count;

static void end_if_full(size_t count, size_t most, const char *what)
{
    if (count < most)
        return;
    fprintf(stderr, "%s: more than %zu %s: raise the limit\n", __FILE__, most, what);
    abort();
}

void check_add(const char *file, int line, struct CMUnitTest test)
{
    end_if_full(list.count, MOST_TESTS, "tests");
    size_t at = list.count++;
    for (; at > 0; at--) {
        const int order = strcmp(list.files[at - 1], file);
        if (order < 0 || (order == 0 && list.lines[at - 1] < line))
            break;
        list.tests[at] = list.tests[at - 1];
        list.files[at] = list.files[at - 1];
        list.lines[at] = list.lines[at - 1];
    }
    list.tests[at] = test;
    list.files[at] = file;
    list.lines[at] = line;
}

void check_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    end_if_full(group_count, MOST_FILES, "groups");
    groups[group_count].file = file;
    groups[group_count].set_up = set_up;
    groups[group_count++].tear_down = tear_down;
}

static bool is_wanted(const char *file, int count, char *const *wanted)
{
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(file), end = strlen(wanted[i]);
        if (end <= length && strcmp(file + length - end, wanted[i]) == 0)
            return true;
    }
    return count == 0;
}

/* Runs the tests of one file, with the indices `first` to `last` - 1. Returns the number of
 * failures. */
static int run_file(size_t first, size_t last)
{
    CMFixtureFunction set_up = NULL, tear_down = NULL;
    for (size_t i = 0; i < group_count; i++)
        if (strcmp(groups[i].file, list.files[first]) == 0) {
            set_up = groups[i].set_up;
            tear_down = groups[i].tear_down;
        }
    return _cmocka_run_group_tests(list.files[first], list.tests + first, last - first, set_up,
                                   tear_down);
}

int main(int argc, char **argv)
{
    int failed = 0;
    bool found = false;
    for (size_t first = 0, last; first < list.count; first = last) {
        for (last = first; last < list.count && !strcmp(list.files[last], list.files[first]);)
            last++;
        if (!is_wanted(list.files[first], argc - 1, argv + 1))
            continue;
        found = true;
        failed += run_file(first, last);
    }
    if (!found)
        fprintf(stderr, "%s: no file has such a name\n", argv[0]);
    return failed > 0 || !found;
}
