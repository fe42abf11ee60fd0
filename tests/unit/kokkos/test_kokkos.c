/* Tests the tool library as Kokkos uses it: finds its functions by name and calls them in
 * Kokkos' order. The clock is simulated, because on a busy machine a launch may take longer than
 * a launch with a slower tile. */
#include "kokkos/interface.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "temporary.h"

typedef struct tool {
    char folder[TEMPORARY_BYTES];
    void *library;
    void (*finalize)(void);
    void (*declare_output)(const char *, size_t, kokkos_info *);
    void (*declare_input)(const char *, size_t, kokkos_info *);
    void (*request)(size_t, size_t, const kokkos_variable *, size_t, kokkos_variable *);
    void (*end)(size_t, kokkos_variable);
} tool;

enum { KERNEL = 1, SIZE, TILE, FRACTION, WAY };

static void find(tool *t, const char *name, void *function)
{
    void *found = dlsym(t->library, name);
    assert_non_null(found);
    memcpy(function, &found, sizeof found);
}

static void load(tool *t)
{
    static int64_t tiles[] = {8, 16, 32};
    static kokkos_text ways[] = {"plain", "blocked"};
    t->library = dlopen(KOKKOS_TOOL, RTLD_NOW | RTLD_LOCAL);
    if (!t->library)
        fail_msg("%s", dlerror());
    find(t, "kokkosp_finalize_library", &t->finalize);
    find(t, "kokkosp_declare_output_type", &t->declare_output);
    find(t, "kokkosp_declare_input_type", &t->declare_input);
    find(t, "kokkosp_request_values", &t->request);
    find(t, "kokkosp_end_context", &t->end);
    kokkos_info name = {.type = KOKKOS_STRING, .kind = KOKKOS_UNBOUNDED};
    kokkos_info size = {.type = KOKKOS_INT64, .category = KOKKOS_RATIO, .kind = KOKKOS_UNBOUNDED};
    kokkos_info tile = {.type = KOKKOS_INT64,
                        .category = KOKKOS_ORDINAL,
                        .kind = KOKKOS_SET,
                        .set = {.size = 3, .integers = tiles}};
    kokkos_info fraction = {
        .type = KOKKOS_DOUBLE,
        .category = KOKKOS_INTERVAL,
        .kind = KOKKOS_RANGE,
        .range = {.lower.number = 0, .upper.number = 1, .step.number = 0.25, .open_upper = true}};
    kokkos_info way = {.type = KOKKOS_STRING,
                       .category = KOKKOS_CATEGORICAL,
                       .kind = KOKKOS_SET,
                       .set = {.size = 2, .texts = ways}};
    t->declare_input("kernel name", KERNEL, &name);
    t->declare_input("size", SIZE, &size);
    t->declare_output("tile", TILE, &tile);
    t->declare_output("fraction", FRACTION, &fraction);
    t->declare_output("way", WAY, &way);
}

static int set_up(void **state)
{
    static tool t;
    t = (tool){0};
    temporary_make(t.folder);
    setenv("AUTOTUNE_KOKKOS_STORE", t.folder, 1);
    setenv("AUTOTUNE_LIBCUDA", "/nowhere/libcuda.so", 1);
    unsetenv("AUTOTUNE_SITES");
    load(&t);
    *state = &t;
    return 0;
}

static int tear_down(void **state)
{
    tool *t = *state;
    t->finalize();
    dlclose(t->library);
    temporary_remove(t->folder);
    return 0;
}

static _Atomic int64_t clock_ns = 1000000000;

/* The tool library calls this function, because the dynamic linker searches the program first. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    clock_ns += 50;
    now->tv_sec = clock_ns / 1000000000;
    now->tv_nsec = clock_ns % 1000000000;
    return 0;
}

static void pass_ns(int64_t ns)
{
    clock_ns += ns;
}

/* Simulates a launch of a kernel with the default tile `first`. Returns the tile that the tool
 * chose. */
static int64_t launch_with(const tool *t, size_t context, int64_t size, int64_t first)
{
    const kokkos_variable inputs[] = {{.id = KERNEL, .value.text = "axpy"},
                                      {.id = SIZE, .value.integer = size}};
    kokkos_variable outputs[] = {{.id = TILE, .value.integer = first}};
    t->request(context, 2, inputs, 1, outputs);
    int64_t tile = outputs[0].value.integer, best = size < 100 ? 8 : 32;
    pass_ns(tile == best ? 4000 : tile == 16 ? 12000 : 20000);
    t->end(context, (kokkos_variable){0});
    return tile;
}

static int64_t launch(const tool *t, size_t context, int64_t size)
{
    return launch_with(t, context, size, 16);
}

