/* libautotune on a machine without a GPU: the driver is a fake one, the compiler is real. */
#define _GNU_SOURCE /* environ */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotune.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/thread_state.h"
#include "check.h"
#include "cuda/driver.h"
#include "library/library.h"
#include "library/results.h"
#include "library/source.h"
#include "temporary.h"

static const char results_dir[] = TEST_SOURCE_DIR "/tests/fixtures/results";
static const char script_path[] = TEST_SOURCE_DIR "/tests/fixtures/copied.lua";
static const at_gpu h200 = {"NVIDIA H200", 9, 0};

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    at_results *results;
    at_choice *choice;
    at_kernel *kernel;
    cuda_driver cuda;
    at_kernel_options options;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    assert_ok(at_open(results_dir, &f.results, &f.error), f.error);
    assert_ok(cuda_driver_open(&f.cuda, &f.error), f.error);
    CUcontext context;
    f.cuda.cuDevicePrimaryCtxRetain(&context, 0);
    f.cuda.cuCtxSetCurrent(context);
    f.options = (at_kernel_options){
        .script = script_path, .share = TEST_BINARY_DIR "/share/autotune", .cache = f.folder};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    at_close(f->results);
    cuda_driver_close(&f->cuda);
    temporary_remove(f->folder);
    return 0;
}

static void open_folder(fixture *f, const char *folder)
{
    at_close(f->results);
    f->results = NULL;
    assert_ok(at_open(folder, &f->results, &f->error), f->error);
}

/* Opens results of one's own, with this record of an H200. */
static void open_record(fixture *f, const char *name, const char *text)
{
    char path[TEMPORARY_BYTES + 64];
    snprintf(path, sizeof path, "%s/nvidia-h200", f->folder);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/nvidia-h200/%s.json", f->folder, name);
    assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
    open_folder(f, f->folder);
}

static void pick_size(fixture *f, const at_gpu *gpu, int64_t n)
{
    const at_variable problem[] = {at_integer("n", n)};
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    f->kernel = NULL;
    f->choice = NULL;
    assert_ok(at_pick(f->results, "copied", gpu, problem, 1, &f->choice, &f->error), f->error);
}

TEST_IN(without_a_folder_the_known_ones_are_searched, set_up, tear_down)
{
    fixture *f = *state;
    at_results *found = NULL;
    setenv("AUTOTUNE_RESULTS", results_dir, 1);
    assert_ok(at_open(NULL, &found, &f->error), f->error);
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *choice = NULL;
    assert_ok(at_pick(found, "copied", &h200, problem, 1, &choice, &f->error), f->error);
    assert_int_equal(at_choice_rule(choice), AT_RULE_EXACT);
    at_choice_free(choice);
    at_close(found);
    unsetenv("AUTOTUNE_RESULTS");
}

TEST_IN(the_rule_and_the_values_are_told, set_up, tear_down)
{
    fixture *f = *state;
    at_variable v;
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_EXACT);
    assert_string_equal(at_choice_gpu(f->choice), "NVIDIA H200");
    assert_int_equal(at_choice_time_ns(f->choice), 2000);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_int_equal(at_choice_count(f->choice), 3);
    assert_string_equal(at_choice_at(f->choice, 1).name, "vec");
    assert_ok(at_choice_get(f->choice, "block", &v, &f->error), f->error);
    assert_int_equal(v.kind, AT_KIND_INTEGER);
    assert_int_equal(v.integer, 256);
    assert_int_equal(at_choice_get(f->choice, "blok", &v, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "did you mean 'block'?"));
}

