#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pack.h"
#include "base/text.h"
#include "compile/file_names.h"

/* Newest first; the name without a version exists only where the development files are
 * installed. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
enum { SONAMES = sizeof sonames / sizeof sonames[0] };

/* A line of each library that was tried, and why it is not used. */
enum { TRIED_BYTES = 2048 };

static void note_attempt(char *tried, const char *path, const char *why)
{
    /* The loader repeats the path in front of its reason. */
    size_t n = strlen(path);
    if (why && strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
        why += n + 2;
    text_add(tried, TRIED_BYTES, "\n  %s: %s", path, why ? why : "cannot be opened");
}

/* POSIX has dlsym return a function as an object pointer; ISO C has no such conversion. */
static bool load_symbol(void *handle, const char *name, void *function, size_t function_bytes)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, function_bytes);
    return symbol != NULL;
}

#define LOAD(field, name) load_symbol(n->handle, name, &n->field, sizeof n->field)

static bool load_symbols(nvrtc_library *n)
{
    return LOAD(get_version, "nvrtcVersion") && LOAD(get_error_string, "nvrtcGetErrorString") &&
           LOAD(create_program, "nvrtcCreateProgram") &&
           LOAD(destroy_program, "nvrtcDestroyProgram") &&
           LOAD(add_name_expression, "nvrtcAddNameExpression") &&
           LOAD(get_lowered_name, "nvrtcGetLoweredName") &&
           LOAD(compile_program, "nvrtcCompileProgram") &&
           LOAD(get_log_size, "nvrtcGetProgramLogSize") && LOAD(get_log, "nvrtcGetProgramLog") &&
           LOAD(get_cubin_size, "nvrtcGetCUBINSize") && LOAD(get_cubin, "nvrtcGetCUBIN") &&
           LOAD(get_ptx_size, "nvrtcGetPTXSize") && LOAD(get_ptx, "nvrtcGetPTX");
}

/* Which file a mapped address comes from: the loader found the library by name alone. */
static void find_path(nvrtc_library *n, const char *asked)
{
    snprintf(n->path, sizeof n->path, "%s", asked);
    unsigned long address;
    memcpy(&address, &n->get_version, sizeof address);
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char *slash = strchr(line, '/');
        if (slash && sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= address && address < to) {
            slash[strcspn(slash, "\n")] = '\0';
            snprintf(n->path, sizeof n->path, "%s", slash);
            break;
        }
    }
    if (maps)
        fclose(maps);
}

/* The headers that belong to a library lie beside its folder in a Toolkit; a library installed
 * alone falls back to the Toolkit that autotune was built with. */
static void find_include_dir(nvrtc_library *n)
{
    char candidates[2][PATH_MAX + 16];
    const char *slash = strrchr(n->path, '/');
    snprintf(candidates[0], sizeof candidates[0], "%.*s/../include",
             slash ? (int)(slash - n->path) : 0, n->path);
    snprintf(candidates[1], sizeof candidates[1], "%.*s",
             (int)strcspn(AUTOTUNE_CUDA_INCLUDE_DIR, ":"), AUTOTUNE_CUDA_INCLUDE_DIR);
    n->include_dir[0] = '\0';
    for (int i = 0; i < 2 && !n->include_dir[0]; i++) {
        char probe[PATH_MAX + 64];
        snprintf(probe, sizeof probe, "%s/cuda_fp16.h", candidates[i]);
        if (access(probe, R_OK) == 0)
            snprintf(n->include_dir, sizeof n->include_dir, "%s", candidates[i]);
    }
}

/* cuda::std, CUB and what cooperative_groups.h includes lie in a folder of their own since CUDA 13,
 * before that among the rest. */
static void set_include_options(nvrtc_library *n)
{
    static const char *const folders[] = {"", "/cccl"};
    n->include_option_count = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && n->include_dir[0]; i++) {
        char dir[PATH_MAX];
        snprintf(dir, sizeof dir, "%s%s", n->include_dir, folders[i]);
        if (access(dir, R_OK | X_OK) == 0)
            snprintf(n->include_options[n->include_option_count++], sizeof n->include_options[0],
                     "--include-path=%s", dir);
    }
}

/* NVRTC opens its builtins by name alone when it first compiles: where the loader does not know
 * their folder, it finds them because they are open already. They lie beside the library, or where
 * the loader looks; without them nothing compiles. (Toolkits ship a second build, "alt".) */
