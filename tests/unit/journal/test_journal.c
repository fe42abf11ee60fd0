#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "check.h"
#include "journal/journal.h"
#include "temporary.h"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    device_properties device;
    problem_plan problem;
    journal_facts facts;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    f.device =
        (device_properties){.kind = "cuda", .uuid = "GPU-1", .driver = "580.1", .arch = "sm_90"};
    snprintf(f.device.limits.name, sizeof f.device.limits.name, "NVIDIA H200");
    f.problem = (problem_plan){.buffer_count = 1, .traffic_bytes = 1024, .seed = 1};
    snprintf(f.problem.buffers[0].name, PLAN_NAME_BYTES, "dst");
    f.problem.buffers[0].role = BUFFER_OUTPUT;
    f.facts = (journal_facts){.pattern = "transpose",
                              .device = &f.device,
                              .nvrtc_version = "13.0",
                              .problems = &f.problem,
                              .problem_count = 1,
                              .reference_hash = "abc"};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    return 0;
}

static journal *open_journal(fixture *f)
{
    journal *j;
    assert_ok(journal_open(f->folder, &f->facts, &j, &f->error), f->error);
    return j;
}

static journal_key key_of(const journal *j, int variant)
{
    journal_key identity = {{0}};
    memcpy(identity.bytes, &variant, sizeof variant);
    return journal_key_on(j, 0, identity);
}

static at_status append(fixture *f, journal *j, int variant)
{
    int64_t samples[3] = {1000 + variant, 1001, 1002};
    journal_entry e = {.found.outcome = OUTCOME_OK,
                       .configuration = "tile=64",
                       .found.samples_ns = samples,
                       .found.sample_count = 3,
                       .found.compile_ns = 700000000,
                       .found.check_ns = 800000,
                       .found.has_resources = true,
                       .found.resources = {.registers = 40, .spill_load_bytes = 8}};
    return journal_append(j, key_of(j, variant), &e, &f->error);
}

static bool has(const journal *j, int variant)
{
    journal_entry e;
    return journal_find(j, key_of(j, variant), &e) && e.found.sample_count == 3 &&
           e.found.samples_ns[0] == 1000 + variant;
}

/* Writes `count` entries and closes the unfinished journal, as if the run were killed. */
static void interrupted_run(fixture *f, int count, char *path, size_t path_bytes)
{
    journal *j = open_journal(f);
    for (int i = 0; i < count; i++)
        assert_ok(append(f, j, i), f->error);
    if (path)
        snprintf(path, path_bytes, "%s", journal_path(j));
    journal_close(j);
}

TEST_IN(a_long_configuration_comes_back_whole, set_up, tear_down)
{
    fixture *f = *state;
    char longest[CONFIGURATION_BYTES];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    journal *j = open_journal(f);
    const journal_entry entry = {.configuration = longest};
    assert_ok(journal_append(j, key_of(j, 0), &entry, &f->error), f->error);
    journal_close(j);
    j = open_journal(f);
    journal_entry e;
    assert_true(journal_find(j, key_of(j, 0), &e));
    assert_string_equal(e.configuration, longest);
    journal_close(j);
}

TEST_IN(an_interrupted_run_leaves_all_its_results, set_up, tear_down)
{
    fixture *f = *state;
    journal_entry e;
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    assert_false(has(j, 0));
    assert_ok(append(f, j, 0), f->error);
    journal_entry failed = {.found.outcome = OUTCOME_COMPILE_ERROR,
                            .configuration = "tile=32",
                            .found.message = "line 3: error\n\033[31m\"quoted\" \xff"};
    assert_ok(journal_append(j, key_of(j, 1), &failed, &f->error), f->error);
    assert_true(has(j, 0));
    journal_close(j);

    j = open_journal(f);
    assert_int_equal(journal_count(j), 2);
    assert_int_equal(journal_skipped(j), 0);
    assert_true(journal_find(j, key_of(j, 0), &e));
    assert_int_equal(e.found.outcome, OUTCOME_OK);
    assert_string_equal(e.configuration, "tile=64");
    assert_string_equal(e.found.message, "");
    assert_int_equal(e.found.sample_count, 3);
    assert_int_equal(e.found.samples_ns[2], 1002);
    assert_int_equal(e.found.compile_ns, 700000000);
    assert_int_equal(e.found.check_ns, 800000);
    assert_true(e.found.has_resources);
    assert_int_equal(e.found.resources.registers, 40);
    assert_int_equal(e.found.resources.spill_load_bytes, 8);
    assert_true(journal_find(j, key_of(j, 1), &e));
    assert_int_equal(e.found.outcome, OUTCOME_COMPILE_ERROR);
    assert_string_equal(e.found.message, "line 3: error\n\033[31m\"quoted\" ?");
    assert_false(e.found.has_resources);
    assert_int_equal(e.found.sample_count, 0);
    assert_false(journal_find(j, key_of(j, 2), &e));
    journal_close(j);
}

