/* autotune --version; with --verbose also the facts that a bug report needs: driver, Toolkit,
 * locale, file systems and their locks, environment variables. */
#define _GNU_SOURCE /* gnu_get_libc_version, environ */
#include <errno.h>
#include <fnmatch.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/lock.h"
#include "base/paths.h"
#include "bench/client.h"
#include "cmd/table.h"
#include "compile/cache.h"
#include "compile/nvrtc.h"
#include "journal/journal.h"
#include "process/confine.h"
#include "record/folders.h"

/* Environment variables of autotune, the driver, the loader and MPI that change a run. */
static const struct {
    const char *name, *effect;
} variables[] = {
    {"HOME", "where caches and journals are kept, without XDG_CACHE_HOME and XDG_STATE_HOME"},
    {"XDG_CACHE_HOME", "where compiled kernels are kept"},
    {"XDG_STATE_HOME", "where journals are kept"},
    {"XDG_RUNTIME_DIR", "where runs of this user on one GPU take turns"},
    {"TMPDIR", "where they take turns without it"},
    {"AUTOTUNE_CONFINE", "'off' leaves the workers unconfined"},
    {"AUTOTUNE_LIBCUDA", "the driver's library"},
    {"AUTOTUNE_LIBCUPTI", "the library that reads hardware counters"},
    {"AUTOTUNE_LIBNVML", "the library that reads the board's clocks and power"},
    {"AUTOTUNE_NVRTC", "the compiler's library"},
    {"AUTOTUNE_PROGRAM", "what at_tune() of the library runs instead of the autotune beside it"},
    {"AUTOTUNE_RESULTS", "a folder of records that is searched first"},
    {"AUTOTUNE_SHARE", "the folder of autotune's own scripts and templates"},
    {"AUTOTUNE_KOKKOS_STORE", "where libautotune_kokkos.so keeps what it decided"},
    {"AUTOTUNE_SITES", "what programs with sites do: 'off', 'use' or 'tune'"},
    {"AUTOTUNE_TURNS", "where runs of all users on one GPU take turns"},
    {"PATH", "where at_tune() looks for autotune last"},
    {"AUTOTUNE_CLUSTER", "set by autotune-rank for the tuner of an MPI launch"},
    {"CUDA_VISIBLE_DEVICES", "which GPUs there are, and how they are numbered"},
    {"CUDA_DEVICE_ORDER", "how GPUs are numbered"},
    {"CUDA_HOME", "where the compiler's library is looked for"},
    {"CUDA_PATH", "where the compiler's library is looked for"},
    {"CUDA_LAUNCH_BLOCKING", "each launch is waited for: times are of the host, too"},
    {"CUDA_MODULE_LOADING", "when kernels are loaded"},
    {"CUDA_FORCE_PTX_JIT", "the driver compiles PTX in place of the code that was measured"},
    {"CUDA_DISABLE_PTX_JIT", "the driver refuses PTX"},
    {"CUDA_DEVICE_MAX_CONNECTIONS", "how many streams run at once"},
    {"CUDA_AUTO_BOOST", "whether clocks rise by themselves"},
    {"CUDA_INJECTION64_PATH", "a profiler is loaded into the workers"},
    {"CUDA_MPS_PIPE_DIRECTORY", "the GPU may be shared by the processes of a server (MPS)"},
    {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "the share of a GPU that a process may use"},
    {"NVIDIA_VISIBLE_DEVICES", "which GPUs a container has"},
    {"NVIDIA_TF32_OVERRIDE", "what libraries compute with"},
    {"LD_LIBRARY_PATH", "where libraries are looked for"},
    {"LD_PRELOAD", "what is loaded into every process"},
    {"OMPI_COMM_WORLD_SIZE", "with more than 1 this is a rank of mpirun"},
    {"PMI_SIZE", "with more than 1 this is a rank of mpirun or srun"},
    {"PMI_RANK", "with SLURM_STEP_NUM_TASKS: a rank of srun"},
    {"PMIX_RANK", "with SLURM_STEP_NUM_TASKS: a rank of srun"},
    {"SLURM_STEP_NUM_TASKS", "with more than 1, and a rank: this is one of srun's"},
    {"LC_ALL", "whether tables may use UTF-8; numbers are written as in C"},
    {"LC_CTYPE", "the same, without LC_ALL"},
    {"LANG", "the same, without both"},
    {"TERM", "'dumb' has no progress line and no colour"},
    {"COLUMNS", "how wide tables are"},
    {"NO_COLOR", "no colour"},
};

