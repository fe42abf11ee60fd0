/* Tests process/beside.h, which runs a program beside the host process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "process/beside.h"

static const char *const none[] = {NULL};

static void start_shell(const char *script, const char *const *without, unsigned limit_s, beside *b)
{
    at_error error = {0};
    const char *const arguments[] = {"sh", "-c", script, NULL};
    assert_ok(beside_start("/bin/sh", arguments, without, limit_s, b, &error), error);
}

static void await_end(beside *b)
{
    for (int i = 0; i < 10000 && !beside_ended(b); i++)
        usleep(1000);
    assert_true(beside_ended(b));
}

static int signals_of_children;

static void count_signal(int number)
{
    (void)number;
    signals_of_children++;
}

TEST(the_end_of_the_programs_output_is_kept)
{
    beside b;
    start_shell("i=0; while [ $i -lt 1000 ]; do echo line $i >&2; i=$((i+1)); done; echo last >&2",
                none, 10, &b);
    await_end(&b);
    assert_int_equal(b.text_bytes, BESIDE_OUTPUT_BYTES - 1);
    assert_string_equal(b.text + b.text_bytes - strlen("line 999\nlast\n"), "line 999\nlast\n");
}

TEST(the_host_process_gets_no_signal_when_the_program_ends)
{
    beside b;
    struct sigaction before;
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = count_signal}, &before);
    signals_of_children = 0;
    start_shell("exit 3", none, 10, &b);
    await_end(&b);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(signals_of_children, 0);
    sigaction(SIGCHLD, &before, NULL);
}

TEST(the_program_runs_although_sigchld_is_ignored)
{
    beside b;
    struct sigaction before;
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, &before);
    start_shell("echo ran >&2", none, 10, &b);
    await_end(&b);
    assert_string_equal(b.text, "ran\n");
    sigaction(SIGCHLD, &before, NULL);
}

TEST(the_program_inherits_no_descriptors)
{
    beside b;
    int open_here = open("/dev/null", O_RDONLY);
    int high = fcntl(open_here, F_DUPFD, 200);
    start_shell("exec >&2; ls /proc/$$/fd", none, 10, &b);
    await_end(&b);
    assert_string_equal(b.text, "0\n1\n2\n");
    close(open_here);
    close(high);
}

/* Closes the standard descriptors, as a daemon does, and starts a program. Its pipes must not
 * get the standard numbers, because threads that still print would write into the pipes. */
static bool runs_without_standard_descriptors(void)
{
    beside b = {0};
    at_error error = {0};
    const char *const arguments[] = {"sh", "-c",
                                     "sleep 0.2; test ! -t 1 && echo out && echo said >&2", NULL};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    if (beside_start("/bin/sh", arguments, none, 10, &b, &error) || b.life <= STDERR_FILENO ||
        b.said <= STDERR_FILENO)
        return false;
    for (int i = 0; i < 10000 && !beside_ended(&b); i++) {
        (void)!write(STDERR_FILENO, "printed\n", 8);
        usleep(1000);
    }
    return strcmp(b.text, "said\n") == 0;
}

TEST(the_program_runs_although_standard_descriptors_are_closed)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(runs_without_standard_descriptors() ? 0 : 1);
    int ended;
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

TEST(the_program_has_the_lowest_priority_and_its_own_session)
{
    beside b;
    start_shell("set -- $(cut -d')' -f2- /proc/$$/stat); [ $4 = $$ ] && echo ${17} >&2", none, 10,
                &b);
    await_end(&b);
    assert_string_equal(b.text, "19\n");
}

TEST(variables_are_left_out)
{
    beside b;
    static const char *const without[] = {"TEST_GONE", NULL};
    setenv("TEST_GONE", "a", 1);
    setenv("TEST_GONE_NOT", "b", 1);
    start_shell("echo $TEST_GONE-$TEST_GONE_NOT >&2", without, 10, &b);
    await_end(&b);
    assert_string_equal(b.text, "-b\n");
}

static const char endless[] = "trap 'exit 0' TERM; echo up >&2; while :; do sleep 0.01; done";

static void await_up(beside *b)
{
    while (b->text_bytes == 0 && !beside_ended(b))
        usleep(1000);
}

/* Asserts that the process has ended. It may be a zombie that its parent has not reaped yet. */
static void assert_gone(pid_t pid)
{
    beside b;
    char script[256];
    snprintf(script, sizeof script,
             "while grep -qs ') [^Z]' /proc/%d/stat; do sleep 0.01; done; echo gone >&2", (int)pid);
    start_shell(script, none, 5, &b);
    await_end(&b);
    assert_string_equal(b.text, "gone\n");
}

TEST(stopping_asks_the_program_to_end)
{
    beside b;
    start_shell(endless, none, 10, &b);
    await_up(&b);
    beside_stop(&b);
    assert_gone(b.pid);
}

TEST(the_program_is_asked_to_end_when_the_host_process_is_killed)
{
    int pids[2];
    pid_t pid = 0;
    assert_int_equal(pipe(pids), 0);
    pid_t program = fork();
    if (program == 0) {
        beside b;
        start_shell(endless, none, 10, &b);
        await_up(&b);
        if (write(pids[1], &b.pid, sizeof b.pid) == sizeof b.pid)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(read(pids[0], &pid, sizeof pid), sizeof pid);
    assert_int_equal(waitpid(program, NULL, 0), program);
    assert_gone(pid);
    close(pids[0]);
    close(pids[1]);
}

TEST(the_error_names_a_missing_program)
{
    beside b;
    at_error error = {0};
    const char *const arguments[] = {"x", NULL};
    assert_int_equal(beside_start("/nowhere/x", arguments, none, 10, &b, &error), AT_NOT_FOUND);
    assert_string_equal(error.message, "there is no program at /nowhere/x");
    assert_true(beside_ended(&b));
}

TEST(a_file_that_is_no_program_is_an_error)
{
    beside b;
    at_error error = {0};
    const char *const arguments[] = {"x", NULL};
    assert_int_equal(beside_start("/tmp", arguments, none, 10, &b, &error), AT_IO);
    assert_non_null(strstr(error.message, "cannot start /tmp"));
}