TEST_IN(a_finished_run_is_measured_again, set_up, tear_down)
{
    fixture *f = *state;
    interrupted_run(f, 3, NULL, 0);
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 3);
    assert_ok(append(f, j, 3), f->error);
    assert_ok(journal_finish(j, &f->error), f->error);
    journal_close(j);
    j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    assert_ok(append(f, j, 5), f->error);
    journal_close(j);
    j = open_journal(f);
    assert_int_equal(journal_count(j), 1);
    journal_close(j);
}

TEST_IN(a_finished_run_leaves_an_unfinished_one_alone, set_up, tear_down)
{
    fixture *f = *state;
    interrupted_run(f, 3, NULL, 0);
    f->problem.traffic_bytes = 4096;
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    assert_ok(append(f, j, 0), f->error);
    assert_ok(journal_finish(j, &f->error), f->error);
    journal_close(j);
    f->problem.traffic_bytes = 1024;
    j = open_journal(f);
    assert_int_equal(journal_count(j), 3);
    journal_close(j);
}

TEST_IN(what_joined_a_run_is_finished_with_it, set_up, tear_down)
{
    fixture *f = *state;
    interrupted_run(f, 2, NULL, 0);
    journal *part = open_journal(f);
    assert_ok(append(f, part, 3), f->error);
    f->problem.traffic_bytes = 4096;
    journal *whole = open_journal(f);
    assert_ok(append(f, whole, 0), f->error);
    journal_join(whole, part);
    f->problem.traffic_bytes = 1024;
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 3);
    journal_close(j);
    assert_ok(journal_finish(whole, &f->error), f->error);
    journal_close(whole);
    j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    assert_false(journal_has_unfinished(j));
    journal_close(j);
}

TEST_IN(other_facts_have_unfinished_runs_that_are_not_loaded, set_up, tear_down)
{
    fixture *f = *state;
    interrupted_run(f, 2, NULL, 0);
    f->problem.traffic_bytes = 4096;
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    assert_int_equal(journal_skipped(j), 0);
    assert_true(journal_has_unfinished(j));
    journal_close(j);
}

TEST_IN(the_last_of_two_entries_counts, set_up, tear_down)
{
    fixture *f = *state;
    journal_entry e;
    interrupted_run(f, 1, NULL, 0);
    journal *j = open_journal(f);
    journal_entry later = {.found.outcome = OUTCOME_TIMEOUT};
    assert_ok(journal_append(j, key_of(j, 0), &later, &f->error), f->error);
    journal_close(j);
    j = open_journal(f);
    assert_int_equal(journal_count(j), 1);
    assert_true(journal_find(j, key_of(j, 0), &e));
    assert_int_equal(e.found.outcome, OUTCOME_TIMEOUT);
    journal_close(j);
}

TEST_IN(each_fact_that_changes_invalidates, set_up, tear_down)
{
    fixture *f = *state;
    interrupted_run(f, 1, NULL, 0);
    const fixture original = *f;
    for (int change = 0; change < 11; change++) {
        *f = original;
        f->facts.device = &f->device;
        f->facts.problems = &f->problem;
        switch (change) {
        case 0:
            snprintf(f->device.driver, sizeof f->device.driver, "580.2");
            break;
        case 1:
            snprintf(f->device.uuid, sizeof f->device.uuid, "GPU-2");
            break;
        case 2:
            f->facts.nvrtc_version = "13.1";
            break;
        case 3:
            f->problem.buffers[0].count = 2;
            break;
        case 4:
            f->problem.seed = 2;
            break;
        case 5:
            f->facts.reference_hash = "abd";
            break;
        case 6:
            f->facts.warm_cache = true;
            break;
        case 7:
            f->problem.buffers[0].tolerance = tolerance_of(1e-6);
            break;
        case 8:
            f->facts.problem_count = 0;
            break;
        case 9:
            f->problem.buffers[0].type = DTYPE_DOUBLE;
            break;
        case 10:
            f->problem.buffers[0].tolerance.mismatches = 1e-6;
            break;
        }
        journal *j = open_journal(f);
        if (has(j, 0))
            fail_msg("change %d leaves the entry valid", change);
        journal_close(j);
    }
    *f = original;
    /* The key ignores other fields, because a new build of autotune may change them. */
    memset(f->problem.buffers[1].name, 'x', PLAN_NAME_BYTES);
    f->device.limits.clock_khz = 1;
    journal *j = open_journal(f);
    assert_true(has(j, 0));
    journal_close(j);
}