TEST_IN(each_rule_has_its_turn, set_up, tear_down)
{
    fixture *f = *state;
    static const struct {
        at_gpu gpu;
        int64_t n;
        at_rule rule;
        const char *text;
    } cases[] = {
        {{"NVIDIA H200", 9, 0}, 1000000, AT_RULE_NEAREST, "block=512,vec=2,shared=0"},
        {{"NVIDIA H100", 9, 0}, 4096, AT_RULE_CAPABILITY, "block=256,vec=4,shared=65536"},
        {{"NVIDIA L4", 8, 9}, 4096, AT_RULE_MAJOR, "block=128,vec=1,shared=0"},
        {{"NVIDIA V100", 7, 0}, 4096, AT_RULE_DEFAULT, "block=64,vec=1,shared=0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pick_size(f, &cases[i].gpu, cases[i].n);
        assert_int_equal(at_choice_rule(f->choice), cases[i].rule);
        assert_string_equal(at_choice_text(f->choice), cases[i].text);
    }
    assert_string_equal(at_choice_gpu(f->choice), "");
    assert_string_equal(at_rule_name(AT_RULE_CAPABILITY), "same_capability");
}

/* Vectors of 4 were as fast as the default at n = 4096, on this GPU. */
TEST_IN(what_was_no_faster_than_the_default_nearby_is_not_given, set_up, tear_down)
{
    fixture *f = *state;
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"copied\", \"gpu\": "
        "\"NVIDIA H200\","
        " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": 4096}, "
        "\"configuration\":"
        " {\"block\": 256, \"vec\": 4, \"shared\": 0}, \"baseline\": {\"configuration\": "
        "{\"block\": 64, \"vec\": 1,"
        " \"shared\": 0}, \"time\": {\"median_ns\": 2000, \"low_ns\": 1990, \"high_ns\": 2010}},"
        " \"time\": {\"median_ns\": 1995, \"low_ns\": 1985, \"high_ns\": 2005}}]}";
    open_record(f, "copied", written);
    pick_size(f, &h200, 8192);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_DEFAULT);
    assert_string_equal(at_choice_text(f->choice), "block=64,vec=1,shared=0");
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_EXACT);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=0");
}

/* ---- what changes on disk while results are open ---- */

static void copy(const char *from, const char *to, const char *old, const char *new)
{
    char *text, *at;
    at_error error = {0};
    pack changed = {0};
    assert_ok(file_read(from, 1 << 20, &text, NULL, &error), error);
    at = old ? strstr(text, old) : text + strlen(text);
    assert_non_null(at);
    pack_append(&changed, text, (size_t)(at - text));
    if (old) {
        pack_append_text(&changed, new);
        pack_append_text(&changed, at + strlen(old));
    }
    assert_ok(file_replace(to, changed.bytes, changed.size_bytes, &error), error);
    pack_deinit(&changed);
    free(text);
}

typedef struct changing {
    fixture *f;
    char share[TEMPORARY_BYTES + 16], lua[TEMPORARY_BYTES + 40], record[TEMPORARY_BYTES + 64];
} changing;

/* Results and scripts of one's own: lua/copied.lua, and nvidia-h200/copied.json. */
static void set_up_changing(changing *c, fixture *f)
{
    static const char shared[] = TEST_BINARY_DIR "/share/autotune";
    char path[TEMPORARY_BYTES + 64], target[sizeof shared + 32];
    *c = (changing){.f = f};
    snprintf(c->share, sizeof c->share, "%s/share", f->folder);
    snprintf(path, sizeof path, "%s/lua", c->share);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/nvidia-h200", f->folder);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/lua/lib", c->share);
    snprintf(target, sizeof target, "%s/lua/lib", shared);
    assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/templates", c->share);
    assert_int_equal(symlink(TEST_SOURCE_DIR "/tests/fixtures", path), 0);
    snprintf(c->lua, sizeof c->lua, "%s/lua/copied.lua", c->share);
    snprintf(c->record, sizeof c->record, "%s/nvidia-h200/copied.json", f->folder);
    copy(script_path, c->lua, NULL, NULL);
    copy(TEST_SOURCE_DIR "/tests/fixtures/results/nvidia-h200/copied.json", c->record, NULL, NULL);
    setenv("AUTOTUNE_SHARE", c->share, 1);
    open_folder(f, f->folder);
    unsetenv("AUTOTUNE_SHARE");
}

TEST_IN(for_a_gpu_of_which_nothing_is_known_nothing_is_checked, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    for (int round = 0; round < 2; round++) {
        pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0);
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 1);
    }
}

TEST_IN(a_script_that_changes_is_not_read_for_a_gpu_of_which_nothing_is_known, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    copy(script_path, c.lua, "where = {", "where = { \"block ~= 256\",");
    pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
    assert_int_equal(at_choice_checked(f->choice), 0);
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 1);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
}

