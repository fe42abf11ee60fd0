#include "library/sites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "library/library.h"
#include "record/schema.h"

#define DEFAULT_SHARE 0.02

at_status sites_check_process(const at_sites *sites, const char *function, at_error *error)
{
    if (sites->process == getpid())
        return AT_OK;
    return error_set(
        error, AT_USAGE,
        "%s: this process is a fork of the process that opened these sites; open new sites here",
        function);
}

void sites_note_problem(void *context, const char *text)
{
    at_sites *sites = context;
    pthread_mutex_lock(&sites->lock);
    size_t i = 0;
    while (i < sites->problem_count && strcmp(sites->problems[i], text) != 0)
        i++;
    char *copy = i == sites->problem_count ? strdup(text) : NULL;
    if (copy && !array_add(&sites->problems, &sites->problem_count, &copy, sizeof copy))
        free(copy);
    pthread_mutex_unlock(&sites->lock);
}

site_key site_key_of(const at_site *site)
{
    return (site_key){.name = site->name,
                      .variables = site->variables,
                      .variable_count = site->variable_count,
                      .space = &site->space};
}

const char *at_sites_problem(const at_sites *sites, size_t index)
{
    if (!sites || sites_check_process(sites, "at_sites_problem", NULL))
        return NULL;
    pthread_mutex_t *guard = (pthread_mutex_t *)(uintptr_t)&sites->lock;
    pthread_mutex_lock(guard);
    const char *text = index < sites->problem_count ? sites->problems[index] : NULL;
    pthread_mutex_unlock(guard);
    return text;
}

static at_status read_mode(sites_mode *mode, at_error *error)
{
    static const char *const names[] = {
        [SITES_TUNE] = "tune", [SITES_USE] = "use", [SITES_OFF] = "off"};
    const char *given = getenv("AUTOTUNE_SITES");
    *mode = SITES_TUNE;
    if (!given || !*given)
        return AT_OK;
    for (int m = 0; m <= SITES_OFF; m++)
        if (strcmp(given, names[m]) == 0) {
            *mode = (sites_mode)m;
            return AT_OK;
        }
    return error_set(error, AT_USAGE,
                     "AUTOTUNE_SITES is '%.80s', which is not a mode: set it to off, use or tune",
                     given);
}

static at_status fill(at_sites *sites, const at_sites_options *o, const arch_limits *gpu,
                      const char *driver, at_error *error)
{
    sites->share = o->share != 0 ? o->share : DEFAULT_SHARE;
    sites->broadcast = o->broadcast;
    sites->context = o->context;
    sites->rank = o->broadcast ? o->rank : 0;
    if (!(sites->share > 0 && sites->share <= 1))
        return error_set(error, AT_USAGE, "the share of time for tuning must be between 0 and 1");
    at_status status = read_mode(&sites->mode, error);
    if (status)
        return status;
    return site_store_open(o->folder, gpu, driver, o->code ? o->code : "", &sites->store, error);
}

at_status sites_open_with(const at_sites_options *options, site_timer *timer,
                          const arch_limits *gpu, const char *driver, at_sites **out,
                          at_error *error)
{
    at_sites *sites = calloc(1, sizeof *sites);
    if (!sites) {
        timer->api->close(timer);
        return error_no_memory(error);
    }
    sites->timer = timer;
    sites->process = getpid();
    pthread_mutex_init(&sites->lock, NULL);
    pthread_mutex_init(&sites->reading, NULL);
    pthread_cond_init(&sites->wake, NULL);
    at_status status = fill(sites, options, gpu, driver, error);
    if (status)
        at_sites_close(sites);
    else
        *out = sites;
    return status;
}

static void describe_host(arch_limits *out)
{
    *out = (arch_limits){.name = "host", .major = 1};
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256], model[sizeof out->name - 8];
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %55[^\n]", model) == 1) {
            snprintf(out->name, sizeof out->name, "host %s", model);
            break;
        }
    if (f)
        fclose(f);
    if (!record_is_text(out->name))
        snprintf(out->name, sizeof out->name, "host");
}

