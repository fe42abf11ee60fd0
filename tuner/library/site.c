#include "library/sites.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "library/library.h"

enum { DEFAULTS_TRIED = 65536 };

/* The number of open calls that are polled when another call begins. */
enum { POLLED_AT_ONCE = 2 };

/* Locks the site. AT_USAGE, without a lock, in a fork and within the site's `valid` function. */
static at_status lock_site(at_site *site, const char *function, at_error *error)
{
    error_clear(error);
    at_status status = sites_check_process(site->sites, function, error);
    if (!status && pthread_mutex_lock(&site->lock) == EDEADLK)
        status = error_set(error, AT_USAGE, "%s was called by `valid` of the same site, '%s'",
                           function, site->name);
    return status;
}

/* Returns the values of a configuration, owned by the site. Returns NULL if memory ran out. */
static const site_values *values_of(at_site *site, uint32_t configuration)
{
    uint64_t place;
    if (keymap_get(&site->values, configuration, &place))
        return site->made[place];
    site_values *made = calloc(1, sizeof *made + site->space.list_count * sizeof *made->items);
    if (!made)
        return NULL;
    made->configuration = configuration;
    site_space_values(&site->space, configuration, made->items);
    if (!array_add(&site->made, &site->made_count, &made, sizeof made)) {
        free(made);
        return NULL;
    }
    return keymap_put(&site->values, configuration, site->made_count - 1) ? made : NULL;
}

static at_status give_values(const at_site *site, const site_values *v, uint64_t ticket,
                             at_values *out, at_error *error)
{
    if (!v)
        return error_no_memory(error);
    *out = (at_values){v->items, site->space.list_count, ticket, v->configuration};
    return AT_OK;
}

static at_status check_values(const at_site *site, const char *function, const at_values *values,
                              at_error *error)
{
    uint64_t place;
    if (keymap_get(&site->values, values->configuration, &place) &&
        site->made[place]->items == values->items)
        return AT_OK;
    return error_set(error, AT_USAGE, "%s: these values do not belong to the site '%s'", function,
                     site->name);
}

static bool is_valid(const at_site *site, uint32_t configuration)
{
    at_variable values[RECORD_MAX_VALUES];
    uint64_t refused;
    if (keymap_get(&site->refused, configuration, &refused))
        return false;
    if (!site->valid)
        return true;
    site_space_values(&site->space, configuration, values);
    return site->valid(site->valid_context, values, site->space.list_count) != 0;
}

/* ---- opening, at the first call ---- */

static size_t propose_valid(void *context, size_t round, uint32_t incumbent, uint32_t *out,
                            size_t most)
{
    at_site *site = context;
    size_t kept = 0, count = site_space_propose(&site->space, round, incumbent, out, most);
    for (size_t i = 0; i < count; i++)
        if (is_valid(site, out[i]))
            out[kept++] = out[i];
    return kept;
}

/* Makes all later calls use this configuration without the site's lock. */
static void settle(at_site *site, uint32_t configuration)
{
    atomic_store_explicit(&site->settled, values_of(site, configuration), memory_order_release);
}

static bool recall(at_site *site, uint32_t *found)
{
    at_sites *sites = site->sites;
    const site_key key = site_key_of(site);
    if (sites->mode == SITES_OFF)
        return false;
    pthread_mutex_lock(&sites->reading);
    bool there = site_store_find(sites->store, &key, sites_note_problem, sites, found);
    pthread_mutex_unlock(&sites->reading);
    return there && is_valid(site, *found);
}

static at_status refuse_all(const at_site *site, at_error *error)
{
    return error_set(
        error, AT_NOT_FOUND,
        "no configuration of the site '%s' is valid: its function `valid` must accept at least one",
        site->name);
}

static at_status find_default(at_site *site, at_error *error)
{
    while (site->fallback < site->space.count && site->fallback < DEFAULTS_TRIED)
        if (is_valid(site, site->fallback))
            return AT_OK;
        else
            site->fallback++;
    return refuse_all(site, error);
}

