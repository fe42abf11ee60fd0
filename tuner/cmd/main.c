/* The program: finds the subcommand, prints its error, and turns its status into an exit code. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/wrap.h"
#include "bench/worker.h"
#include "cmd/line/page.h"
#include "cmd/table.h"
#include "cmd/variant/best.h"
#include "compile/worker.h"
#include "process/interrupt.h"
#include "ranks/ranks.h"

/* The exit codes, which the README and --help document; scripts of users depend on them. */
enum {
    EXIT_OK = 0,
    EXIT_NO_WINNER = 1,
    EXIT_USAGE = 2,
    EXIT_NO_TARGET = 3,
    EXIT_STORAGE = 4,
    EXIT_BUG = MEMORY_EXIT,
    EXIT_INTERRUPT = 130
};

static int exit_code_of(at_status status)
{
    static const struct {
        at_status status;
        int code;
    } table[] = {
        {AT_OK, EXIT_OK},
        {AT_USAGE, EXIT_USAGE},
        {AT_SCRIPT, EXIT_USAGE},
        {AT_NOT_FOUND, EXIT_USAGE},
        {AT_COMPILE, EXIT_NO_WINNER},
        {AT_NO_DEVICE, EXIT_NO_TARGET},
        {AT_NO_TOOLCHAIN, EXIT_NO_TARGET},
        {AT_DEVICE, EXIT_NO_TARGET},
        {AT_WORKER, EXIT_NO_TARGET},
        {AT_FORMAT, EXIT_STORAGE},
        {AT_IO, EXIT_STORAGE},
        {AT_INTERRUPTED, EXIT_INTERRUPT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].status == status)
            return table[i].code;
    return EXIT_BUG;
}

/* `operand` is the first operand of the command, or NULL. */
static void print_error(const at_error *error, const char *operand)
{
    fputs("autotune: ", stderr);
    if (error->file[0] && error->line)
        fprintf(stderr, "%s:%d: ", error->file, error->line);
    else if (error->file[0])
        fprintf(stderr, "%s: ", error->file);
    page_put(operand, error->message[0] ? error->message : status_name(error->status), stderr);
    fputc('\n', stderr);
}

static void print_help(void)
{
    enum { SUMMARY_COLUMN = 28 };
    puts("Usage: autotune [tune] SCRIPT [OPTION]...\n"
         "       autotune COMMAND ...\n"
         "\n"
         "Finds the fastest configuration of a GPU memory access pattern.\n"
         "\n"
         "Commands ('autotune COMMAND --help' explains each; 'autotune help tutorial'\n"
         "shows the way through the first five):");
    size_t count, group_count;
    const command *const *all = commands_all(&count);
    const command_group *groups = commands_groups(&group_count);
    for (size_t g = 0; g < group_count; g++) {
        printf("\n%s\n", groups[g].title);
        for (const command *const *end = all + groups[g].count; all < end; all++) {
            char left[96];
            int wide = snprintf(left, sizeof left, "  %-10s  %s", (*all)->name,
                                (*all)->operand ? (*all)->operand : "");
            if (wide >= SUMMARY_COLUMN)
                puts(left);
            wrap_print(terminal_page(), SUMMARY_COLUMN, wide < SUMMARY_COLUMN ? left : "",
                       (*all)->summary, stdout);
        }
    }
    char text[OPTIONS_DETAILS_BYTES];
    options_details("autotune", text);
    printf("\n%s", text);
}

/* Returns whether the reader of stdout has closed it, as `head` does. This is no error. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Flushes stdout, prints an error and returns the exit code. */
static int end_output(at_status status, int code, const char *operand, at_error *error)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && !status)
        status = output_failed(error);
    if (status == AT_IO && reader_left())
        status = AT_OK;
    if (!status)
        return code;
    print_error(error, operand);
    return exit_code_of(status);
}

/* Replaces --config baseline and --config best by configurations; `text` holds the best one. */
static at_status name_configuration(options *o, char text[CONFIGURATION_BYTES], at_error *error)
{
    if (!o->configuration || !o->operand)
        return AT_OK;
    if (strcmp(o->configuration, "baseline") == 0)
        o->configuration = NULL;
    else if (strcmp(o->configuration, "best") == 0) {
        o->configuration = text;
        return best_text(o, text, error);
    }
    return AT_OK;
}

static int run(const command *c, int argc, char **argv)
{
    char best[CONFIGURATION_BYTES];
    at_error error = {0};
    options o;
    int code = EXIT_OK;
    at_status status = options_parse(argc, argv, c, &o, &error);
    FILE *whole = terminal_wrap_begin(o.help || !(c->raw || o.json || o.list));
    if (!status && o.help)
        help_print(c);
    o.commands = commands_all(&o.command_count);
    if (!status && !o.help)
        status = name_configuration(&o, best, &error);
    if (!status && !o.help)
        status = c->answer ? c->answer(&o, &code, &error) : c->run(&o, &error);
    terminal_wrap_end(whole);
    return end_output(status, code, o.operand, &error);
}