/* Families of variables that may change a run, without SLURM_* and PMI_*, which may hold keys. */
static const char *const families[] = {"AUTOTUNE_*", "CUDA_*",         "NVIDIA_*", "CUPTI_*",
                                       "NSYS_*",     "GLIBC_TUNABLES", "MALLOC_*"};

/* Numbers from statfs(2), <linux/magic.h>, and the sources of Lustre, GPFS, BeeGFS, WekaFS, ZFS. */
static const struct {
    uint32_t magic;
    const char *name;
} file_systems[] = {{0xef53, "ext4"},         {0x58465342, "xfs"},     {0x9123683e, "btrfs"},
                    {0x01021994, "tmpfs"},    {0x794c7630, "overlay"}, {0x6969, "nfs"},
                    {0x0bd00bd0, "lustre"},   {0x47504653, "gpfs"},    {0x19830326, "beegfs"},
                    {0x00c36400, "ceph"},     {0x65735546, "fuse"},    {0x2fc12fc1, "zfs"},
                    {0xff534d42, "cifs"},     {0xfe534d42, "smb2"},    {0x01021997, "9p"},
                    {0x6a656a63, "virtiofs"}, {0xf2f52010, "f2fs"},    {0x858458f6, "ramfs"},
                    {0x5346414f, "afs"},      {0x2011bab0, "exfat"},   {0x4d44, "vfat"},
                    {0x73717368, "squashfs"}};

static void print_system(void)
{
    struct utsname u;
    if (uname(&u) == 0)
        printf("system: %s %s %s, glibc %s, %zu cores\n", u.sysname, u.release, u.machine,
               gnu_get_libc_version(), cores_usable());
    printf("libraries: jansson %s\n", jansson_version_str());
}

static void print_driver(void)
{
    enum { MOST = 16 };
    device_properties found[MOST];
    size_t count;
    at_error error = {0};
    if (device_worker_list("cuda", found, MOST, &count, &error)) {
        printf("driver: none; %s\n", error.message);
        return;
    }
    printf("driver: %s, CUDA %d.%d\n", count ? found[0].driver : "",
           count ? found[0].cuda_version / 1000 : 0, count ? found[0].cuda_version % 1000 / 10 : 0);
    for (size_t i = 0; i < count; i++)
        printf("  %s: %s, %s, %s\n", found[i].spec, found[i].limits.name, found[i].arch,
               found[i].uuid);
}

static void print_toolkit(void)
{
    nvrtc_library library;
    at_error error = {0};
    fflush(stdout);
    if (nvrtc_library_open(&library, &error))
        printf("toolkit: none; %s\n", error.message);
    else
        printf("toolkit: NVRTC %s, %s; headers: %s\n", library.version, library.path,
               library.include_dir[0] ? library.include_dir : "none were found");
}

static const char *file_system(const char *path, char text[32])
{
    struct statfs s;
    if (statfs(path, &s) != 0)
        return "?";
    const uint32_t magic = (uint32_t)s.f_type;
    for (size_t i = 0; i < sizeof file_systems / sizeof *file_systems; i++)
        if (file_systems[i].magic == magic)
            return file_systems[i].name;
    snprintf(text, 32, "type %#x", magic);
    return text;
}