TEST_IN(a_script_that_changes_is_seen_by_the_next_pick, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_int_equal(at_choice_checked(f->choice), 1);
    copy(script_path, c.lua, "where = {", "where = { \"block ~= 256\",");
    pick_size(f, &h200, 4096);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    /* One that does not load is of no use, until it does. */
    copy(script_path, c.lua, "where = {", "where = ");
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 0);
    copy(script_path, c.lua, NULL, NULL);
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 1);
}

TEST_IN(records_that_change_are_seen_and_earlier_choices_stay, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    at_choice *earlier;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    earlier = f->choice;
    f->choice = NULL;
    copy(c.record, c.record, "\"block\": 256", "\"block\": 512");
    knowledge_look_again(&f->results->known);
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=512,vec=4,shared=65536");
    assert_int_equal(unlink(c.record), 0);
    knowledge_look_again(&f->results->known);
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *none;
    assert_int_equal(at_pick(f->results, "copied", &h200, problem, 1, &none, &f->error),
                     AT_NOT_FOUND);
    at_close(f->results);
    f->results = NULL;
    assert_string_equal(at_choice_at(earlier, 1).name, "vec");
    assert_string_equal(at_choice_gpu(earlier), "NVIDIA H200");
    at_choice_free(earlier);
}

/* ---- what is kept for other processes ---- */

/* Opens shipped records with a cache of one's own, and picks; the view is the caller's. */
static void pick_shipped(fixture *f, knowledge_view *view)
{
    const at_variable problem[] = {at_integer("n", 1 << 20), at_text("dtype", "float")};
    arch_limits limits;
    at_choice_free(f->choice);
    f->choice = NULL;
    open_folder(f, TEST_SOURCE_DIR "/results");
    assert_ok(at_pick(f->results, "vector_add", &h200, problem, 2, &f->choice, &f->error),
              f->error);
    assert_int_equal(at_choice_checked(f->choice), 1);
    assert_ok(arch_find("sm_90", &limits, &f->error), f->error);
    assert_ok(knowledge_get(&f->results->known, "vector_add", &limits, view, &f->error), f->error);
}

/* Changes each file of the cache; how many there are. */
static int damage_cache(const char *folder, bool cut)
{
    char path[4096];
    int damaged = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *bytes;
        size_t size;
        struct stat s;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &s))
            continue;
        if (S_ISDIR(s.st_mode)) {
            damaged += damage_cache(path, cut);
            continue;
        }
        assert_int_equal(file_read(path, 1 << 24, &bytes, &size, NULL), AT_OK);
        if (size > 0) {
            bytes[size / 2] ^= 1;
            assert_int_equal(file_replace(path, bytes, cut ? size / 2 : size, NULL), AT_OK);
            damaged++;
        }
        free(bytes);
    }
    if (d)
        closedir(d);
    return damaged;
}

TEST_IN(what_a_process_worked_out_is_there_for_the_next, set_up, tear_down)
{
    fixture *f = *state;
    knowledge_view view;
    char before[LIBRARY_TEXT_BYTES];
    char *cache = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    setenv("XDG_CACHE_HOME", f->folder, 1);
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    pick_shipped(f, &view);
    snprintf(before, sizeof before, "%s", at_choice_text(f->choice));
    assert_null(view.records->table.owned);
    knowledge_release(&view);
    pick_shipped(f, &view);
    assert_non_null(view.records->table.owned);
    assert_string_equal(at_choice_text(f->choice), before);
    knowledge_release(&view);
    /* What is damaged is worked out anew. */
    for (int cut = 0; cut < 2; cut++) {
        assert_true(damage_cache(f->folder, cut) >= 2);
        pick_shipped(f, &view);
        assert_null(view.records->table.owned);
        assert_non_null(view.script->facts);
        assert_string_equal(at_choice_text(f->choice), before);
        knowledge_release(&view);
    }
    /* So it is without a cache. */
    setenv("XDG_CACHE_HOME", "/proc/nothing", 1);
    pick_shipped(f, &view);
    assert_null(view.records->table.owned);
    assert_string_equal(at_choice_text(f->choice), before);
    knowledge_release(&view);
    unsetenv("AUTOTUNE_SHARE");
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(cache);
}

