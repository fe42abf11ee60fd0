/* A sweep: configurations along one or more parameters, from --over NAME=V1,V2,...,VN.
 *
 * "..." between two values stands for every value that the parameter has between them; without
 * values the sweep covers all of them. Several sweeps span their product; the first varies
 * slowest. */
#ifndef AUTOTUNE_CMD_SPACE_SWEEP_H
#define AUTOTUNE_CMD_SPACE_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "script/script.h"

typedef struct sweep_axis {
    size_t parameter;
    uint16_t *values; /* indices of the parameter's values */
    size_t count;
} sweep_axis;

typedef struct sweep {
    sweep_axis *axes;
    size_t axis_count;
    size_t row_count;                      /* product of the axes' counts; 1 without axes */
    uint16_t base[PATTERN_MAX_PARAMETERS]; /* what is not swept */
    size_t width;                          /* parameters */
} sweep;

enum { SWEEP_MOST_ROWS = 100000 };

/* Reads --config and every --over. AT_USAGE names the wrong parameter or value and the right ones.
 * The caller calls sweep_deinit, also after a failure. */
at_status sweep_init(script *s, const char *configuration, const script_setting *overs,
                     size_t over_count, sweep *out, at_error *error);
void sweep_deinit(sweep *w);

/* The configuration of a row: fills `width` value indices. */
void sweep_row(const sweep *w, size_t row, uint16_t *indices);

/* The position of a row along `axis`: an index into its values. */
size_t sweep_position(const sweep *w, size_t row, size_t axis);

#endif