/* Prints a folder or, if the folder does not exist yet, its nearest existing parent. */
static void print_folder(const char *what, const char *path)
{
    char there[PATH_MAX], text[32];
    snprintf(there, sizeof there, "%s", path);
    while (access(there, F_OK) != 0 && strrchr(there, '/') && strrchr(there, '/') != there)
        *strrchr(there, '/') = '\0';
    if (access(there, F_OK) != 0)
        snprintf(there, sizeof there, "%s", path[0] == '/' ? "/" : ".");
    const bool is_there = strcmp(there, path) == 0;
    const int code = lock_probe(there);
    printf("  %s: %s%s: %s, %s, %s\n", what, path, is_there ? "" : " (not there yet)",
           file_system(there, text), access(there, W_OK) == 0 ? "writable" : "not writable",
           code == 0 ? "locks by flock"
           : code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP
               ? "no locks: records cannot be kept there"
               : strerror(code));
}

static void print_folders(void)
{
    char folder[PATH_MAX];
    at_error error = {0};
    record_folders results;
    paths own;
    puts("folders:");
    if (compile_cache_folder(NULL, folder, sizeof folder, &error))
        printf("  compile cache: none; %s\n", error.message);
    else
        print_folder("compile cache", folder);
    if (journal_folder(folder, sizeof folder, &error))
        printf("  journals: none; %s\n", error.message);
    else
        print_folder("journals", folder);
    record_folders_find(NULL, paths_find(&own, &error) ? NULL : &own, &results);
    for (size_t i = 0; i < results.count; i++)
        print_folder("results", results.paths[i]);
}

static void print_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_NUMERIC", "LC_CTYPE", "LANG"};
    fputs("locale: of the environment", stdout);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *given = getenv(names[i]);
        if (given && *given)
            printf(" %s=%s", names[i], given);
    }
    puts("; numbers as in C");
}

static bool is_known(const char *assignment)
{
    size_t length = strcspn(assignment, "=");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (strlen(variables[i].name) == length &&
            strncmp(variables[i].name, assignment, length) == 0)
            return true;
    return false;
}

static bool is_of_family(const char *assignment)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(assignment, "="), assignment);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (fnmatch(families[i], name, 0) == 0)
            return true;
    return false;
}

static void print_variables(void)
{
    puts("variables that change a run, and that are set:");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *given = getenv(variables[i].name);
        if (given)
            printf("  %s=%s: %s\n", variables[i].name, given, variables[i].effect);
    }
    for (char **at = environ; *at; at++)
        if (!is_known(*at) && is_of_family(*at))
            printf("  %s\n", *at);
    puts("that are not set:");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (!getenv(variables[i].name))
            printf("  %s: %s\n", variables[i].name, variables[i].effect);
}

static void print_environment(void)
{
    print_system();
    print_driver();
    print_locale();
    print_folders();
    print_variables();
    print_toolkit();
}

static at_status print_version_json(at_error *error)
{
    confinement c = confine_available();
    return json_text_print(
        json_pack("{ss s{sb so sb}}", "version", version_text(), "confinement", "off", (int)c.off,
                  "landlock", c.landlock_version ? json_integer(c.landlock_version) : json_null(),
                  "seccomp", (int)c.seccomp),
        2, stdout, error);
}

static void print_version(void)
{
    confinement c = confine_available();
    char files[64] = "no Landlock: files are not confined";
    if (c.landlock_version)
        snprintf(files, sizeof files, "Landlock %d (files%s)", c.landlock_version,
                 c.landlock_version >= 4 ? ", TCP" : "");
    printf("autotune %s\n", version_text());
    if (c.off)
        puts("confinement: off (AUTOTUNE_CONFINE)");
    else
        printf("confinement: %s; %s\n", files,
               c.seccomp ? "seccomp (programs, sockets; of a GPU's worker programs alone)"
                         : "no seccomp: programs and sockets are not confined");
}

at_status version_print(size_t count, char *const *words, at_error *error)
{
    const bool verbose = count == 1 && strcmp(words[0], "--verbose") == 0;
    if (count == 1 && strcmp(words[0], "--json") == 0)
        return print_version_json(error);
    if (count > 0 && !verbose)
        return error_set(error, AT_USAGE,
                         "--version takes --verbose, for people, or --json, not '%s'",
                         words[count - 1]);
    print_version();
    if (verbose)
        print_environment();
    return AT_OK;
}
