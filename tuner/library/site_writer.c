#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "library/sites.h"

at_status sites_are_here(const at_sites *sites, const char *function, at_error *error)
{
    if (sites->process == getpid())
        return AT_OK;
    return error_set(error, AT_USAGE,
                     "%s: this process is a fork of the one that opened these sites; open others "
                     "in it",
                     function);
}

void sites_say(void *context, const char *text)
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

static void write_decision(at_sites *sites, const at_site *site)
{
    at_error error = {0};
    const site_key key = site_key_of(site);
    if (site_store_put(sites->store, &key, &site->decision, &error))
        sites_say(sites, error.message);
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

/* Its signals are the program's own threads'. */
static bool start_writer(at_sites *sites)
{
    const size_t stack_bytes = 1 << 20; /* however small the program's own are */
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

void sites_write(at_site *site)
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

void sites_finish_writing(at_sites *sites)
{
    pthread_mutex_lock(&sites->lock);
    sites->closing = true;
    pthread_cond_signal(&sites->wake);
    pthread_mutex_unlock(&sites->lock);
    if (sites->has_writer)
        pthread_join(sites->writer, NULL);
    else
        write_decisions(sites); /* there could be no thread */
}
