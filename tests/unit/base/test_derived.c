/* What was worked out of files is used as long as their contents are what they were. They are read
 * only where their stamps cannot tell: here on file systems of several kinds, which the linker has
 * stand for the machine's own (--wrap, in tests/CMakeLists.txt). */
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/derived.h"
#include "base/file.h"
#include "temporary.h"

enum { FILES = 2, BYTES = 1 << 16 };

static const int64_t second_ns = 1000000000;

/* ---- a file system ---- */

static size_t read_bytes;       /* of any file */
static bool whole_seconds;      /* its times have no fractions */
static bool changed_is_written; /* its time of change is the one that anyone may set */
static int64_t behind_ns;       /* its clock, after this machine's */
static ino_t elsewhere;         /* this file is on another one */

ssize_t __real_read(int fd, void *bytes, size_t size_bytes);
int __real_stat(const char *path, struct stat *out);
int __real_fstat(int fd, struct stat *out);
ssize_t __wrap_read(int fd, void *bytes, size_t size_bytes);
int __wrap_stat(const char *path, struct stat *out);
int __wrap_fstat(int fd, struct stat *out);

ssize_t __wrap_read(int fd, void *bytes, size_t size_bytes)
{
    ssize_t n = __real_read(fd, bytes, size_bytes);
    read_bytes += n > 0 ? (size_t)n : 0;
    return n;
}

static void put_back(struct timespec *t)
{
    const int64_t ns = (int64_t)t->tv_sec * second_ns + t->tv_nsec - behind_ns;
    t->tv_sec = ns / second_ns;
    t->tv_nsec = whole_seconds ? 0 : ns % second_ns;
}

static int as_it_has_it(int failed, struct stat *s)
{
    if (failed)
        return failed;
    if (changed_is_written)
        s->st_ctim = s->st_mtim;
    put_back(&s->st_ctim);
    put_back(&s->st_mtim);
    if (elsewhere && s->st_ino == elsewhere)
        s->st_dev++;
    return 0;
}

int __wrap_stat(const char *path, struct stat *out)
{
    return as_it_has_it(__real_stat(path, out), out);
}

int __wrap_fstat(int fd, struct stat *out)
{
    return as_it_has_it(__real_fstat(fd, out), out);
}

/* ---- files of which something was worked out ---- */

typedef struct fixture {
    char folder[TEMPORARY_BYTES], paths[FILES][TEMPORARY_BYTES + 8], derived[TEMPORARY_BYTES + 8];
    char contents[BYTES];
    at_error error;
} fixture;

static void write_file(fixture *f, size_t i)
{
    assert_ok(file_replace(f->paths[i], f->contents, BYTES, &f->error), f->error);
}

static void list_files(const fixture *f, bool reversed, stamped_files *out)
{
    *out = (stamped_files){0};
    for (size_t i = 0; i < FILES; i++) {
        const char *path = f->paths[reversed ? FILES - 1 - i : i];
        file_stamp stamp;
        assert_true(file_stamp_of(path, &stamp));
        assert_true(stamped_files_add(out, path, &stamp));
    }
}

static void store(fixture *f)
{
    stamped_files files;
    XXH128_hash_t sum;
    pack bytes = {0};
    list_files(f, false, &files);
    assert_true(derived_sum(f->folder, &files, &sum));
    pack_put_string(&bytes, "worked out");
    derived_store(f->derived, "words", f->folder, &files, sum, &bytes);
    stamped_files_deinit(&files);
    pack_deinit(&bytes);
}

/* So long that what is written later has another stamp. */
static void wait_a_while(void)
{
    usleep(80000);
}

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    whole_seconds = changed_is_written = false;
    behind_ns = 0;
    elsewhere = 0;
    temporary_make(f.folder);
    memset(f.contents, 'a', BYTES);
    snprintf(f.derived, sizeof f.derived, "%s/derived", f.folder);
    for (size_t i = 0; i < FILES; i++) {
        snprintf(f.paths[i], sizeof f.paths[i], "%s/%zu", f.folder, i);
        write_file(&f, i);
    }
    wait_a_while();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    return 0;
}