/* Returns the command whose name `word` misspells. Returns NULL if no name is similar, if `word` is
 * a file or an installed script, or if it has a dot or a slash. */
static const char *misspelt_command(const char *word)
{
    struct stat s;
    paths places;
    char found[PATH_MAX];
    if (strpbrk(word, "./") || stat(word, &s) == 0)
        return NULL;
    if (!paths_find(&places, NULL) && !paths_find_script(&places, word, found, sizeof found, NULL))
        return NULL;
    size_t count;
    const command *const *all = commands_all(&count);
    const char *names[64];
    if (count > sizeof names / sizeof names[0])
        count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++)
        names[i] = all[i]->name;
    return nearest_name(word, names, count);
}

/* Ends the program. While something must be saved, interrupts are held back instead. */
static void end_at_once(int signal_number)
{
    static const char said[] = "autotune: interrupted\n";
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)signal_number;
    if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT) &&
        write(STDERR_FILENO, said, sizeof said - 1) < 0)
        _exit(EXIT_INTERRUPT);
    _exit(EXIT_INTERRUPT);
}

static void set_signals(void)
{
    interrupt_begin(end_at_once);
    signal(SIGPIPE, SIG_IGN); /* write() reports instead that the reader has gone */
    signal(SIGXFSZ, SIG_IGN); /* write() reports instead that a file is too large */
}

/* The workers that this program can become. */
static const worker_program *const workers[] = {&compile_worker_program, &device_worker_program,
                                                &device_proof_program, &device_list_program, NULL};

/* Replaces stdout and stderr by streams that escape control characters. Changes nothing if memory
 * is short. */
static void set_streams(FILE *own[2])
{
    FILE *out = plain_text_stream(STDOUT_FILENO, terminal_wants_colour(), true);
    FILE *err = plain_text_stream(STDERR_FILENO, false, false);
    own[0] = stdout;
    own[1] = stderr;
    if (out)
        stdout = out;
    if (err)
        stderr = err;
}

static void restore_streams(FILE *const own[2])
{
    FILE *out = stdout, *err = stderr;
    stdout = own[0];
    stderr = own[1];
    if (out != own[0])
        fclose(out);
    if (err != own[1])
        fclose(err);
}

/* Replaces this process, which mpirun or srun started, by the relay (ranks/rank.c). */
static int become_rank(char **argv)
{
    at_error error = {0};
    at_status status = ranks_become_one(argv, &error);
    print_error(&error, NULL);
    return exit_code_of(status);
}

static int run_command_line(int argc, char **argv)
{
    at_error error = {0};
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        FILE *whole = terminal_wrap_begin(true);
        print_help();
        terminal_wrap_end(whole);
        return end_output(AT_OK, argc < 2 ? EXIT_USAGE : EXIT_OK, NULL, &error);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return end_output(version_print((size_t)argc - 2, argv + 2, &error), EXIT_OK, NULL, &error);
    const command *tune = commands_find("tune"), *c = commands_find(argv[1]);
    if ((!c || c == tune) && ranks_launched())
        return become_rank(argv);
    if (c)
        return run(c, argc - 1, argv + 1);
    const char *meant = argv[1][0] == '-' ? NULL : misspelt_command(argv[1]);
    if (meant) {
        fprintf(stderr, "autotune: there is no command '%s'; did you mean '%s'?\n", argv[1], meant);
        return EXIT_USAGE;
    }
    return run(tune, argc, argv);
}

/* Sets the C locale: a preloaded library or a driver may have set the user's locale. */
static void set_locale(void)
{
    thread_state loaders;
    setlocale(LC_ALL, "C");
    thread_state_reset(&loaders, NULL);
}

/* Raises a low limit of the stack for this process, its threads and its workers: the readers of
 * scripts and records and the CUDA C++ compiler recurse, and a stack overflow ends a process
 * without a message. Returns false, after a message, if the limit stays too low. */
static bool widen_stack(void)
{
    const rlim_t least_bytes = 1 << 20, usual_bytes = 8 << 20;
    struct rlimit stack;
    pthread_attr_t threads;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least_bytes)
        return true;
    stack.rlim_cur = stack.rlim_max < usual_bytes ? stack.rlim_max : usual_bytes;
    if (stack.rlim_cur < least_bytes || setrlimit(RLIMIT_STACK, &stack) != 0) {
        fprintf(
            stderr,
            "autotune: the stack of a process may have %ju KiB here, which is too little; raise "
            "the limit (ulimit -s 8192)\n",
            (uintmax_t)stack.rlim_max / 1024);
        return false;
    }
    pthread_attr_init(&threads);
    if (pthread_attr_setstacksize(&threads, stack.rlim_cur) == 0)
        pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
    return true;
}

int main(int argc, char **argv)
{
    FILE *own[2];
    set_locale();
    descriptor_reserve_standard();
    if (!widen_stack())
        return EXIT_STORAGE;
    worker_enter(argc, argv, workers);
    set_streams(own);
    set_signals();
    int exit_code = run_command_line(argc, argv);
    restore_streams(own);
    return exit_code;
}
