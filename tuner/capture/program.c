#include "capture/capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "capture/image.h"
#include "capture/layout.h"
#include "process/interrupt.h"

extern char **environ;

enum { PATH_BYTES = 4096 };

static at_status find_library(char out[PATH_BYTES], at_error *error)
{
    char self[PATH_BYTES - 256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    snprintf(out, PATH_BYTES, "%s/%s/autotune/libautotune_capture.so", self, AUTOTUNE_LIBRARY_DIR);
    if (access(out, R_OK) == 0)
        return AT_OK;
    return error_set(error, AT_NOT_FOUND,
                     "the library that is loaded into programs is not at %s: reinstall autotune",
                     out);
}

static void set_number(const char *name, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, v);
    setenv(name, text, 1);
}

static void set_or_unset(const char *name, const char *text)
{
    if (text)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void set_environment(const program_request *what, const char *library)
{
    setenv("CUDA_INJECTION64_PATH", library, 1);
    setenv(CAPTURE_DIR, what->dir, 1);
    set_or_unset(CAPTURE_KERNEL, what->kernel);
    set_number(CAPTURE_NTH, what->nth);
    set_number(CAPTURE_SHAPES, what->shapes);
    set_number(CAPTURE_LIMIT, what->limit_bytes);
    set_number(CAPTURE_TIME, what->timed);
    set_or_unset(CAPTURE_CUPTI, what->cupti);
}

at_status capture_program(const program_request *what, int *ended, at_error *error)
{
    char library[PATH_BYTES];
    at_status status = find_library(library, error);
    if (status)
        return status;
    /* The program gets default signal handling, as from a shell. */
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&actions);
    if (what->output_to_stderr)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    set_environment(what, library);
    interrupt_hold();
    pid_t pid;
    int code =
        posix_spawnp(&pid, what->arguments[0], &actions, &attributes, what->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code) {
        error_set_errno(error, code, "cannot run %s", what->arguments[0]);
        error->status = AT_USAGE;
        return AT_USAGE;
    }
    while (waitpid(pid, ended, 0) < 0 && errno == EINTR)
        continue;
    interrupt_take();
    return AT_OK;
}

/* Launches of all processes that differ only in counts and times. */
typedef struct total {
    capture_row row;
    const char *name; /* borrowed from a mapped table */
} total;

typedef struct reading {
    const char *dir;
    total *totals; /* owned */
    size_t count;
    capture_table **tables; /* mapped */
    size_t table_count;
    uint64_t graph_launches, dropped, matched, matched_recorded;
    json_t *captured, *trouble;
} reading;

static bool is_alike(const total *a, const capture_row *row, const char *name)
{
    const size_t from = offsetof(capture_row, grid), to = offsetof(capture_row, count);
    return memcmp((const char *)&a->row + from, (const char *)row + from, to - from) == 0 &&
           strcmp(a->name, name) == 0;
}

static void add_row(reading *r, size_t earlier, const capture_row *row, const char *name)
{
    for (size_t i = 0; i < earlier; i++) {
        capture_row *sum = &r->totals[i].row;
        if (!is_alike(&r->totals[i], row, name))
            continue;
        if (row->timed && (!sum->timed || row->fastest_ns < sum->fastest_ns))
            sum->fastest_ns = row->fastest_ns;
        sum->count += row->count;
        sum->refused += row->refused;
        sum->timed += row->timed;
        sum->time_ns += row->time_ns;
        return;
    }
    const total new = {*row, name};
    memory_add(&r->totals, &r->count, &new, sizeof new);
}

static json_t *numbers(const uint32_t v[3])
{
    return json_pack("[III]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *time_of(const capture_row *row)
{
    if (row->timed == 0)
        return json_null();
    return json_pack("{sI sI sI}", "launches", (json_int_t)row->timed, "total_ns",
                     (json_int_t)row->time_ns, "fastest_ns", (json_int_t)row->fastest_ns);
}

static json_t *launch_of(const capture_row *row, const char *name)
{
    char *plain = kernel_name_demangled(name);
    json_t *out = json_pack(
        "{so so so so so sI sb sb sI sI so}", "kernel", json_foreign_text(plain ? plain : name),
        "mangled", json_foreign_text(name), "grid", numbers(row->grid), "block",
        numbers(row->block), "cluster", numbers(row->cluster), "dynamic_shared_bytes",
        (json_int_t)row->dynamic_shared_bytes, "cooperative",
        (row->flags & CAPTURE_COOPERATIVE) != 0, "recorded", (row->flags & CAPTURE_RECORDED) != 0,
        "count", (json_int_t)row->count, "refused", (json_int_t)row->refused, "time", time_of(row));
    free(plain);
    return out;
}

static json_t *arguments_of(const capture_launch *l)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const capture_argument *a = &l->arguments[i];
        char *hex = memory_new(2 * (size_t)a->size_bytes + 1, 1);
        json_t *pointers = json_array();
        for (uint32_t b = 0; b < a->size_bytes; b++)
            sprintf(hex + 2 * b, "%02x", l->parameters[a->offset + b]);
        for (uint32_t k = 0; k < l->pointer_count; k++) {
            const capture_pointer *p = &l->pointers[k];
            if (p->offset >= a->offset && p->offset < a->offset + a->size_bytes)
                json_append(&pointers,
                            json_pack("{sI sI sI}", "at", (json_int_t)(p->offset - a->offset),
                                      "allocation", (json_int_t)p->allocation, "offset",
                                      (json_int_t)p->allocation_offset));
        }
        json_append(&out, json_pack("{sI sI ss so}", "offset", (json_int_t)a->offset, "size_bytes",
                                    (json_int_t)a->size_bytes, "bytes", hex, "pointers", pointers));
        free(hex);
    }
    return out;
}