TEST_IN(what_only_lua_evaluates_is_checked_all_the_same, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    copy(script_path, c.lua, "where = {", "where = { \"block ^ 2 < 256 * 256\",");
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    /* It is asked for each device and problem, and not for the last. */
    copy(script_path, c.lua, "where = {",
         "where = { \"block ^ 2 < device.major * 32 * 32 * 7 * 7 or n ~= 4096\",");
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
        pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0); /* no such device is known */
        pick_size(f, &(at_gpu){"NVIDIA A100", 8, 0}, 4098);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    const at_variable unknown[] = {at_integer("n", 4096), at_integer("m", 1)};
    at_choice *other;
    assert_ok(at_pick(f->results, "copied", &h200, unknown, 2, &other, &f->error), f->error);
    assert_int_equal(at_choice_checked(other), 0);
    at_choice_free(other);
}

TEST_IN(a_choice_keeps_nothing_of_the_callers, set_up, tear_down)
{
    fixture *f = *state;
    char name[] = "n", text[] = "x";
    at_variable problem[] = {at_integer(name, 4096), at_text("extra", text)};
    assert_ok(at_pick(f->results, "copied", &h200, problem, 2, &f->choice, &f->error), f->error);
    memset(name, '?', 1);
    memset(text, '?', 1);
    problem[0] = at_integer("", 0);
    assert_int_equal(at_choice_rule(f->choice), AT_RULE_NEAREST);
}

TEST_IN(what_is_not_recorded_is_not_found, set_up, tear_down)
{
    fixture *f = *state;
    at_results *none;
    assert_int_equal(at_pick(f->results, "other", &h200, NULL, 0, &f->choice, &f->error),
                     AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "no results for 'other'"));
    assert_int_equal(at_open("/no/such/folder", &none, &f->error), AT_NOT_FOUND);
    assert_null(none);
    assert_int_equal(at_open("/no/such/folder", &none, NULL), AT_NOT_FOUND);
}

TEST_IN(a_pipe_among_the_records_is_not_waited_for, set_up, tear_down)
{
    fixture *f = *state;
    at_results *none;
    char path[TEMPORARY_BYTES + 32];
    snprintf(path, sizeof path, "%s/gpu", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/gpu/copied.json", f->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_ok(at_open(f->folder, &none, &f->error), f->error);
    assert_non_null(strstr(at_results_problem(none, 0), "gpu/copied.json: "));
    assert_non_null(strstr(at_results_problem(none, 0), "device or pipe"));
    assert_null(at_results_problem(none, 1));
    assert_int_equal(at_pick(none, "copied", &h200, NULL, 0, &f->choice, &f->error), AT_NOT_FOUND);
    assert_non_null(strstr(f->error.message, "device or pipe"));
    at_close(none);
}

TEST_IN(the_current_gpu_is_the_contexts, set_up, tear_down)
{
    fixture *f = *state;
    at_gpu gpu;
    assert_ok(at_current_gpu(&gpu, &f->error), f->error);
    assert_true(gpu.major >= 7);
    assert_int_not_equal(strlen(gpu.name), 0);
    f->cuda.cuCtxSetCurrent(NULL);
    assert_int_equal(at_current_gpu(&gpu, &f->error), AT_NO_DEVICE);
    assert_non_null(strstr(f->error.message, "no CUDA context is current"));
}

/* Launches the prepared kernel on two buffers and checks that it copied. */
static void launch_and_check(fixture *f, size_t n)
{
    CUdeviceptr src, dst;
    CUstream stream;
    assert_int_equal(at_kernel_buffer_count(f->kernel), 2);
    assert_string_equal(at_kernel_buffer_name(f->kernel, 0), "src");
    assert_int_equal(at_kernel_buffer_bytes(f->kernel, 1), 4 * n);
    f->cuda.cuMemAlloc(&src, 4 * n);
    f->cuda.cuMemAlloc(&dst, 4 * n);
    f->cuda.cuStreamCreate(&stream, 0);
    /* The fake's device memory is the host's. */
    memset((void *)(uintptr_t)src, 7, 4 * n);
    const uint64_t buffers[] = {src, dst};
    assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
    f->cuda.cuStreamSynchronize(stream);
    assert_memory_equal((void *)(uintptr_t)dst, (void *)(uintptr_t)src, 4 * n);
    f->cuda.cuStreamDestroy(stream);
    f->cuda.cuMemFree(src);
    f->cuda.cuMemFree(dst);
}

TEST_IN(a_choice_becomes_a_kernel_that_runs, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_EXACT);
    assert_string_equal(at_kernel_text(f->kernel), "block=256,vec=4,shared=65536");
    assert_non_null(strstr(at_kernel_source(f->kernel), "__launch_bounds__(256)"));
    /* 64 KiB of dynamic shared memory: the fake driver insists that they were asked for. */
    launch_and_check(f, 4096);
}