static at_status start_tuner(at_site *site, at_error *error)
{
    const site_rules rules = {.share = site->sites->share,
                              .seed = site->hash,
                              .fallback = site->fallback,
                              .propose = propose_valid,
                              .context = site};
    site->state = AT_SITE_TUNING;
    site->tuner = site_tuner_new(&rules);
    return site->tuner ? AT_OK : error_no_memory(error);
}

/* Opens the site: takes the stored decision, or makes a tuner. Other ranks only receive the
 * configurations from rank 0. */
static at_status open_site(at_site *site, at_error *error)
{
    at_sites *sites = site->sites;
    site->opened = true;
    site->state = AT_SITE_OFF;
    if (sites->rank != 0)
        return AT_OK;
    at_status status = find_default(site, error);
    site->told.incumbent = site->fallback;
    site->told.has_incumbent = !status;
    if (status)
        return status;
    if (recall(site, &site->told.incumbent))
        site->state = AT_SITE_RECALLED;
    else if (sites->mode == SITES_TUNE)
        status = start_tuner(site, error);
    return status;
}

static at_status open_plainly(at_site *site, at_error *error)
{
    thread_state callers;
    at_status status = site->opened ? AT_OK : thread_state_reset(&callers, error);
    if (status || site->opened)
        return status;
    status = open_site(site, error);
    thread_state_restore(&callers);
    return status;
}

static void note_decision(at_site *site, const site_account *a)
{
    static const run_verdict verdicts[] = {[RACE_CLEAR] = VERDICT_CLEAR,
                                           [RACE_TIED] = VERDICT_TIED,
                                           [RACE_INCONCLUSIVE] = VERDICT_INCONCLUSIVE};
    site->state = a->phase == SITE_DECIDED ? AT_SITE_DECIDED : AT_SITE_FROZEN;
    if (a->phase != SITE_DECIDED || a->time.count == 0)
        return;
    site->decision = (site_decision){.configuration = a->incumbent,
                                     .fallback = site->fallback,
                                     .time = a->time,
                                     .baseline = a->baseline,
                                     .verdict = verdicts[a->verdict]};
    sites_write_decision(site);
}

/* Notes whether the tuner has decided. Called after each sample that the tuner gets. */
static void note_phase(at_site *site)
{
    if (site->state != AT_SITE_TUNING)
        return;
    site_account a = site_tuner_account(site->tuner);
    if (a.phase == SITE_TUNING)
        return;
    note_decision(site, &a);
    site->told.has_incumbent = a.has_incumbent;
    if (!site->sites->broadcast)
        site->told.incumbent = a.incumbent;
}

static void tell(at_site *site, uint64_t ticket, const site_sample *sample)
{
    thread_state callers;
    at_error none = {0};
    bool plain = thread_state_reset(&callers, &none) == AT_OK;
    site_tuner_end(site->tuner, ticket, sample);
    if (plain)
        thread_state_restore(&callers);
}

static void close_call(at_site *site, size_t i, int64_t time_ns)
{
    site_timer *timer = site->sites->timer;
    site_call c = site->open[i];
    site->open[i] = site->open[--site->open_count];
    timer->api->give(timer, c.mark);
    int64_t overhead_ns = timer->device_ns + (c.hidden ? 0 : c.overhead_ns);
    tell(site, c.ticket, &(site_sample){time_ns, c.host_ns, overhead_ns});
}

/* Counts the library's own time since `since_ns` as cost of tuning, unless the device was busy. */
static void charge(at_site *site, int64_t since_ns)
{
    site_timer *timer = site->sites->timer;
    if (!site->hidden)
        site_tuner_charge(site->tuner, timer->api->host_ns(timer) - since_ns);
}

/* Polls a few open calls and gives their times to the tuner. Gives up a call that does not end
 * within SITE_GIVEN_UP further calls. */
