#define _XOPEN_SOURCE 700 /* for nftw */

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "compile/cache.h"

enum { FRAME_BYTES = 48 }; /* size of the header of an entry */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int make_folder(void **state)
{
    char *dir = strdup("/tmp/autotune-cache-XXXXXX");
    *state = dir;
    return dir && mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
    int failed = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

static compile_cache open_cache(const char *dir, uint64_t limit_bytes)
{
    at_error error = {0};
    compile_cache c;
    assert_ok(compile_cache_open(dir, limit_bytes, &c, &error), error);
    return c;
}

static compile_key key_of(unsigned i)
{
    return compile_cache_key("nvrtc 13.0", &i, sizeof i);
}

static void path_of(const compile_cache *c, compile_key k, char *path, size_t path_bytes)
{
    snprintf(path, path_bytes, "%s/%02x/%016llx%016llx", c->dir, (unsigned)(k.high >> 56),
             (unsigned long long)k.high, (unsigned long long)k.low);
}

static bool has(const compile_cache *c, compile_key key, const void *expected, size_t size_bytes)
{
    unsigned char *bytes;
    size_t n;
    if (compile_cache_get(c, key, &bytes, &n))
        return false;
    assert_int_equal(n, size_bytes);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    return true;
}

TEST_IN(only_entries_that_were_put_are_found, make_folder, remove_folder)
{
    compile_cache c = open_cache(*state, 0);
    static unsigned char large[100000];
    memset(large, 7, sizeof large);
    at_error error = {0};
    assert_false(has(&c, key_of(1), "", 0));
    assert_ok(compile_cache_put(&c, key_of(1), "first", 5, &error), error);
    assert_ok(compile_cache_put(&c, key_of(2), large, sizeof large, &error), error);
    assert_ok(compile_cache_put(&c, key_of(3), "", 0, &error), error);
    assert_true(has(&c, key_of(1), "first", 5));
    assert_true(has(&c, key_of(2), large, sizeof large));
    assert_true(has(&c, key_of(3), "", 0));
    assert_false(has(&c, key_of(4), "", 0));
    assert_ok(compile_cache_put(&c, key_of(1), "other", 5, &error), error);
    assert_true(has(&c, key_of(1), "other", 5));
}

TEST(every_part_of_a_request_and_the_compiler_change_the_key)
{
    compile_key a = compile_cache_key("nvrtc 13.0", "source", 6);
    compile_key b = compile_cache_key("nvrtc 12.9", "source", 6);
    compile_key d = compile_cache_key("nvrtc 13.0", "sourcf", 6);
    compile_key e = compile_cache_key("nvrtc 13.0", "source", 6);
    assert_true(a.high != b.high && a.low != b.low);
    assert_true(a.high != d.high && a.low != d.low);
    assert_true(a.high == e.high && a.low == e.low);
}

/* Changes each byte of an entry in turn, and cuts the entry to each length. */
TEST_IN(a_damaged_entry_is_ignored_and_removed, make_folder, remove_folder)
{
    compile_cache c = open_cache(*state, 0);
    at_error error = {0};
    static const char contents[] = "machine code";
    char path[COMPILE_CACHE_PATH_BYTES + 64];
    path_of(&c, key_of(1), path, sizeof path);
    for (size_t i = 0; i < 2 * (FRAME_BYTES + sizeof contents); i++) {
        assert_ok(compile_cache_put(&c, key_of(1), contents, sizeof contents, &error), error);
        if (i % 2 == 0) {
            int fd = open(path, O_RDWR);
            unsigned char byte;
            assert_int_equal(pread(fd, &byte, 1, (off_t)(i / 2)), 1);
            byte ^= 0x10;
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)(i / 2)), 1);
            close(fd);
        } else {
            assert_int_equal(truncate(path, (off_t)(i / 2)), 0);
        }
        assert_false(has(&c, key_of(1), contents, sizeof contents));
        assert_int_equal(access(path, F_OK), -1);
    }
}

TEST_IN(an_entry_under_another_name_is_ignored, make_folder, remove_folder)
{
    compile_cache c = open_cache(*state, 0);
    at_error error = {0};
    char path[COMPILE_CACHE_PATH_BYTES + 64], wrong[COMPILE_CACHE_PATH_BYTES + 64];
    path_of(&c, key_of(1), path, sizeof path);
    path_of(&c, key_of(2), wrong, sizeof wrong);
    assert_ok(compile_cache_put(&c, key_of(1), "one", 3, &error), error);
    assert_ok(compile_cache_put(&c, key_of(2), "two", 3, &error), error);
    assert_int_equal(rename(path, wrong), 0);
    assert_false(has(&c, key_of(2), "one", 3));
}