TEST_IN(what_is_impossible_for_the_problem_gives_way, set_up, tear_down)
{
    fixture *f = *state;
    /* 4098 is nearest to 4096, whose vectors of 4 do not divide it; the next is vectors of 2. */
    pick_size(f, &h200, 4098);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_NEAREST);
    assert_string_equal(at_kernel_text(f->kernel), "block=512,vec=2,shared=0");
    launch_and_check(f, 4098);
    /* No vector divides 4099: the script's default is left. */
    pick_size(f, &h200, 4099);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_kernel_rule(f->kernel), AT_RULE_DEFAULT);
    assert_string_equal(at_kernel_text(f->kernel), "block=64,vec=1,shared=0");
    launch_and_check(f, 4099);
}

TEST_IN(a_cached_kernel_needs_no_compiler, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    at_kernel_free(f->kernel);
    f->kernel = NULL;
    setenv("AUTOTUNE_NVRTC", "/no/such/library", 1);
    at_status cached = at_prepare(f->choice, &f->options, &f->kernel, &f->error);
    at_kernel *none;
    f->options.no_cache = 1;
    at_status fresh = at_prepare(f->choice, &f->options, &none, NULL);
    unsetenv("AUTOTUNE_NVRTC");
    assert_ok(cached, f->error);
    assert_int_equal(fresh, AT_NO_TOOLCHAIN);
    assert_null(none);
    launch_and_check(f, 4096);
}

/* A record of the installed pattern `textured`, which is picked for a small image. */
static void prepare_textured(fixture *f)
{
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"textured\", \"gpu\": "
        "\"NVIDIA H200\", \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": "
        "{\"rows\": 20, \"cols\": 24}, \"configuration\": {\"reads\": \"texture\", \"block_x\": "
        "32, \"block_y\": 4}, \"time\": {\"median_ns\": 2000, \"low_ns\": 1990, "
        "\"high_ns\": 2010}}]}";
    const at_variable problem[] = {at_integer("rows", 20), at_integer("cols", 24)};
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    open_record(f, "textured", written);
    assert_ok(at_pick(f->results, "textured", &h200, problem, 2, &f->choice, &f->error), f->error);
    f->options.script = NULL;
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    unsetenv("AUTOTUNE_SHARE");
}

/* The fake driver's kernel takes nothing but a texture of its buffer. */
TEST_IN(a_kernel_reads_textures_of_whatever_buffers_it_is_launched_on, set_up, tear_down)
{
    enum { ROWS = 20, COLS = 24 };
    fixture *f = *state;
    CUdeviceptr src[2], dst;
    CUstream stream;
    prepare_textured(f);
    f->cuda.cuStreamCreate(&stream, 0);
    f->cuda.cuMemAlloc(&dst, 4 * ROWS * COLS);
    for (int i = 0; i < 2; i++) {
        f->cuda.cuMemAlloc(&src[i], 4 * ROWS * COLS);
        float *values = (float *)(uintptr_t)src[i];
        for (int n = 0; n < ROWS * COLS; n++)
            values[n] = (float)(i + 1);
    }
    for (int i = 0; i < 4; i++) {
        const uint64_t buffers[] = {src[i % 2], dst};
        assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
        f->cuda.cuStreamSynchronize(stream);
        /* The filter's weights add up to 16. */
        assert_true(((const float *)(uintptr_t)dst)[5 * COLS + 5] == 16.0f * (float)(i % 2 + 1));
    }
    f->cuda.cuMemFree(dst);
    f->cuda.cuMemFree(src[0]);
    f->cuda.cuMemFree(src[1]);
    f->cuda.cuStreamDestroy(stream);
}