static void collect_times(at_site *site)
{
    site_timer *timer = site->sites->timer;
    int64_t before_ns = timer->api->host_ns(timer);
    for (int polls = 0; polls < POLLED_AT_ONCE && site->open_count; polls++) {
        size_t i = site->asked++ % site->open_count;
        int64_t time_ns = 0;
        int known = site->open[i].ended ? timer->api->ask(timer, site->open[i].mark, &time_ns) : 0;
        if (!site->open[i].ended && site->calls - site->open[i].number > SITE_GIVEN_UP) {
            known = -1;
            site->lost++;
        }
        if (known)
            close_call(site, i, known > 0 ? time_ns : 0);
    }
    charge(site, before_ns);
    note_phase(site);
}

static bool start_call(at_site *site, void *stream, uint64_t ticket)
{
    site_timer *timer = site->sites->timer;
    if (site->open_count == SITE_MOST_OPEN)
        return false;
    site_call c = {.ticket = ticket, .number = site->calls};
    int64_t before_ns = timer->api->host_ns(timer);
    c.mark = timer->api->begin(timer, stream, &c.hidden);
    if (!c.mark)
        return false;
    c.begun_ns = timer->api->host_ns(timer);
    c.overhead_ns = c.begun_ns - before_ns;
    site->open[site->open_count++] = c;
    site->hidden = c.hidden;
    return true;
}

/* Cancels the trials of the rest of the window (SITE_WINDOW), which no call will run. */
static void drop_window(at_site *site)
{
    for (size_t i = site->next; i < SITE_WINDOW; i++)
        if (site->tuner && site->tickets[i])
            tell(site, site->tickets[i], &(site_sample){0});
    site->next = SITE_WINDOW;
}

static void plan_window(at_site *site)
{
    site_message *m = &site->told;
    m->site = site->hash;
    for (size_t i = 0; i < SITE_WINDOW; i++) {
        site->tickets[i] = 0;
        if (site->state == AT_SITE_TUNING) {
            site_turn turn = site_tuner_begin(site->tuner, true);
            m->configurations[i] = turn.configuration;
            site->tickets[i] = turn.ticket;
        }
    }
    if (site->tuner) {
        site_account a = site_tuner_account(site->tuner);
        m->incumbent = a.incumbent;
        m->has_incumbent = a.has_incumbent;
    }
    m->settled = site->state != AT_SITE_TUNING;
    m->state = site->state;
}

static at_status open_window(at_site *site, at_error *error)
{
    at_sites *sites = site->sites;
    if (sites->rank == 0)
        plan_window(site);
    if (sites->broadcast(sites->context, &site->told, sizeof site->told) != 0)
        return error_set(error, AT_IO, "the broadcast of the site '%s' failed", site->name);
    if (site->told.site != site->hash)
        return error_set(
            error, AT_USAGE,
            "the ranks call sites in different orders: rank 0 is not at this site, '%s'",
            site->name);
    site->state = (at_site_state)site->told.state;
    site->next = 0;
    return AT_OK;
}

/* Returns the configuration of the next call. All ranks get the same. */
static at_status next_of_window(at_site *site, site_turn *turn, at_error *error)
{
    at_status status = site->next == SITE_WINDOW ? open_window(site, error) : AT_OK;
    if (status)
        return status;
    const site_message *m = &site->told;
    *turn = (site_turn){.configuration = m->settled ? m->incumbent : m->configurations[site->next],
                        .incumbent = m->incumbent,
                        .has_incumbent = m->has_incumbent,
                        .ticket = m->settled ? 0 : site->tickets[site->next]};
    site->next++;
    if (m->settled && m->has_incumbent)
        settle(site, m->incumbent);
    return AT_OK;
}

static at_status next_turn(at_site *site, site_turn *turn, at_error *error)
{
    if (site->sites->broadcast)
        return next_of_window(site, turn, error);
    if (site->state == AT_SITE_TUNING) {
        *turn = site_tuner_begin(site->tuner, true);
        site->told.incumbent = turn->incumbent;
        return AT_OK;
    }
    *turn = (site_turn){site->told.incumbent, site->told.incumbent, site->told.has_incumbent, 0};
    if (turn->has_incumbent)
        settle(site, turn->incumbent);
    return AT_OK;
}

