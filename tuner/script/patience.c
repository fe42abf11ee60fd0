#include "script/expression.h"

#include "base/clock.h"

/* Their time on a core of a server of 2022 at 2.6 GHz, times one and a half. */
enum {
    LOOK_NS = 10,
    EVALUATION_NS = 50,
    STEP_NS = 5,
    VALUE_OF_STEP_NS = 1,
    CALL_NS = 1000,
    CHARACTER_NS = 20,
    INSTRUCTION_NS = 14
};

/* A processor may take so many times as long as is counted. */
static const double SLOWEST = 8;

void patience_begin(patience *p, double seconds)
{
    p->spent_ns = 0;
    p->most_ns = (uint64_t)(seconds * 1e9);
    p->deadline_ns = clock_thread_ns() + (int64_t)(SLOWEST * seconds * 1e9);
}

void patience_look(patience *p, uint64_t values)
{
    p->spent_ns += values * LOOK_NS;
}

void patience_evaluate(patience *p, size_t steps, size_t values)
{
    p->spent_ns += EVALUATION_NS + steps * (STEP_NS + values * VALUE_OF_STEP_NS);
}

void patience_call(patience *p, size_t characters, uint64_t instructions)
{
    p->spent_ns += CALL_NS + characters * CHARACTER_NS + instructions * INSTRUCTION_NS;
}

bool patience_is_over(patience *p)
{
    if (p->spent_ns >= p->most_ns)
        return true;
    bool late = clock_thread_ns() > p->deadline_ns;
    p->timed_out = p->timed_out || late;
    return late;
}

double patience_share(const patience *p)
{
    return p->most_ns > 0 ? (double)p->spent_ns / (double)p->most_ns : 1;
}
