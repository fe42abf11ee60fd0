#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "check.h"
#include "report/progress.h"

static const int64_t ms = 1000000;

/* Returns the bytes that can be read from `fd` without waiting, as a string. */
static const char *read_all(int fd)
{
    static char text[65536];
    size_t used = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (used < sizeof text - 1 && poll(&p, 1, 20) > 0 && (p.revents & POLLIN)) {
        ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

typedef struct terminal {
    int screen, line; /* the user's end and the program's end of the terminal */
} terminal;

static terminal open_terminal(unsigned short columns)
{
    terminal t;
    struct termios mode;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(openpty(&t.screen, &t.line, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(t.line, &mode), 0);
    mode.c_oflag &= ~(tcflag_t)OPOST;
    assert_int_equal(tcsetattr(t.line, TCSANOW, &mode), 0);
    setenv("TERM", "xterm", 1);
    return t;
}

static void close_terminal(terminal t)
{
    close(t.line);
    close(t.screen);
}

static progress_state at(int64_t now_ns, uint64_t done)
{
    return (progress_state){.stage = "tuning",
                            .done = done,
                            .total = 2000,
                            .failed = 3,
                            .best_ns = 131400,
                            .best_rate = 4057,
                            .unit = "GB/s",
                            .ceiling_fraction = 0.952,
                            .now_ns = now_ns};
}

static void update(progress *p, int64_t now_ns, uint64_t done)
{
    progress_state s = at(now_ns, done);
    progress_update(p, &s);
}

TEST(a_terminal_shows_one_line_with_everything)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    update(p, 4000 * ms, 400);
    const char *text = read_all(t.screen);
    assert_int_equal(count_of(text, "\n"), 0);
    assert_non_null(strstr(text, "\rtuning 400/2,000  100/s  16.0 s left  3 failed  best 131.4 us  "
                                 "4057 GB/s  95.2 % of ceiling\033[K"));
    progress_free(p);
    close_terminal(t);
}

TEST(a_limit_on_time_that_comes_first_is_the_time_left)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    progress_state s = at(4000 * ms, 400);
    s.until_end_s = 5;
    progress_update(p, &s);
    assert_non_null(strstr(read_all(t.screen), "tuning 400/2,000  100/s  5.00 s left"));
    progress_free(p);
    close_terminal(t);
}

TEST(no_time_is_left_after_the_limit)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    progress_state s = at(4000 * ms, 400);
    s.until_end_s = -1;
    progress_update(p, &s);
    assert_null(strstr(read_all(t.screen), "left"));
    progress_free(p);
    close_terminal(t);
}

TEST(the_line_is_redrawn_at_most_ten_times_a_second)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    for (int i = 0; i <= 1000; i++)
        update(p, i * ms, (uint64_t)i);
    size_t drawn = count_of(read_all(t.screen), "\r");
    assert_true(drawn >= 10 && drawn <= 11);
    progress_free(p);
    close_terminal(t);
}

TEST(the_line_is_erased_at_the_end)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 1);
    read_all(t.screen);
    progress_free(p);
    assert_string_equal(read_all(t.screen), "\r\033[K");
    close_terminal(t);
}

TEST(without_a_line_nothing_is_erased)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    progress_clear(p);
    progress_free(p);
    assert_string_equal(read_all(t.screen), "");
    close_terminal(t);
}

TEST(no_line_is_wider_than_the_terminal)
{
    for (unsigned short columns = 1; columns < 130; columns += 3) {
        terminal t = open_terminal(columns);
        progress *p = progress_new(t.line, false);
        update(p, 0, 0);
        read_all(t.screen);
        update(p, 4000 * ms, 400);
        const char *text = read_all(t.screen);
        assert_true(strlen(text) < columns + strlen("\r\033[K"));
        if (columns > 45)
            assert_non_null(strstr(text, "best 131.4 us"));
        if (columns > 20)
            assert_non_null(strstr(text, "tuning 400/2,000"));
        progress_free(p);
        close_terminal(t);
    }
}

