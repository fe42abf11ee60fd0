#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/paths.h"

enum { PATH_BYTES = 4096 };

/* Some 100,000 variants take this size. A larger journal is renamed to .old. */
static const size_t file_limit_bytes = 64u << 20;

/* A power cut may lose the lines of this time. kill -9 loses none: the kernel has them. */
static const int64_t sync_interval_ns = 1000000000;

typedef struct journal_gpu {
    journal_key facts;
    char uuid[sizeof((device_properties *)NULL)->uuid];
} journal_gpu;

/* `entries` has the last line that was read or written for each key. Entries are never removed, so
 * indices stay valid. `places` maps the first 8 bytes of a key to the index of its entry; if two
 * keys share these bytes, the second key has the next free number. Only lines with the facts of one
 * of `gpus` are kept. */
struct journal {
    char path[PATH_BYTES];
    int fd;
    lock *lock;   /* NULL if the file cannot be locked */
    uint64_t run; /* number of this run */
    journal_key facts;
    journal_gpu *gpus; /* GPUs that may measure; the first is the device of the facts */
    size_t gpu_count;
    journal_line *entries;
    keymap places;
    size_t entry_count, skipped;
    uint64_t *resumed; /* runs whose entries were loaded */
    size_t resumed_count;
    char *waiting; /* lines that the file refused, written before the next line; may be NULL */
    size_t waiting_bytes;
    bool refused; /* the refusal was reported */
    bool unsynced, has_unfinished;
    int64_t synced_ns;
};

/* ---- the map ---- */

/* Finds the index of the key's entry, and sets `*at` to the key's number in `places`. */
static bool map_find(const journal *j, const journal_key *key, uint64_t *at, uint64_t *place)
{
    memcpy(at, key->bytes, sizeof *at);
    for (; keymap_get(&j->places, *at, place); ++*at)
        if (memcmp(j->entries[*place].key.bytes, key->bytes, sizeof key->bytes) == 0)
            return true;
    return false;
}

/* Takes over `line`, which replaces an earlier line of the same key. */
static void map_put(journal *j, journal_line *line)
{
    uint64_t at, place;
    if (map_find(j, &line->key, &at, &place)) {
        journal_line_deinit(&j->entries[place]);
        j->entries[place] = *line;
        return;
    }
    memory_add(&j->entries, &j->entry_count, line, sizeof *line);
    memory_require(keymap_put(&j->places, at, j->entry_count - 1) ? j : NULL);
}

journal_key journal_key_on(const journal *j, size_t gpu, journal_key variant)
{
    return journal_key_of_both(j->gpus[gpu].facts, variant);
}

void journal_name_gpu(journal *j, size_t gpu, const char *uuid)
{
    snprintf(j->gpus[gpu].uuid, sizeof j->gpus[gpu].uuid, "%s", uuid);
    j->gpus[gpu].facts = journal_key_of_gpu(j->facts, uuid);
}

bool journal_has_unfinished(const journal *j)
{
    return j->has_unfinished;
}

journal_key journal_key_of_race(const journal *j, size_t gpu, const char *plan)
{
    return journal_key_of_question(j->gpus[gpu].facts, &(journal_question){.asked = plan});
}

bool journal_find(const journal *j, journal_key key, journal_entry *out)
{
    uint64_t at, place;
    bool found = map_find(j, &key, &at, &place);
    if (found)
        *out = j->entries[place].entry;
    return found;
}

/* ---- loading ---- */

enum { LOCK_LIMIT_MS = 500 };

/* Parsed lines of a file. If a line has other facts, only the number of its run is kept. */
typedef struct lines {
    journal_line *items;
    size_t count;
    uint64_t *others;
    size_t other_count;
} lines;

static bool is_ours(const journal *j, journal_key facts)
{
    for (size_t i = 0; i < j->gpu_count; i++)
        if (memcmp(facts.bytes, j->gpus[i].facts.bytes, sizeof facts.bytes) == 0)
            return true;
    return false;
}

static void read_line(journal *j, lines *l, const char *text, size_t size_bytes)
{
    uint64_t run;
    journal_key facts;
    journal_line line;
    if (journal_line_glance(text, size_bytes, &run, &facts) && !is_ours(j, facts)) {
        if (l->other_count == 0 || l->others[l->other_count - 1] != run)
            memory_add(&l->others, &l->other_count, &run, sizeof run);
    } else if (journal_line_parse(text, size_bytes, &line)) {
        memory_add(&l->items, &l->count, &line, sizeof line);
    } else {
        j->skipped += size_bytes > 0;
    }
}

static void lines_read(journal *j, lines *l, const char *text, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes;) {
        const char *end = memchr(text + at, '\n', size_bytes - at);
        size_t length = end ? (size_t)(end - text) - at : size_bytes - at;
        read_line(j, l, text + at, length);
        at += length + 1;
    }
}

static void lines_deinit(lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        journal_line_deinit(&l->items[i]);
    free(l->items);
    free(l->others);
}