TEST_IN(a_captured_launch_is_the_graphs, set_up, tear_down)
{
    enum { N = 4096 };
    fixture *f = *state;
    CUdeviceptr src, dst;
    CUstream stream;
    CUgraph graph;
    CUgraphExec launches;
    pick_size(f, &h200, N);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    f->cuda.cuMemAlloc(&src, 4 * N);
    f->cuda.cuMemAlloc(&dst, 4 * N);
    f->cuda.cuStreamCreate(&stream, 0);
    memset((void *)(uintptr_t)dst, 0, 4 * N);
    const uint64_t buffers[] = {src, dst};
    assert_int_equal(f->cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    assert_ok(at_launch(f->kernel, stream, buffers, &f->error), f->error);
    assert_int_equal(f->cuda.cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(f->cuda.cuGraphInstantiate(&launches, graph, 0), 0);
    assert_int_equal(f->cuda.cuGraphUpload(launches, stream), 0);
    assert_int_equal(*(const char *)(uintptr_t)dst, 0);
    for (int round = 1; round < 3; round++) {
        memset((void *)(uintptr_t)src, round, 4 * N);
        assert_int_equal(f->cuda.cuGraphLaunch(launches, stream), 0);
        f->cuda.cuStreamSynchronize(stream);
        assert_memory_equal((void *)(uintptr_t)dst, (void *)(uintptr_t)src, 4 * N);
    }
    f->cuda.cuGraphExecDestroy(launches);
    f->cuda.cuGraphDestroy(graph);
    f->cuda.cuStreamDestroy(stream);
    f->cuda.cuMemFree(src);
    f->cuda.cuMemFree(dst);
}

TEST_IN(headers_are_found_in_folders_that_the_program_names, set_up, tear_down)
{
    static const char header[] = "#define FACTOR 1\n";
    changing c;
    fixture *f = *state;
    char folder[TEMPORARY_BYTES + 16], path[TEMPORARY_BYTES + 40];
    set_up_changing(&c, f);
    snprintf(folder, sizeof folder, "%s/include", f->folder);
    assert_ok(file_make_folder(folder, &f->error), f->error);
    snprintf(path, sizeof path, "%s/factor.h", folder);
    assert_ok(file_replace(path, header, strlen(header), &f->error), f->error);
    snprintf(path, sizeof path, "%s/with_header.cu.tmpl", f->folder);
    copy(TEST_SOURCE_DIR "/tests/fixtures/copied.cu.tmpl", path, "extern",
         "#include \"factor.h\"\nstatic_assert(FACTOR == 1, \"\");\nextern");
    snprintf(path, sizeof path, "%s/scale_ref.cu.tmpl", f->folder);
    copy(TEST_SOURCE_DIR "/tests/fixtures/scale_ref.cu.tmpl", path, NULL, NULL);
    snprintf(path, sizeof path, "%s/with_header.lua", f->folder);
    copy(script_path, path, "copied.cu.tmpl", "with_header.cu.tmpl");
    pick_size(f, &h200, 4096);
    f->options.script = path;
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_COMPILE);
    assert_non_null(strstr(f->error.message, "factor.h"));
    const char *const includes[] = {folder};
    f->options.includes = includes;
    f->options.include_count = 1;
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    launch_and_check(f, 4096);
}

/* NVRTC says what the kernel takes; the fake driver has no kernel of that name. */
TEST_IN(a_kernels_own_file_is_compiled, set_up, tear_down)
{
    static const char written[] =
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"saxpy\", \"gpu\": "
        "\"NVIDIA H200\", \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": "
        "4096, \"a\": 2.0}, \"configuration\": {\"BLOCK\": 128, \"VEC\": 4}, \"time\": "
        "{\"median_ns\": 2000, \"low_ns\": 1990, \"high_ns\": 2010}}]}";
    fixture *f = *state;
    library_source source;
    arch_limits limits;
    const at_variable problem[] = {at_integer("n", 4096), at_number("a", 2)};
    open_record(f, "saxpy", written);
    assert_ok(at_pick(f->results, "saxpy", &h200, problem, 2, &f->choice, &f->error), f->error);
    f->options.script = TEST_SOURCE_DIR "/tests/fixtures/saxpy.cu";
    assert_ok(arch_find("sm_90", &limits, &f->error), f->error);
    /* at_prepare() does it in this state, whatever the locale of the program. */
    thread_state before;
    assert_ok(thread_state_plain(&before, &f->error), f->error);
    assert_ok(library_source_init(&source, f->choice, &f->options, &limits, "sm_90", &f->error),
              f->error);
    thread_state_restore(&before);
    assert_string_equal(source.text, "BLOCK=128,VEC=4");
    assert_int_equal(source.problem.buffer_count, 2);
    assert_true(source.cubin_bytes > 0);
    library_source_deinit(&source);
}

TEST_IN(a_launch_that_the_driver_refuses_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    uint64_t buffers[2] = {0};
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    /* The fake driver wants a stream of one's own. */
    assert_int_equal(at_launch(f->kernel, NULL, buffers, &f->error), AT_DEVICE);
    assert_non_null(strstr(f->error.message, "the launch was refused"));
}

TEST_IN(a_script_that_is_nowhere_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    f->options.script = NULL;
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_USAGE);
    assert_non_null(strstr(f->error.message, "copied"));
    f->options.share = "/no/such/folder";
    assert_int_equal(at_prepare(f->choice, &f->options, &f->kernel, &f->error), AT_NOT_FOUND);
    assert_null(f->kernel);
}

