#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/text.h"
#include "compile/log.h"

/* Newest first. The name without a version exists only if development files are installed. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
enum { SONAMES = sizeof sonames / sizeof sonames[0] };

/* Size of the list of failed attempts, one line per library with the reason. */
enum { TRIED_BYTES = 2048 };

static void note_attempt(char *tried, const char *path, const char *why)
{
    /* dlerror() repeats the path before its reason. */
    size_t n = strlen(path);
    if (why && strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
        why += n + 2;
    text_add(tried, TRIED_BYTES, "\n  %s: %s", path, why ? why : "cannot be opened");
}

/* Stores the address of a function by memcpy(): ISO C cannot convert the result of dlsym(). */
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

/* Finds the file of a library opened by name: the mapping that contains one of its functions. */
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

/* Finds the headers of the library's Toolkit, otherwise of the Toolkit of autotune's build. */
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

/* Sets the include options. cuda::std, CUB and headers of cooperative_groups.h are in the folder
 * cccl since CUDA 13; before CUDA 13 they are among the other headers. */
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

/* Opens NVRTC's builtins, beside the library or on the loader's path. At the first compilation
 * NVRTC opens them by name, and the loader may not find them then. Toolkits also have a second
 * build of the builtins, "alt". */
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
    if (code != NVRTC_SUCCESS || out->cubin_bytes == 0) /* a virtual architecture has no cubin */
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

static char *copy_entry(const char *entries, size_t index)
{
    size_t length;
    const char *entry = text_line(entries, index, &length);
    return length ? strndup(entry, length) : NULL;
}

/* Returns true for a mangled name in machine code. No C++ expression starts like this. */
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

/* After this many failures in a row, headers are not precompiled any more. */
enum { MOST_FAILURES = 3 };

/* Size of a file for the largest headers, with a reserve. */
static const uint64_t heap_bytes = UINT64_C(512) << 20;

void preambles_open(preambles *p, const char *folder)
{
    struct statvfs s;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *p = (preambles){0};
    for (size_t i = 0; i < PREAMBLES_KEPT; i++)
        p->kept[i].fd = -1;
    const int length = snprintf(p->folder, sizeof p->folder, "%s/00", folder);
    if (length > 0 && (size_t)length < sizeof p->folder && statvfs(folder, &s) == 0 &&
        (uint64_t)s.f_bavail * s.f_frsize / (uint64_t)(cores > 0 ? cores : 1) >= heap_bytes &&
        (mkdir(p->folder, 0700) == 0 || errno == EEXIST))
        setenv("TMPDIR", p->folder, 1); /* NVRTC's front end puts its temporary files here. */
    else
        p->folder[0] = '\0';
}

static const char *skip_comments(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return NULL;
            at = end + 2;
        } else {
            return at;
        }
    }
}

static bool is_given(const char *name, size_t length, const source_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(headers[i].name) == length && memcmp(headers[i].name, name, length) == 0)
            return true;
    return false;
}

/* Returns the name in <...> of an #include line without other text, NULL for other lines. */
static const char *included_name(const char *line, size_t size, size_t *length)
{
    const char *at = line + 1, *end = line + size;
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0 || memchr(line, '\\', size))
        return NULL;
    at += 7;
    at += strspn(at, " \t");
    const char *close = at < end && *at == '<' ? memchr(at, '>', (size_t)(end - at)) : NULL;
    if (!close)
        return NULL;
    const char *rest = close + 1 + strspn(close + 1, " \t\r");
    *length = (size_t)(close - at) - 1;
    return rest == end || strncmp(rest, "//", 2) == 0 ? at + 1 : NULL;
}

/* Returns the length of the start of a source that consists only of comments, #line directives and
 * #include lines of files other than `headers`. Appends these #include lines to *lines. */
