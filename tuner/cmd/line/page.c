#define _GNU_SOURCE /* strcasestr, pipe2 */
#include "cmd/line/page.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/wrap.h"
#include "script/render.h"

bool terminal_wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* Returns whether the locale ($LC_ALL, $LC_CTYPE, $LANG) has characters beyond ASCII. */
static bool terminal_speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

size_t terminal_columns(size_t most)
{
    enum { LEAST = 40 };
    struct winsize size;
    const char *given = getenv("COLUMNS");
    long columns = given ? strtol(given, NULL, 10) : 0;
    if (columns <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        return 0;
    return columns < LEAST ? LEAST : (size_t)columns > most ? most : (size_t)columns;
}

size_t terminal_page(void)
{
    enum { WIDEST = 200, USUAL = 80 };
    size_t columns = terminal_columns(WIDEST);
    return columns ? columns : USUAL;
}

FILE *terminal_wrap_begin(bool wanted)
{
    FILE *whole = stdout;
    FILE *f = wanted && terminal_columns(SIZE_MAX) ? wrap_stream(whole, terminal_page()) : NULL;
    if (f)
        stdout = f;
    return whole;
}

void terminal_wrap_end(FILE *whole)
{
    FILE *f = stdout;
    stdout = whole;
    if (f != whole)
        fclose(f);
}

static bool is_same_file(const char *path, const struct stat *file)
{
    struct stat s;
    return path && stat(path, &s) == 0 && s.st_dev == file->st_dev && s.st_ino == file->st_ino;
}

/* Returns whether the text names the tool and its version, as exports do: "autotune 0.1.0". */
static bool names_tool(const char *text)
{
    for (const char *found = text; (found = strstr(found, "autotune ")) != NULL; found++)
        if (strspn(found + strlen("autotune "), "0123456789") > 0)
            return true;
    return false;
}

at_status output_check(const options *o, const char *path, const void *bytes, size_t size_bytes,
                       at_error *error)
{
    enum { BEGIN_BYTES = 24, HEAD_BYTES = 1024 }; /* the signature and the size of a PNG have 24 */
    const char *const inputs[] = {o->from, o->template_path};
    char head[HEAD_BYTES + 1] = "";
    struct stat s;
    int fd;
    bool is_input = false;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)
        return AT_OK;
    for (size_t i = 0; i < o->operand_count && !is_input; i++)
        is_input = is_same_file(o->operands[i], &s);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !is_input; i++)
        is_input = is_same_file(inputs[i], &s);
    if (is_input)
        return error_set(error, AT_USAGE,
                         "%.200s is a file that this command reads: name another file for the "
                         "output",
                         path);
    at_status status = file_open_regular(path, &fd, NULL, error);
    if (status)
        return status;
    ssize_t got = read(fd, head, HEAD_BYTES);
    descriptor_close(fd);
    const size_t begin = size_bytes < BEGIN_BYTES ? size_bytes : BEGIN_BYTES;
    if (names_tool(head) || (got >= (ssize_t)begin && begin > 0 && memcmp(head, bytes, begin) == 0))
        return AT_OK;
    return error_set(error, AT_USAGE,
                     "%.200s exists and is no earlier output of autotune: name another file, or "
                     "remove this one first",
                     path);
}

at_status output_write(const options *o, const char *path, const void *bytes, size_t size_bytes,
                       at_error *error)
{
    if (path) {
        at_status status = output_check(o, path, bytes, size_bytes, error);
        return status ? status : file_replace(path, bytes, size_bytes, error);
    }
    if (fwrite(bytes, 1, size_bytes, stdout) != size_bytes || fflush(stdout) != 0)
        return output_failed(error);
    return AT_OK;
}

