#include "library/tuning.h"
#include "library/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/pack.h"
#include "library/pattern.h"
#include "process/beside.h"
#include "record/folders.h"
#include "record/pick.h"

#define DEFAULT_BUDGET_S 60
#define DEFAULT_SHARE 0.1

enum {
    MOST_BUDGET_S = 7 * 86400,
    LIMIT_MORE_S = 30,   /* a tuning that runs this long after 1.5 budgets is ended */
    CORES_PART = 4,      /* of CORES_PART cores, one compiles */
    NAME_BYTES = 512,    /* length of NAME=VALUE */
    FIXED_ARGUMENTS = 16 /* most arguments besides --set */
};

/* Variables of MPI and batch systems for a rank. The tuner is no rank and must not see them. */
static const char *const of_ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
                                       "SLURM_STEP_NUM_TASKS", NULL};

struct tuning {
    tuning *next;
    char *pattern;
    record_values problem;        /* the variables; `texts` owns their texts */
    char **texts;                 /* for each variable: its name, its text value, NAME=VALUE */
    const device_properties *gpu; /* one of the GPUs of the results */
    char folder[PATHS_BYTES];
    char script[PATHS_BYTES], program[PATHS_BYTES];
    double budget_s, share;
    at_tune_state state;
    lock *lock; /* held while the tuning runs; NULL if the lock could not be made */
    beside process;
    char why[BESIDE_OUTPUT_BYTES]; /* reason of the failure */
};

struct tunings {
    pthread_mutex_t lock; /* guards everything that is not atomic */
    tuning *first;
    atomic_size_t open; /* number of tunings that are running or waiting */
    patterns *known;
};

void tuning_free(tuning *t)
{
    if (!t)
        return;
    beside_stop(&t->process);
    lock_close(t->lock);
    for (size_t i = 0; t->texts && i < 3 * t->problem.count; i++)
        free(t->texts[i]);
    free(t->texts);
    free(t->problem.pairs);
    free(t->pattern);
    free(t);
}

static at_status copy_variable(tuning *t, size_t i, const at_variable *v, at_error *error)
{
    char text[NAME_BYTES];
    char **own = t->texts + 3 * i;
    value is = argument_value(v);
    own[0] = strdup(v->name);
    own[1] = strdup(is.kind == VALUE_STRING ? is.string : "");
    t->problem.count++;
    if (!own[0] || !own[1])
        return error_no_memory(error);
    if (is.kind == VALUE_STRING)
        is.string = own[1];
    t->problem.pairs[i] = (record_pair){own[0], is};
    int n = snprintf(text, sizeof text, "%s=", own[0]);
    n += n < NAME_BYTES ? value_format(is, text + n, sizeof text - (size_t)n) : 0;
    if (n >= NAME_BYTES)
        return error_set(error, AT_USAGE, "the problem's variable '%.80s' is too long", v->name);
    own[2] = strdup(text);
    return own[2] ? AT_OK : error_no_memory(error);
}

at_status tuning_new(const char *pattern_name, const at_variable *problem, size_t count,
                     const device_properties *gpu, tuning **out, at_error *error)
{
    tuning *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return error_no_memory(error);
    t->process = (beside){.life = -1, .said = -1};
    t->gpu = gpu;
    t->pattern = strdup(pattern_name);
    t->problem.pairs = calloc(count + 1, sizeof *t->problem.pairs);
    t->texts = calloc(3 * count + 1, sizeof *t->texts);
    at_status status = t->pattern && t->problem.pairs && t->texts ? AT_OK : error_no_memory(error);
    for (size_t i = 0; !status && i < count; i++)
        status = copy_variable(t, i, &problem[i], error);
    return status;
}

static bool is_same(const tuning *a, const tuning *b)
{
    return strcmp(a->pattern, b->pattern) == 0 && a->gpu == b->gpu &&
           record_same_values(&a->problem, &b->problem);
}

static tuning *find(const tunings *all, const tuning *like)
{
    tuning *t = all->first;
    while (t && !is_same(t, like))
        t = t->next;
    return t;
}

static bool has_entry(const record_set *set, const tuning *t)
{
    const arch_limits *gpu = &t->gpu->limits;
    const pick_target target = {
        .gpu = gpu->name, .major = gpu->major, .minor = gpu->minor, .problem = &t->problem};
    pick_candidate found;
    return pick(set, &target, &found) == PICK_EXACT;
}

