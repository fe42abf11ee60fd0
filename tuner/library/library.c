#include "library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/paths.h"
#include "cuda/cuda.h"
#include "cuda/driver.h"
#include "library/tuning.h"
#include "record/folders.h"
#include "record/record.h"

/* Checks that autotune.h, which this file includes first, and base/error.h have the same values. */
enum {
#define BASE_STATUS(status, name) BASE_##status,
    ERROR_STATUSES(BASE_STATUS)
};
#define AGREES(status, name) _Static_assert((int)status == (int)BASE_##status, "base has another");
ERROR_STATUSES(AGREES)
_Static_assert(offsetof(at_error, line) == sizeof(int) &&
                   offsetof(at_error, file) == 2 * sizeof(int) &&
                   offsetof(at_error, message) == 2 * sizeof(int) + ERROR_FILE_BYTES &&
                   sizeof(at_error) == 2 * sizeof(int) + ERROR_FILE_BYTES + ERROR_MESSAGE_BYTES,
               "base has another at_error");

const char *at_version(void)
{
    return version_text();
}

const char *at_status_name(at_status status)
{
    return status_name(status);
}

const char *at_rule_name(at_rule rule)
{
    return pick_rule_name((pick_rule)rule);
}

/* Makes the paths absolute: the program may change its working folder before records are read. */
static void make_absolute(record_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        char *real = realpath(folders->paths[i], NULL);
        if (real && strlen(real) < PATHS_BYTES)
            snprintf(folders->paths[i], PATHS_BYTES, "%s", real);
        free(real);
    }
}

at_status at_open(const char *folder, at_results **out, at_error *error)
{
    if (!out)
        return argument_refuse_null("at_open", "out", error);
    *out = NULL;
    error_clear(error);
    at_results *results = calloc(1, sizeof *results);
    if (!results)
        return error_no_memory(error);
    pthread_mutex_init(&results->lock, NULL);
    pthread_mutex_init(&results->known.lock, NULL);
    results->tunings = tunings_new(&results->known);
    results->folder = folder ? strdup(folder) : NULL;
    if (!results->tunings || (folder && !results->folder)) {
        at_close(results);
        return error_no_memory(error);
    }
    thread_state callers;
    at_status status = thread_state_reset(&callers, error);
    if (!status) {
        patterns *k = &results->known;
        k->has_share = library_find_share(&k->share);
        record_folders_find(folder, k->has_share ? &k->share : NULL, &k->folders);
        status = record_check_folders(&k->folders, error);
        make_absolute(&k->folders);
        thread_state_restore(&callers);
    }
    if (status)
        at_close(results);
    else
        *out = results;
    return status;
}

void at_close(at_results *results)
{
    if (!results)
        return;
    tunings_free(results->tunings);
    record_set_deinit(&results->all);
    free(results->folder);
    patterns_deinit(&results->known);
    cuda_driver_close(&results->cuda);
    free(results->devices);
    pthread_mutex_destroy(&results->lock);
    free(results);
}

/* Reads the records of all patterns, to find their faults. Skips a folder that cannot be read. */
static void read_all(at_results *results)
{
    at_error none = {0};
    thread_state callers;
    if (results->has_all || thread_state_reset(&callers, &none))
        return;
    results->has_all = !record_search(&results->known.folders, NULL, &results->all, &none);
    thread_state_restore(&callers);
}

const char *at_results_problem(const at_results *results, size_t index)
{
    /* Records are read on demand, so `results` changes although it is const. */
    at_results *r = (at_results *)(uintptr_t)results;
    const char *text = NULL;
    if (!r)
        return NULL;
    pthread_mutex_lock(&r->lock);
    read_all(r);
    if (index < r->all.faults.count)
        text = r->all.faults.items[index].text;
    pthread_mutex_unlock(&r->lock);
    return text;
}

enum { MOST_DEVICES = 64 };

