#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "check.h"
#include "temporary.h"

typedef temporary_file fixture;

static int set_up(void **state)
{
    return temporary_file_set_up(state, "file");
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static void assert_contents(fixture *f, const char *path, const char *expected)
{
    char *text;
    size_t size;
    assert_ok(file_read(path, 1 << 20, &text, &size, &f->error), f->error);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

TEST_IN(what_was_written_reads_back_and_nothing_else_is_left, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    assert_ok(file_replace(f->path, "one", 3, &f->error), f->error);
    assert_contents(f, f->path, "one");
    assert_ok(file_replace(f->path, "second", 6, &f->error), f->error);
    assert_contents(f, f->path, "second");
    assert_ok(file_replace(f->path, "", 0, &f->error), f->error);
    assert_contents(f, f->path, "");
    assert_int_equal(count_files(f->folder), 1);
}

TEST_IN(a_missing_file_is_not_found, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char *text;
    assert_int_equal(file_read(f->path, 100, &text, NULL, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, f->path));
    assert_null(text);
}

TEST_IN(a_file_above_the_limit_is_refused, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char *text;
    assert_ok(file_replace(f->path, "12345", 5, &f->error), f->error);
    assert_ok(file_read(f->path, 5, &text, NULL, &f->error), f->error);
    free(text);
    assert_int_equal(file_read(f->path, 4, &text, NULL, &f->error), AT_FORMAT);
}

TEST_IN(a_folder_is_no_file, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char *text;
    assert_int_equal(file_read(f->folder, 100, &text, NULL, &f->error), AT_IO);
    assert_int_equal(file_replace(f->folder, "x", 1, &f->error), AT_IO);
}

TEST_IN(what_is_no_file_is_refused_and_never_waited_for, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char *text;
    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_int_equal(file_read(f->path, 100, &text, NULL, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "is a device or pipe, not a file"));
    assert_int_equal(file_replace(f->path, "x", 1, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "nobody reads this pipe"));
    assert_int_equal(file_read("/dev/zero", 1 << 20, &text, NULL, &f->error), AT_IO);
    assert_int_equal(file_read("/dev/tty", 1 << 20, &text, NULL, &f->error), AT_IO);
}

TEST_IN(replacing_a_symbolic_link_replaces_its_target, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char link[TEMPORARY_BYTES + 32];
    struct stat s;
    snprintf(link, sizeof link, "%s/link", f->folder);
    assert_ok(file_replace(f->path, "old", 3, &f->error), f->error);
    assert_int_equal(symlink("file", link), 0);
    assert_ok(file_replace(link, "new", 3, &f->error), f->error);
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_contents(f, f->path, "new");
}

TEST_IN(a_name_may_be_as_long_as_the_file_system_has_them, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + NAME_MAX + 2];
    int folder = snprintf(path, sizeof path, "%s/", f->folder);
    memset(path + folder, 'n', NAME_MAX);
    path[folder + NAME_MAX] = '\0';
    assert_ok(file_replace(path, "one", 3, &f->error), f->error);
    assert_ok(file_replace(path, "two", 3, &f->error), f->error);
    assert_contents(f, path, "two");
    assert_int_equal(count_files(f->folder), 1);
}

TEST_IN(a_device_is_written_to_and_not_replaced, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    struct stat s;
    assert_ok(file_replace("/dev/null", "x", 1, &f->error), f->error);
    assert_int_equal(stat("/dev/null", &s), 0);
    assert_true(S_ISCHR(s.st_mode));
    assert_int_equal(file_replace("/dev/full", "x", 1, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "No space left on device; free some space"));
}

/* Runs `body` in a child process, because a lowered limit on file sizes cannot be raised again. */
static int in_child_with_file_limit(rlim_t limit, int (*body)(fixture *), fixture *f)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit r = {limit, limit};
        signal(SIGXFSZ, SIG_IGN);
        _exit(setrlimit(RLIMIT_FSIZE, &r) == 0 ? body(f) : 99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int replace_with_ten_thousand_bytes(fixture *f)
{
    static char block[10000];
    if (file_replace(f->path, block, sizeof block, &f->error) != AT_IO)
        return 1;
    return strstr(f->error.message, "File too large") ? 0 : 2;
}

static int probe_the_folder(fixture *f)
{
    return file_check_writable(f->folder, &f->error) == AT_IO ? 0 : 1;
}

TEST_IN(a_write_that_fails_half_way_leaves_the_old_file_whole, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    assert_ok(file_replace(f->path, "old", 3, &f->error), f->error);
    assert_int_equal(in_child_with_file_limit(4096, replace_with_ten_thousand_bytes, f), 0);
    assert_contents(f, f->path, "old");
    assert_int_equal(count_files(f->folder), 1);
}

TEST_IN(file_check_writable_finds_that_data_does_not_fit, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    assert_ok(file_check_writable(f->folder, &f->error), f->error);
    assert_int_equal(in_child_with_file_limit(100, probe_the_folder, f), 0);
    assert_int_equal(count_files(f->folder), 0);
    assert_int_equal(file_check_writable("/proc", &f->error), AT_IO);
}

static int open_without_standard_descriptors(fixture *f)
{
    for (int standard = 0; standard <= 2; standard++)
        close(standard);
    int fd = descriptor_open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return 1;
    return write(1, "printed", 7) < 0 && write(fd, "kept", 4) == 4 && fd > 2 ? 0 : 2;
}

TEST_IN(what_is_opened_takes_no_place_of_a_closed_standard_descriptor, set_up,
        temporary_file_tear_down)
{
    fixture *f = *state;
    assert_int_equal(in_child_with_file_limit(4096, open_without_standard_descriptors, f), 0);
    assert_contents(f, f->path, "kept");
}

TEST_IN(folders_are_made_with_their_parents, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + 32];
    struct stat s;
    snprintf(path, sizeof path, "%s/a/b//c/", f->folder);
    assert_ok(file_make_folder(path, &f->error), f->error);
    assert_ok(file_make_folder(path, &f->error), f->error);
    assert_int_equal(stat(path, &s), 0);
    assert_true(S_ISDIR(s.st_mode));
}

TEST_IN(a_file_in_the_way_of_a_folder_is_named, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + 64];
    assert_ok(file_replace(f->path, "x", 1, &f->error), f->error);
    assert_int_equal(file_make_folder(f->path, &f->error), AT_IO);
    snprintf(path, sizeof path, "%s/below", f->path);
    assert_int_equal(file_make_folder(path, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, f->path));
    assert_non_null(strstr(f->error.message, "a part of the path is a file"));
}
