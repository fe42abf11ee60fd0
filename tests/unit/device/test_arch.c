#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device/arch.h"

TEST(an_architecture_is_found_with_and_without_its_prefix)
{
    at_error error = {0};
    arch_limits with, without;
    assert_ok(arch_find("sm_90", &with, &error), error);
    assert_ok(arch_find("90", &without, &error), error);
    assert_string_equal(with.name, "sm_90");
    assert_string_equal(without.name, "sm_90");
    assert_int_equal(with.major, 9);
    assert_int_equal(with.shared_per_sm_bytes, 228 * 1024);
    assert_int_equal(with.max_shared_per_block_bytes, 227 * 1024);
    assert_ok(arch_find("90a", &with, &error), error);
    assert_string_equal(with.name, "sm_90a");
    assert_int_equal(with.sm_count, without.sm_count);
}

TEST(an_architecture_is_found_as_compilers_and_tables_of_gpus_write_it)
{
    static const struct {
        const char *text, *name;
    } ways[] = {{"sm90", "sm_90"},     {"compute_90", "sm_90"},   {"9.0", "sm_90"},
                {"9.0a", "sm_90a"},    {"compute_90a", "sm_90a"}, {"12.0", "sm_120"},
                {"sm_10.3", "sm_103"}, {"compute_120", "sm_120"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        at_error error = {0};
        arch_limits a;
        assert_ok(arch_find(ways[i].text, &a, &error), error);
        assert_string_equal(a.name, ways[i].name);
    }
}

TEST(an_unknown_architecture_is_an_error_that_lists_the_known)
{
    const char *const wrong[] = {"sm_91", "sm_", "",     "hopper", "sm_9", "sm_900", "9",
                                 "9.",    ".90", "90.0", "1.20",   "12.",  "9.00"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        at_error error = {0};
        arch_limits a;
        assert_int_equal(arch_find(wrong[i], &a, &error), AT_USAGE);
        assert_non_null(strstr(error.message, "sm_75"));
        assert_non_null(strstr(error.message, "sm_120"));
    }
}

TEST(a_gpu_has_the_limits_of_its_capability_and_its_own_name)
{
    at_error error = {0};
    arch_limits of_gpu, of_capability;
    assert_ok(arch_of_gpu("NVIDIA L4", 8, 9, &of_gpu, &error), error);
    assert_ok(arch_find("sm_89", &of_capability, &error), error);
    assert_string_equal(of_gpu.name, "NVIDIA L4");
    assert_int_equal(of_gpu.max_threads_per_sm, of_capability.max_threads_per_sm);
    assert_int_equal(arch_of_gpu("NVIDIA L4", 1, 0, &of_gpu, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "sm_10"));
}

TEST(every_row_is_whole_and_the_oldest_comes_first)
{
    size_t count;
    const arch_limits *table = arch_table(&count);
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++) {
        const arch_limits *a = &table[i];
        char name[16];
        snprintf(name, sizeof name, "sm_%d%d", a->major, a->minor);
        assert_int_equal(strncmp(a->name, name, strlen(name)), 0);
        assert_true(a->sm_count > 0 && a->l2_bytes > 0 && a->clock_khz > 0);
        assert_true(a->bandwidth_bytes_per_s > 1e11);
        assert_int_equal(a->warp_size, 32);
        assert_int_equal(a->max_threads_per_sm % a->warp_size, 0);
        assert_true(a->max_shared_per_block_bytes + a->shared_reserved_bytes <=
                    a->shared_per_sm_bytes);
        assert_int_equal(a->global_bytes, 0);
        if (i)
            assert_true(a->major * 10 + a->minor >= table[i - 1].major * 10 + table[i - 1].minor);
    }
}
