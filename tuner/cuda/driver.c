#include "cuda/driver.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* The extra step expands the macros of cuda.h: the name is "cuMemAlloc_v2". */
#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x
#define DRIVER_SYMBOL(f) {TEXT(f), offsetof(cuda_driver, f)},

static const library_symbol symbols[] = {CUDA_DRIVER_FUNCTIONS(DRIVER_SYMBOL)};

const char *library_find_symbols(void *library, const library_symbol *wanted, size_t count,
                                 void *table)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, wanted[i].name);
        if (!address && !missing)
            missing = wanted[i].name;
        /* ISO C has no cast from a data pointer to a function pointer. */
        memcpy((char *)table + wanted[i].offset, &address, sizeof address);
    }
    return missing;
}

at_status cuda_check(const cuda_driver *cuda, CUresult result, at_status status, const char *what,
                     at_error *error)
{
    if (result == CUDA_SUCCESS)
        return AT_OK;
    const char *name = NULL, *sentence = NULL;
    cuda->cuGetErrorName(result, &name);
    cuda->cuGetErrorString(result, &sentence);
    return error_set(error, status, "%s: %s (%s)", what, sentence ? sentence : "unknown error",
                     name ? name : "not named by this driver");
}

/* Errors of a load or launch that leave the context usable. Any other error loses the context. */
static const CUresult refusals[] = {
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_OUT_OF_MEMORY,
    CUDA_ERROR_INVALID_IMAGE,
    CUDA_ERROR_NO_BINARY_FOR_GPU,
    CUDA_ERROR_INVALID_PTX,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUDA_ERROR_INVALID_SOURCE,
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    CUDA_ERROR_NOT_FOUND,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUDA_ERROR_NOT_SUPPORTED,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUDA_ERROR_INVALID_CLUSTER_SIZE,
};

at_status cuda_refusal_status(CUresult result)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (result == refusals[i])
            return AT_COMPILE;
    return AT_DEVICE;
}

static at_status find_symbols(cuda_driver *cuda, at_error *error)
{
    const char *missing =
        library_find_symbols(cuda->library, symbols, sizeof symbols / sizeof *symbols, cuda);
    if (missing)
        return error_set(error, AT_NO_DEVICE,
                         "the CUDA driver is too old: it has no %s (a driver for CUDA 12.8 or "
                         "newer is needed)",
                         missing);
    cuda->clock_ns = clock_now_ns;
    void *own = dlsym(cuda->library, "autotune_host_clock_ns");
    if (own)
        memcpy(&cuda->clock_ns, &own, sizeof own);
    return AT_OK;
}

/* Reads the version of the kernel module, which equals the version of the driver package. */
static void read_package_version(char *out, size_t size_bytes)
{
    out[0] = '\0';
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (!f)
        return;
    if (!fgets(out, (int)size_bytes, f))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(f);
}

at_status cuda_driver_open(cuda_driver *out, at_error *error)
{
    *out = (cuda_driver){0};
    const char *chosen = getenv("AUTOTUNE_LIBCUDA");
    const char *path = chosen && *chosen ? chosen : "libcuda.so.1";
    out->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!out->library)
        return error_set(error, AT_NO_DEVICE, "there is no CUDA driver: %s", dlerror());
    at_status status = find_symbols(out, error);
    if (status)
        goto cleanup;
    status = cuda_check(out, out->cuInit(0), AT_NO_DEVICE, "the CUDA driver does not start", error);
    if (status)
        goto cleanup;
    if (out->cuDriverGetVersion(&out->cuda_version) != CUDA_SUCCESS)
        out->cuda_version = 0;
    read_package_version(out->version, sizeof out->version);
cleanup:
    if (status)
        cuda_driver_close(out);
    return status;
}

void cuda_driver_close(cuda_driver *cuda)
{
    if (cuda->library)
        dlclose(cuda->library);
    *cuda = (cuda_driver){0};
}

/* Returns whether an entry of the list names a GPU. The driver ignores the first entry that names
 * no GPU (an empty entry, or a negative number) and all entries after it. */
static bool is_entry(const char *entry, size_t length, size_t present)
{
    if (length == 0 || !isalnum((unsigned char)*entry))
        return false;
    return !isdigit((unsigned char)*entry) || present == 0 || strtoul(entry, NULL, 10) < present;
}

/* Writes the list with only GPU `ordinal`. Returns false if the list should stay as it is. */
static bool name_alone(const char *visible, size_t present, int ordinal, char *out,
                       size_t size_bytes)
{
    if (ordinal < 0)
        return false;
    if (!visible)
        return present > 1 && (size_t)ordinal < present &&
               snprintf(out, size_bytes, "%d", ordinal) < (int)size_bytes;
    if (!strchr(visible, ','))
        return false;
    for (const char *entry = visible;; entry++, ordinal--) {
        size_t length = strcspn(entry, ",");
        if (!is_entry(entry, length, present))
            return false;
        if (ordinal == 0)
            return snprintf(out, size_bytes, "%.*s", (int)length, entry) < (int)size_bytes;
        entry += length;
        if (!*entry)
            return false;
    }
}

size_t visible_count(void)
{
    size_t count = 0;
    DIR *devices = opendir("/dev");
    if (!devices)
        return 0;
    for (struct dirent *e; (e = readdir(devices));)
        count += strncmp(e->d_name, "nvidia", 6) == 0 && isdigit((unsigned char)e->d_name[6]);
    closedir(devices);
    return count;
}

int visible_show_only(size_t present, int ordinal)
{
    char alone[128];
    if (!name_alone(getenv("CUDA_VISIBLE_DEVICES"), present, ordinal, alone, sizeof alone))
        return ordinal;
    setenv("CUDA_VISIBLE_DEVICES", alone, 1);
    return 0;
}