static json_t *file_of(const char *folder, uint32_t launch, const char *what)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%u-%s", folder, launch, what);
    return json_string(path);
}

static json_t *contents_of(const char *folder, uint32_t launch, uint32_t k, const char *when)
{
    char what[32];
    snprintf(what, sizeof what, "%u-%s", k, when);
    return file_of(folder, launch, what);
}

static json_t *allocations_of(const capture_launch *l, const char *folder, uint32_t launch)
{
    json_t *out = json_array();
    for (uint32_t k = 0; k < l->allocation_count; k++) {
        const capture_allocation *a = &l->allocations[k];
        char address[32];
        snprintf(address, sizeof address, "0x%" PRIx64, a->address);
        json_append(&out,
                    json_pack("{ss sI sb so so sb}", "address", address, "size_bytes",
                              (json_int_t)a->size_bytes, "host", a->is_host != 0, "before",
                              a->state >= CAPTURE_BEFORE ? contents_of(folder, launch, k, "before")
                                                         : json_null(),
                              "after",
                              a->state == CAPTURE_CHANGED ? contents_of(folder, launch, k, "after")
                                                          : json_null(),
                              "unchanged", a->state == CAPTURE_UNCHANGED));
    }
    return out;
}

static json_t *variables_of(const capture_launch *l, const char *folder, uint32_t launch)
{
    json_t *out = json_array();
    for (uint32_t k = 0; k < l->variable_count; k++) {
        char what[32];
        snprintf(what, sizeof what, "variable-%u", k);
        json_append(&out, json_pack("{so sI so}", "name", json_foreign_text(l->variables[k].name),
                                    "size_bytes", (json_int_t)l->variables[k].size_bytes, "before",
                                    file_of(folder, launch, what)));
    }
    return out;
}

static void add_captured(reading *r, capture_table *t, uint32_t i, const char *folder)
{
    capture_launch *l = &t->launches[i];
    char arch[16];
    if (l->row >= t->row_count) { /* The program ended during this launch. */
        snprintf(l->trouble, sizeof l->trouble,
                 "the program ended before this launch had completed");
        json_append(&r->trouble, json_string(l->trouble));
        return;
    }
    const capture_row *row = &t->rows[l->row];
    snprintf(arch, sizeof arch, "sm_%d%d", l->major, l->minor);
    json_t *out = launch_of(row, t->names + row->name);
    json_put(&out, "number", json_integer((json_int_t)l->number));
    json_put(&out, "device", json_foreign_text(l->device));
    json_put(&out, "arch", json_string(arch));
    json_put(&out, "arguments", arguments_of(l));
    json_put(&out, "allocations", allocations_of(l, folder, i));
    json_put(&out, "variables", variables_of(l, folder, i));
    json_put(&out, "variables_unread", json_integer(l->variables_unread));
    json_put(&out, "module", l->module_bytes ? file_of(folder, i, "module") : json_null());
    json_put(&out, "whole", json_boolean(l->state == CAPTURE_DONE));
    json_put(&out, "trouble", l->trouble[0] ? json_foreign_text(l->trouble) : json_null());
    json_append(&r->captured, out);
}

static bool ends(const char *text, size_t bytes)
{
    return text[bytes - 1] == '\0';
}