/* Returns the numbers of all finished runs, sorted. */
static uint64_t *collect_finished(const lines *l, size_t *count)
{
    uint64_t *all = NULL;
    *count = 0;
    for (size_t i = 0; i < l->count; i++)
        for (size_t r = 0; r < l->items[i].finished_count; r++)
            memory_add(&all, count, &l->items[i].finished[r], sizeof *all);
    if (all)
        qsort(all, *count, sizeof *all, ascending_u64);
    return all;
}

static void remember_resumed(journal *j, uint64_t run)
{
    for (size_t i = 0; i < j->resumed_count; i++)
        if (j->resumed[i] == run)
            return;
    memory_add(&j->resumed, &j->resumed_count, &run, sizeof run);
}

static bool is_finished(uint64_t run, const uint64_t *finished, size_t count)
{
    return count > 0 && bsearch(&run, finished, count, sizeof *finished, ascending_u64);
}

static void load_text(journal *j, const char *text, size_t size_bytes)
{
    lines l = {0};
    size_t finished_count = 0;
    lines_read(j, &l, text, size_bytes);
    uint64_t *finished = collect_finished(&l, &finished_count);
    for (size_t i = 0; i < l.count; i++) {
        uint64_t run = l.items[i].run;
        if (l.items[i].is_finish || is_finished(run, finished, finished_count))
            continue;
        j->has_unfinished = true;
        if (!is_ours(j, l.items[i].facts))
            continue;
        remember_resumed(j, run);
        map_put(j, &l.items[i]);
        l.items[i] = (journal_line){0};
    }
    for (size_t i = 0; !j->has_unfinished && i < l.other_count; i++)
        j->has_unfinished = !is_finished(l.others[i], finished, finished_count);
    free(finished);
    lines_deinit(&l);
}

static at_status load_file(journal *j, at_error *error)
{
    char *text, old[PATH_BYTES + 8];
    size_t size_bytes;
    struct stat s;
    if (stat(j->path, &s) == 0 && (uint64_t)s.st_size > file_limit_bytes) {
        snprintf(old, sizeof old, "%s.old", j->path);
        if (rename(j->path, old) != 0)
            return error_set_errno(error, errno, "cannot rename the full journal %s", j->path);
    }
    at_status status = file_read(j->path, 2 * file_limit_bytes, &text, &size_bytes, error);
    if (status)
        return error_ignore(status, AT_NOT_FOUND, error);
    load_text(j, text, size_bytes);
    free(text);
    return AT_OK;
}

/* ---- writing ---- */

/* Returns false if a crash cut the last line; then a newline must come before the next line. */
static bool ends_in_newline(int fd, off_t size)
{
    char last;
    return size == 0 || (pread(fd, &last, 1, size - 1) == 1 && last == '\n');
}

/* Appends the lines. If the disk is full, removes an incomplete line. Without the lock, the
 * incomplete line stays, and its checksum fails when it is read. */
static at_status append_lines(journal *j, const char *text, size_t size_bytes, bool locked,
                              at_error *error)
{
    off_t size = lseek(j->fd, 0, SEEK_END);
    if (size < 0)
        return error_set_errno(error, errno, "cannot write the journal %s", j->path);
    at_status status = AT_OK;
    if (!ends_in_newline(j->fd, size))
        status = file_write_all(j->fd, j->path, "\n", 1, error);
    if (!status)
        status = file_write_all(j->fd, j->path, text, size_bytes, error);
    if (status && locked)
        (void)!ftruncate(j->fd, size);
    return status;
}

static void sync_now_and_then(journal *j)
{
    int64_t now = clock_now_ns();
    j->unsynced = true;
    if (now - j->synced_ns < sync_interval_ns)
        return;
    (void)descriptor_sync(j->fd);
    j->synced_ns = now;
    j->unsynced = false;
}

static at_status append(journal *j, const char *text, size_t size_bytes, at_error *error)
{
    /* Without the lock (its owner is stopped, or the file system has no locks) O_APPEND alone
     * separates the lines of several runs. */
    bool locked = j->lock && lock_acquire(j->lock, LOCK_LIMIT_MS) == 0;
    at_status status = append_lines(j, text, size_bytes, locked, error);
    if (locked)
        lock_release(j->lock);
    return status;
}

/* Appends the line to the waiting lines. A line beyond the limit is lost. */
static void add_waiting(journal *j, const char *line)
{
    size_t size_bytes = strlen(line);
    if (j->waiting_bytes + size_bytes > file_limit_bytes)
        return;
    j->waiting = memory_require(realloc(j->waiting, j->waiting_bytes + size_bytes));
    memcpy(j->waiting + j->waiting_bytes, line, size_bytes);
    j->waiting_bytes += size_bytes;
}

/* Writes `line` and frees it. If the disk is full, a copy waits for the next call. */
static at_status write_line(journal *j, char *line, at_error *error)
{
    at_error trouble = {0};
    at_status status;
    if (j->waiting) {
        add_waiting(j, line);
        status = append(j, j->waiting, j->waiting_bytes, &trouble);
    } else {
        status = append(j, line, strlen(line), &trouble);
        if (status)
            add_waiting(j, line);
    }
    free(line);
    if (!status) {
        free(j->waiting);
        j->waiting = NULL;
        j->waiting_bytes = 0;
        sync_now_and_then(j);
        return AT_OK;
    }
    if (j->refused)
        return AT_OK;
    j->refused = true;
    if (error)
        *error = trouble;
    return error_prefix(error, "the run continues, but it can be resumed only if the disk accepts "
                               "the waiting lines later");
}