static void expect_tuned(const tool *t, int64_t size, int64_t best)
{
    int64_t tile = 0;
    int same = 0;
    for (int i = 0; i < 100000 && same < 4000; i++) {
        tile = launch(t, 7, size);
        same = tile == best ? same + 1 : 0;
    }
    assert_int_equal(tile, best);
}

TEST_IN(a_context_is_tuned_for_the_values_of_its_inputs, set_up, tear_down)
{
    const tool *t = *state;
    expect_tuned(t, 10, 8);
    expect_tuned(t, 1000, 32);
    assert_int_equal(launch(t, 8, 10), 8);
}

TEST_IN(a_program_may_pass_its_last_values_again, set_up, tear_down)
{
    const tool *t = *state;
    int64_t tile = 16;
    int same = 0;
    for (int i = 0; i < 100000 && same < 4000; i++) {
        tile = launch_with(t, 7, 10, tile);
        same = tile == 8 ? same + 1 : 0;
    }
    assert_int_equal(tile, 8);
}

TEST_IN(off_leaves_what_kokkos_asks_with, set_up, tear_down)
{
    const tool *t = *state;
    setenv("AUTOTUNE_SITES", "off", 1);
    for (int i = 0; i < 300; i++)
        assert_int_equal(launch(t, 1, 10), 16);
    unsetenv("AUTOTUNE_SITES");
}

TEST_IN(contexts_may_lie_within_each_other, set_up, tear_down)
{
    const tool *t = *state;
    for (int i = 0; i < 200; i++) {
        kokkos_variable outer[] = {{.id = WAY, .value.text = "plain"}};
        t->request(1, 0, NULL, 1, outer);
        assert_true(strcmp(outer[0].value.text, "plain") == 0 ||
                    strcmp(outer[0].value.text, "blocked") == 0);
        launch(t, 2, 1000);
        t->end(1, (kokkos_variable){0});
    }
}

/* Trials may take all of the time here, so all tiles are tried. */
TEST_IN(all_steps_of_a_range_are_tried, set_up, tear_down)
{
    const tool *t = *state;
    bool seen[4] = {false};
    for (int i = 0; i < 100000 && !(seen[0] && seen[1] && seen[2] && seen[3]); i++) {
        kokkos_variable outputs[] = {{.id = FRACTION, .value.number = 0.25}};
        t->request(3, 0, NULL, 1, outputs);
        int place = (int)(outputs[0].value.number * 4 + 0.5);
        assert_true(place >= 0 && place < 4 && outputs[0].value.number == place * 0.25);
        seen[place] = true;
        pass_ns(3000);
        t->end(3, (kokkos_variable){0});
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

/* Kokkos passes the tile size 0, which is not in the range. */
TEST_IN(without_a_default_tuning_begins_in_the_middle, set_up, tear_down)
{
    const tool *t = *state;
    kokkos_info shares = {.type = KOKKOS_DOUBLE,
                          .category = KOKKOS_INTERVAL,
                          .kind = KOKKOS_RANGE,
                          .range = {.lower.number = 0,
                                    .upper.number = 0.999,
                                    .step.number = 0.0666,
                                    .open_lower = true,
                                    .open_upper = true}};
    t->declare_output("transpose_tile_size_0", 6, &shares);
    t->declare_output("transpose_tile_size_1", 7, &shares);
    kokkos_variable outputs[] = {{.id = 6}, {.id = 7}};
    t->request(2, 0, NULL, 2, outputs);
    t->end(2, (kokkos_variable){0});
    for (int i = 0; i < 2; i++)
        assert_true(outputs[i].value.number > 0.4 && outputs[i].value.number < 0.6);
}

TEST_IN(what_was_not_declared_is_left_alone, set_up, tear_down)
{
    const tool *t = *state;
    kokkos_variable outputs[] = {{.id = 999, .value.integer = 5}};
    t->request(1, 0, NULL, 1, outputs);
    t->end(1, (kokkos_variable){0});
    assert_int_equal(outputs[0].value.integer, 5);
}

/* Returns whether a thread of the tool has written a decision. */
static bool is_decided(const tool *t)
{
    char pattern[PATH_MAX];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*/*.json", t->folder);
    const bool any = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return any;
}

TEST_IN(a_later_program_uses_the_stored_decision, set_up, tear_down)
{
    tool *t = *state;
    expect_tuned(t, 10, 8);
    for (int i = 0; i < 500 && !is_decided(t); i++)
        for (int k = 0; k < 500; k++)
            launch(t, 7, 10);
    t->finalize();
    dlclose(t->library);
    load(t);
    setenv("AUTOTUNE_SITES", "use", 1);
    assert_int_equal(launch(t, 1, 10), 8);
    unsetenv("AUTOTUNE_SITES");
}
