#include "run/race/state.h"

at_status question_await(race_driver *c, device_question question, device_event *out, at_error *error)
{
    return device_worker_await(c->session->workers->device, question, -1, out, error);
}

at_status question_await_latest(race_driver *c, device_event *out, at_error *error)
{
    return question_await(c, device_worker_claim(c->session->workers->device), out, error);
}

race_question question_of(const race_driver *c, const char *what, uint64_t number, uint32_t entrant)
{
    return (race_question){
        .asked = what, .number = number, .variants = &c->entrants[entrant], .count = 1};
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