static at_status open_sites(const at_sites_options *options, at_sites **out, at_error *error)
{
    site_timer *timer = NULL;
    device_properties here = {0};
    at_status status = AT_OK;
    if (options->clock != AT_SITE_CLOCK_HOST)
        status = site_timer_events(&timer, error);
    if (status == AT_NO_DEVICE && options->clock == AT_SITE_CLOCK_AUTO)
        status = error_ignore(status, AT_NO_DEVICE, error);
    if (!status && timer) {
        status = library_current_device(&here, error);
        if (status) {
            timer->api->close(timer);
            return error_prefix(error, "sites cannot be timed by events (AT_SITE_CLOCK_HOST uses "
                                       "the host's clock)");
        }
        return sites_open_with(options, timer, &here.limits, here.driver, out, error);
    }
    if (!status)
        status = site_timer_host(&timer, error);
    if (status)
        return status;
    describe_host(&here.limits);
    return sites_open_with(options, timer, &here.limits, "", out, error);
}

at_status at_sites_open(const at_sites_options *options, at_sites **out, at_error *error)
{
    const at_sites_options none = {0};
    thread_state callers;
    if (!out)
        return argument_refuse_null("at_sites_open", "out", error);
    *out = NULL;
    error_clear(error);
    at_status status = thread_state_reset(&callers, error);
    if (status)
        return status;
    status = open_sites(options ? options : &none, out, error);
    thread_state_restore(&callers);
    return status;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size_bytes)
{
    return XXH3_64bits_withSeed(bytes, size_bytes, hash);
}

/* Hashes name and variables, which may be invalid: they are checked when a site is made. */
static uint64_t hash_site(const char *name, const at_variable *variables, size_t count)
{
    uint64_t h = mix(count, name, strlen(name));
    for (size_t i = 0; i < count; i++) {
        const at_variable *v = &variables[i];
        h = mix(h + (uint64_t)v->kind, v->name ? v->name : "", v->name ? strlen(v->name) : 0);
        if (v->kind == AT_KIND_TEXT)
            h = mix(h, v->text ? v->text : "", v->text ? strlen(v->text) : 0);
        else if (v->kind == AT_KIND_NUMBER)
            h = mix(h, &v->number, sizeof v->number);
        else
            h = mix(h, &v->integer, sizeof v->integer);
    }
    return h;
}

static void end_calls(at_site *site)
{
    site_timer *timer = site->sites->timer;
    for (size_t i = 0; i < site->open_count; i++)
        timer->api->give(timer, site->open[i].mark);
    for (size_t i = 0; i < site->made_count; i++)
        free(site->made[i]);
    free(site->made);
    keymap_deinit(&site->values);
    keymap_deinit(&site->refused);
    site_tuner_free(site->tuner);
}

static void free_site(at_site *site)
{
    end_calls(site);
    for (size_t i = 0; i < site->variable_count; i++)
        site_variable_deinit(&site->variables[i]);
    free(site->variables);
    site_space_deinit(&site->space);
    pthread_mutex_destroy(&site->lock);
    free(site->name);
    free(site);
}

static at_status fill_site(at_site *site, const char *name, const at_variable *variables,
                           size_t count, const at_parameter *parameters, size_t parameter_count,
                           at_error *error)
{
    at_variable checked;
    at_variable named = {.name = name};
    at_status status = site_variable_copy(&named, "site", &checked, error);
    if (status)
        return status;
    site->name = (char *)(uintptr_t)checked.name;
    /* Driver and code are recorded as two more variables. */
    if (count > RECORD_MAX_VALUES - 2)
        return error_set(error, AT_USAGE, "a site can have at most %d variables",
                         RECORD_MAX_VALUES - 2);
    site->variables = calloc(count + 1, sizeof *site->variables);
    if (!site->variables)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        status = site_variable_copy(&variables[i], "variable", &site->variables[i], error);
        if (status)
            return status;
        site->variable_count++;
    }
    return site_space_init(&site->space, parameters, parameter_count, error);
}

/* Makes a lock that reports an error if its owner takes it again. */
static void init_lock(pthread_mutex_t *out)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(out, &kind);
    pthread_mutexattr_destroy(&kind);
}

static at_status refuse_other(const char *name, at_error *error)
{
    return error_set(error, AT_USAGE,
                     "the site '%.80s' was already opened with other parameters for the same "
                     "problem: give one of the two another name",
                     name);
}

