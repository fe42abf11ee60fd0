/* Expressions: a line of Lua over parameters, problem variables, `device` and helper functions.
 * Each expression is compiled once, when the script is loaded, into a Lua function of the names
 * that it reads. An expression can call helpers but not define functions, so it always ends. */
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

/* A limit on the work of making a space. Work is counted, not timed, so that a script has the same
 * space in every run: a search draws from it. The unit is about 1 ns of a usual machine. On a much
 * slower machine, the thread's CPU clock stops the work; this is reported, because another run may
 * stop elsewhere. */

typedef struct work_budget { /* used up if zeroed */
    uint64_t spent_ns, most_ns;
    int64_t deadline_ns; /* deadline on clock_thread_ns() */
    bool timed_out;      /* the clock has stopped the work since the budget was zeroed */
} work_budget;

/* Starts a budget of the work that a usual machine does in `seconds`. */
void work_budget_begin(work_budget *b, double seconds);

/* Counts values that building a space has examined. */
void work_budget_look(work_budget *b, uint64_t values);

/* Returns whether the work, or the time of a slow processor, is used up. */
bool work_budget_is_over(work_budget *b);

/* Returns the used share of the budget. */
double work_budget_share(const work_budget *b);

struct script;

typedef struct expression_input {
    bool is_parameter; /* a parameter, not a variable of the problem */
    uint16_t index;
} expression_input;

/* The parameters that an expression may read: all, those of the layout, or none, because the value
 * must be the same for all variants. */
typedef enum expression_reach { REACH_ALL, REACH_LAYOUT, REACH_PROBLEM } expression_reach;

typedef struct expression {
    const char *text; /* text in the script; NULL if the expression is absent */
    /* text for Lua, with definitions or calls of derived values in place of their names */
    const char *code;
    const node *root; /* the expression in the script's tree */
    const char *what; /* name in messages: "where[2]", "launch.grid" */
    int line;         /* line of the script; 0 if unknown */
    int function;     /* registry reference */
    size_t input_count;
    expression_input *inputs;
    bool reads_parameters;
    uint32_t device_fields; /* bit i: it reads field i of device_fields() */
    uint64_t derived;       /* bit i: it reads derived value i, directly or not */
    vector_step *steps;     /* for a constraint: steps that evaluate it without Lua */
    size_t step_count;      /* 0 if only Lua can evaluate it */
} expression;

/* Compiles `e`, whose text, what and line are set. Raises for a syntax error, an unknown name, or a
 * parameter outside of `reach`. */
void expression_compile(lua_State *L, expression *e, expression_reach reach);

/* Compiles `e` once more, for expression_test_each(). */
void expression_prepare_tests(lua_State *L, expression *e);

/* Evaluate an expression within sandbox_call(). `indices` may be NULL if it reads no parameter. A
 * value of another type or out of range raises an error with the expression, line and inputs. */
int64_t expression_integer(lua_State *L, const expression *e, problem_kind problem,
                           const uint16_t *indices, int64_t least, int64_t most);
double expression_number(lua_State *L, const expression *e, problem_kind problem,
                         const uint16_t *indices);
bool expression_truth(lua_State *L, const expression *e, problem_kind problem,
                      const uint16_t *indices);
/* Returns the string, which may contain no NUL, and leaves it on the stack. */
const char *expression_string(lua_State *L, const expression *e, problem_kind problem,
                              const uint16_t *indices);
/* Leaves a value of any type on the stack. */
void expression_any(lua_State *L, const expression *e, problem_kind problem,
                    const uint16_t *indices);

/* Evaluates a condition without sandbox_call(), which would take longer. This is safe because
 * nothing allocates before the protected call. AT_SCRIPT if the expression fails or is neither true
 * nor false. */
at_status expression_test(struct script *s, const expression *e, problem_kind problem,
                          const uint16_t *indices, bool *holds, at_error *error);

/* Evaluates a condition for each value of `question`, and counts the work in `budget`. */
at_status expression_test_each(struct script *s, const expression *e, problem_kind problem,
                               const space_question *question, work_budget *budget, bool *holds,
                               at_error *error);

/* Raises "WHAT: message" at the expression's line. */
int expression_raise(lua_State *L, const expression *e, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Raises an error about the expression's value. The message lists the inputs, because one of them
 * is often wrong, and says which inputs --set gives. */
int expression_raise_value(lua_State *L, const expression *e, problem_kind problem,
                           const uint16_t *indices, const char *format, ...)
    __attribute__((noreturn, format(printf, 5, 6)));

#endif