/* Returns whether the folder has an entry for the tuning; the next pick then reads it. */
static bool is_recorded(const tunings *all, const tuning *t)
{
    record_folders folders;
    record_set set;
    at_error none = {0};
    record_folders_find(t->folder, NULL, &folders);
    if (record_search(&folders, t->pattern, &set, &none))
        return false;
    const bool found = has_entry(&set, t);
    record_set_deinit(&set);
    if (found)
        patterns_read_again(all->known);
    return found;
}

/* Finds the program autotune: `given`, AUTOTUNE_PROGRAM, beside the library's files, or in PATH. */
static at_status find_program(tuning *t, const char *given, at_error *error)
{
    const char *chosen = given && *given ? given : getenv("AUTOTUNE_PROGRAM");
    paths own;
    if (chosen && *chosen) {
        snprintf(t->program, sizeof t->program, "%s", chosen);
        return AT_OK;
    }
    if (library_find_share(&own)) {
        /* Changes PREFIX/share/autotune/lua to PREFIX/bin/autotune. */
        char *end = strstr(own.lua_dir, "/share/autotune/lua");
        if (end) {
            snprintf(t->program, sizeof t->program, "%.*s/bin/autotune", (int)(end - own.lua_dir),
                     own.lua_dir);
            if (access(t->program, X_OK) == 0)
                return AT_OK;
        }
    }
    char path[PATHS_BYTES], *rest = path;
    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (const char *folder; (folder = strsep(&rest, ":")) != NULL;) {
        int n = snprintf(t->program, sizeof t->program, "%s/autotune", folder);
        if (*folder && n > 0 && (size_t)n < sizeof t->program && access(t->program, X_OK) == 0)
            return AT_OK;
    }
    return error_set(error, AT_NOT_FOUND,
                     "the program autotune was found neither beside the library nor in PATH: set "
                     "AUTOTUNE_PROGRAM to its path");
}

static at_status start_program(tuning *t, at_error *error)
{
    char budget[32], share[32], jobs[32];
    const size_t cores = cores_usable() / CORES_PART;
    snprintf(budget, sizeof budget, "%.3fs", t->budget_s);
    snprintf(share, sizeof share, "%.6f", t->share);
    snprintf(jobs, sizeof jobs, "%zu", cores ? cores : 1);
    const char *arguments[FIXED_ARGUMENTS + 2 * RECORD_MAX_VALUES + 1] = {
        t->program, "tune", t->script, "--device", t->gpu->spec, "--results", t->folder,
        "--budget", budget, "--share", share,      "--jobs",     jobs,        "--quiet"};
    size_t n = 0;
    while (arguments[n])
        n++;
    for (size_t i = 0; i < t->problem.count; i++) {
        arguments[n++] = "--set";
        arguments[n++] = t->texts[3 * i + 2];
    }
    unsigned limit_s = (unsigned)(1.5 * t->budget_s) + LIMIT_MORE_S;
    return beside_start(t->program, arguments, of_ranks, limit_s, &t->process, error);
}

bool tuning_is_open(at_tune_state state)
{
    return state == AT_TUNE_RUNNING || state == AT_TUNE_WAITING;
}

static void set_state(tunings *all, tuning *t, at_tune_state state)
{
    const bool was_open = tuning_is_open(t->state), is_open = tuning_is_open(state);
    t->state = state;
    if (is_open && !was_open)
        atomic_fetch_add(&all->open, 1);
    if (was_open && !is_open)
        atomic_fetch_sub(&all->open, 1);
    if (!is_open) {
        lock_close(t->lock);
        t->lock = NULL;
    }
}

static void fail(tunings *all, tuning *t, const char *why)
{
    static const char tools_name[] = "autotune: ";
    if (strncmp(why, tools_name, sizeof tools_name - 1) == 0)
        why += sizeof tools_name - 1;
    snprintf(t->why, sizeof t->why, "%s",
             *why ? why : "it ended without a result for this problem");
    for (size_t n = strlen(t->why); n > 0 && t->why[n - 1] == '\n'; n--)
        t->why[n - 1] = '\0';
    set_state(all, t, AT_TUNE_FAILED);
}

/* Takes the tuning's lock. Returns false if another process runs the same tuning. */
static bool try_lock(tuning *t)
{
    char folder[PATHS_BYTES], path[PATHS_BYTES], text[CONFIGURATION_BYTES], hash[HASH_TEXT_BYTES];
    char asked[2 * CONFIGURATION_BYTES];
    if (!t->lock) {
        record_format_values(&t->problem, text, sizeof text);
        snprintf(asked, sizeof asked, "%s\n%s\n%s", t->gpu->limits.name, t->pattern, text);
        hash_text(XXH3_128bits(asked, strlen(asked)), hash);
        snprintf(folder, sizeof folder, "%.*s/.tuning", PATHS_BYTES - 64, t->folder);
        snprintf(path, sizeof path, "%.*s/%s", PATHS_BYTES - 64, folder, hash);
        if (file_make_folder(folder, NULL) || lock_open(path, 0644, &t->lock, NULL))
            return true; /* The tuner will report the error of the folder. */
    }
    return lock_acquire(t->lock, 0) != EWOULDBLOCK;
}