TEST_IN(a_crash_at_any_byte_costs_one_line, set_up, tear_down)
{
    fixture *f = *state;
    enum { ENTRIES = 3 };
    char path[256], *text;
    size_t size;
    interrupted_run(f, ENTRIES, path, sizeof path);
    assert_ok(file_read(path, 1 << 20, &text, &size, &f->error), f->error);
    for (size_t cut = 0; cut <= size; cut++) {
        assert_ok(file_replace(path, text, cut, &f->error), f->error);
        size_t whole = 0;
        for (size_t i = 0; i < cut; i++)
            whole += text[i] == '\n';
        /* If only the newline is cut off, the line is still complete. */
        bool bare = cut < size && text[cut] == '\n';
        journal *j = open_journal(f);
        assert_int_equal(journal_count(j), whole + bare);
        assert_true(journal_skipped(j) <= 1);
        assert_ok(append(f, j, 99), f->error);
        journal_close(j);
        j = open_journal(f);
        assert_int_equal(journal_count(j), whole + bare + 1);
        assert_true(has(j, 99));
        journal_close(j);
    }
    free(text);
}

TEST_IN(only_the_line_of_a_changed_byte_is_lost, set_up, tear_down)
{
    fixture *f = *state;
    char path[256], *text;
    size_t size;
    interrupted_run(f, 3, path, sizeof path);
    assert_ok(file_read(path, 1 << 20, &text, &size, &f->error), f->error);
    size_t line = (size_t)(strchr(text, '\n') - text);
    for (size_t i = 0; i < line; i++) {
        text[i] ^= 1;
        assert_ok(file_replace(path, text, size, &f->error), f->error);
        journal *j = open_journal(f);
        /* If the changed byte became a newline, two lines are damaged. */
        assert_true(journal_skipped(j) == 1 || journal_skipped(j) == 2);
        assert_int_equal(journal_count(j), 2);
        journal_close(j);
        text[i] ^= 1;
    }
    free(text);
}

TEST_IN(runs_at_once_lose_no_line, set_up, tear_down)
{
    fixture *f = *state;
    enum { CHILDREN = 4, EACH = 100 };
    pid_t children[CHILDREN];
    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        if (children[c] == 0) {
            journal *j = open_journal(f);
            for (int i = 0; i < EACH; i++)
                if (append(f, j, c * EACH + i))
                    _exit(1);
            _exit(0);
        }
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status;
        waitpid(children[c], &status, 0);
        assert_int_equal(status, 0);
    }
    journal *j = open_journal(f);
    assert_int_equal(journal_skipped(j), 0);
    assert_int_equal(journal_count(j), CHILDREN * EACH);
    for (int i = 0; i < CHILDREN * EACH; i++)
        assert_true(has(j, i));
    journal_close(j);
}

TEST_IN(one_run_finishing_does_not_forget_another_at_work, set_up, tear_down)
{
    fixture *f = *state;
    journal *one = open_journal(f), *two = open_journal(f);
    assert_ok(append(f, one, 1), f->error);
    assert_ok(append(f, two, 2), f->error);
    assert_ok(journal_finish(one, &f->error), f->error);
    journal_close(one);
    journal_close(two);
    journal *j = open_journal(f);
    assert_false(has(j, 1));
    assert_true(has(j, 2));
    journal_close(j);
}

TEST_IN(a_killed_run_loses_no_line_that_was_written, set_up, tear_down)
{
    fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        journal *j = open_journal(f);
        for (int i = 0;; i++)
            if (append(f, j, i) || write(ends[1], &i, sizeof i) != sizeof i)
                _exit(1);
    }
    int last = 0;
    while (last < 50)
        assert_int_equal(read(ends[0], &last, sizeof last), sizeof last);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[1]);
    while (read(ends[0], &last, sizeof last) == sizeof last)
        ;
    close(ends[0]);
    journal *j = open_journal(f);
    for (int i = 0; i <= last; i++)
        assert_true(has(j, i));
    journal_close(j);
}

/* Runs in a child process. A limit on file sizes stands for a full disk. */
static int run_on_a_full_disk(fixture *f)
{
    struct rlimit limit = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    journal *j = open_journal(f);
    int errors = 0;
    for (int i = 0; i < 10; i++)
        errors += append(f, j, i) != AT_OK;
    bool said = strstr(f->error.message, "the run continues") != NULL;
    bool known = has(j, 9);
    errors += journal_finish(j, &f->error) != AT_OK;
    journal_close(j);
    return errors == 1 && said && known ? 0 : 1;
}

