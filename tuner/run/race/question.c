#include "run/race/state.h"

at_status question_await(race_driver *c, device_question question, device_event *out,
                         at_error *error)
{
    device_worker *home = c->session->workers->device;
    while (c->other_count > 0) {
        at_error none = {0};
        poll_set set;
        at_status status = device_worker_await(home, question, 0, out, &none);
        if (status != AT_NOT_FOUND) {
            if (status && error)
                *error = none;
            return status;
        }
        others_watch(c);
        poll_set_start(&set, STEP_MS);
        device_worker_poll(home, &set);
        others_poll(c, &set);
        poll_set_wait(&set);
    }
    return device_worker_await(home, question, -1, out, error);
}

at_status question_await_latest(race_driver *c, device_event *out, at_error *error)
{
    return question_await(c, device_worker_claim(c->session->workers->device), out, error);
}

race_question question_of(const race_driver *c, const char *what, uint64_t number, uint32_t entrant)
{
    return (race_question){
        .asked = what, .number = number, .variants = &c->entrants[entrant].who, .count = 1};
}

const char *question_stage(const race_driver *c)
{
    return race_progress(c->race, NULL, NULL) < RACE_FINALS ? "race" : "finals";
}

void question_note_others(race_driver *c, uint32_t others)
{
    if (others > c->state.others)
        c->state.others = others;
}
