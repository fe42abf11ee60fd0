#include "run/race/state.h"

at_status question_await(race_driver *d, device_question question, device_event *out,
                         at_error *error)
{
    device_worker *home = d->session->workers->device;
    while (d->other_count > 0) {
        at_error none = {0};
        poll_set set;
        at_status status = device_worker_await(home, question, 0, out, &none);
        if (status != AT_NOT_FOUND) {
            if (status && error)
                *error = none;
            return status;
        }
        others_watch(d);
        poll_set_start(&set, STEP_MS);
        device_worker_poll(home, &set);
        others_poll(d, &set);
        poll_set_wait(&set);
    }
    return device_worker_await(home, question, -1, out, error);
}

at_status question_await_latest(race_driver *d, device_event *out, at_error *error)
{
    return question_await(d, device_worker_claim(d->session->workers->device), out, error);
}

race_question question_of(const race_driver *d, const char *what, uint64_t number, uint32_t entrant)
{
    return (race_question){
        .asked = what, .number = number, .variants = &d->entrants[entrant].who, .count = 1};
}

const char *question_stage(const race_driver *d)
{
    return race_progress(d->race, NULL, NULL) < RACE_FINALS ? "race" : "finals";
}

void question_note_others(race_driver *d, uint32_t others)
{
    if (others > d->state.others)
        d->state.others = others;
}