TEST_IN(a_path_that_is_not_a_file_is_no_entry, make_folder, remove_folder)
{
    compile_cache c = open_cache(*state, 0);
    at_error error = {0};
    char path[COMPILE_CACHE_PATH_BYTES + 64];
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(compile_cache_put(&c, key_of(i), "x", 1, &error), error);
        path_of(&c, key_of(i), path, sizeof path);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(i == 0   ? mkdir(path, 0777)
                         : i == 1 ? mkfifo(path, 0666)
                                  : symlink("/etc/passwd", path),
                         0);
        assert_false(has(&c, key_of(i), "", 0));
    }
}

static uint64_t bytes_of_entries(const compile_cache *c, unsigned count, unsigned *present)
{
    uint64_t total = 0;
    *present = 0;
    for (unsigned i = 0; i < count; i++) {
        char path[COMPILE_CACHE_PATH_BYTES + 64];
        struct stat s;
        path_of(c, key_of(i), path, sizeof path);
        if (stat(path, &s) == 0) {
            total += (uint64_t)s.st_size;
            ++*present;
        }
    }
    return total;
}

TEST_IN(the_least_recently_used_entries_are_removed, make_folder, remove_folder)
{
    enum { COUNT = 100, SIZE = 1000, LIMIT = 50 * (SIZE + FRAME_BYTES) };
    compile_cache c = open_cache(*state, LIMIT);
    at_error error = {0};
    char contents[SIZE] = "";
    for (unsigned i = 0; i < 50; i++) {
        assert_ok(compile_cache_put(&c, key_of(i), contents, SIZE, &error), error);
        char path[COMPILE_CACHE_PATH_BYTES + 64];
        path_of(&c, key_of(i), path, sizeof path);
        /* Entry 0 is the oldest, but the test reads it again, so the cache must keep entry 0. */
        struct timespec times[2] = {{.tv_sec = 1000000 + i}, {.tv_sec = 1000000 + i}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    assert_true(has(&c, key_of(0), contents, SIZE));
    unsigned present;
    bytes_of_entries(&c, COUNT, &present);
    assert_int_equal(present, 50);
    assert_ok(compile_cache_put(&c, key_of(50), contents, SIZE, &error), error);
    assert_true(bytes_of_entries(&c, COUNT, &present) <= LIMIT / 10 * 9);
    assert_int_equal(present, 45);
    assert_true(has(&c, key_of(0), contents, SIZE));
    assert_true(has(&c, key_of(50), contents, SIZE));
    assert_false(has(&c, key_of(1), contents, SIZE));
    assert_false(has(&c, key_of(6), contents, SIZE));
    assert_true(has(&c, key_of(7), contents, SIZE));
    for (unsigned i = 51; i < COUNT; i++)
        assert_ok(compile_cache_put(&c, key_of(i), contents, SIZE, &error), error);
    assert_true(bytes_of_entries(&c, COUNT, &present) <= LIMIT);
    assert_true(has(&c, key_of(COUNT - 1), contents, SIZE));
}

TEST_IN(a_lost_or_damaged_checksum_is_repaired, make_folder, remove_folder)
{
    enum { SIZE = 1000, LIMIT = 20 * (SIZE + FRAME_BYTES) };
    compile_cache c = open_cache(*state, LIMIT);
    at_error error = {0};
    char contents[SIZE] = "", path[COMPILE_CACHE_PATH_BYTES + 64];
    unsigned present;
    snprintf(path, sizeof path, "%s/size", c.dir);
    for (unsigned i = 0; i < 200; i++) {
        assert_ok(compile_cache_put(&c, key_of(i), contents, SIZE, &error), error);
        if (i % 3 == 0)
            assert_int_equal(i % 2 ? unlink(path) : truncate(path, 3), 0);
        assert_true(bytes_of_entries(&c, 200, &present) <= LIMIT);
        assert_true(present >= (i < 17 ? i + 1 : 17));
    }
}

TEST_IN(remains_of_a_killed_writer_are_removed, make_folder, remove_folder)
{
    compile_cache c = open_cache(*state, 1);
    at_error error = {0};
    char stale[COMPILE_CACHE_PATH_BYTES + 64], fresh[COMPILE_CACHE_PATH_BYTES + 64];
    snprintf(stale, sizeof stale, "%s/00", c.dir);
    mkdir(stale, 0777);
    snprintf(stale, sizeof stale, "%s/00/tmp-1-0", c.dir);
    snprintf(fresh, sizeof fresh, "%s/00/tmp-2-0", c.dir);
    close(open(stale, O_CREAT | O_WRONLY, 0666));
    close(open(fresh, O_CREAT | O_WRONLY, 0666));
    struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, stale, times, 0), 0);
    assert_ok(compile_cache_put(&c, key_of(1), "x", 1, &error), error);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(fresh, F_OK), 0);
}