static size_t find_lines(const char *source, const source_header *headers, size_t header_count,
                         pack *lines)
{
    const char *ended = source;
    for (const char *at; (at = skip_comments(ended)) && *at == '#';) {
        size_t size = strcspn(at, "\n"), length;
        const char *name = included_name(at, size, &length);
        const char *word = at + 1 + strspn(at + 1, " \t");
        if (name && !is_given(name, length, headers, header_count)) {
            pack_append_text(lines, "#include <");
            pack_append(lines, name, length);
            pack_append_text(lines, ">\n");
        } else if (strncmp(word, "line ", 5) != 0 && strncmp(word, "pragma once", 11) != 0) {
            break;
        }
        ended = at + size;
    }
    return (size_t)(ended - source);
}

/* Returns the #include lines, then the source without them; its other lines keep their numbers. */
static char *hoist(const compile_request *r, const char *lines, size_t bytes)
{
    pack text = {0};
    pack_append_text(&text, lines);
    pack_append_text(&text, "#pragma nv_hdrstop\n#line 1 \"");
    pack_append_text(&text, r->name);
    pack_append_text(&text, "\"\n");
    for (const char *at = r->source, *end = r->source + bytes; at < end;) {
        size_t size = strcspn(at, "\n");
        const char *word = at + strspn(at, " \t");
        const char *name = *word == '#' ? word + 1 + strspn(word + 1, " \t") : word;
        if (*word != '#' || strncmp(name, "include", 7) != 0)
            pack_append(&text, at, size);
        if (at[size] == '\n')
            pack_append_text(&text, "\n");
        at += size + (at[size] == '\n');
        if (at > end)
            bytes = (size_t)(at - r->source);
    }
    pack_append_text(&text, r->source + bytes);
    return pack_take_text(&text);
}

static uint64_t key_of(const compile_request *r, const char *lines)
{
    pack m = {0};
    pack_put_string(&m, lines);
    pack_put_string(&m, r->arch);
    pack_put_u32(&m, r->want_ptx);
    pack_put_u32(&m, r->ptx_alone);
    for (size_t i = 0; i < r->option_count; i++)
        pack_put_string(&m, r->options[i]);
    uint64_t key = m.failed ? 0 : XXH3_64bits(m.bytes, m.size_bytes);
    pack_deinit(&m);
    return key;
}

/* Returns the preamble of a key. For a new key returns NULL and adds it. */
static preamble *find(preambles *p, uint64_t key)
{
    for (size_t i = 0; i < PREAMBLES_KEPT; i++)
        if (p->kept[i].key == key)
            return &p->kept[i];
    preamble *other = &p->kept[p->next++ % PREAMBLES_KEPT];
    if (other->key && other->fd >= 0)
        close(other->fd);
    *other = (preamble){.key = key, .fd = -1};
    return NULL;
}

void preambles_begin(preambles *p, const compile_request *r, preamble_use *out)
{
    *out = (preamble_use){0};
    if (!p->folder[0] || strpbrk(r->name, "\"\\\n"))
        return;
    pack found = {0};
    const size_t bytes = find_lines(r->source, r->headers, r->header_count, &found);
    char *lines = pack_take_text(&found);
    const uint64_t key = lines && lines[0] ? key_of(r, lines) : 0;
    preamble *of = key ? find(p, key) : NULL;
    if (of && of->failures < MOST_FAILURES && (out->source = hoist(r, lines, bytes)) != NULL) {
        out->of = of;
        if (of->fd >= 0) {
            snprintf(out->option, sizeof out->option, "--use-pch=/proc/self/fd/%d", of->fd);
        } else {
            snprintf(out->path, sizeof out->path, "%s/tmp-heap-%ld", p->folder, (long)getpid());
            snprintf(out->option, sizeof out->option, "--create-pch=%s", out->path);
        }
    }
    free(lines);
}

void preambles_end(preamble_use *use, bool compiled)
{
    if (!use->of)
        return;
    if (use->path[0]) {
        if (compiled)
            use->of->fd = descriptor_open(use->path, O_RDONLY | O_CLOEXEC, 0);
        unlink(use->path);
    }
    use->of->failures = use->of->fd >= 0 && compiled ? 0 : use->of->failures + 1;
    free(use->source);
    *use = (preamble_use){0};
}