static bool open_builtins(const nvrtc_library *n)
{
    const char *slash = strrchr(n->path, '/');
    char path[PATH_MAX + 64];
    int folder_bytes = slash ? (int)(slash + 1 - n->path) : 0;
    snprintf(path, sizeof path, "%.*slibnvrtc-builtins%s.so.%s", folder_bytes, n->path,
             strstr(n->path + folder_bytes, ".alt.") ? ".alt" : "", n->version);
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL) ||
           dlopen(path + folder_bytes, RTLD_LAZY | RTLD_LOCAL);
}

static bool open_one(nvrtc_library *n, const char *path, char *tried)
{
    n->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->handle) {
        note_attempt(tried, path, dlerror());
        return false;
    }
    int major, minor;
    if (!load_symbols(n) || n->get_version(&major, &minor) != NVRTC_SUCCESS) {
        note_attempt(tried, path, "is not an NVRTC that makes cubins (11.1 or newer)");
        dlclose(n->handle);
        return false;
    }
    snprintf(n->version, sizeof n->version, "%d.%d", major, minor);
    find_path(n, path);
    if (!open_builtins(n)) {
        char why[128];
        snprintf(why, sizeof why, "libnvrtc-builtins.so.%s, which it needs, cannot be opened",
                 n->version);
        note_attempt(tried, path, why);
        dlclose(n->handle);
        return false;
    }
    find_include_dir(n);
    set_include_options(n);
    struct stat s;
    n->file_bytes = stat(n->path, &s) == 0 ? (uint64_t)s.st_size : 0;
    return true;
}

static bool open_in(nvrtc_library *n, const char *dir, const char *subdir, char *tried)
{
    if (!dir || !*dir)
        return false;
    for (int i = 0; i < SONAMES; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s/%s", dir, subdir, sonames[i]);
        if (open_one(n, path, tried))
            return true;
    }
    return false;
}

at_status nvrtc_library_open(nvrtc_library *out, at_error *error)
{
    *out = (nvrtc_library){0};
    char tried[TRIED_BYTES] = "";
    const char *given = getenv("AUTOTUNE_NVRTC");
    if (given && *given) {
        if (open_one(out, given, tried))
            return AT_OK;
        return error_set(error, AT_NO_TOOLCHAIN,
                         "NVRTC, CUDA's run-time compiler, cannot be opened. AUTOTUNE_NVRTC names:"
                         "%s\nPoint AUTOTUNE_NVRTC at a libnvrtc.so.13 or .12, or unset it.",
                         tried);
    }
    for (int i = 0; i < SONAMES; i++)
        if (open_one(out, sonames[i], tried))
            return AT_OK;
    if (open_in(out, AUTOTUNE_CUDA_LIBRARY_DIR, "", tried) ||
        open_in(out, "/usr/local/cuda", "/lib64", tried) ||
        open_in(out, getenv("CUDA_HOME"), "/lib64", tried) ||
        open_in(out, getenv("CUDA_PATH"), "/lib64", tried))
        return AT_OK;
    return error_set(error, AT_NO_TOOLCHAIN,
                     "NVRTC, CUDA's run-time compiler, cannot be opened. Tried:%s\n"
                     "Install the CUDA Toolkit 12.8 or newer (Debian package cuda-nvrtc-13-0 is "
                     "enough), or set AUTOTUNE_NVRTC to the library's path.",
                     tried);
}

static char *fetch_log(const nvrtc_library *n, nvrtcProgram program, nvrtcResult code)
{
    size_t size = 0;
    if (n->get_log_size(program, &size) != NVRTC_SUCCESS)
        size = 0;
    const char *reason = n->get_error_string(code);
    char *log = malloc(size + strlen(reason) + 2);
    if (!log)
        return NULL;
    log[0] = '\0';
    if (size > 1 && n->get_log(program, log) == NVRTC_SUCCESS)
        log[size] = '\0';
    if (!log[0] && code != NVRTC_SUCCESS)
        strcpy(log, reason);
    return log;
}

static nvrtcResult fetch_cubin(const nvrtc_library *n, nvrtcProgram program, nvrtc_output *out)
{
    nvrtcResult code = n->get_cubin_size(program, &out->cubin_bytes);
    if (code != NVRTC_SUCCESS)
        return code;
    out->cubin = malloc(out->cubin_bytes + 1);
    return out->cubin ? n->get_cubin(program, out->cubin) : NVRTC_ERROR_OUT_OF_MEMORY;
}

