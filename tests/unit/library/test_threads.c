/* Two dozen threads use the library, with their own handles and with a shared handle. At the
 * same time other threads rewrite, merge and prune records. The build with the thread sanitizer
 * (preset `threads`) runs this test, too. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "base/file.h"
#include "check.h"
#include "cuda/driver.h"
#include "record/merge.h"
#include "record/record.h"
#include "temporary.h"

enum { THREADS = 24, ROUNDS = 12, WRITERS = 3 };

static const at_gpu h200 = {"NVIDIA H200", 9, 0};
static const char given[] = TEST_SOURCE_DIR "/tests/fixtures/results/nvidia-h200/copied.json";

typedef struct fixture {
    char folder[TEMPORARY_BYTES], results[TEMPORARY_BYTES + 16], record[TEMPORARY_BYTES + 48];
    char *text;
    cuda_driver cuda;
    at_kernel_options options;
    at_results *shared;
    atomic_bool over;
    atomic_int failures, found, written;
    at_error first; /* the first failure; only the thread that counts failure 1 writes it */
} fixture;

static void note(fixture *f, const at_error *error)
{
    if (atomic_fetch_add(&f->failures, 1) == 0)
        f->first = *error;
}

/* ---- readers ---- */

/* Picks, prepares and launches. A record may be absent for a moment, but never incomplete. */
static at_status pick_and_launch(fixture *f, at_results *results, const at_gpu *gpu, int64_t size,
                                 at_error *error)
{
    at_choice *choice = NULL;
    at_kernel *kernel = NULL;
    at_gpu current;
    const at_variable n[] = {at_integer("n", size)};
    CUdeviceptr src = 0, dst = 0;
    CUstream stream = NULL;
    at_status status = at_current_gpu(&current, error);
    if (!status)
        status = at_pick(results, "copied", gpu, n, 1, &choice, error);
    if (!status)
        status = at_prepare(choice, &f->options, &kernel, error);
    if (!status && at_kernel_buffer_count(kernel) != 2)
        status = error_set(error, AT_INTERNAL, "%zu buffers", at_kernel_buffer_count(kernel));
    if (!status && (f->cuda.cuStreamCreate(&stream, 0) ||
                    f->cuda.cuMemAlloc(&src, at_kernel_buffer_bytes(kernel, 0)) ||
                    f->cuda.cuMemAlloc(&dst, at_kernel_buffer_bytes(kernel, 1))))
        status = error_set(error, AT_DEVICE, "no memory");
    const uint64_t buffers[] = {src, dst};
    if (!status)
        status = at_launch(kernel, stream, buffers, error);
    if (!status)
        atomic_fetch_add(&f->found, 1);
    if (stream)
        f->cuda.cuStreamDestroy(stream);
    f->cuda.cuMemFree(src);
    f->cuda.cuMemFree(dst);
    at_kernel_free(kernel);
    at_choice_free(choice);
    return status == AT_NOT_FOUND ? AT_OK : status;
}

static at_status use(fixture *f, at_error *error)
{
    at_results *results = NULL;
    at_status status = at_open(f->results, &results, error);
    if (!status && at_results_problem(results, 0))
        status = error_set(error, AT_FORMAT, "%s", at_results_problem(results, 0));
    if (!status)
        status = pick_and_launch(f, results, &h200, 4096, error);
    at_close(results);
    return status;
}

static void *read_again_and_again(void *context)
{
    fixture *f = context;
    CUcontext current;
    at_error error = {0};
    f->cuda.cuDevicePrimaryCtxRetain(&current, 0);
    f->cuda.cuCtxSetCurrent(current);
    for (int i = 0; i < ROUNDS; i++)
        if (i % 2 ? pick_and_launch(f, f->shared, NULL, 4096, &error) : use(f, &error))
            note(f, &error);
    return NULL;
}

/* ---- writers ---- */

static void tell_nobody(void *context, const record *r, const record_entry *e,
                        const record_values *fixed, combine_change change, const char *why)
{
    (void)context, (void)r, (void)e, (void)fixed, (void)change, (void)why;
}

static const char *prune_every_other(void *context, const record *r, const record_entry *e)
{
    (void)r, (void)e;
    return ++*(int *)context % 2 ? "every other one" : NULL;
}

static at_status rewrite(fixture *f, at_error *error)
{
    return file_replace(f->record, f->text, strlen(f->text), error);
}

static at_status merge(fixture *f, at_error *error)
{
    record r;
    at_status status = record_read(given, &r, error);
    if (status)
        return status;
    status = record_combine(&r, f->results, false, tell_nobody, NULL, error);
    record_deinit(&r);
    return status;
}

static at_status prune(fixture *f, at_error *error)
{
    int asked = 0;
    return record_prune(f->record, false, prune_every_other, &asked, tell_nobody, NULL, error);
}

typedef struct writer {
    fixture *f;
    at_status (*write)(fixture *f, at_error *error);
} writer;

static void *write_again_and_again(void *context)
{
    const writer *w = context;
    at_error error = {0};
    while (!atomic_load(&w->f->over)) {
        if (w->write(w->f, &error))
            note(w->f, &error);
        atomic_fetch_add(&w->f->written, 1);
    }
    return NULL;
}

/* ---- the test ---- */

static int set_up(void **state)
{
    static fixture f;
    char path[sizeof f.results + 16];
    CUcontext context;
    at_error error = {0};
    temporary_make(f.folder);
    snprintf(f.results, sizeof f.results, "%s/results", f.folder);
    snprintf(path, sizeof path, "%s/nvidia-h200", f.results);
    snprintf(f.record, sizeof f.record, "%s/copied.json", path);
    assert_ok(file_make_folder(path, &error), error);
    assert_ok(file_read(given, 1 << 20, &f.text, NULL, &error), error);
    assert_ok(rewrite(&f, &error), error);
    assert_ok(cuda_driver_open(&f.cuda, &error), error);
    f.cuda.cuDevicePrimaryCtxRetain(&context, 0);
    f.cuda.cuCtxSetCurrent(context);
    f.options = (at_kernel_options){.script = TEST_SOURCE_DIR "/tests/fixtures/copied.lua",
                                    .share = TEST_BINARY_DIR "/share/autotune",
                                    .cache = f.folder};
    /* This call compiles the kernel, so that all threads find the kernel in the cache. */
    assert_ok(use(&f, &error), error);
    assert_int_equal(atomic_load(&f.found), 1);
    assert_ok(at_open(f.results, &f.shared, &error), error);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    at_close(f->shared);
    cuda_driver_close(&f->cuda);
    free(f->text);
    temporary_remove(f->folder);
    return 0;
}

TEST_IN(threads_read_whole_records_while_others_change_them, set_up, tear_down)
{
    fixture *f = *state;
    pthread_t readers[THREADS], writers[WRITERS];
    writer work[WRITERS] = {{f, rewrite}, {f, merge}, {f, prune}};
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_again_and_again, &work[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_again_and_again, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(readers[i], NULL);
    atomic_store(&f->over, true);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    if (atomic_load(&f->failures))
        fail_msg("%d failures, the first: %s: %s", atomic_load(&f->failures), f->first.file,
                 f->first.message);
    assert_true(atomic_load(&f->found) > THREADS);
    assert_true(atomic_load(&f->written) >= WRITERS);
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