TEST_IN(a_full_disk_is_reported_once_and_leaves_complete_lines, set_up, tear_down)
{
    fixture *f = *state;
    pid_t child = fork();
    if (child == 0)
        _exit(run_on_a_full_disk(f));
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    journal *j = open_journal(f);
    assert_int_equal(journal_skipped(j), 0);
    assert_true(journal_count(j) >= 1 && journal_count(j) < 10);
    journal_close(j);
}

/* Runs in a child process. The limit on file sizes is lifted before the last line is written. */
static int run_on_a_disk_that_is_full_for_a_while(fixture *f)
{
    struct rlimit limit = {1000, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    journal *j = open_journal(f);
    int errors = 0;
    for (int i = 0; i < 9; i++)
        errors += append(f, j, i) != AT_OK;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    errors += append(f, j, 9) != AT_OK;
    journal_close(j);
    return errors == 1 ? 0 : 1;
}

TEST_IN(what_a_full_disk_refused_is_written_when_it_has_room, set_up, tear_down)
{
    fixture *f = *state;
    pid_t child = fork();
    if (child == 0)
        _exit(run_on_a_disk_that_is_full_for_a_while(f));
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    journal *j = open_journal(f);
    assert_int_equal(journal_skipped(j), 0);
    assert_int_equal(journal_count(j), 10);
    journal_close(j);
}

TEST_IN(a_stopped_holder_of_the_lock_does_not_stop_the_run, set_up, tear_down)
{
    fixture *f = *state;
    journal *j = open_journal(f);
    int fd = open(journal_path(j), O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_ok(append(f, j, 1), f->error);
    close(fd);
    journal_close(j);
    j = open_journal(f);
    assert_true(has(j, 1));
    journal_close(j);
}

TEST_IN(a_path_that_cannot_be_written_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    journal *j;
    char file[TEMPORARY_BYTES + 16];
    snprintf(file, sizeof file, "%s/file", f->folder);
    assert_ok(file_replace(file, "", 0, &f->error), f->error);
    assert_int_equal(journal_open(file, &f->facts, &j, &f->error), AT_IO);
    assert_null(j);
    assert_int_equal(journal_open("/proc/journal", &f->facts, &j, &f->error), AT_IO);
}

TEST_IN(a_journal_grown_too_large_is_put_aside, set_up, tear_down)
{
    fixture *f = *state;
    char path[256], old[300];
    interrupted_run(f, 1, path, sizeof path);
    assert_int_equal(truncate(path, 65 << 20), 0);
    journal *j = open_journal(f);
    assert_int_equal(journal_count(j), 0);
    journal_close(j);
    snprintf(old, sizeof old, "%s.old", path);
    assert_int_equal(access(old, F_OK), 0);
}

TEST_IN(names_cannot_lead_out_of_the_folder, set_up, tear_down)
{
    fixture *f = *state;
    f->facts.pattern = "../../x";
    journal *j = open_journal(f);
    assert_null(strstr(journal_path(j), ".."));
    journal_close(j);
}

TEST_IN(the_folder_follows_the_xdg_specification, set_up, tear_down)
{
    fixture *f = *state;
    char folder[256];
    setenv("HOME", "/home/user", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    assert_ok(journal_folder(folder, sizeof folder, &f->error), f->error);
    assert_string_equal(folder, "/state/autotune/journal");
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_ok(journal_folder(folder, sizeof folder, &f->error), f->error);
    assert_string_equal(folder, "/home/user/.local/state/autotune/journal");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(journal_folder(folder, sizeof folder, &f->error), AT_NOT_FOUND);
}

TEST_IN(a_journal_that_others_may_write_is_not_read, set_up, tear_down)
{
    fixture *f = *state;
    char path[4096], folder[TEMPORARY_BYTES + 16];
    struct stat s;
    journal *j;
    mode_t before = umask(0);
    snprintf(folder, sizeof folder, "%s/own", f->folder);
    assert_ok(journal_open(folder, &f->facts, &j, &f->error), f->error);
    umask(before);
    assert_ok(append(f, j, 1), f->error);
    snprintf(path, sizeof path, "%s", journal_path(j));
    journal_close(j);
    assert_int_equal(stat(folder, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);

    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(journal_open(folder, &f->facts, &j, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "remove it"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(journal_open(folder, &f->facts, &j, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "chmod 700"));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_ok(journal_open(folder, &f->facts, &j, &f->error), f->error);
    assert_true(has(j, 1));
    journal_close(j);
    temporary_remove(folder);
}