/* One call each, with one argument that is NULL and must not be; the others are as they should
 * be. */
#define NULL_CALLS(CALL)                                                                           \
    CALL("out", at_open(results_dir, NULL, e))                                                     \
    CALL("out", at_current_gpu(NULL, e))                                                           \
    CALL("results", at_pick(NULL, "copied", &h200, n, 1, &choice, e))                              \
    CALL("pattern", at_pick(f->results, NULL, &h200, n, 1, &choice, e))                            \
    CALL("problem", at_pick(f->results, "copied", &h200, NULL, 1, &choice, e))                     \
    CALL("out", at_pick(f->results, "copied", &h200, n, 1, NULL, e))                               \
    CALL("choice", at_choice_get(NULL, "block", &v, e))                                            \
    CALL("name", at_choice_get(f->choice, NULL, &v, e))                                            \
    CALL("out", at_choice_get(f->choice, "block", NULL, e))                                        \
    CALL("choice", at_prepare(NULL, &f->options, &kernel, e))                                      \
    CALL("out", at_prepare(f->choice, &f->options, NULL, e))                                       \
    CALL("kernel", at_launch(NULL, NULL, buffers, e))                                              \
    CALL("buffers", at_launch(f->kernel, NULL, NULL, e))

TEST_IN(an_argument_that_is_null_is_named, set_up, tear_down)
{
    fixture *f = *state;
    at_choice *choice;
    at_kernel *kernel;
    at_variable v;
    const at_variable n[] = {at_integer("n", 4096)};
    const uint64_t buffers[2] = {0};
    at_error *e;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
#define REFUSED(argument, call)                                                                    \
    e = &f->error;                                                                                 \
    f->error = (at_error){0};                                                                      \
    assert_int_equal(call, AT_USAGE);                                                              \
    assert_int_equal(f->error.status, AT_USAGE);                                                   \
    assert_non_null(strstr(f->error.message, "'" argument "' is NULL"));                           \
    e = NULL;                                                                                      \
    assert_int_equal(call, AT_USAGE);
    NULL_CALLS(REFUSED)
    assert_int_equal(at_pick(NULL, NULL, NULL, NULL, 1, NULL, NULL), AT_USAGE);
    assert_int_equal(at_prepare(NULL, NULL, NULL, NULL), AT_USAGE);
    assert_int_equal(at_launch(NULL, NULL, NULL, NULL), AT_USAGE);
}