TEST_IN(a_cache_that_cannot_be_written_says_so, make_folder, remove_folder)
{
    char path[256];
    snprintf(path, sizeof path, "%s/file", (char *)*state);
    close(open(path, O_CREAT | O_WRONLY, 0666));
    at_error error = {0};
    compile_cache c;
    assert_int_equal(compile_cache_open(path, 0, &c, &error), AT_IO);
    assert_non_null(strstr(error.message, path));

    c = open_cache(*state, 0);
    assert_int_equal(rmdir(c.dir), 0);
    assert_int_equal(compile_cache_put(&c, key_of(1), "x", 1, &error), AT_IO);
    assert_non_null(strstr(error.message, "compile cache"));
    assert_false(has(&c, key_of(1), "x", 1));
}

/* Several processes write, read and remove entries of a few keys. Every entry that a process
 * finds must be complete, and no call may fail. */
TEST_IN(many_processes_share_a_cache, make_folder, remove_folder)
{
    enum { PROCESSES = 4, ROUNDS = 400, KEYS = 20, SIZE = 5000 };
    for (int p = 0; p < PROCESSES; p++) {
        if (fork() != 0)
            continue;
        compile_cache c;
        if (compile_cache_open(*state, 10 * SIZE, &c, NULL))
            _exit(1);
        unsigned char contents[SIZE];
        for (unsigned i = 0; i < ROUNDS; i++) {
            unsigned k = (i * 7 + (unsigned)p * 3) % KEYS;
            memset(contents, (int)k, SIZE);
            unsigned char *bytes;
            size_t n;
            if (compile_cache_get(&c, key_of(k), &bytes, &n) == AT_OK) {
                if (n != SIZE || memcmp(bytes, contents, n) != 0)
                    _exit(2);
                free(bytes);
            } else if (compile_cache_put(&c, key_of(k), contents, SIZE, NULL)) {
                _exit(3);
            }
        }
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

TEST_IN(the_folder_is_found_as_the_xdg_specification_says, make_folder, remove_folder)
{
    at_error error = {0};
    compile_cache c;
    char expected[512];
    setenv("XDG_CACHE_HOME", *state, 1);
    assert_ok(compile_cache_open(NULL, 0, &c, &error), error);
    snprintf(expected, sizeof expected, "%s/autotune/", (char *)*state);
    assert_int_equal(strncmp(c.dir, expected, strlen(expected)), 0);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    setenv("HOME", *state, 1);
    assert_ok(compile_cache_open(NULL, 0, &c, &error), error);
    snprintf(expected, sizeof expected, "%s/.cache/autotune/", (char *)*state);
    assert_int_equal(strncmp(c.dir, expected, strlen(expected)), 0);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(compile_cache_open(NULL, 0, &c, &error), AT_IO);
}

static mode_t mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return s.st_mode & 0777;
}

TEST_IN(only_their_owner_can_use_folders_and_files, make_folder, remove_folder)
{
    at_error error = {0};
    char path[COMPILE_CACHE_PATH_BYTES + 64];
    mode_t before = umask(0);
    compile_cache c = open_cache(*state, 0);
    assert_ok(compile_cache_put(&c, key_of(1), "entry", 5, &error), error);
    umask(before);
    path_of(&c, key_of(1), path, sizeof path);
    assert_int_equal(mode_of(path), 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(mode_of(path), 0700);
    assert_int_equal(mode_of(c.dir), 0700);
    snprintf(path, sizeof path, "%s/size", c.dir);
    assert_int_equal(mode_of(path), 0600);
}

TEST_IN(files_that_others_may_write_are_not_read, make_folder, remove_folder)
{
    at_error error = {0};
    char path[COMPILE_CACHE_PATH_BYTES + 64];
    compile_cache c = open_cache(*state, 0);
    assert_ok(compile_cache_put(&c, key_of(1), "entry", 5, &error), error);
    path_of(&c, key_of(1), path, sizeof path);
    static const mode_t open_to_others[] = {0620, 0602, 0666};
    for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
        assert_int_equal(chmod(path, open_to_others[i]), 0);
        assert_false(has(&c, key_of(1), "entry", 5));
    }
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(has(&c, key_of(1), "entry", 5));

    assert_int_equal(chmod(c.dir, 0755), 0);
    compile_cache again = open_cache(*state, 0);
    assert_int_equal(mode_of(again.dir), 0700);
    assert_int_equal(chmod(c.dir, 0770), 0);
    assert_int_equal(compile_cache_open(*state, 0, &again, &error), AT_IO);
    assert_non_null(strstr(error.message, "chmod 700"));
}

TEST_IN(files_of_another_user_are_not_read, make_folder, remove_folder)
{
    at_error error = {0};
    char path[COMPILE_CACHE_PATH_BYTES + 64];
    compile_cache c = open_cache(*state, 0);
    if (geteuid() != 0)
        skip();
    assert_ok(compile_cache_put(&c, key_of(1), "entry", 5, &error), error);
    path_of(&c, key_of(1), path, sizeof path);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_false(has(&c, key_of(1), "entry", 5));
    assert_int_equal(chown(c.dir, 65534, 65534), 0);
    assert_int_equal(compile_cache_open(*state, 0, &c, &error), AT_IO);
    assert_non_null(strstr(error.message, "another user"));
}