static at_status begin(at_site *site, void *stream, at_values *values, at_error *error)
{
    site_turn turn = {0};
    at_status status = open_plainly(site, error);
    uint64_t plain_calls = atomic_exchange_explicit(&site->plain_calls, 0, memory_order_relaxed);
    site->calls += plain_calls + 1;
    if (site->tuner && plain_calls)
        site_tuner_skip(site->tuner, plain_calls);
    if (!status && site->open_count)
        collect_times(site);
    if (!status)
        status = next_turn(site, &turn, error);
    if (!status && !turn.has_incumbent)
        status = refuse_all(site, error);
    if (status)
        return status;
    if (turn.ticket && !start_call(site, stream, turn.ticket)) {
        tell(site, turn.ticket, &(site_sample){0});
        turn = (site_turn){.configuration = turn.incumbent, .incumbent = turn.incumbent};
    }
    if (!site->sites->broadcast)
        atomic_store_explicit(&site->plain, values_of(site, turn.incumbent), memory_order_release);
    return give_values(site, values_of(site, turn.configuration), turn.ticket, values, error);
}

at_status at_site_begin(at_site *site, void *stream, at_values *values, at_error *error)
{
    if (!site || !values)
        return argument_refuse_null("at_site_begin", !site ? "site" : "values", error);
    const site_values *settled = atomic_load_explicit(&site->settled, memory_order_acquire);
    if (settled)
        return give_values(site, settled, 0, values, error);
    error_clear(error);
    at_status status = sites_check_process(site->sites, "at_site_begin", error);
    if (status)
        return status;
    if (pthread_mutex_trylock(&site->lock) != 0) {
        const site_values *plain = atomic_load_explicit(&site->plain, memory_order_acquire);
        if (plain) {
            atomic_fetch_add_explicit(&site->plain_calls, 1, memory_order_relaxed);
            return give_values(site, plain, 0, values, error);
        }
        status = lock_site(site, "at_site_begin", error);
    }
    if (status)
        return status;
    status = begin(site, stream, values, error);
    pthread_mutex_unlock(&site->lock);
    return status;
}

static size_t find_call(const at_site *site, uint64_t ticket)
{
    size_t i = 0;
    while (i < site->open_count && site->open[i].ticket != ticket)
        i++;
    return i;
}

/* Returns an error for a call that is not open, unless calls of the site were given up: the call
 * may be one of these. */
static at_status refuse_ended(const at_site *site, at_error *error)
{
    return site->lost
               ? AT_OK
               : error_set(error, AT_USAGE,
                           "at_site_end: this call of the site '%s' has already ended", site->name);
}

static at_status end(at_site *site, void *stream, const at_values *values, int64_t now_ns,
                     at_error *error)
{
    site_timer *timer = site->sites->timer;
    at_status status = check_values(site, "at_site_end", values, error);
    if (status)
        return status;
    size_t i = find_call(site, values->ticket);
    if (i == site->open_count || site->open[i].ended)
        return refuse_ended(site, error);
    site_call *c = &site->open[i];
    int64_t before_ns = timer->api->host_ns(timer), time_ns = 0;
    bool timed = timer->api->end(timer, c->mark, stream, now_ns);
    c->host_ns = timer->at_once ? 0 : now_ns - c->begun_ns;
    c->overhead_ns += timer->api->host_ns(timer) - before_ns;
    c->ended = true;
    if (timed && !timer->at_once)
        return AT_OK;
    if (timed)
        timer->api->ask(timer, c->mark, &time_ns);
    before_ns = timer->api->host_ns(timer);
    close_call(site, i, time_ns);
    charge(site, before_ns);
    note_phase(site);
    return AT_OK;
}

at_status at_site_end(at_site *site, void *stream, const at_values *values, at_error *error)
{
    if (!site || !values)
        return argument_refuse_null("at_site_end", !site ? "site" : "values", error);
    if (!values->ticket)
        return AT_OK;
    int64_t now_ns = site->sites->timer->api->host_ns(site->sites->timer);
    at_status status = lock_site(site, "at_site_end", error);
    if (status)
        return status;
    status = end(site, stream, values, now_ns, error);
    pthread_mutex_unlock(&site->lock);
    return status;
}