TEST(a_resized_terminal_is_noticed)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 400);
    read_all(t.screen);
    struct winsize size = {.ws_row = 24, .ws_col = 30};
    assert_int_equal(ioctl(t.screen, TIOCSWINSZ, &size), 0);
    update(p, 4000 * ms, 800);
    assert_true(strlen(read_all(t.screen)) < 30 + strlen("\r\033[K"));
    progress_free(p);
    close_terminal(t);
}

TEST(a_file_gets_a_plain_line_every_five_seconds)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    progress *p = progress_new(ends[1], false);
    for (int i = 0; i <= 21000; i += 10)
        update(p, i * ms, (uint64_t)i / 20);
    const char *text = read_all(ends[0]);
    assert_int_equal(count_of(text, "\n"), 4);
    assert_int_equal(count_of(text, "\r"), 0);
    assert_int_equal(count_of(text, "\033"), 0);
    assert_non_null(strstr(text, "tuning 250/2,000  50/s  35.0 s left"));
    progress_free(p);
    assert_string_equal(read_all(ends[0]), "");
    close(ends[0]);
    close(ends[1]);
}

TEST(a_dumb_terminal_is_treated_as_a_file)
{
    terminal t = open_terminal(120);
    setenv("TERM", "dumb", 1);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    update(p, 6000 * ms, 400);
    assert_int_equal(count_of(read_all(t.screen), "\033"), 0);
    progress_free(p);
    close_terminal(t);
}

TEST(quiet_writes_nothing)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    progress *p = progress_new(ends[1], true);
    update(p, 0, 0);
    update(p, 60000 * ms, 400);
    progress_clear(p);
    progress_free(p);
    assert_string_equal(read_all(ends[0]), "");
    close(ends[0]);
    close(ends[1]);
}

TEST(a_reader_that_left_is_ignored)
{
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    progress *p = progress_new(ends[1], false);
    for (int i = 0; i < 10; i++)
        update(p, i * 6000 * ms, (uint64_t)i);
    progress_free(p);
    close(ends[1]);
}

TEST(a_terminal_that_goes_away_is_ignored)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    close(t.screen);
    for (int i = 1; i < 10; i++)
        update(p, i * 1000 * ms, (uint64_t)i);
    progress_free(p);
    close(t.line);
}

TEST(a_closed_stderr_is_ignored)
{
    progress *p = progress_new(-1, false);
    errno = 0;
    update(p, 0, 0);
    update(p, 6000 * ms, 10);
    assert_int_equal(errno, EBADF); /* the write was tried and its failure ignored */
    progress_free(p);
}

TEST(a_terminal_that_does_not_read_does_not_block)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    progress *p = progress_new(ends[1], false);
    for (int i = 1; i < 5000; i++)
        update(p, i * 6000 * ms, (uint64_t)i);
    progress_free(p);
    close(ends[0]);
    close(ends[1]);
}

TEST(the_rate_follows_a_run_that_slows_down)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    uint64_t done = 0;
    for (int i = 0; i < 20; i++)
        update(p, i * 1000 * ms, done += 50);
    for (int i = 20; i < 40; i++)
        update(p, i * 1000 * ms, done += 10);
    read_all(t.screen);
    update(p, 40000 * ms, done += 10);
    assert_non_null(strstr(read_all(t.screen), "  10/s  "));
    progress_free(p);
    close_terminal(t);
}

TEST(a_new_stage_restarts_the_counts)
{
    terminal t = open_terminal(120);
    progress *p = progress_new(t.line, false);
    update(p, 0, 0);
    update(p, 1000 * ms, 500);
    progress_state finals = {.stage = "finals", .now_ns = 2000 * ms, .done = 0, .total = 240};
    progress_update(p, &finals);
    finals.now_ns += 1000 * ms;
    finals.done = 80;
    read_all(t.screen);
    progress_update(p, &finals);
    assert_string_equal(read_all(t.screen), "\rfinals 80/240  80/s  2.00 s left\033[K");
    progress_free(p);
    close_terminal(t);
}
