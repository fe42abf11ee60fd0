#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"

/* Runs a child process whose allocations fail. Returns its exit status, and its message in
 * `said`. */
static int go_without(char *said, size_t said_bytes)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        memory_require(NULL);
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, said_bytes - 1);
    said[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(without_memory_the_process_says_so_and_ends)
{
    char said[128];
    int status = go_without(said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), MEMORY_EXIT);
    assert_string_equal(said, "autotune: out of memory\n");
}

TEST(memory_is_zeroed_and_zero_bytes_are_a_block_too)
{
    int64_t *items = memory_new(3, sizeof *items);
    assert_true(items[0] == 0 && items[1] == 0 && items[2] == 0);
    free(items);
    void *none = memory_new(0, 8);
    assert_non_null(none);
    free(none);
}

TEST(the_caller_owns_copies)
{
    int numbers[] = {1, 2, 3};
    char text[] = "word";
    int *other = memory_copy(numbers, 3, sizeof *numbers);
    char *word = memory_text(text);
    numbers[0] = 9;
    text[0] = 'W';
    assert_int_equal(other[0], 1);
    assert_string_equal(word, "word");
    assert_null(memory_text(NULL));
    free(other);
    free(word);
}

TEST(an_array_grows_by_one)
{
    int *items = NULL;
    size_t count = 0;
    for (int i = 0; i < 100; i++)
        memory_add(&items, &count, &i, sizeof i);
    assert_int_equal(count, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(items[i], i);
    free(items);
}
