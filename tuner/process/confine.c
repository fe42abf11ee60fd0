#define _GNU_SOURCE /* for O_PATH */
#include "process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock: the kernel's interface, because older headers declare only a part of it ---- */

/* The numbers are the same on all architectures. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

typedef struct ruleset {
    uint64_t files, network, scopes;
} ruleset;

typedef struct __attribute__((packed)) path_beneath {
    uint64_t allowed;
    int32_t folder;
} path_beneath;

#define FILES_WRITE_FILE (1u << 1)
#define FILES_READ_FILE (1u << 2)
#define FILES_READ_DIR (1u << 3)
#define FILES_REMOVE_FILE (1u << 5)
#define FILES_MAKE_DIR (1u << 7)
#define FILES_MAKE_REG (1u << 8)
#define FILES_TRUNCATE (1u << 14)

/* Returns a bit for each kind of access that this version of Landlock can restrict: 13 in version
 * 1, later also moves between folders, truncation and ioctls of devices. */
static uint64_t known_accesses(int version)
{
    unsigned bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return ((uint64_t)1 << bits) - 1;
}

static int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static bool switched_off(void)
{
    const char *wish = getenv("AUTOTUNE_CONFINE");
    return wish && strcmp(wish, "off") == 0;
}

static bool allow_folder(int rules, const confine_folder *folder, uint64_t known)
{
    int fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return true;
    uint64_t allowed = FILES_READ_FILE | FILES_READ_DIR;
    if (folder->access == CONFINE_WRITE)
        allowed |=
            FILES_WRITE_FILE | FILES_REMOVE_FILE | FILES_MAKE_DIR | FILES_MAKE_REG | FILES_TRUNCATE;
    path_beneath rule = {.allowed = allowed & known, .folder = fd};
    bool added = syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0u) == 0;
    close(fd);
    return added;
}

bool confine_files(const confine_folder *folders, size_t count)
{
    int version = landlock_version();
    if (version == 0 || switched_off())
        return false;
    ruleset handled = {.files = known_accesses(version),
                       .network = version >= 4 ? 3 : 0, /* bind and connect of TCP sockets */
                       .scopes = version >= 6 ? 3 : 0}; /* abstract sockets, signals */
    size_t size_bytes = version >= 6   ? sizeof handled
                        : version >= 4 ? offsetof(ruleset, scopes)
                                       : offsetof(ruleset, network);
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size_bytes, 0u);
    if (rules < 0)
        return false;
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = allow_folder(rules, &folders[i], handled.files);
    fine = fine && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, rules, 0u) == 0;
    close(rules);
    return fine;
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* io_uring opens sockets and files without the calls below, and a new namespace gives this process
 * new rights, so both are refused. Older headers lack these numbers,
 * which are the same on all architectures. */
enum { IO_URING_SETUP = 425, IO_URING_ENTER = 426, IO_URING_REGISTER = 427 };

static const int execution_calls[] = {SYS_execve,
                                      SYS_execveat,
                                      SYS_ptrace,
                                      SYS_process_vm_readv,
                                      SYS_process_vm_writev,
                                      SYS_unshare,
                                      SYS_setns,
                                      SYS_mount,
                                      SYS_umount2,
                                      SYS_chroot,
                                      SYS_pivot_root,
                                      SYS_bpf,
                                      SYS_init_module,
                                      SYS_finit_module,
                                      SYS_delete_module,
                                      SYS_kexec_load,
                                      SYS_add_key,
                                      SYS_request_key,
                                      SYS_keyctl,
                                      SYS_perf_event_open,
                                      SYS_userfaultfd,
                                      SYS_open_by_handle_at,
                                      SYS_reboot,
                                      IO_URING_SETUP,
                                      IO_URING_ENTER,
                                      IO_URING_REGISTER};

static const int socket_calls[] = {
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
};

enum { FILTER_TSYNC = 1, FILTER_SPEC_ALLOW = 4 };

enum { MOST_INSTRUCTIONS = 128 };

typedef struct program {
    struct sock_filter code[MOST_INSTRUCTIONS];
    unsigned short count;
} program;

static void add(program *p, uint16_t operation, uint32_t operand, uint8_t if_true, uint8_t if_false)
{
    p->code[p->count++] =
        (struct sock_filter){.code = operation, .jt = if_true, .jf = if_false, .k = operand};
}

/* Adds two instructions for each call: compare the number, return EPERM. */
static void add_refusals(program *p, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        add(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    }
}

bool confine_system_calls(confine_calls what)
{
#ifdef OWN_ARCHITECTURE
    enum { EXECUTION = sizeof execution_calls / sizeof *execution_calls };
    enum { SOCKETS = sizeof socket_calls / sizeof *socket_calls };
    program p = {.count = 0};
    if (switched_off())
        return false;
    /* System calls of another architecture have other numbers, so they are all refused. */
    add(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    add(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
#ifdef __x86_64__
    /* System calls of the x32 ABI report the same architecture, but have bit 30 in the number. */
    add(&p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
#endif
    add_refusals(&p, execution_calls, EXECUTION);
    if (what == CONFINE_SOCKETS)
        add_refusals(&p, socket_calls, SOCKETS);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog filter = {.len = p.count, .filter = p.code};
    /* TSYNC confines all threads. SPEC_ALLOW avoids the slower speculation of older kernels. */
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, FILTER_TSYNC | FILTER_SPEC_ALLOW,
                   &filter) == 0;
#else
    (void)what;
    return false;
#endif
}

confinement confine_available(void)
{
    confinement c = {.off = switched_off()};
    if (c.off)
        return c;
    c.landlock_version = landlock_version();
#ifdef OWN_ARCHITECTURE
    uint32_t action = SECCOMP_RET_ERRNO;
    c.seccomp = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0u, &action) == 0;
#endif
    return c;
}
