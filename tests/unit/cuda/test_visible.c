/* Tests how visible_show_only() changes $CUDA_VISIBLE_DEVICES. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda/driver.h"

/* Returns $CUDA_VISIBLE_DEVICES after visible_show_only(), or "everything" if the variable is
 * not set. `visible` is the value before. */
static const char *alone(const char *visible, size_t present, int ordinal)
{
    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    else
        unsetenv("CUDA_VISIBLE_DEVICES");
    int shown = visible_show_only(present, ordinal);
    const char *now = getenv("CUDA_VISIBLE_DEVICES");
    if (now != visible && !(now && visible && strcmp(now, visible) == 0)) {
        assert_int_equal(shown, 0);
        return now;
    }
    assert_int_equal(shown, ordinal);
    return "everything";
}

TEST(of_several_gpus_the_one_is_named)
{
    assert_string_equal(alone(NULL, 4, 0), "0");
    assert_string_equal(alone(NULL, 4, 3), "3");
}

TEST(a_host_of_one_gpu_is_left_alone)
{
    assert_string_equal(alone(NULL, 1, 0), "everything");
    assert_string_equal(alone("2", 4, 0), "everything");
}

TEST(if_the_number_of_gpus_is_unknown_the_driver_shows_all)
{
    assert_string_equal(alone(NULL, 0, 0), "everything");
}

TEST(an_entry_of_a_list_is_found_by_its_position)
{
    assert_string_equal(alone("3,1,2", 4, 0), "3");
    assert_string_equal(alone("3,1,2", 4, 2), "2");
    assert_string_equal(alone("GPU-8932f937,GPU-1234abcd", 4, 1), "GPU-1234abcd");
    assert_string_equal(alone("1,0", 0, 1), "0");
}

TEST(a_gpu_that_does_not_exist_is_left_to_the_driver)
{
    assert_string_equal(alone(NULL, 4, 4), "everything");
    assert_string_equal(alone(NULL, 4, -1), "everything");
    assert_string_equal(alone("3,1", 4, 2), "everything");
    assert_string_equal(alone("", 4, 0), "everything");
}

TEST(gpus_after_an_invalid_entry_are_not_shown)
{
    assert_string_equal(alone("0,-1,1", 4, 0), "0");
    assert_string_equal(alone("0,-1,1", 4, 2), "everything");
    assert_string_equal(alone("0,,1", 4, 2), "everything");
    assert_string_equal(alone("0,9,1", 4, 2), "everything");
}

TEST(a_name_that_is_too_long_is_not_cut)
{
    char names[200] = "1,GPU-";
    memset(names + strlen(names), 'a', sizeof names - strlen(names) - 1);
    assert_string_equal(alone(names, 2, 1), "everything");
}
