/* Expressions: a line of Lua over parameters, problem variables, `device` and helper functions.
 *
 * Compiled once, when the script is loaded, into a Lua function that takes the names it reads as
 * arguments. An expression can call helpers but not define functions, so it always ends. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_H
#define AUTOTUNE_SCRIPT_EXPRESSION_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "script/expression/term.h"
#include "space/pattern.h"
#include "space/space.h"

/* ---- patience ----
 *
 * A limit on the work of making a space.
 *
 * Work is counted, not timed: a search draws from the configurations that a space has, so that the
 * same script must have the same ones each time, whatever else the machine does. The unit is a
 * nanosecond of a usual machine, roughly; what is counted is told beside each function. A processor
 * that takes many times as long is ended by its clock all the same, and that is told: another run
 * may come to another end. What others do on the machine does not count. */

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

/* ---- expressions ---- */

struct script;

typedef struct expression_input {
    bool is_parameter; /* else a problem variable */
    uint16_t index;
} expression_input;

/* Which parameters an expression may read: all; those that the layout of the data depends on; or
 * none, because the value must be the same for all variants. */
typedef enum expression_reach { REACH_ALL, REACH_LAYOUT, REACH_PROBLEM } expression_reach;

typedef struct expression {
    const char *text; /* as the script spells it; NULL: absent */
    /* The text that Lua gets: derived values, or calls of them, in place of their names. */
    const char *code;
    const node *root; /* the same in the script's tree */
    const char *what; /* for messages: "where[2]", "launch.grid" */
    int line;         /* of the script; 0 unknown */
    int function;     /* registry reference */
    size_t input_count;
    expression_input *inputs;
    bool reads_parameters;
    uint32_t device_fields; /* bit i: it reads field i of device_fields() */
    uint64_t derived;       /* bit i: it reads the i-th derived value, itself or by others */
    vector_step *steps;     /* of a constraint: the same without Lua */
    size_t step_count;      /* 0: only Lua can evaluate it */
} expression;

/* Compiles `e`, whose text, what and line are set. Raises (sandbox_raise) for a syntax error or an
 * unknown name, and for parameters that an expression of this reach may not read. */
void expression_compile(lua_State *L, expression *e, expression_reach reach);

/* Compiles `e` a second time, after expression_compile(), to make expression_test_each() fast. */
void expression_prepare_tests(lua_State *L, expression *e);

/* Evaluate inside a running sandbox_call(); anything but a value of the right type raises an error
 * that names the expression and its line. */
int64_t expression_integer(lua_State *L, const expression *e, problem_kind problem,
                           const uint16_t *indices, int64_t least, int64_t most);
double expression_number(lua_State *L, const expression *e, problem_kind problem,
                         const uint16_t *indices);
bool expression_truth(lua_State *L, const expression *e, problem_kind problem,
                      const uint16_t *indices);
/* Leaves the string on the stack. */
const char *expression_string(lua_State *L, const expression *e, problem_kind problem,
                              const uint16_t *indices);
/* Leaves the value on the stack, whatever it is. */
void expression_any(lua_State *L, const expression *e, problem_kind problem,
                    const uint16_t *indices);

/* Evaluates outside of any sandbox_call(), which is faster; safe because nothing allocates before
 * the protected call. AT_SCRIPT when the result is not a boolean or the expression fails. */
at_status expression_test(struct script *s, const expression *e, problem_kind problem,
                          const uint16_t *indices, bool *holds, at_error *error);

/* Like expression_test, for each of the values that `question` has. `work` gets the work. */
at_status expression_test_each(struct script *s, const expression *e, problem_kind problem,
                               const space_question *question, patience *work, bool *holds,
                               at_error *error);

/* Raises "WHAT: message" at the expression's line. */
int expression_raise(lua_State *L, const expression *e, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

#endif