static nvrtcResult fetch_ptx(const nvrtc_library *n, nvrtcProgram program,
                             const source_header *headers, size_t header_count, nvrtc_output *out)
{
    char folder[PATH_MAX];
    size_t size = 0;
    nvrtcResult code = n->get_ptx_size(program, &size);
    if (code != NVRTC_SUCCESS)
        return code;
    out->ptx = malloc(size + 1);
    if (!out->ptx)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    code = n->get_ptx(program, out->ptx);
    out->ptx[size] = '\0';
    if (getcwd(folder, sizeof folder))
        file_names_restore(out->ptx, folder, headers, header_count);
    out->ptx_bytes = strlen(out->ptx);
    return code;
}

/* A copy of entry `index`; NULL: there is none, or no memory. */
static char *copy_entry(const char *entries, size_t index)
{
    size_t length;
    const char *entry = text_line(entries, index, &length);
    return length ? strndup(entry, length) : NULL;
}

/* Is it the name of a function in machine code, which no expression of C++ can be? */
static bool is_symbol(const char *entry)
{
    return strncmp(entry, "_Z", 2) == 0;
}

static nvrtcResult name_entries(const nvrtc_library *n, nvrtcProgram program, const char *entries)
{
    nvrtcResult code = NVRTC_SUCCESS;
    char *entry;
    for (size_t i = 0; code == NVRTC_SUCCESS && (entry = copy_entry(entries, i)); i++) {
        if (!is_symbol(entry))
            code = n->add_name_expression(program, entry);
        free(entry);
    }
    return code;
}

static nvrtcResult fetch_symbols(const nvrtc_library *n, nvrtcProgram program, const char *entries,
                                 nvrtc_output *out)
{
    nvrtcResult code = NVRTC_SUCCESS;
    pack symbols = {0};
    char *entry;
    for (size_t i = 0; code == NVRTC_SUCCESS && (entry = copy_entry(entries, i)); i++) {
        const char *symbol = entry;
        if (!is_symbol(entry))
            code = n->get_lowered_name(program, entry, &symbol);
        pack_append_text(&symbols, i ? "\n" : "");
        pack_append_text(&symbols, code == NVRTC_SUCCESS ? symbol : "");
        free(entry);
    }
    out->symbols = pack_take_text(&symbols);
    return code == NVRTC_SUCCESS && !out->symbols ? NVRTC_ERROR_OUT_OF_MEMORY : code;
}

void nvrtc_library_compile(const nvrtc_library *n, const char *source, const char *name,
                           const char *entries, const source_header *headers, size_t header_count,
                           const char *const *options, size_t option_count, int want_ptx,
                           nvrtc_output *out)
{
    *out = (nvrtc_output){0};
    const char *texts[SOURCE_HEADERS_MAX], *names[SOURCE_HEADERS_MAX];
    if (header_count > SOURCE_HEADERS_MAX)
        header_count = SOURCE_HEADERS_MAX;
    for (size_t i = 0; i < header_count; i++) {
        texts[i] = headers[i].text;
        names[i] = headers[i].name;
    }
    int64_t start_ns = clock_now_ns();
    nvrtcProgram program;
    out->code = n->create_program(&program, source, name, (int)header_count, texts, names);
    if (out->code != NVRTC_SUCCESS)
        return;
    out->code = name_entries(n, program, entries);
    if (out->code == NVRTC_SUCCESS)
        out->code = n->compile_program(program, (int)option_count, options);
    out->log = fetch_log(n, program, out->code);
    if (out->code == NVRTC_SUCCESS)
        out->code = fetch_symbols(n, program, entries, out);
    if (out->code == NVRTC_SUCCESS)
        out->code = fetch_cubin(n, program, out);
    if (out->code == NVRTC_SUCCESS && want_ptx)
        out->code = fetch_ptx(n, program, headers, header_count, out);
    n->destroy_program(&program);
    out->time_ns = clock_now_ns() - start_ns;
}

void nvrtc_output_deinit(nvrtc_output *o)
{
    free(o->log);
    free(o->symbols);
    free(o->cubin);
    free(o->ptx);
    *o = (nvrtc_output){0};
}
