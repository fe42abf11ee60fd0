/* A fixture for libautotune without a GPU. The driver is fake, but the compiler is real. */
#ifndef AUTOTUNE_LIBRARY_FIXTURE_H
#define AUTOTUNE_LIBRARY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "base/file.h"
#include "check.h"
#include "cuda/driver.h"
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

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
    fixture *f = *state;
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    at_close(f->results);
    cuda_driver_close(&f->cuda);
    temporary_remove(f->folder);
    return 0;
}

static inline void open_folder(fixture *f, const char *folder)
{
    at_close(f->results);
    f->results = NULL;
    assert_ok(at_open(folder, &f->results, &f->error), f->error);
}

/* Writes `text` into the test's folder as a record of an H200, and opens this folder. */
static inline void open_record(fixture *f, const char *name, const char *text)
{
    char path[TEMPORARY_BYTES + 64];
    snprintf(path, sizeof path, "%s/nvidia-h200", f->folder);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/nvidia-h200/%s.json", f->folder, name);
    assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
    open_folder(f, f->folder);
}

static inline void pick_size(fixture *f, const at_gpu *gpu, int64_t n)
{
    const at_variable problem[] = {at_integer("n", n)};
    at_kernel_free(f->kernel);
    at_choice_free(f->choice);
    f->kernel = NULL;
    f->choice = NULL;
    assert_ok(at_pick(f->results, "copied", gpu, problem, 1, &f->choice, &f->error), f->error);
}

static inline void copy(const char *from, const char *to, const char *old, const char *new)
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

/* Sets up results and scripts that a test can change: lua/copied.lua and
 * nvidia-h200/copied.json. */
static inline void set_up_changing(changing *c, fixture *f)
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

/* Set-up of a group: selects the fake driver. */
static inline int library_use_fake_driver(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    return 0;
}

#endif
