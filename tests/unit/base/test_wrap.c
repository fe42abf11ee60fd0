#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wrap.h"
#include "check.h"

static char *wrap(const char *text, size_t columns)
{
    char *out;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    FILE *f = wrap_stream(to, columns);
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    fclose(to);
    return out;
}

static void expect(const char *text, size_t columns, const char *wanted)
{
    char *found = wrap(text, columns);
    assert_string_equal(found, wanted);
    free(found);
}

TEST(a_line_that_fits_is_left_alone)
{
    expect("0123456789\n  a  b\n\nlast", 10, "0123456789\n  a  b\n\nlast");
}

TEST(a_longer_line_continues_below_indented_by_two)
{
    expect("one two three four five six seven eight\n", 24,
           "one two three four five\n  six seven eight\n");
}

TEST(text_behind_a_label_continues_below_the_text)
{
    expect("best    one two three four five six seven\n", 32,
           "best    one two three four five\n        six seven\n");
}

TEST(nothing_is_broken_within_a_value)
{
    expect("tile_x=64,tile_y=32,pad=0,group=4\n", 30, "tile_x=64,tile_y=32,pad=0,\n  group=4\n");
    expect("stride is one of 1,2,4,8,16,32,64,128,256\n", 30,
           "stride is one of\n  1,2,4,8,16,32,64,128,256\n");
    expect("/a/path/that/is/longer/than/the/terminal\n", 24,
           "/a/path/that/is/longer/than/the/terminal\n");
}

TEST(colours_and_multibyte_letters_count_with_their_visible_width)
{
    expect("\033[1m\xc2\xb5s one two three four\033[0m\n", 21,
           "\033[1m\xc2\xb5s one two three four\033[0m\n");
}

TEST(lines_that_were_broken_by_hand_flow)
{
    expect("name    one two three four five six seven\n        eight nine\nnext\n", 32,
           "name    one two three four five\n        six seven eight nine\nnext\n");
}

/* Wraps random texts. Only a line of a single word may be too wide. Every word must stay whole. */
TEST(every_width_keeps_every_word)
{
    static const char text[] = "  alpha=1,beta=22,gamma=333 and  then some, words 1,2,3 of\n"
                               "    various length, the longest-of-all-of-them-by-far among them\n"
                               "end\n";
    for (size_t columns = 24; columns < 100; columns++) {
        char *found = wrap(text, columns), *rest = found;
        size_t letters = 0, wanted = 0;
        for (const char *c = text; *c; c++)
            wanted += *c != ' ' && *c != '\n';
        for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
            const char *inner = line + strspn(line, " ");
            assert_true(strlen(line) <= columns || !strchr(inner, ' '));
            for (const char *c = line; *c; c++)
                letters += *c != ' ';
        }
        assert_int_equal(letters, wanted);
        free(found);
    }
}

/* ---- plain text ---- */

/* Writes `text` to a stream in pieces of `step` bytes and compares the output. */
static void expect_streamed(const char *text, size_t step, bool colours, const char *wanted)
{
    char out[512];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *f = plain_text_stream(ends[1], colours, false);
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

TEST(a_stream_shows_the_same_in_pieces_of_any_size)
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
