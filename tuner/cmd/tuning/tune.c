/* autotune tune: finds and records the fastest configuration; tunes several GPU models at once. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "bench/client.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "process/interrupt.h"
#include "ranks/ranks.h"
#include "report/report.h"
#include "run/setup/settings.h"
#include "run/tune.h"

enum { MODELS_MOST = 16, MODELS_SPEC_BYTES = 512, MOST_GPUS = 64 };

typedef struct gpu_models {
    size_t count;
    char names[MODELS_MOST][256];
    char specs[MODELS_MOST][MODELS_SPEC_BYTES]; /* "cuda:0,2", in the form of settings.device */
} gpu_models;

static bool models_asked(const char *names)
{
    return names &&
           (strcmp(names, "all") == 0 || (strncmp(names, "cuda:", 5) == 0 && strchr(names, ',')));
}

static at_status add_gpu(gpu_models *m, const device_properties *p, at_error *error)
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
        status = add_gpu(m, &found[ordinal], error);
    }
    return status;
}

/* Resolves "all" or "cuda:0,2" to GPU models. A child process asks the driver, or only the
 * management library (NVML) if that is enough. AT_NO_DEVICE if a GPU does not exist, AT_USAGE. */
static at_status models_find(const char *names, gpu_models *out, at_error *error)
{
    size_t count;
    *out = (gpu_models){0};
    device_properties *found = memory_new(MOST_GPUS, sizeof *found);
    at_status status = device_worker_list_names("cuda", found, MOST_GPUS, &count, error);
    if (!status && strcmp(names, "all") != 0)
        status = add_named(out, names, found, count, error);
    else
        for (size_t i = 0; !status && i < count; i++)
            status = add_gpu(out, &found[i], error);
    free(found);
    return status;
}

typedef struct tuner {
    pid_t pid;
    FILE *output;
    int code;
} tuner;

static void become_tuner(const gpu_models *models, size_t which, FILE *output, pid_t parent,
                         settings *asked)
{
    size_t cores = asked->machine.jobs > 0 ? (size_t)asked->machine.jobs : cores_usable();
    /* The parent alone passes the terminal's signals on to the child's own process group. */
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

/* Starts a child process for each GPU model. In a child, sets *mine, sends output to a file, and
 * returns: then the caller tunes the model of *asked on the child's share of the cores. The parent
 * passes signals on, waits for all children, prints their output in order and sets *exit_code to
 * the first code that is not 0. AT_IO. */
static at_status models_side_by_side(const gpu_models *models, settings *asked, bool *mine,
                                     int *exit_code, at_error *error)
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

/* Appends the --config of a variant, without parameters that have the default's value. */
static void add_differences(char *text, size_t size_bytes, const run_summary *s,
                            const run_result *r)
{
    const run_result *base = run_summary_baseline(s);
    const char *before = " --config ";
    if (!base) {
        text_add(text, size_bytes, "%s%s", before, r->configuration);
        return;
    }
    for (size_t i = 0; i < s->parameter_count; i++) {
        char shown[CONFIGURATION_BYTES];
        if (value_equal(r->values[i], base->values[i]))
            continue;
        value_format(r->values[i], shown, sizeof shown);
        text_add(text, size_bytes, "%s%s=%s", before, s->parameters[i], shown);
        before = ",";
    }
}

/* Packs data that only the text needs, such as the command that explains an unrecorded winner. */
static json_t *pack_words(const options *o, const settings *asked, const run_summary *s)
{
    const run_result *best = run_summary_best(s);
    char text[2 * CONFIGURATION_BYTES] = "";
    json_t *words = report_pack_text_values(s, o->top);
    if (best && s->device.predicted) {
        text_add(text, sizeof text, "autotune explain %s", asked->pattern.script);
        for (size_t i = 0; i < asked->pattern.variable_count; i++)
            text_add(text, sizeof text, " --set %s=%s", asked->pattern.variables[i].name,
                     asked->pattern.variables[i].text);
        for (size_t i = 0; i < asked->pattern.include_count; i++)
            text_add(text, sizeof text, " --include %s", asked->pattern.includes[i]);
        if (asked->pattern.describe)
            text_add(text, sizeof text, " --describe %s", asked->pattern.describe);
        if (asked->pattern.captured)
            text_add(text, sizeof text, " --captured %s", asked->pattern.captured);
        text_add(text, sizeof text, " --device %s", s->device.spec);
        add_differences(text, sizeof text, s, best);
    }
    json_put(&words, "explain", json_string(text));
    return words;
}

static at_status tune_and_print(const options *o, const settings *asked, int *exit_code,
                                at_error *error)
{
    tune *t;
    at_status status = tune_run(asked, &t, error);
    if (!t)
        return status;
    const run_summary *s = tune_summary(t);
    /* If no variant was tried, or no variant compiles, only the error is printed. */
    bool empty = status && s->result_count == s->counts[OUTCOME_COMPILE_ERROR];
    at_status printed =
        empty ? AT_OK
              : page_show(o, "tune", 2, report_pack(s, o->top),
                          o->json ? NULL : pack_words(o, asked, s), status ? NULL : error);
    status = status ? status : printed;
    *exit_code = s->best_found || (s->compiled_only && s->counts[OUTCOME_OK]) ? 0 : 1;
    tune_free(t);
    return status;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    settings asked = o->run;
    gpu_models models = {0};
    /* With several ranks the session finds the GPUs. */
    if (models_asked(asked.machine.device) && !getenv(CLUSTER_VARIABLE)) {
        bool mine = true;
        at_status status = models_find(asked.machine.device, &models, error);
        asked.machine.device = models.specs[0];
        if (!status && models.count > 1)
            status = models_side_by_side(&models, &asked, &mine, exit_code, error);
        if (status || !mine)
            return status;
    }
    return tune_and_print(o, &asked, exit_code, error);
}

const command cmd_tune = {
    .name = "tune",
    .operand = "SCRIPT",
    .summary = "Find the fastest configuration and record it",
    .options =
        "describe set include captured only device verify-on arch strategy budget seed effort "
        "stop-at "
        "warm-start "
        "objective "
        "energy prove fixed finals tie jobs share cache after no-cache top json quiet "
        "results "
        "record "
        "no-record",
    .answer = answer,
};