typedef enum answer { NOT_USED, USED_UNREAD, USED_AS_READ } answer;

static answer fetch_listed(fixture *f, stamped_files *files)
{
    pack read;
    bool were_read;
    read_bytes = 0;
    if (!derived_fetch(f->derived, "words", f->folder, files, &read, &were_read))
        return NOT_USED;
    assert_int_equal(were_read, read_bytes >= BYTES);
    assert_string_equal(pack_get_string(&read), "worked out");
    pack_deinit(&read);
    return were_read ? USED_AS_READ : USED_UNREAD;
}

static answer fetch(fixture *f)
{
    stamped_files files;
    list_files(f, false, &files);
    const answer is = fetch_listed(f, &files);
    stamped_files_deinit(&files);
    return is;
}

TEST_IN(files_that_no_one_has_written_to_are_not_read, set_up, tear_down)
{
    fixture *f = *state;
    stamped_files files;
    store(f);
    assert_int_equal(fetch(f), USED_UNREAD);
    list_files(f, true, &files);
    assert_int_equal(fetch_listed(f, &files), USED_UNREAD);
    stamped_files_deinit(&files);
    /* It says which they are. */
    assert_int_equal(fetch_listed(f, &files), USED_UNREAD);
    assert_int_equal(files.count, FILES);
    stamped_files_deinit(&files);
}

/* On a machine that is busy some time may pass between the two. */
static void write_and_store(fixture *f, size_t i)
{
    file_stamp written, now;
    do {
        write_file(f, i);
        store(f);
        assert_true(file_stamp_of(f->paths[i], &written) && file_stamp_of_new(f->folder, &now));
    } while (now.changed_ns - written.changed_ns > 40000000);
}

TEST_IN(files_that_were_written_just_before_are_read, set_up, tear_down)
{
    fixture *f = *state;
    write_and_store(f, 1);
    assert_int_equal(fetch(f), USED_AS_READ);
    wait_a_while();
    assert_int_equal(fetch(f), USED_AS_READ);
}

/* Writes other contents of the same size into the file, or beside it and then in its place, and
 * gives it the time of writing that it had. */
static void forge(fixture *f, size_t i, bool in_place)
{
    struct stat was;
    assert_int_equal(__real_stat(f->paths[i], &was), 0);
    f->contents[BYTES / 2] ^= 1;
    if (in_place) {
        const int fd = open(f->paths[i], O_WRONLY);
        assert_int_equal(pwrite(fd, f->contents, BYTES, 0), BYTES);
        close(fd);
    } else
        write_file(f, i);
    const struct timespec times[2] = {was.st_atim, was.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, f->paths[i], times, 0), 0);
}

TEST_IN(other_contents_are_found_out_though_size_and_time_of_writing_are_kept, set_up, tear_down)
{
    fixture *f = *state;
    for (size_t i = 0; i < 2 * FILES; i++) {
        store(f);
        wait_a_while();
        assert_int_not_equal(fetch(f), NOT_USED);
        forge(f, i / 2, i % 2);
        assert_int_equal(fetch(f), NOT_USED);
        wait_a_while();
    }
}

TEST_IN(files_that_change_places_are_read, set_up, tear_down)
{
    fixture *f = *state;
    char between[TEMPORARY_BYTES + 8];
    snprintf(between, sizeof between, "%s/between", f->folder);
    forge(f, 1, false);
    wait_a_while();
    store(f);
    assert_int_equal(rename(f->paths[0], between), 0);
    assert_int_equal(rename(f->paths[1], f->paths[0]), 0);
    assert_int_equal(rename(between, f->paths[1]), 0);
    assert_int_equal(fetch(f), NOT_USED);
}

