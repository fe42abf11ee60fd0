#include "capture/program.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/layout.h"
#include "process/interrupt.h"

extern char **environ;

enum { PATH_BYTES = 4096 };

/* Beside the running binary, as paths_find() finds what the program shares. */
static at_status find_library(char out[PATH_BYTES], at_error *error)
{
    char self[PATH_BYTES - 256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    snprintf(out, PATH_BYTES, "%s/%s/autotune/libautotune_capture.so", self, AUTOTUNE_LIBRARY_DIR);
    if (access(out, R_OK) == 0)
        return AT_OK;
    return error_set(error, AT_NOT_FOUND,
                     "the library that is loaded into programs is not at %s: reinstall autotune",
                     out);
}

static void set_number(const char *name, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, v);
    setenv(name, text, 1);
}

static void set_or_unset(const char *name, const char *text)
{
    if (text)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void set_environment(const program_request *what, const char *library)
{
    setenv("CUDA_INJECTION64_PATH", library, 1);
    setenv(CAPTURE_DIR, what->dir, 1);
    set_or_unset(CAPTURE_KERNEL, what->kernel);
    set_number(CAPTURE_NTH, what->nth);
    set_number(CAPTURE_SHAPES, what->shapes);
    set_number(CAPTURE_LIMIT, what->limit_bytes);
    set_number(CAPTURE_TIME, what->timed);
    set_or_unset(CAPTURE_CUPTI, what->cupti);
}

at_status program_run(const program_request *what, int *ended, at_error *error)
{
    char library[PATH_BYTES];
    at_status status = find_library(library, error);
    if (status)
        return status;
    /* The program gets signals as a shell would give them. */
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&actions);
    if (what->output_to_stderr)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    set_environment(what, library);
    interrupt_hold();
    pid_t pid;
    int code =
        posix_spawnp(&pid, what->arguments[0], &actions, &attributes, what->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code) {
        error_set_errno(error, code, "cannot run %s", what->arguments[0]);
        error->status = AT_USAGE;
        return AT_USAGE;
    }
    while (waitpid(pid, ended, 0) < 0 && errno == EINTR)
        continue;
    interrupt_take();
    return AT_OK;
}
