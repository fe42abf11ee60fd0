/* Tests lua/lib/page.lua: tables, wrapped lines and plain text for a terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check.h"
#include "script/render.h"
#include "temporary.h"

/* Returns the page that a template with these lines prints. The caller frees the page. */
static char *write_lines(const char *lines, int columns, bool colour, json_t *also)
{
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16], text[4096];
    rendered out;
    at_error error = {0};
    temporary_make(folder);
    snprintf(path, sizeof path, "%s/a.tmpl", folder);
    snprintf(text, sizeof text, "%% local p = require \"lib.page\"(page)\n%s\n", lines);
    assert_ok(file_replace(path, text, strlen(text), &error), error);
    json_t *table = also ? also : json_object();
    assert_int_equal(json_object_set_new(table, "page",
                                         json_pack("{si sb sb}", "columns", columns, "colour",
                                                   (int)colour, "utf8", 1)),
                     0);
    assert_ok(script_render_files(NULL, path, table, &out, &error), error);
    json_decref(table);
    temporary_remove(folder);
    char *written = strdup(out.files[0].text);
    rendered_deinit(&out);
    return written;
}

static void assert_writes(const char *lines, int columns, bool colour, const char *expected)
{
    char *text = write_lines(lines, columns, colour, NULL);
    assert_string_equal(text, expected);
    free(text);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
    assert_writes("${p.table(\"n,<name\", { { 12345, \"a\" }, { 1, \"a longer one\" } })}", 80,
                  false, "      n  name\n  12345  a\n      1  a longer one\n");
}

/* Columns that do not fit move to a second table, which repeats the first column. */
TEST(a_table_that_is_too_wide_is_continued_below)
{
    assert_writes("${p.table(\"key,first,second,third\", { { 0, 1, 2, 3 }, { 4, 5, 6, 7 } })}", 16,
                  false,
                  "  key  first\n    0      1\n    4      5\n"
                  "\n  key  second\n    0       2\n    4       6\n"
                  "\n  key  third\n    0      3\n    4      7\n");
}

TEST(words_of_the_last_column_go_on_below)
{
    assert_writes("${p.table(\"n,<words\", { { 12, \"a=1,b=2 and what else there is\" } })}", 24,
                  false, "   n  words\n  12  a=1,b=2 and what\n      else there is\n");
}

TEST(letters_of_many_bytes_count_once)
{
    assert_writes("${p.table(\"\xc2\xb5s,x\", { { 10, 1 } })}", 80, false,
                  "  \xc2\xb5s  x\n  10  1\n");
}

TEST(control_characters_become_question_marks)
{
    char *text = write_lines("${p.clean(said)}\n${p.table(\"<a\", { { said, note = said } })}", 80,
                             false, json_pack("{ss}", "said", "a\033[2J\x7f\xc2\x9b\xc3\xa9"));
    assert_string_equal(text, "a?[2J??\xc3\xa9\n  a\n  a?[2J??\xc3\xa9\n      a?[2J??\xc3\xa9\n");
    free(text);
}

TEST(notes_stand_below_their_row_and_wrap)
{
    assert_writes("${p.table(\"n\", { { 1, note = \"some words that are long\" }, { 2 } })}", 20,
                  false, "  n\n  1\n      some words\n      that are long\n  2\n");
}

TEST(words_longer_than_the_page_stay_whole)
{
    assert_writes("${p.wrapped(4, \"is\", string.rep(\"x\", 30))}", 20, false,
                  "is  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
}

TEST(colour_ends_with_its_row)
{
    assert_writes("${p.table(\"n\", { { 1, style = \"best\", note = \"why\" }, { 2 } })}", 80, true,
                  "\033[1m  n\033[0m\n\033[1;32m  1\033[0m\n\033[2m      why\033[0m\n  2\n");
}

TEST(of_a_very_long_message_the_first_lines_are_shown)
{
    char *text = write_lines("${p.message(string.rep(\"line\\n\", 30))}", 80, false, NULL);
    assert_non_null(strstr(text, "    line\n    ... and 6 more lines (--json has them)\n"));
    free(text);
}

TEST(a_path_that_is_not_utf8_has_its_bytes)
{
    char *text = write_lines("${p.path(odd)} ${p.path(plain)}", 80, false,
                             json_pack("{s{ss} ss}", "odd", "bytes", "61ff", "plain", "b"));
    assert_string_equal(text, "a\xff b\n");
    free(text);
}

/* Asserts the text into which lua/lib/markdown.lua turns a page of docs/. */
static void assert_page(const char *text, int columns, const char *expected)
{
    char *written = write_lines("${require \"lib.markdown\" (text, p)}", columns, false,
                                json_pack("{ss}", "text", text));
    assert_string_equal(written, expected);
    free(written);
}

TEST(paragraphs_and_items_of_a_page_get_new_line_breaks)
{
    assert_page("One two\nthree four five.\n\n- an item that\n  goes on\n- the next\n", 16,
                "One two three\nfour five.\n\n- an item that\n  goes on\n- the next\n");
}

TEST(code_and_headings_of_a_page_stay_as_they_are)
{
    assert_page("# A heading that is long\n```\na  |  b\n- c\nd\n```\n", 16,
                "# A heading that is long\n```\na  |  b\n- c\nd\n```\n");
}

TEST(cells_of_a_table_of_a_page_are_wrapped_in_their_columns)
{
    assert_page("| a | words |\n|---|---|\n| 1 | one two three |\n| | x|y |\n", 14,
                "a  words\n-  -----------\n1  one two\n   three\n   x|y\n");
}
