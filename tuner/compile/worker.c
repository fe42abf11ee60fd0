#include "compile/worker.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compile/batch.h"
#include "compile/compiler.h"
#include "compile/wire.h"
#include "process/confine.h"

/* The bytes that this process has mapped already. A profiler that watches the tuner maps
 * terabytes. */
static uint64_t mapped_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%llu", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The tuner and the device workers, which wait for nothing but a GPU, go first: they share the
 * cores. */
enum { NICENESS = 5 };

static void limit_process(const compile_worker_config *config)
{
    int niceness = nice(NICENESS);
    (void)niceness;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    /* The tuner is told of a crash by the signal itself, not by a handler's exit status. */
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    if (config->memory_limit_bytes) {
        rlim_t most = (rlim_t)(mapped_bytes() + config->memory_limit_bytes);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    /* When the host runs out of memory, a worker is the one to lose. Raising it needs no right. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "500", 3);
        (void)written;
        close(fd);
    }
}

/* NVRTC's own cache (12.9 and newer) loads the driver into every worker, and what it returns comes
 * without ptxas's report of resources. */
static void disable_nvrtc_cache(void)
{
    setenv("CUDA_CACHE_DISABLE", "1", 1);
}

static at_status greet(int fd, const nvrtc_library *nvrtc, const at_error *refusal)
{
    message m = {.type = refusal ? COMPILE_REFUSED : COMPILE_HELLO};
    pack_put_string(&m.body, refusal ? refusal->message : nvrtc->version);
    return message_post(fd, &m, NULL);
}

/* NVRTC looks for headers in the current folder first, where the user's own may lie. */
static void leave_folder(compiler *c)
{
    const char *dir = c->nvrtc.include_dir;
    if ((!dir[0] || chdir(dir) != 0) && chdir("/") != 0)
        compiler_warn(c, "a compile worker cannot leave the current folder");
}

void compile_worker_confine(const char *include_dir, const char *cache_dir)
{
    /* The headers, or the C++ libraries, of some Toolkits are links to another folder. */
    char header[PATH_MAX + 32], real[PATH_MAX] = "", cccl[PATH_MAX + 32];
    confine_folder folders[4];
    size_t count = 0;
    if (include_dir[0]) {
        folders[count++] = (confine_folder){include_dir, CONFINE_READ};
        snprintf(cccl, sizeof cccl, "%s/cccl", include_dir);
        folders[count++] = (confine_folder){cccl, CONFINE_READ};
        snprintf(header, sizeof header, "%s/cuda_fp16.h", include_dir);
        if (realpath(header, real)) {
            *strrchr(real, '/') = '\0';
            folders[count++] = (confine_folder){real, CONFINE_READ};
        }
    }
    if (cache_dir)
        folders[count++] = (confine_folder){cache_dir, CONFINE_WRITE};
    confine_files(folders, count);
    confine_system_calls(CONFINE_SOCKETS);
}

void compile_worker_put_config(pack *p, const compile_worker_config *config)
{
    pack_put_u32(p, config->use_cache);
    pack_put_string(p, config->cache_dir);
    pack_put_u64(p, config->cache_limit_bytes);
    pack_put_u64(p, config->memory_limit_bytes);
}

static compile_worker_config get_config(pack *p)
{
    compile_worker_config config = {.use_cache = pack_get_u32(p) != 0};
    const char *dir = pack_get_string(p);
    config.cache_dir = *dir ? dir : NULL;
    config.cache_limit_bytes = pack_get_u64(p);
    config.memory_limit_bytes = pack_get_u64(p);
    return config;
}

static int run(int fd, pack *settings)
{
    const compile_worker_config config = get_config(settings);
    if (!pack_complete(settings))
        return 1;
    limit_process(&config);
    compiler c = {.fd = fd};
    at_error error = {0};
    disable_nvrtc_cache();
    if (nvrtc_library_open(&c.nvrtc, &error)) {
        greet(fd, NULL, &error);
        return 1;
    }
    at_status status = greet(fd, &c.nvrtc, NULL);
    if (config.use_cache)
        compiler_open_cache(&c, config.cache_dir, config.cache_limit_bytes);
    leave_folder(&c);
    if (c.cache_writes)
        preambles_open(&c.preambles, c.cache.dir);
    compile_worker_confine(c.nvrtc.include_dir, c.cache_reads ? c.cache.dir : NULL);
    while (!status)
        status = batch_answer(&c);
    return 0;
}

const worker_program compile_worker_program = {.name = "at-compile", .run = run};
