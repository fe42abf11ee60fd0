/* Callbacks and activity records of the fake CUPTI, for the fake driver that $AUTOTUNE_LIBCUDA
 * names. If $FAKE_CUPTI_SUBSCRIBED is set, another tool has already subscribed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "capture/inject/callbacks.h"
#include "fake_calls.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, parameters) EXPORT int name parameters;
CUPTI_CALLBACK_FUNCTIONS(DECLARE)

enum { SEVERAL_SUBSCRIBERS = 39, BAD_PARAMETER = 1, NO_MORE = 12, MOST_RECORDS = 4096 };

/* The indices differ from CUPTI's numbers, so a caller has to look functions up by name. */
static const char *const functions[] = {
    NULL,
    "cuInit",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuMemAlloc",
    "cuModuleLoadData",
    "cuModuleUnload",
    NULL,
    "cuGraphLaunch",
    "cuLibraryLoadData",
    "cuLaunchCooperativeKernel",
    "cuGraphAddKernelNode_v2",
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool is_enabled[FUNCTIONS];
static cupti_callback subscribed;
static void *subscribed_own;
static bool is_timing;
static uint64_t began_ns;
static cupti_kernel_record records[MOST_RECORDS];
static char names[MOST_RECORDS][64];
static size_t record_count;
static cupti_buffer_wanted buffer_wanted;
static cupti_buffer_full buffer_full;

static void *driver_symbol(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(getenv("AUTOTUNE_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

static uint64_t time_ns(void)
{
    uint64_t (*now)(void);
    void *address = driver_symbol("fake_time_ns");
    memcpy(&now, &address, sizeof now);
    return now();
}

static void add_record(const launch_parameters *p, const char *symbol)
{
    if (record_count == MOST_RECORDS)
        return;
    cupti_kernel_record *r = &records[record_count];
    *r = (cupti_kernel_record){.kind = CUPTI_KIND_CONCURRENT_KERNEL,
                               .start_ns = 1000 + began_ns,
                               .end_ns = 1000 + time_ns(),
                               .dynamic_shared_bytes = (int32_t)p->shared_bytes};
    for (int i = 0; i < 3; i++) {
        r->grid[i] = (int32_t)p->grid[i];
        r->block[i] = (int32_t)p->block[i];
    }
    strncpy(names[record_count], symbol, sizeof names[0] - 1);
    r->name = names[record_count++];
}

static void watch(int site, const char *function, const void *parameters, const CUresult *result,
                  const char *symbol, uint64_t *own)
{
    const cupti_call call = {.site = site,
                             .function = function,
                             .parameters = parameters,
                             .result = result,
                             .symbol = symbol,
                             .own = own};
    uint32_t i = 1;
    while (i < FUNCTIONS && (!functions[i] || strcmp(functions[i], function) != 0))
        i++;
    if (site == CUPTI_SITE_EXIT && is_timing && strcmp(function, "cuLaunchKernel") == 0)
        add_record(parameters, symbol);
    if (i < FUNCTIONS && is_enabled[i] && subscribed)
        subscribed(subscribed_own, CUPTI_DOMAIN_DRIVER, i, &call);
    began_ns = time_ns();
}

static void start_watching(void)
{
    void (*start)(fake_watcher);
    void *address = driver_symbol("fake_watch");
    memcpy(&start, &address, sizeof start);
    if (address)
        start(watch);
}

int cuptiSubscribe(void **subscriber, cupti_callback callback, void *own)
{
    if (getenv("FAKE_CUPTI_SUBSCRIBED") || subscribed)
        return SEVERAL_SUBSCRIBERS;
    subscribed = callback;
    subscribed_own = own;
    *subscriber = &subscribed;
    start_watching();
    return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t function)
{
    if (subscriber != (void *)&subscribed || domain != CUPTI_DOMAIN_DRIVER ||
        function >= FUNCTIONS || !functions[function])
        return BAD_PARAMETER;
    is_enabled[function] = enable != 0;
    return 0;
}

int cuptiGetCallbackName(int domain, uint32_t function, const char **name)
{
    if (domain != CUPTI_DOMAIN_DRIVER || function >= FUNCTIONS || !functions[function])
        return BAD_PARAMETER;
    *name = functions[function];
    return 0;
}

int cuptiActivityRegisterCallbacks(cupti_buffer_wanted wanted, cupti_buffer_full full)
{
    buffer_wanted = wanted;
    buffer_full = full;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    is_timing = kind == CUPTI_KIND_CONCURRENT_KERNEL && buffer_full;
    start_watching();
    return is_timing ? 0 : BAD_PARAMETER;
}

int cuptiActivityFlushPeriod(uint32_t period_ms)
{
    return period_ms > 0 ? 0 : BAD_PARAMETER;
}

int cuptiActivityFlushAll(uint32_t flags)
{
    uint8_t *buffer = NULL;
    size_t size_bytes = 0, most = 0;
    (void)flags;
    while (record_count > 0) {
        buffer_wanted(&buffer, &size_bytes, &most);
        size_t n = size_bytes / sizeof *records;
        n = n < record_count ? n : record_count;
        memcpy(buffer, records, n * sizeof *records);
        memmove(records, records + n, (record_count - n) * sizeof *records);
        record_count -= n;
        buffer_full(NULL, 0, buffer, size_bytes, n * sizeof *records);
    }
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof *records : buffer;
    if (next + sizeof *records > buffer + valid_bytes)
        return NO_MORE;
    *record = next;
    return 0;
}
