#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "capture/capture.h"
#include "check.h"
#include "temporary.h"

enum { BLOCK = 32, BLOCKS = 300, COUNT = BLOCK * BLOCKS, PATH = 512 };

/* The PTX of a kernel. Its body computes out[i] = in[i] + 1, or is given by the test. */
static const char kernel_begin[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .u32 variable = 1;\n"
    ".visible .entry add(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd3, %r4, 4;\n"
    "add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3;\n";
static const char plain[] = "ld.global.u32 %r5, [%rd4]; add.s32 %r5, %r5, 1;\n"
                            "st.global.u32 [%rd5], %r5; ret; }\n";
static const char racing[] = "st.global.u32 [%rd1], %r4; ret; }\n";
static const char counting[] = "atom.global.add.u32 %r6, [%rd1], 1; ret; }\n";

static void write_file(const char *dir, const char *name, const void *bytes, size_t size_bytes)
{
    char path[PATH];
    at_error error = {0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(file_replace(path, bytes, size_bytes, &error), error);
}

/* Writes a capture, as if a program had launched the kernel. */
static void capture(const char *dir, const char *body, const uint32_t *before,
                    const uint32_t *after)
{
    static const char text[] =
        "{\"schema\": \"autotune-capture\", \"version\": 1, \"program\": [], \"processes\": 1,\n"
        "\"ended\": {\"code\": 0, \"signal\": null}, \"launches\": [], \"graph_launches\": 0,\n"
        "\"dropped\": 0, \"matched\": 1, \"matched_recorded\": 0, \"trouble\": [], \"captured\": "
        "[\n"
        "{\"kernel\": \"add\", \"mangled\": \"add\", \"grid\": [%d, 1, 1], \"block\": [%d, 1, 1],\n"
        "\"cluster\": [1, 1, 1], \"dynamic_shared_bytes\": 0, \"cooperative\": false,\n"
        "\"recorded\": false, \"count\": 1, \"refused\": 0, \"time\": null, \"number\": 1,\n"
        "\"device\": \"a GPU\", \"arch\": \"sm_90\", \"module\": \"1.0/module\", \"whole\": true,\n"
        "\"trouble\": null, \"variables\": [], \"variables_unread\": 0, \"arguments\": [\n"
        "{\"offset\": 0, \"size_bytes\": 8, \"bytes\": \"0010000000000000\",\n"
        " \"pointers\": [{\"at\": 0, \"allocation\": 0, \"offset\": 0}]},\n"
        "{\"offset\": 8, \"size_bytes\": 8, \"bytes\": \"0000010000000000\",\n"
        " \"pointers\": [{\"at\": 0, \"allocation\": 1, \"offset\": 0}]}],\n"
        "\"allocations\": [\n"
        "{\"address\": \"0x1000\", \"size_bytes\": %zu, \"host\": false, \"before\": "
        "\"1.0/before\",\n"
        " \"after\": \"1.0/after\", \"unchanged\": false},\n"
        "{\"address\": \"0x10000\", \"size_bytes\": %zu, \"host\": false, \"before\": \"1.0/in\",\n"
        " \"after\": null, \"unchanged\": true}]}]}\n";
    char json[4096], ptx[4096], folder[PATH];
    uint32_t *in = malloc(COUNT * sizeof *in);
    const size_t bytes = COUNT * sizeof *in;
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = 3 * i;
    snprintf(folder, sizeof folder, "%s/1.0", dir);
    mkdir(folder, 0700);
    snprintf(json, sizeof json, text, BLOCKS, BLOCK, bytes, bytes);
    snprintf(ptx, sizeof ptx, "%s%s", kernel_begin, body);
    write_file(dir, "capture.json", json, strlen(json));
    write_file(folder, "module", ptx, strlen(ptx));
    write_file(folder, "before", before, bytes);
    write_file(folder, "after", after, bytes);
    write_file(folder, "in", in, bytes);
    free(in);
}

static relaunch_result run(const char *body, uint32_t *after, uint64_t most_work)
{
    char dir[TEMPORARY_BYTES];
    at_error error = {0};
    captured_launch c;
    relaunch_result r;
    uint32_t *before = calloc(COUNT, sizeof *before);
    temporary_make(dir);
    capture(dir, body, before, after);
    assert_ok(captured_read(dir, &c, &error), error);
    assert_ok(relaunch_run(&c, most_work, &r, &error), error);
    captured_deinit(&c);
    temporary_remove(dir);
    free(before);
    return r;
}

static uint32_t *expected(void)
{
    uint32_t *after = malloc(COUNT * sizeof *after);
    for (uint32_t i = 0; i < COUNT; i++)
        after[i] = 3 * i + 1;
    return after;
}

TEST(a_relaunch_computes_the_results_of_the_program)
{
    uint32_t *after = expected();
    relaunch_result r = run(plain, after, UINT64_MAX / 4);
    assert_string_equal(r.fault, "");
    assert_true(r.compared && r.blocks_run == BLOCKS);
    assert_int_equal(r.difference.words, 0);
    assert_int_equal(r.bytes_written, 4 * COUNT);
    free(after);
}

TEST(a_word_that_differs_from_the_program_is_found)
{
    uint32_t *after = expected();
    after[7777] ^= 0x40000000;
    relaunch_result r = run(plain, after, UINT64_MAX / 4);
    assert_int_equal(r.difference.beyond, 1);
    assert_int_equal(r.difference.offset, 4 * 7777);
    assert_int_equal(r.difference.found, 3 * 7777 + 1);
    free(after);
}

TEST(a_grid_that_costs_too_much_is_sampled_from_its_first_block_to_its_last)
{
    uint32_t *after = expected();
    after[0] ^= 0x40000000;
    after[COUNT - 1] ^= 0x40000000;
    relaunch_result r = run(plain, after, 10000);
    assert_true(r.blocks_run > 2 && r.blocks_run < BLOCKS / 2);
    assert_int_equal(r.bytes_written, 4 * BLOCK * r.blocks_run);
    assert_int_equal(r.difference.words, 2);
    free(after);
}

TEST(a_race_is_reported)
{
    uint32_t *after = calloc(COUNT, sizeof *after);
    relaunch_result r = run(racing, after, UINT64_MAX / 4);
    assert_non_null(strstr(r.fault, "race"));
    assert_false(r.undecided);
    free(after);
}

TEST(results_that_need_all_blocks_are_not_compared_if_only_some_run)
{
    uint32_t *after = calloc(COUNT, sizeof *after);
    after[0] = COUNT;
    relaunch_result r = run(counting, after, UINT64_MAX / 4);
    assert_true(r.compared && r.has_atomics);
    assert_int_equal(r.difference.words, 0);
    assert_false(run(counting, after, 1).compared);
    free(after);
}
