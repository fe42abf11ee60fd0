/* Runs a program on a terminal that is lost. Usage: lose_terminal TEXT PROGRAM...
 *
 * When the program has written TEXT, the terminal is closed as by a broken connection. The program
 * gets SIGHUP and its streams fail. The exit code is that of the program, or 128 + its signal. */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads the program's output until the output contains `text` or ends. */
static void read_until(int screen, const char *text)
{
    size_t matched = 0;
    char c;
    while (text[matched] && read(screen, &c, 1) == 1)
        matched = c == text[matched] ? matched + 1 : c == text[0];
}

int main(int argc, char **argv)
{
    int screen, status;
    if (argc < 3) {
        fputs("usage: lose_terminal TEXT PROGRAM...\n", stderr);
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
    read_until(screen, argv[1]);
    close(screen);
    if (waitpid(program, &status, 0) != program)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
