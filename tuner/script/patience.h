/* A limit on the work of making a space.
 *
 * Work is counted, not timed: a search draws from the configurations that a space has, so that the
 * same script must have the same ones each time, whatever else the machine does. The unit is a
 * nanosecond of a usual machine, roughly; what is counted is told beside each function. A processor
 * that takes many times as long is ended by its clock all the same, and that is told: another run
 * may come to another end. What others do on the machine does not count. */
#ifndef AUTOTUNE_SCRIPT_PATIENCE_H
#define AUTOTUNE_SCRIPT_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct patience { /* zeroed: it is over */
    uint64_t spent_ns, most_ns;
    int64_t deadline_ns; /* as clock_thread_ns() */
    bool timed_out;      /* the clock ended it, at any time since it was zeroed */
} patience;

/* Begins anew, with the work that takes a usual machine so long. */
void patience_begin(patience *p, double seconds);

/* So many values were looked at while a space is built: asked about, or known. */
void patience_look(patience *p, uint64_t values);

/* An expression of so many steps was evaluated for so many values at once. */
void patience_evaluate(patience *p, size_t steps, size_t values);

/* Lua evaluated one of so many characters, by which functions in C did work that counts as so many
 * instructions (sandbox_charge). */
void patience_call(patience *p, size_t characters, uint64_t instructions);

bool patience_is_over(patience *p);

/* The share of the work that is done. */
double patience_share(const patience *p);

#endif
