/* Runs a program on a terminal of its own that goes away.
 *
 *   lose_terminal MS PROGRAM...
 *
 * After MS milliseconds the terminal is closed, as when a connection breaks: the program gets
 * SIGHUP and its streams fail. Ends with the program's status, or 128 + its signal. */
#include <poll.h>
#include <pty.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads what the program writes, so that it does not wait for a reader. */
static void read_until(int screen, int64_t end_ms)
{
    char bytes[4096];
    struct pollfd p = {.fd = screen, .events = POLLIN};
    for (int64_t left_ms; (left_ms = end_ms - now_ms()) > 0;)
        if (poll(&p, 1, (int)left_ms) > 0 && read(screen, bytes, sizeof bytes) <= 0)
            return;
}

int main(int argc, char **argv)
{
    int screen, status;
    if (argc < 3) {
        fputs("usage: lose_terminal MS PROGRAM...\n", stderr);
        return 2;
    }
    pid_t program = forkpty(&screen, NULL, NULL, NULL);
    if (program < 0) {
        perror("lose_terminal");
        return 2;
    }
    if (program == 0) {
        setenv("TERM", "xterm", 1);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    read_until(screen, now_ms() + strtol(argv[1], NULL, 10));
    close(screen);
    if (waitpid(program, &status, 0) != program)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