/* Replaces the settled choice, which is invalid, by the default. If the choice came from the store,
 * tuning begins. */
static at_status replace_settled(at_site *site, at_error *error)
{
    bool recalled = site->state == AT_SITE_RECALLED;
    if (site->sites->rank != 0)
        return AT_OK;
    at_status status = find_default(site, error);
    site->told.has_incumbent = !status;
    site->told.incumbent = site->fallback;
    if (status || site->state == AT_SITE_OFF)
        return error_ignore(status, AT_NOT_FOUND, error);
    site->state = AT_SITE_FROZEN;
    return recalled && site->sites->mode == SITES_TUNE ? start_tuner(site, error) : AT_OK;
}

static at_status refuse(at_site *site, const at_values *values, at_error *error)
{
    at_status status = check_values(site, "at_site_invalid", values, error);
    if (status)
        return status;
    size_t i = find_call(site, values->ticket);
    if (values->ticket && i < site->open_count)
        close_call(site, i, 0);
    if (!keymap_put(&site->refused, values->configuration, 1))
        return error_no_memory(error);
    drop_window(site);
    atomic_store(&site->plain, NULL);
    const site_values *settled = atomic_exchange(&site->settled, NULL);
    if (site->tuner && site->state == AT_SITE_TUNING) {
        site_tuner_invalid(site->tuner, values->configuration);
        note_phase(site);
        return AT_OK;
    }
    return settled && settled->configuration == values->configuration ? replace_settled(site, error)
                                                                      : AT_OK;
}

at_status at_site_invalid(at_site *site, const at_values *values, at_error *error)
{
    if (!site || !values)
        return argument_refuse_null("at_site_invalid", !site ? "site" : "values", error);
    error_clear(error);
    thread_state callers;
    at_status status = thread_state_reset(&callers, error);
    if (status)
        return status;
    status = lock_site(site, "at_site_invalid", error);
    if (!status) {
        status = refuse(site, values, error);
        pthread_mutex_unlock(&site->lock);
    }
    thread_state_restore(&callers);
    return status;
}

at_status at_site_restrict(at_site *site, at_site_valid *valid, void *context, at_error *error)
{
    if (!site || !valid)
        return argument_refuse_null("at_site_restrict", !site ? "site" : "valid", error);
    at_status status = lock_site(site, "at_site_restrict", error);
    if (status)
        return status;
    if (site->opened && site->valid != valid)
        status = error_set(error, AT_USAGE,
                           "the site '%s' is in use: restrict it before its first use", site->name);
    site->valid = status ? site->valid : valid;
    site->valid_context = status ? site->valid_context : context;
    pthread_mutex_unlock(&site->lock);
    return status;
}

at_status at_site_freeze(at_site *site, at_error *error)
{
    if (!site)
        return argument_refuse_null("at_site_freeze", "site", error);
    at_status status = lock_site(site, "at_site_freeze", error);
    if (status)
        return status;
    status = open_plainly(site, error);
    drop_window(site);
    if (site->tuner && site->state == AT_SITE_TUNING) {
        site_tuner_stop(site->tuner);
        note_phase(site);
    }
    pthread_mutex_unlock(&site->lock);
    return status;
}

at_status at_site_get(at_site *site, at_site_report *out, at_error *error)
{
    if (!site || !out)
        return argument_refuse_null("at_site_get", !site ? "site" : "out", error);
    at_status status = lock_site(site, "at_site_get", error);
    if (status)
        return status;
    status = open_plainly(site, error);
    *out = (at_site_report){.state = site->state,
                            .calls = site->calls + atomic_load(&site->plain_calls)};
    if (site->tuner) {
        site_account a = site_tuner_account(site->tuner);
        out->trials = a.trials;
        out->seen_ns = a.seen_ns;
        out->spent_ns = a.spent_ns;
    }
    if (!status)
        status = give_values(site, values_of(site, site->told.incumbent), 0, &out->values, error);
    pthread_mutex_unlock(&site->lock);
    return status;
}