/* As cp -p, tar and package managers leave it. */
TEST_IN(a_copy_that_keeps_its_times_is_read, set_up, tear_down)
{
    fixture *f = *state;
    fixture copy = *f;
    char *text;
    size_t size_bytes;
    store(f);
    assert_int_equal(fetch(f), USED_UNREAD);
    temporary_make(copy.folder);
    snprintf(copy.derived, sizeof copy.derived, "%s/derived", copy.folder);
    assert_ok(file_read(f->derived, 1 << 20, &text, &size_bytes, &f->error), f->error);
    assert_ok(file_replace(copy.derived, text, size_bytes, &f->error), f->error);
    free(text);
    for (size_t i = 0; i < FILES; i++) {
        struct stat s;
        assert_int_equal(__real_stat(f->paths[i], &s), 0);
        snprintf(copy.paths[i], sizeof copy.paths[i], "%s/%zu", copy.folder, i);
        write_file(&copy, i);
        const struct timespec times[2] = {s.st_atim, s.st_mtim};
        assert_int_equal(utimensat(AT_FDCWD, copy.paths[i], times, 0), 0);
    }
    assert_int_equal(fetch(&copy), USED_AS_READ);
    forge(&copy, 0, true);
    assert_int_equal(fetch(&copy), NOT_USED);
    temporary_remove(copy.folder);
}

TEST_IN(a_folder_that_is_moved_takes_its_stamps_along, set_up, tear_down)
{
    fixture *f = *state;
    fixture moved = *f;
    store(f);
    temporary_make(moved.folder);
    assert_int_equal(rename(f->folder, moved.folder), 0);
    snprintf(moved.derived, sizeof moved.derived, "%s/derived", moved.folder);
    for (size_t i = 0; i < FILES; i++)
        snprintf(moved.paths[i], sizeof moved.paths[i], "%s/%zu", moved.folder, i);
    assert_int_equal(fetch(&moved), USED_UNREAD);
    temporary_remove(moved.folder);
}

TEST_IN(other_rights_of_the_same_contents_have_them_read, set_up, tear_down)
{
    fixture *f = *state;
    store(f);
    assert_int_equal(chmod(f->paths[0], 0640), 0);
    assert_int_equal(fetch(f), USED_AS_READ);
}

/* Two writings within a second have one stamp. */
TEST_IN(files_are_read_where_times_are_whole_seconds, set_up, tear_down)
{
    fixture *f = *state;
    whole_seconds = true;
    behind_ns = 60 * second_ns;
    store(f);
    assert_int_equal(fetch(f), USED_AS_READ);
}

TEST_IN(files_are_read_where_their_time_of_change_can_be_set, set_up, tear_down)
{
    fixture *f = *state;
    changed_is_written = true;
    store(f);
    forge(f, 0, true);
    assert_int_equal(fetch(f), NOT_USED);
    store(f);
    assert_int_equal(fetch(f), USED_AS_READ);
}

/* Whether it was written just before is asked of the clock that stamped it. */
TEST_IN(a_server_whose_clock_differs_is_no_reason_to_believe_a_stamp, set_up, tear_down)
{
    fixture *f = *state;
    for (int sign = -1; sign <= 1; sign += 2) {
        behind_ns = sign * 3600 * second_ns;
        write_and_store(f, 0);
        assert_int_equal(fetch(f), USED_AS_READ);
        wait_a_while();
        store(f);
        assert_int_equal(fetch(f), USED_UNREAD);
    }
}

TEST_IN(files_are_read_that_are_on_another_file_system_than_their_folder, set_up, tear_down)
{
    fixture *f = *state;
    struct stat s;
    assert_int_equal(__real_stat(f->paths[1], &s), 0);
    elsewhere = s.st_ino;
    store(f);
    assert_int_equal(fetch(f), USED_AS_READ);
}

/* Numbers of devices are another machine's, and another boot's. */
TEST_IN(the_number_of_the_device_does_not_matter, set_up, tear_down)
{
    fixture *f = *state;
    struct stat s;
    store(f);
    assert_int_equal(__real_stat(f->paths[1], &s), 0);
    elsewhere = s.st_ino;
    assert_int_equal(fetch(f), USED_UNREAD);
}

TEST_IN(a_folder_that_cannot_be_written_has_no_clock, set_up, tear_down)
{
    fixture *f = *state;
    file_stamp now;
    assert_true(file_stamp_of_new(f->folder, &now));
    assert_false(file_stamp_of_new("/proc", &now));
    assert_false(file_stamp_of_new(f->paths[0], &now));
}

TEST_GROUP(NULL, NULL)