/* Finds the GPU of the current context in `list`. The driver's device handles are its ordinals. */
static at_status find_current(const cuda_driver *cuda, const device_properties *list, size_t count,
                              const device_properties **out, at_error *error)
{
    CUdevice current;
    at_status status = cuda_check(cuda, cuda->cuCtxGetDevice(&current), AT_NO_DEVICE,
                                  "no CUDA context is current in this thread", error);
    if (!status && (current < 0 || (size_t)current >= count))
        status = error_set(error, AT_NO_DEVICE,
                           "the GPU of the current context is not among the driver's devices");
    if (!status)
        *out = &list[current];
    return status;
}

static at_status list_devices(device_properties **list, size_t *count, at_error *error)
{
    device_properties *found = calloc(MOST_DEVICES, sizeof *found);
    if (!found)
        return error_no_memory(error);
    at_status status = device_cuda_api.list(found, MOST_DEVICES, count, error);
    if (status)
        free(found);
    else
        *list = found;
    return status;
}

at_status library_current_device(device_properties *out, at_error *error)
{
    cuda_driver cuda = {0};
    size_t count = 0;
    device_properties *list = NULL;
    const device_properties *current;
    at_status status = cuda_driver_open(&cuda, error);
    if (status)
        return status;
    status = list_devices(&list, &count, error);
    if (!status)
        status = find_current(&cuda, list, count, &current, error);
    if (!status)
        *out = *current;
    free(list);
    cuda_driver_close(&cuda);
    return status;
}

at_status library_device_of(at_results *results, const device_properties **out, at_error *error)
{
    at_status status = AT_OK;
    pthread_mutex_lock(&results->lock);
    if (!results->devices)
        status = cuda_driver_open(&results->cuda, error);
    if (!status && !results->devices)
        status = list_devices(&results->devices, &results->device_count, error);
    if (status)
        cuda_driver_close(&results->cuda);
    pthread_mutex_unlock(&results->lock);
    if (!status)
        status = find_current(&results->cuda, results->devices, results->device_count, out, error);
    return status;
}

at_gpu library_gpu_of(const arch_limits *limits)
{
    at_gpu gpu = {.major = limits->major, .minor = limits->minor};
    snprintf(gpu.name, sizeof gpu.name, "%s", limits->name);
    return gpu;
}

at_status at_current_gpu(at_gpu *out, at_error *error)
{
    device_properties p;
    if (!out)
        return argument_refuse_null("at_current_gpu", "out", error);
    error_clear(error);
    thread_state callers;
    at_status status = thread_state_reset(&callers, error);
    if (status)
        return status;
    status = library_current_device(&p, error);
    thread_state_restore(&callers);
    if (!status)
        *out = library_gpu_of(&p.limits);
    return status;
}

at_status argument_refuse_null(const char *function, const char *argument, at_error *error)
{
    error_clear(error);
    return error_set(error, AT_USAGE, "%s: the argument '%s' is NULL", function, argument);
}

at_status argument_check_problem(const char *function, const at_results *results,
                                 const char *pattern_name, const at_variable *problem, size_t count,
                                 at_error *error)
{
    if (!results || !pattern_name || (!problem && count > 0))
        return argument_refuse_null(function,
                                    !results        ? "results"
                                    : !pattern_name ? "pattern"
                                                    : "problem",
                                    error);
    error_clear(error);
    if (count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem can have at most %d variables",
                         RECORD_MAX_VALUES);
    for (size_t i = 0; i < count; i++) {
        const at_variable *v = &problem[i];
        if (!v->name)
            return error_set(error, AT_USAGE, "variable %zu of the problem has no name", i + 1);
        if ((unsigned)v->kind > AT_KIND_TEXT)
            return error_set(
                error, AT_USAGE,
                "the problem's variable '%.80s' has an invalid kind, %d: use a value of at_kind",
                v->name, (int)v->kind);
        if (v->kind == AT_KIND_TEXT && !v->text)
            return error_set(error, AT_USAGE, "the text of the problem's variable '%.80s' is NULL",
                             v->name);
    }
    return AT_OK;
}