TEST_IN(what_tells_of_nothing_tells_nothing, set_up, tear_down)
{
    fixture *f = *state;
    pick_size(f, &h200, 4096);
    assert_ok(at_prepare(f->choice, &f->options, &f->kernel, &f->error), f->error);
    assert_int_equal(at_choice_rule(NULL), AT_RULE_DEFAULT);
    assert_string_equal(at_choice_gpu(NULL), "");
    assert_true(at_choice_time_ns(NULL) == 0);
    assert_string_equal(at_choice_text(NULL), "");
    assert_int_equal(at_choice_count(NULL), 0);
    assert_string_equal(at_choice_at(NULL, 0).name, "");
    assert_string_equal(at_choice_at(f->choice, 3).name, "");
    assert_string_equal(at_choice_at(f->choice, SIZE_MAX).name, "");
    assert_int_equal(at_kernel_rule(NULL), AT_RULE_DEFAULT);
    assert_string_equal(at_kernel_text(NULL), "");
    assert_string_equal(at_kernel_source(NULL), "");
    assert_int_equal(at_kernel_buffer_count(NULL), 0);
    assert_string_equal(at_kernel_buffer_name(NULL, 0), "");
    assert_string_equal(at_kernel_buffer_name(f->kernel, 2), "");
    assert_true(at_kernel_buffer_bytes(NULL, 0) == 0);
    assert_true(at_kernel_buffer_bytes(f->kernel, SIZE_MAX) == 0);
    assert_string_equal(at_status_name((at_status)99), "unknown");
    assert_string_equal(at_rule_name((at_rule)-1), "unknown");
}

TEST_IN(a_variable_that_makes_no_sense_is_named, set_up, tear_down)
{
    fixture *f = *state;
    at_choice *choice;
    const at_variable wrong[] = {
        {"n", (at_kind)7, 0, 0, NULL}, at_text("dtype", NULL), {NULL, AT_KIND_INTEGER, 0, 0, NULL}};
    static const char *const messages[] = {"'n' has a kind", "'dtype' is a text", "has no name"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(at_pick(f->results, "copied", &h200, &wrong[i], 1, &choice, &f->error),
                         AT_USAGE);
        assert_non_null(strstr(f->error.message, messages[i]));
        assert_null(choice);
    }
    at_gpu unended;
    memset(&unended, 'x', sizeof unended);
    unended.major = 9;
    const at_variable n[] = {at_integer("n", 4096)};
    assert_ok(at_pick(f->results, "copied", &unended, n, 1, &choice, &f->error), f->error);
    at_choice_free(choice);
}

static char *copy_of_environment(void)
{
    size_t used = 0;
    for (char **v = environ; *v; v++)
        used += strlen(*v) + 1;
    char *copy = malloc(used + 1), *at = copy;
    assert_non_null(copy);
    for (char **v = environ; *v; v++)
        at = stpcpy(stpcpy(at, *v), "\n");
    *at = '\0';
    return copy;
}

enum { THREADS = 16 };

/* What a program does in each of its threads, from opening to launching. */
static void *use_library(void *context)
{
    const fixture *f = context;
    fixture own = {.options = f->options, .cuda = f->cuda};
    CUcontext current;
    own.cuda.cuDevicePrimaryCtxRetain(&current, 0);
    own.cuda.cuCtxSetCurrent(current);
    const at_variable n[] = {at_integer("n", 4096)};
    bool fine = true;
    for (int i = 0; i < 4 && fine; i++) {
        at_gpu gpu;
        fine = !at_open(results_dir, &own.results, &own.error) &&
               !at_current_gpu(&gpu, &own.error) &&
               !at_pick(own.results, "copied", NULL, n, 1, &own.choice, &own.error) &&
               !at_prepare(own.choice, &own.options, &own.kernel, &own.error) &&
               at_kernel_buffer_count(own.kernel) == 2;
        at_kernel_free(own.kernel);
        at_choice_free(own.choice);
        at_close(own.results);
        own.kernel = NULL;
        own.choice = NULL;
        own.results = NULL;
    }
    return fine ? NULL : (void *)(uintptr_t)1;
}

TEST_IN(many_threads_leave_the_callers_environment_alone, set_up, tear_down)
{
    fixture *f = *state;
    unsetenv("CUDA_MODULE_LOADING");
    char *before = copy_of_environment();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_library, f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    char *after = copy_of_environment();
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
