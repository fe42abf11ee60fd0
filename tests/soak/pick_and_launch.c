/* A program that runs for long: it repeatedly opens the records, picks, prepares, launches and
 * checks the kernel's results, while other processes change the records.
 *
 * usage: pick_and_launch RESULTS SCRIPT PATTERN SECONDS CACHE
 *
 * Prints "rounds N launched N rss_kib EARLY LATE": its memory after a quarter of the time and a few
 * launches, when the caches are filled, and at the end; 0 for both if there were not enough
 * launches. Exit code 1, with a message, if something failed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune.h"
#include "base/clock.h"
#include "cuda/driver.h"

enum { ELEMENTS = 4096, WARM_LAUNCHES = 16 };

static long rss_kib(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%ld %ld", &all, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

typedef struct device {
    cuda_driver cuda;
    CUstream stream;
    CUdeviceptr src, dst;
    float host[ELEMENTS];
} device;

static at_status open_device(device *d, at_error *error)
{
    CUdevice gpu;
    CUcontext context;
    at_status status = cuda_driver_open(&d->cuda, error);
    if (status)
        return status;
    if (d->cuda.cuDeviceGet(&gpu, 0) || d->cuda.cuDevicePrimaryCtxRetain(&context, gpu) ||
        d->cuda.cuCtxSetCurrent(context) ||
        d->cuda.cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING) ||
        d->cuda.cuMemAlloc(&d->src, sizeof d->host) || d->cuda.cuMemAlloc(&d->dst, sizeof d->host))
        return error_set(error, AT_DEVICE, "the GPU gives no stream or memory");
    return AT_OK;
}

static at_status launch_and_check(device *d, const at_kernel *k, uint64_t round, at_error *error)
{
    const uint64_t buffers[] = {d->src, d->dst};
    for (size_t i = 0; i < ELEMENTS; i++)
        d->host[i] = (float)((i + round) % 1000);
    d->cuda.cuMemcpyHtoDAsync(d->src, d->host, sizeof d->host, d->stream);
    at_status status = at_launch(k, d->stream, buffers, error);
    if (status)
        return status;
    if (d->cuda.cuStreamSynchronize(d->stream))
        return error_set(error, AT_DEVICE, "the launch failed");
    memset(d->host, 0, sizeof d->host);
    d->cuda.cuMemcpyDtoHAsync(d->host, d->dst, sizeof d->host, d->stream);
    d->cuda.cuStreamSynchronize(d->stream);
    for (size_t i = 0; i < ELEMENTS; i++)
        if ((int)d->host[i] != (int)((i + round) % 1000))
            return error_set(error, AT_DEVICE, "element %zu is %g in round %" PRIu64, i,
                             (double)d->host[i], round);
    return AT_OK;
}

/* Picks and launches. Adds 1 to *launched if the problem is recorded. */
static at_status use(device *d, char **argv, uint64_t round, uint64_t *launched, at_error *error)
{
    at_results *results = NULL;
    at_choice *choice = NULL;
    at_kernel *kernel = NULL;
    const at_variable problem[] = {at_integer("n", ELEMENTS)};
    const at_kernel_options options = {.script = argv[2], .cache = argv[5]};
    at_status status = at_open(argv[1], &results, error);
    const char *fault = status ? NULL : at_results_problem(results, 0);
    if (fault)
        status = error_set(error, AT_FORMAT, "%s", fault);
    if (!status)
        status = at_pick(results, argv[3], NULL, problem, 1, &choice, error);
    if (!status)
        status = at_prepare(choice, &options, &kernel, error);
    if (!status)
        status = launch_and_check(d, kernel, round, error);
    *launched += status == AT_OK;
    at_kernel_free(kernel);
    at_choice_free(choice);
    at_close(results);
    if (status == AT_NOT_FOUND)
        usleep(100000);
    return status == AT_NOT_FOUND ? AT_OK : status;
}

int main(int argc, char **argv)
{
    static device d;
    at_error error = {0};
    if (argc != 6) {
        fputs("usage: pick_and_launch RESULTS SCRIPT PATTERN SECONDS CACHE\n", stderr);
        return 2;
    }
    at_status status = open_device(&d, &error);
    int64_t begin_ns = clock_now_ns(), length_ns = strtoll(argv[4], NULL, 10) * INT64_C(1000000000);
    uint64_t rounds = 0, launched = 0;
    long early_kib = 0;
    for (int64_t now_ns = begin_ns; !status && now_ns - begin_ns < length_ns;
         now_ns = clock_now_ns(), rounds++) {
        status = use(&d, argv, rounds, &launched, &error);
        if (!early_kib && launched >= WARM_LAUNCHES && now_ns - begin_ns > length_ns / 4)
            early_kib = rss_kib();
    }
    if (status) {
        fprintf(stderr, "pick_and_launch: %s\n", error.message);
        return 1;
    }
    printf("rounds %" PRIu64 " launched %" PRIu64 " rss_kib %ld %ld\n", rounds, launched, early_kib,
           early_kib ? rss_kib() : 0);
    return 0;
}
