#define _GNU_SOURCE /* pipe2 */
#include "cmd/line/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

extern char **environ;

/* Starts it with its stdin and stdout at pipes, and no signal held back from it. Returns 0 or an
 * errno. */
static int start(int in, int out, pid_t *pid)
{
    static char name[] = "gnuplot";
    char *arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        failed = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (!failed)
            failed = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (!failed)
            failed = posix_spawnp(pid, name, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Reads all that comes, until the end. */
static void drain(int fd, char **bytes, size_t *size_bytes)
{
    char block[4096];
    FILE *to = memory_open(bytes, size_bytes);
    for (ssize_t n; (n = read(fd, block, sizeof block)) != 0;)
        if (n > 0)
            fwrite(block, 1, (size_t)n, to);
        else if (errno != EINTR)
            break;
    memory_close(to);
}

at_status gnuplot_run(const char *program, size_t program_bytes, char **picture, size_t *size_bytes,
                      at_error *error)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, ended = 0;
    pid_t pid = 0;
    at_error unread = {0};
    at_status status = AT_OK;
    *picture = NULL;
    *size_bytes = 0;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        status = error_set_errno(error, errno, "cannot start gnuplot");
        goto cleanup;
    }
    int failed = start(in[0], out[1], &pid);
    if (failed) {
        pid = 0;
        status = failed == ENOENT || failed == EACCES || failed == ENOTDIR
                     ? error_set(error, AT_NO_TOOLCHAIN,
                                 "gnuplot is missing, which draws the pictures: "
                                 "sudo apt-get install gnuplot-nox")
                     : error_set_errno(error, failed, "cannot start gnuplot");
        goto cleanup;
    }
    close(in[0]);
    close(out[1]);
    in[0] = out[1] = -1;
    /* One that ends before it has read everything tells so by its exit code. */
    file_write_all(in[1], "gnuplot", program, program_bytes, &unread);
    close(in[1]);
    in[1] = -1;
    drain(out[0], picture, size_bytes);
cleanup:
    for (int i = 0; i < 2; i++) {
        if (in[i] >= 0)
            close(in[i]);
        if (out[i] >= 0)
            close(out[i]);
    }
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    if (!status && (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0 || *size_bytes == 0))
        status = error_set(error, AT_IO, "gnuplot could not draw this");
    if (status) {
        free(*picture);
        *picture = NULL;
    }
    return status;
}
