#define _POSIX_C_SOURCE 200809L /* for open_memstream */
#include "cmd/line/edit.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char before[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16";

static size_t place(const char *text)
{
    return (size_t)(strstr(before, text) - before);
}

static char *printed(const edit_list *list)
{
    char *text;
    size_t size_bytes;
    FILE *to = open_memstream(&text, &size_bytes);
    edit_print(list, before, "f.cu", to);
    fclose(to);
    return text;
}

TEST(edits_are_shown_in_hunks_of_three_lines_around)
{
    edit_list list = {0};
    edit_add(&list, place("15"), 2, "fifteen\nand more");
    edit_add(&list, place("2"), 1, "two");
    edit_add(&list, place("8"), 0, "new\n");
    char *after = edit_apply(&list, before), *text = printed(&list);
    assert_string_equal(
        after, "1\ntwo\n3\n4\n5\n6\n7\nnew\n8\n9\n10\n11\n12\n13\n14\nfifteen\nand more\n16");
    assert_string_equal(text,
                        "--- f.cu\n+++ f.cu\n"
                        "@@ -1,10 +1,11 @@\n 1\n-2\n+two\n 3\n 4\n 5\n 6\n 7\n+new\n 8\n 9\n 10\n"
                        "@@ -12,5 +13,6 @@\n 12\n 13\n 14\n-15\n+fifteen\n+and more\n 16\n"
                        "\\ No newline at end of file\n");
    free(after);
    free(text);
    edit_list_deinit(&list);
}

TEST(edits_of_one_line_are_one_change)
{
    edit_list list = {0};
    edit_add(&list, place("10"), 1, "a");
    edit_add(&list, place("10") + 1, 1, "b");
    char *text = printed(&list);
    assert_non_null(strstr(text, "-10\n+ab\n 11\n"));
    free(text);
    edit_list_deinit(&list);
}

TEST(edits_that_change_nothing_are_not_shown)
{
    edit_list list = {0};
    edit_add(&list, place("10"), 2, "10");
    char *text = printed(&list);
    assert_string_equal(text, "");
    free(text);
    edit_list_deinit(&list);
}
