#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "check.h"

static void expect_escaped(const char *text, const char *wanted)
{
    char out[256];
    plain_text_escape(text, out, sizeof out);
    assert_string_equal(out, wanted);
}

TEST(orders_to_a_terminal_are_shown)
{
    expect_escaped("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n\tend",
                   "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n\tend");
    expect_escaped("\033[31mred\033]0;title\a\r\b\x7f",
                   "\\u001b[31mred\\u001b]0;title\\u0007\\u000d\\u0008\\u007f");
    expect_escaped("\xc2\x9b"
                   "31m",
                   "\\u009b31m");
    expect_escaped("a\xe2\x80\xae"
                   "b\xe2\x81\xa6",
                   "a\\u202eb\\u2066");
    expect_escaped("\x9b \xff \xc3( \xc0\xaf \xed\xa0\x80 \xc3",
                   "\\ufffd \\ufffd \\ufffd( \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ufffd");
}

TEST(what_does_not_fit_is_left_out_whole)
{
    char out[8];
    plain_text_escape("ab\033cd", out, sizeof out);
    assert_string_equal(out, "ab");
    plain_text_escape("a\033cd", out, sizeof out);
    assert_string_equal(out, "a\\u001b");
    plain_text_escape("abcdefg", out, sizeof out);
    assert_string_equal(out, "abcdefg");
}

TEST(a_line_has_no_control_characters)
{
    assert_true(plain_text_is_line("caf\xc3\xa9 *", 7));
    assert_true(plain_text_is_line("", 0));
    assert_false(plain_text_is_line("a\nb", 3));
    assert_false(plain_text_is_line("a\0b", 3));
    assert_false(plain_text_is_line("\xff", 1));
    assert_false(plain_text_is_line("\xc3", 1));
}

/* What goes into the stream in pieces of `step` bytes comes out of it. */
static void expect_streamed(const char *text, size_t step, bool ink, const char *wanted)
{
    char out[512];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *f = plain_text_stream(ends[1], ink, false);
    assert_non_null(f);
    for (size_t at = 0; at < strlen(text); at += step)
        fwrite(text + at, 1, strlen(text) - at < step ? strlen(text) - at : step, f);
    assert_int_equal(fclose(f), 0);
    close(ends[1]);
    ssize_t n = read(ends[0], out, sizeof out - 1);
    close(ends[0]);
    out[n < 0 ? 0 : n] = '\0';
    assert_string_equal(out, wanted);
}

TEST(a_stream_shows_the_same_however_it_is_cut)
{
    static const char text[] =
        "\033[1mbold\033[0m \xe2\x82\xac \033[31mred \xf0\x9f\x98\x80\xe2\x82 \033\033[2mdim\xc2";
    for (size_t step = 1; step < sizeof text; step++) {
        expect_streamed(
            text, step, false,
            "\\u001b[1mbold\\u001b[0m \xe2\x82\xac \\u001b[31mred \xf0\x9f\x98\x80\\ufffd\\ufffd "
            "\\u001b\\u001b[2mdim\\ufffd");
        expect_streamed(
            text, step, true,
            "\033[1mbold\033[0m \xe2\x82\xac \\u001b[31mred \xf0\x9f\x98\x80\\ufffd\\ufffd "
            "\\u001b\033[2mdim\\ufffd");
    }
}

TEST(a_long_text_passes_whole)
{
    enum { LENGTH = 100000 };
    FILE *kept = tmpfile();
    assert_non_null(kept);
    FILE *f = plain_text_stream(fileno(kept), false, true);
    assert_non_null(f);
    for (int i = 0; i < LENGTH; i++)
        fputs("\033", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(lseek(fileno(kept), 0, SEEK_END), 6 * LENGTH);
    fclose(kept);
}

TEST(a_stream_that_cannot_be_written_says_so)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    FILE *f = plain_text_stream(fileno(full), false, true);
    assert_non_null(f);
    fputs("text", f);
    assert_int_not_equal(fflush(f), 0);
    assert_true(ferror(f));
    fclose(f);
    fclose(full);
}

TEST(an_error_is_plain_text)
{
    at_error error = {0};
    error_set_at(&error, AT_SCRIPT, "a\033[2Jb", 1, "%s", "\033]0;x\a");
    assert_string_equal(error.message, "\\u001b]0;x\\u0007");
    assert_string_equal(error.file, "a\\u001b[2Jb");
    error_prefix(&error, "%s", "\r");
    assert_string_equal(error.message, "\\u000d: \\u001b]0;x\\u0007");
}
