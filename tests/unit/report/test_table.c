#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report/table.h"

static char *print(const table *t, bool colour)
{
    char *text;
    size_t size;
    at_error error = {0};
    FILE *to = open_memstream(&text, &size);
    assert_ok(table_print(t, colour, to, &error), error);
    fclose(to);
    return text;
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    table_add_column(&t, "n", TABLE_RIGHT);
    table_add_column(&t, "name", TABLE_LEFT);
    table_add_cell(&t, "%d", 12345);
    table_add_cell(&t, "a");
    table_add_cell(&t, "%d", 1);
    table_add_cell(&t, "%s", "a longer one");
    assert_int_equal(table_width(&t), 2 + 5 + 2 + 12);
    char *text = print(&t, false);
    assert_string_equal(text, "      n  name\n  12345  a\n      1  a longer one\n");
    free(text);
    table_deinit(&t);
}

/* Columns that have no room stand in a table of their own below, behind the first. */
static void a_table_that_is_too_wide_is_continued_below(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    t.page_columns = 16;
    for (int i = 0; i < 4; i++)
        table_add_column(&t, (const char *[]){"key", "first", "second", "third"}[i], TABLE_RIGHT);
    for (int i = 0; i < 8; i++)
        table_add_cell(&t, "%d", i);
    char *text = print(&t, false);
    assert_string_equal(text, "  key  first\n    0      1\n    4      5\n"
                              "\n  key  second\n    0       2\n    4       6\n"
                              "\n  key  third\n    0      3\n    4      7\n");
    free(text);
    table_deinit(&t);
}

static void words_of_the_last_column_go_on_below(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    t.page_columns = 24;
    table_add_column(&t, "n", TABLE_RIGHT);
    table_add_column(&t, "words", TABLE_LEFT);
    table_add_cell(&t, "12");
    table_add_cell(&t, "a=1,b=2 and what else there is");
    char *text = print(&t, false);
    assert_string_equal(text, "   n  words\n  12  a=1,b=2 and what\n      else there is\n");
    free(text);
    table_deinit(&t);
}

static void letters_of_many_bytes_count_once(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    table_add_column(&t, "\xc2\xb5s", TABLE_RIGHT);
    table_add_column(&t, "x", TABLE_RIGHT);
    table_add_cell(&t, "10");
    table_add_cell(&t, "1");
    char *text = print(&t, false);
    assert_string_equal(text, "  \xc2\xb5s  x\n  10  1\n");
    free(text);
    table_deinit(&t);
}

static void control_characters_become_question_marks(void **state)
{
    (void)state;
    char out[16];
    assert_string_equal(table_clean("a\033[2J\n\x7f", out, sizeof out), "a?[2J??");
    assert_string_equal(table_clean("\xc2\x9b"
                                    "31m",
                                    out, sizeof out),
                        "?31m");
    assert_string_equal(table_clean("\xc3\xa9", out, sizeof out), "\xc3\xa9");
    assert_string_equal(table_clean("12345678901234567890", out, 4), "123");
}

static void notes_stand_below_their_row_and_wrap(void **state)
{
    (void)state;
    table t;
    char words[256] = "";
    for (int i = 0; i < 30; i++)
        strcat(words, i ? " word" : "word");
    table_init(&t);
    table_add_column(&t, "n", TABLE_RIGHT);
    table_add_cell(&t, "1");
    table_note_row(&t, words);
    table_add_cell(&t, "2");
    char *text = print(&t, false);
    assert_int_equal(strncmp(text, "  n\n  1\n      word word", 22), 0);
    size_t longest = 0, seen = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        longest = length > longest ? length : longest;
        for (const char *w = line; (w = strstr(w, "word")) && w < line + length; w++)
            seen++;
    }
    assert_true(longest <= TABLE_PAGE_COLUMNS);
    assert_int_equal(seen, 30);
    assert_string_equal(text + strlen(text) - 4, "  2\n");
    free(text);
    table_deinit(&t);
}

static void words_longer_than_the_page_stay_whole(void **state)
{
    (void)state;
    char *text, word[151] = "";
    size_t size;
    memset(word, 'x', 150);
    FILE *to = open_memstream(&text, &size);
    table_print_wrapped(100, 4, "is", word, to);
    fclose(to);
    assert_int_equal(strncmp(text, "is  xxx", 7), 0);
    assert_int_equal(strlen(text), 4 + 150 + 1);
    free(text);
}

static void colour_ends_with_its_row(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    table_add_column(&t, "n", TABLE_RIGHT);
    table_add_cell(&t, "1");
    table_style_row(&t, TABLE_BEST);
    table_add_cell(&t, "2");
    char *text = print(&t, true);
    assert_string_equal(text, "\033[1m  n\033[0m\n\033[1;32m  1\033[0m\n  2\n");
    free(text);
    table_deinit(&t);
}

static void columns_beyond_the_maximum_are_dropped(void **state)
{
    (void)state;
    table t;
    table_init(&t);
    for (int i = 0; i < TABLE_MAX_COLUMNS + 5; i++)
        table_add_column(&t, "c", TABLE_LEFT);
    assert_int_equal(t.column_count, TABLE_MAX_COLUMNS);
    table_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(a_table_that_is_too_wide_is_continued_below),
        cmocka_unit_test(words_of_the_last_column_go_on_below),
        cmocka_unit_test(letters_of_many_bytes_count_once),
        cmocka_unit_test(control_characters_become_question_marks),
        cmocka_unit_test(notes_stand_below_their_row_and_wrap),
        cmocka_unit_test(words_longer_than_the_page_stay_whole),
        cmocka_unit_test(colour_ends_with_its_row),
        cmocka_unit_test(columns_beyond_the_maximum_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