static at_status begin(tunings *all, tuning *t, at_error *error)
{
    if (!try_lock(t)) {
        set_state(all, t, AT_TUNE_WAITING);
        return AT_OK;
    }
    at_status status = start_program(t, error);
    if (status)
        fail(all, t, error ? error->message : "");
    else
        set_state(all, t, AT_TUNE_RUNNING);
    return status;
}

/* Updates the state of a tuning: starts it once its lock is free; notes the end of its process. */
static void update(tunings *all, tuning *t)
{
    at_error error = {0};
    if (t->state == AT_TUNE_WAITING && try_lock(t)) {
        if (is_recorded(all, t))
            set_state(all, t, AT_TUNE_DONE);
        else
            begin(all, t, &error);
    }
    if (t->state == AT_TUNE_RUNNING && beside_ended(&t->process)) {
        if (is_recorded(all, t))
            set_state(all, t, AT_TUNE_DONE);
        else
            fail(all, t, t->process.text);
    }
}

void tunings_update(const at_results *results)
{
    tunings *all = results->tunings;
    if (!atomic_load_explicit(&all->open, memory_order_relaxed))
        return;
    pthread_mutex_lock(&all->lock);
    for (tuning *t = all->first; t; t = t->next)
        update(all, t);
    pthread_mutex_unlock(&all->lock);
}

static at_status read_options(tuning *t, const at_results *results, const at_tune_options *given,
                              at_error *error)
{
    const at_tune_options o = given ? *given : (at_tune_options){0};
    const char *folder = results->folder ? results->folder : getenv("AUTOTUNE_RESULTS");
    t->budget_s = o.budget_s != 0 ? o.budget_s : DEFAULT_BUDGET_S;
    t->share = o.share != 0 ? o.share : DEFAULT_SHARE;
    if (!(t->budget_s >= 1 && t->budget_s <= MOST_BUDGET_S))
        return error_set(error, AT_USAGE, "a tuning's budget must be from 1 s to a week");
    if (!(t->share >= 0.001 && t->share <= 1))
        return error_set(error, AT_USAGE, "a tuning's share of the GPU must be from 0.001 to 1");
    snprintf(t->folder, sizeof t->folder, "%s", folder && *folder ? folder : "results");
    snprintf(t->script, sizeof t->script, "%s", o.script ? o.script : t->pattern);
    return find_program(t, o.program, error);
}

bool tunings_contain(tunings *all, const tuning *like)
{
    pthread_mutex_lock(&all->lock);
    bool found = find(all, like) != NULL;
    pthread_mutex_unlock(&all->lock);
    return found;
}

at_status tunings_add(const at_results *results, tuning **given, bool known,
                      const at_tune_options *options, at_error *error)
{
    tunings *all = results->tunings;
    tuning *t = *given;
    at_status status = AT_OK;
    pthread_mutex_lock(&all->lock);
    const bool is_new = !find(all, t);
    if (is_new && !known)
        status = read_options(t, results, options, error);
    if (is_new && status != AT_USAGE) {
        *given = NULL;
        t->next = all->first;
        all->first = t;
        if (known)
            t->state = AT_TUNE_DONE;
        else if (status)
            fail(all, t, error->message);
        else
            status = begin(all, t, error);
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

at_tune_state tunings_state(tunings *all, const tuning *like, at_error *error)
{
    at_tune_state state = AT_TUNE_NONE;
    pthread_mutex_lock(&all->lock);
    tuning *t = find(all, like);
    if (t) {
        update(all, t);
        state = t->state;
        if (state == AT_TUNE_FAILED)
            error_set(error, AT_WORKER, "%s was not tuned: %s", t->pattern, t->why);
    }
    pthread_mutex_unlock(&all->lock);
    return state;
}

tunings *tunings_new(patterns *known)
{
    tunings *all = calloc(1, sizeof *all);
    if (all) {
        all->known = known;
        pthread_mutex_init(&all->lock, NULL);
    }
    return all;
}

void tunings_free(tunings *all)
{
    if (!all)
        return;
    while (all->first) {
        tuning *t = all->first;
        all->first = t->next;
        tuning_free(t);
    }
    pthread_mutex_destroy(&all->lock);
    free(all);
}