static bool is_sound(const capture_table *t)
{
    bool sound = t->magic == CAPTURE_MAGIC && t->row_count <= CAPTURE_MOST_ROWS &&
                 t->launch_count <= CAPTURE_MOST_LAUNCHES &&
                 t->names_bytes <= CAPTURE_NAMES_BYTES && ends(t->names, sizeof t->names) &&
                 ends(t->trouble, sizeof t->trouble);
    for (uint32_t i = 0; sound && i < t->row_count; i++)
        sound = t->rows[i].name < CAPTURE_NAMES_BYTES;
    for (uint32_t i = 0; sound && i < t->launch_count; i++) {
        const capture_launch *l = &t->launches[i];
        sound = l->argument_count <= CAPTURE_MOST_ARGUMENTS &&
                l->pointer_count <= CAPTURE_MOST_POINTERS &&
                l->allocation_count <= CAPTURE_MOST_ALLOCATIONS &&
                l->variable_count <= CAPTURE_MOST_VARIABLES && ends(l->device, sizeof l->device) &&
                ends(l->trouble, sizeof l->trouble);
        for (uint32_t k = 0; sound && k < l->variable_count; k++)
            sound = ends(l->variables[k].name, sizeof l->variables[k].name);
        for (uint32_t k = 0; sound && k < l->argument_count; k++)
            sound = l->arguments[k].offset <= CAPTURE_PARAMETER_BYTES &&
                    l->arguments[k].size_bytes <= CAPTURE_PARAMETER_BYTES - l->arguments[k].offset;
    }
    return sound;
}

static void add_table(reading *r, capture_table *t, const char *folder)
{
    const size_t earlier = r->count;
    memory_add(&r->tables, &r->table_count, &t, sizeof t);
    r->graph_launches += t->graph_launches;
    r->dropped += t->dropped;
    r->matched += t->matched;
    r->matched_recorded += t->matched_recorded;
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(r, earlier, &t->rows[i], t->names + t->rows[i].name);
    if (t->trouble[0])
        json_append(&r->trouble, json_foreign_text(t->trouble));
    for (uint32_t i = 0; i < t->launch_count; i++)
        add_captured(r, t, i, folder);
}

/* Reads the table of one process and removes its file; the mapping stays until the end. */
static at_status read_process(reading *r, const char *folder, at_error *error)
{
    char path[PATH_BYTES];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s/%s", r->dir, folder, CAPTURE_TABLE);
    int fd = descriptor_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0)
        return AT_OK; /* No process made this folder, or the process wrote nothing. */
    void *mapped =
        fstat(fd, &s) == 0 && s.st_size == sizeof(capture_table)
            ? mmap(NULL, sizeof(capture_table), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
            : MAP_FAILED;
    close(fd);
    if (mapped == MAP_FAILED || !is_sound(mapped)) {
        if (mapped != MAP_FAILED)
            munmap(mapped, sizeof(capture_table));
        return error_set_at(error, AT_FORMAT, path, 0,
                            "this is not a table of launches, or it is of another version");
    }
    unlink(path);
    add_table(r, mapped, folder);
    return AT_OK;
}

static int by_cost(const void *a, const void *b)
{
    const capture_row *x = &((const total *)a)->row, *y = &((const total *)b)->row;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return x->count == y->count ? 0 : x->count < y->count ? 1 : -1;
}

static json_t *join(reading *r)
{
    json_t *launches = json_array();
    if (r->count > 0)
        qsort(r->totals, r->count, sizeof *r->totals, by_cost);
    for (size_t i = 0; i < r->count; i++)
        json_append(&launches, launch_of(&r->totals[i].row, r->totals[i].name));
    return json_pack("{sI so sI sI sI sI sO sO}", "processes", (json_int_t)r->table_count,
                     "launches", launches, "graph_launches", (json_int_t)r->graph_launches,
                     "dropped", (json_int_t)r->dropped, "matched", (json_int_t)r->matched,
                     "matched_recorded", (json_int_t)r->matched_recorded, "trouble", r->trouble,
                     "captured", r->captured);
}

at_status capture_read_tables(const char *dir, json_t **out, at_error *error)
{
    reading r = {.dir = dir, .captured = json_array(), .trouble = json_array()};
    struct dirent **list = NULL;
    int count = scandir(dir, &list, NULL, alphasort);
    at_status status =
        count < 0 ? error_set_errno(error, errno, "cannot read the folder %s", dir) : AT_OK;
    *out = NULL;
    for (int i = 0; i < count; i++) {
        if (!status && list[i]->d_name[0] != '.')
            status = read_process(&r, list[i]->d_name, error);
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
        if (list[i]->d_name[0] != '.')
            rmdir(path); /* This succeeds only if the folder is empty, that is, has no launch. */
        free(list[i]);
    }
    free(list);
    if (!status)
        *out = memory_require(join(&r));
    for (size_t i = 0; i < r.table_count; i++)
        munmap(r.tables[i], sizeof **r.tables);
    free(r.tables);
    free(r.totals);
    json_decref(r.captured);
    json_decref(r.trouble);
    return status;
}