static at_status add_site(at_sites *sites, uint64_t hash, const char *name,
                          const at_variable *variables, size_t count,
                          const at_parameter *parameters, size_t parameter_count, at_site **out,
                          at_error *error)
{
    at_site *site = calloc(1, sizeof *site);
    if (!site)
        return error_no_memory(error);
    site->sites = sites;
    site->hash = hash;
    site->next = SITE_WINDOW;
    init_lock(&site->lock);
    at_status status = fill_site(site, name, variables, count, parameters, parameter_count, error);
    if (!status && (!array_add(&sites->all, &sites->count, &site, sizeof site) ||
                    !keymap_put(&sites->found, hash, sites->count - 1)))
        status = error_no_memory(error);
    if (status && (!sites->count || sites->all[sites->count - 1] != site))
        free_site(site);
    else
        *out = site;
    return status;
}

at_status at_site_open(at_sites *sites, const char *name, const at_variable *variables,
                       size_t variable_count, const at_parameter *parameters,
                       size_t parameter_count, at_site **out, at_error *error)
{
    if (!out)
        return argument_refuse_null("at_site_open", "out", error);
    *out = NULL;
    if (!sites || !name || (!variables && variable_count) || (!parameters && parameter_count))
        return argument_refuse_null("at_site_open",
                                    !sites                         ? "sites"
                                    : !name                        ? "name"
                                    : !variables && variable_count ? "variables"
                                                                   : "parameters",
                                    error);
    error_clear(error);
    uint64_t hash = hash_site(name, variables, variable_count), place;
    at_status status = sites_check_process(sites, "at_site_open", error);
    if (status)
        return status;
    pthread_mutex_lock(&sites->lock);
    if (!keymap_get(&sites->found, hash, &place))
        status = add_site(sites, hash, name, variables, variable_count, parameters, parameter_count,
                          out, error);
    else if (site_space_is_of(&sites->all[place]->space, parameters, parameter_count))
        *out = sites->all[place];
    else
        status = refuse_other(name, error);
    pthread_mutex_unlock(&sites->lock);
    return status;
}

static void write_decision(at_sites *sites, const at_site *site)
{
    at_error error = {0};
    const site_key key = site_key_of(site);
    if (site_store_put(sites->store, &key, &site->decision, &error))
        sites_note_problem(sites, error.message);
}

static void *write_decisions(void *context)
{
    at_sites *sites = context;
    pthread_mutex_lock(&sites->lock);
    while (sites->decided || !sites->closing) {
        at_site *site = sites->decided;
        if (!site) {
            pthread_cond_wait(&sites->wake, &sites->lock);
            continue;
        }
        sites->decided = site->next_decided;
        pthread_mutex_unlock(&sites->lock);
        write_decision(sites, site);
        pthread_mutex_lock(&sites->lock);
    }
    pthread_mutex_unlock(&sites->lock);
    return NULL;
}

/* Starts the thread that writes decisions. The thread blocks all signals, which are for the
 * program. */
static bool start_writer(at_sites *sites)
{
    /* 1 MiB is enough for writing. The program's default may be too small. */
    const size_t stack_bytes = 1 << 20;
    sigset_t all, before;
    pthread_attr_t with;
    pthread_attr_init(&with);
    pthread_attr_setstacksize(&with, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&sites->writer, &with, write_decisions, sites) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&with);
    return started;
}

void sites_write_decision(at_site *site)
{
    at_sites *sites = site->sites;
    pthread_mutex_lock(&sites->lock);
    site->next_decided = sites->decided;
    sites->decided = site;
    if (!sites->has_writer)
        sites->has_writer = start_writer(sites);
    pthread_cond_signal(&sites->wake);
    pthread_mutex_unlock(&sites->lock);
}

static void finish_writing(at_sites *sites)
{
    pthread_mutex_lock(&sites->lock);
    sites->closing = true;
    pthread_cond_signal(&sites->wake);
    pthread_mutex_unlock(&sites->lock);
    if (sites->has_writer)
        pthread_join(sites->writer, NULL);
    else
        write_decisions(sites); /* The thread could not be started. */
}

void at_sites_close(at_sites *sites)
{
    if (!sites || sites_check_process(sites, "at_sites_close", NULL))
        return;
    finish_writing(sites);
    for (size_t i = 0; i < sites->count; i++)
        free_site(sites->all[i]);
    for (size_t i = 0; i < sites->problem_count; i++)
        free(sites->problems[i]);
    free(sites->problems);
    free(sites->all);
    keymap_deinit(&sites->found);
    site_store_close(sites->store);
    sites->timer->api->close(sites->timer);
    pthread_cond_destroy(&sites->wake);
    pthread_mutex_destroy(&sites->reading);
    pthread_mutex_destroy(&sites->lock);
    free(sites);
}
