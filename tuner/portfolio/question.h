/* A question that a portfolio's tree asks of a problem: is a variable, a feature or the product of
 * two variables below a bound; is a variable a whole multiple of a number; is it a word? As
 * record/pick.c asks. */
#ifndef AUTOTUNE_PORTFOLIO_QUESTION_H
#define AUTOTUNE_PORTFOLIO_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portfolio/problems.h"
#include "record/record.h"

typedef struct question {
    size_t axis, times;  /* times: the other axis; QUESTION_ALONE: none */
    int64_t multiple_of; /* 0: the bound is asked for */
    value bound;
} question;

#define QUESTION_ALONE SIZE_MAX

/* Is it so of a problem, which has one value an axis? */
bool question_asks(const question *q, const value *problem);

/* A node of a record that asks the same, without its children. */
record_node question_node(const question *q, const portfolio_axis *axes);

/* Calls `each` with questions that part some problems, the plainer ones first: of a number's range
 * at most `most_bounds` places are looked at. `rows` are places in `problems` and may be put into
 * another order by `each`. */
void question_each(const portfolio_axis *axes, size_t axis_count, const value *problems,
                   const size_t *rows, size_t count, size_t most_bounds,
                   void (*each)(void *context, const question *q), void *context);

/* One that parts them by their words; false: all have the same. */
bool question_of_words(const value *problems, size_t axis_count, const size_t *rows, size_t count,
                       question *out);

/* Are all values of an axis numbers? */
bool question_has_numbers(const portfolio_axis *axis);

#endif