at_status output_failed(at_error *error)
{
    if (!descriptor_is_writable(STDOUT_FILENO))
        return error_set(error, AT_IO, "cannot write stdout: it is closed");
    /* The stream may have lost the reason. Another write fails again, and reports it. */
    at_status status = file_write_all(STDOUT_FILENO, "stdout", "\n", 1, error);
    return status ? status : error_set(error, AT_IO, "cannot write stdout");
}

extern char **environ;

/* Starts gnuplot with stdin `in`, stdout `out` and no blocked signals. Returns 0 or an errno. */
static int start_gnuplot(int in, int out, pid_t *pid)
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

at_status page_draw(const char *program, char **picture, size_t *size_bytes, at_error *error)
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
    int failed = start_gnuplot(in[0], out[1], &pid);
    if (failed) {
        pid = 0;
        status = failed == ENOENT || failed == EACCES || failed == ENOTDIR
                     ? error_set(error, AT_NO_TOOLCHAIN,
                                 "gnuplot, which draws the pictures, is missing: sudo apt-get "
                                 "install gnuplot-nox")
                     : error_set_errno(error, failed, "cannot start gnuplot");
        goto cleanup;
    }
    close(in[0]);
    close(out[1]);
    in[0] = out[1] = -1;
    /* This error is ignored: if gnuplot ends too early, its exit code tells so below. */
    file_write_all(in[1], "gnuplot", program, strlen(program), &unread);
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

at_status page_text(const char *name, json_t *found, json_t *also, char **text, at_error *error)
{
    char file[64];
    *text = NULL;
    json_t *table = found ? json_copy(found) : NULL;
    if (table && also && json_object_update(table, also) != 0) {
        json_decref(table);
        table = NULL;
    }
    json_put(&table, "page",
             json_pack("{sI sb sb sb}", "columns", (json_int_t)terminal_page(), "is_wide",
                       (int)(terminal_columns(SIZE_MAX) == 0), "colour",
                       (int)terminal_wants_colour(), "utf8", (int)terminal_speaks_utf8()));
    snprintf(file, sizeof file, "pages/%s.tmpl", name);
    at_status status = script_render(file, table, text, error);
    json_decref(table);
    json_decref(found);
    json_decref(also);
    return status;
}

void page_put(const char *beside, const char *text, FILE *to)
{
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    const size_t folder = slash ? (size_t)(slash + 1 - beside) : 0;
    for (const char *at = text; *at;) {
        char path[PATH_MAX];
        struct stat s;
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || (at[length] && strchr("./_-+", at[length])))
            length++;
        const bool is_place = folder && length && (at[length] == ':' || at[length] == '(') &&
                              isdigit((unsigned char)at[length + 1]) &&
                              strncmp(at, beside, folder) != 0;
        if (is_place &&
            snprintf(path, sizeof path, "%.*s%.*s", (int)folder, beside, (int)length, at) <
                PATH_MAX &&
            stat(path, &s) == 0 && S_ISREG(s.st_mode))
            fwrite(beside, 1, folder, to);
        length += length == 0;
        fwrite(at, 1, length, to);
        at += length;
    }
}

at_status page_show(const options *o, const char *name, size_t indent, json_t *found, json_t *also,
                    at_error *error)
{
    char *text;
    if (o->json) {
        json_decref(also);
        return json_text_print(found, indent, stdout, error);
    }
    at_status status = page_text(name, found, also, &text, error);
    if (!status)
        page_put(o->operand, text, stdout);
    if (!status && ferror(stdout))
        status = output_failed(error);
    free(text);
    return status;
}

at_status page_answer(const options *o, const char *name, size_t indent, const char *data_path,
                      json_t *given, at_error *error)
{
    char module[64];
    json_t *answer;
    snprintf(module, sizeof module, "commands.%s", name);
    at_status status = script_compute(module, data_path, given, &answer, error);
    json_decref(given);
    if (!status)
        status = page_show(o, name, indent, json_incref(json_array_get(answer, 0)),
                           json_incref(json_array_get(answer, 1)), error);
    json_decref(answer);
    return status;
}