at_status journal_append(journal *j, journal_key key, const journal_entry *e, at_error *error)
{
    char *text;
    journal_line line;
    journal_entry by_gpu = *e;
    by_gpu.uuid = j->gpus[e->gpu].uuid;
    at_status status =
        journal_line_of_entry(j->run, j->gpus[e->gpu].facts, key, &by_gpu, &text, error);
    if (status)
        return status;
    if (journal_line_parse(text, strlen(text) - 1, &line))
        map_put(j, &line);
    return write_line(j, text, error);
}

at_status journal_finish(journal *j, at_error *error)
{
    char *text;
    remember_resumed(j, j->run);
    at_status status = journal_line_of_finish(j->run, j->resumed, j->resumed_count, &text, error);
    return status ? status : write_line(j, text, error);
}

/* ---- opening ---- */

void journal_join(journal *j, journal *part)
{
    remember_resumed(j, part->run);
    for (size_t i = 0; i < part->resumed_count; i++)
        remember_resumed(j, part->resumed[i]);
    j->unsynced = j->unsynced || part->unsynced;
    part->unsynced = false;
    journal_close(part);
}

at_status journal_folder(char *out, size_t out_bytes, at_error *error)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    /* The XDG specification demands that a relative path is ignored. */
    if (state && state[0] == '/')
        n = snprintf(out, out_bytes, "%s/autotune/journal", state);
    else if (home && *home)
        n = snprintf(out, out_bytes, "%s/.local/state/autotune/journal", home);
    else
        return error_set(error, AT_NOT_FOUND,
                         "the journal has no folder: set XDG_STATE_HOME or HOME");
    if (n < 0 || (size_t)n >= out_bytes)
        return error_set(
            error, AT_IO,
            "the path of the journal's folder is too long: set XDG_STATE_HOME to a shorter one");
    return AT_OK;
}

static at_status open_file(journal *j, const char *folder, const journal_facts *f, at_error *error)
{
    char pattern_slug[PATHS_SLUG_BYTES], gpu_slug[PATHS_SLUG_BYTES];
    paths_slug(f->pattern, pattern_slug);
    paths_slug(f->device->limits.name, gpu_slug);
    int n = snprintf(j->path, sizeof j->path, "%s/%s-%s.jsonl", folder, pattern_slug, gpu_slug);
    if (n < 0 || (size_t)n >= sizeof j->path)
        return error_set(
            error, AT_IO,
            "the path of the journal is too long: set XDG_STATE_HOME to a shorter one");
    at_status status = file_make_private_folder(folder, error);
    struct stat s;
    if (!status && stat(j->path, &s) == 0 && !file_is_private(&s))
        status =
            error_set(error, AT_IO,
                      "the journal %s belongs to another user, or others may write it: it is not "
                      "read; remove it",
                      j->path);
    if (!status)
        status = load_file(j, error);
    if (status)
        return status;
    j->fd = descriptor_open(j->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
    if (j->fd < 0)
        return error_set_errno(error, errno, "cannot open the journal %s", j->path);
    lock_open(j->path, 0600, &j->lock, NULL);
    return AT_OK;
}

static void name_gpus(journal *j, const journal_facts *facts)
{
    j->gpu_count = facts->other_count + 1;
    j->gpus = memory_new(j->gpu_count, sizeof *j->gpus);
    j->facts = journal_key_of_facts(facts);
    for (size_t i = 0; i < j->gpu_count; i++)
        journal_name_gpu(j, i, i ? facts->others[i - 1] : facts->device->uuid);
}

at_status journal_open(const char *folder, const journal_facts *facts, journal **out,
                       at_error *error)
{
    *out = NULL;
    journal *j = memory_new(1, sizeof *j);
    j->fd = -1;
    /* The time and the process id make a unique number of the run. */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed[3] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec, (uint64_t)getpid()};
    j->run = XXH3_64bits(seed, sizeof seed);
    j->synced_ns = clock_now_ns();
    name_gpus(j, facts);
    at_status status = open_file(j, folder, facts, error);
    if (status) {
        journal_close(j);
        return status;
    }
    *out = j;
    return AT_OK;
}

void journal_close(journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0) {
        if (j->waiting)
            append(j, j->waiting, j->waiting_bytes, NULL);
        if (j->unsynced)
            (void)descriptor_sync(j->fd);
        close(j->fd);
    }
    lock_close(j->lock);
    for (size_t i = 0; i < j->entry_count; i++)
        journal_line_deinit(&j->entries[i]);
    keymap_deinit(&j->places);
    free(j->entries);
    free(j->waiting);
    free(j->gpus);
    free(j->resumed);
    free(j);
}

const char *journal_path(const journal *j)
{
    return j->path;
}

size_t journal_count(const journal *j)
{
    return j->entry_count;
}

size_t journal_skipped(const journal *j)
{
    return j->skipped;
}
