#include "cmd/tuning/models.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "bench/client.h"
#include "process/interrupt.h"

enum { MOST_GPUS = 64 };

bool models_asked(const char *names)
{
    return names &&
           (strcmp(names, "all") == 0 || (strncmp(names, "cuda:", 5) == 0 && strchr(names, ',')));
}

static at_status add(gpu_models *m, const device_properties *p, at_error *error)
{
    size_t at = 0;
    while (at < m->count && strcmp(m->names[at], p->limits.name) != 0)
        at++;
    if (at == MODELS_MOST)
        return error_set(error, AT_USAGE, "more than %d models of GPU", MODELS_MOST);
    const char *ordinal = strchr(p->spec, ':') + 1;
    char *spec = m->specs[at];
    if (at < m->count) {
        text_add(spec, MODELS_SPEC_BYTES, ",%s", ordinal);
        return AT_OK;
    }
    snprintf(m->names[m->count++], sizeof m->names[0], "%s", p->limits.name);
    snprintf(spec, MODELS_SPEC_BYTES, "cuda:%s", ordinal);
    return AT_OK;
}

/* "cuda:0,2" names devices of the list, each once. */
static at_status add_named(gpu_models *m, const char *names, const device_properties *found,
                           size_t count, at_error *error)
{
    bool named[MOST_GPUS] = {false};
    at_status status = AT_OK;
    for (const char *at = names + 4; !status && *at; at += 1 + strcspn(at + 1, ",")) {
        char *end;
        long ordinal = strtol(at + 1, &end, 10);
        if (end == at + 1 || (*end && *end != ',') || ordinal < 0)
            return error_set(error, AT_USAGE, "%s names no devices; write cuda:0,2 or all", names);
        if ((size_t)ordinal >= count)
            return error_set(error, AT_NO_DEVICE,
                             "there is no cuda:%ld; 'autotune devices' lists what is there",
                             ordinal);
        if (named[ordinal])
            return error_set(error, AT_USAGE, "%s names cuda:%ld twice", names, ordinal);
        named[ordinal] = true;
        status = add(m, &found[ordinal], error);
    }
    return status;
}

at_status models_find(const char *names, gpu_models *out, at_error *error)
{
    size_t count;
    *out = (gpu_models){0};
    device_properties *found = memory_new(MOST_GPUS, sizeof *found);
    at_status status = device_worker_list_names("cuda", found, MOST_GPUS, &count, error);
    if (!status && strcmp(names, "all") != 0)
        status = add_named(out, names, found, count, error);
    else
        for (size_t i = 0; !status && i < count; i++)
            status = add(out, &found[i], error);
    free(found);
    return status;
}

/* ---- side by side ---- */

typedef struct tuner {
    pid_t pid;
    FILE *output;
    int code;
} tuner;

static void become_tuner(const gpu_models *models, size_t which, FILE *output, pid_t parent,
                         settings *asked)
{
    size_t cores = asked->machine.jobs > 0 ? (size_t)asked->machine.jobs : cores_usable();
    /* The terminal's signals go to the parent, which passes them on: once, not twice. */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    interrupt_release();
    dup2(fileno(output), STDOUT_FILENO);
    asked->machine.device = models->specs[which];
    asked->machine.jobs = (int)(cores > models->count ? cores / models->count : 1);
    asked->quiet = asked->quiet || which > 0;
}

static void await_all(tuner *all, size_t count)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (size_t running = count; running > 0;) {
        int signal_number = interrupt_take();
        running = 0;
        for (size_t i = 0; i < count; i++) {
            int status;
            if (all[i].pid > 0 && signal_number)
                kill(all[i].pid, signal_number);
            if (all[i].pid > 0 && waitpid(all[i].pid, &status, WNOHANG) == all[i].pid) {
                all[i].pid = 0;
                all[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
            running += all[i].pid > 0;
        }
        if (running)
            nanosleep(&pause, NULL);
    }
}

static void print_output(FILE *from)
{
    char buffer[4096];
    rewind(from);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;)
        fwrite(buffer, 1, n, stdout);
}

at_status models_side_by_side(const gpu_models *models, settings *asked, bool *mine, int *exit_code,
                              at_error *error)
{
    tuner all[MODELS_MOST] = {0};
    at_status status = AT_OK;
    size_t started = 0;
    pid_t parent = getpid();
    *mine = false;
    fflush(stdout);
    interrupt_hold();
    for (; !status && started < models->count; started++) {
        tuner *one = &all[started];
        one->output = tmpfile();
        if (!one->output || (one->pid = fork()) < 0) {
            status = error_set_errno(error, errno, "cannot tune GPUs side by side");
        } else if (one->pid == 0) {
            become_tuner(models, started, one->output, parent, asked);
            *mine = true;
            return AT_OK;
        }
    }
    if (status)
        for (size_t i = 0; i < started; i++)
            if (all[i].pid > 0)
                kill(all[i].pid, SIGTERM);
    await_all(all, started);
    *exit_code = 0;
    for (size_t i = 0; i < started; i++) {
        if (!all[i].output)
            continue;
        if (i > 0)
            fputc('\n', stdout);
        print_output(all[i].output);
        fclose(all[i].output);
        if (*exit_code == 0)
            *exit_code = all[i].code;
    }
    interrupt_release();
    return status;
}
