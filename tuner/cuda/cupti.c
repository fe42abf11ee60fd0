#include "cuda/cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/driver.h"

#define CUPTI_SYMBOL(name, parameter) {#name, offsetof(cupti, name)},

static const library_symbol symbols[] = {
    CUPTI_FUNCTIONS(CUPTI_SYMBOL){"cuptiGetResultString", offsetof(cupti, cuptiGetResultString)}};

static at_status find_symbols(cupti *c, at_error *error)
{
    const char *missing =
        library_find_symbols(c->library, symbols, sizeof symbols / sizeof *symbols, c);
    return missing ? error_set(error, AT_NO_DEVICE,
                               "the CUPTI library is too old: it has no %s (CUDA 12.6 or newer is "
                               "needed)",
                               missing)
                   : AT_OK;
}

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
enum { NAMES = sizeof names / sizeof *names };

bool cupti_find(char *path, size_t size_bytes)
{
    const char *chosen = getenv("AUTOTUNE_LIBCUPTI");
    static const char *const folders[] = {
        AUTOTUNE_CUDA_LIBRARY_DIR, AUTOTUNE_CUDA_LIBRARY_DIR "/../extras/CUPTI/lib64",
        "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"};
    if (chosen && *chosen)
        return snprintf(path, size_bytes, "%s", chosen) < (int)size_bytes;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (size_t j = 0; j < NAMES; j++) {
            snprintf(path, size_bytes, "%s/%s", folders[i], names[j]);
            if (access(path, R_OK) == 0)
                return true;
        }
    return false;
}

static void *open_library(void)
{
    const char *chosen = getenv("AUTOTUNE_LIBCUPTI");
    char path[1024];
    void *found = NULL;
    for (size_t j = 0; !found && !(chosen && *chosen) && j < NAMES; j++)
        found = dlopen(names[j], RTLD_NOW | RTLD_LOCAL);
    return !found && cupti_find(path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : found;
}

at_status cupti_open(cupti *out, at_error *error)
{
    *out = (cupti){0};
    out->library = open_library();
    if (!out->library)
        return error_set(
            error, AT_NO_DEVICE,
            "there is no CUPTI library to read counters with: %s; it comes with the CUDA Toolkit "
            "(Debian package cuda-cupti-13-0, PyPI package nvidia-cuda-cupti), or say where it is "
            "by AUTOTUNE_LIBCUPTI=/path/to/libcupti.so.13",
            dlerror());
    at_status status = find_symbols(out, error);
    if (!status)
        return AT_OK;
    dlclose(out->library);
    *out = (cupti){0};
    return status;
}

static const char *advice(int code)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {
        {CUPTI_NO_PRIVILEGE,
         "the driver lets only an administrator read performance counters (ERR_NVGPUCTRPERM). Run "
         "autotune as root (in a container: with --cap-add SYS_ADMIN). To allow all users, put "
         "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into "
         "/etc/modprobe.d/nvidia-profiling.conf and reboot"},
        {CUPTI_VIRTUAL_NO_PRIVILEGE,
         "profiling of this virtual GPU is not allowed (ERR_NVGPUCTRPERM): the administrator of "
         "the host must allow it"},
        {CUPTI_HARDWARE_BUSY,
         "another profiler holds the counters (Nsight Compute, DCGM): end it, or "
         "'dcgmi profile --pause'"},
        {CUPTI_SEVERAL_SUBSCRIBERS, "this process is being profiled by another tool already"},
        {CUPTI_NOT_SUPPORTED, "this GPU or its driver does not give counters to CUPTI"},
        {CUPTI_VIRTUAL_DEVICE, "this virtual GPU has no counters"},
        {CUPTI_CONFIDENTIAL, "the GPU has no counters in confidential computing mode"},
        {CUPTI_CHIP_UNKNOWN,
         "the CUPTI library is too old for this GPU: name a newer one by AUTOTUNE_LIBCUPTI"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return known[i].text;
    return NULL;
}

at_status cupti_check(const cupti *c, int code, const char *what, at_error *error)
{
    if (code == CUPTI_OK)
        return AT_OK;
    const char *text = NULL, *help = advice(code);
    if (c->cuptiGetResultString(code, &text) != CUPTI_OK || !text)
        text = "unknown error";
    if (help)
        return error_set(error, AT_NO_DEVICE, "%s; %s failed: %s", help, what, text);
    return error_set(error, AT_NO_DEVICE, "%s failed: %s (%d)", what, text, code);
}
