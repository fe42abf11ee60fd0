/* Pictures of recorded measurements, drawn by gnuplot.
 *
 * In: recorded measurements and what to draw. Out: the picture. */
#ifndef AUTOTUNE_CMD_LOOK_PLOT_H
#define AUTOTUNE_CMD_LOOK_PLOT_H

#include <stdbool.h>

#include "base/error.h"
#include "history/history.h"
#include "record/ceilings.h"

typedef enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_TERMINAL } plot_format;

typedef struct plot_request {
    const char *kind; /* "rank" ... */
    const char *by;   /* "algorithm" or "tile_x,tile_y"; NULL: what decides most */
    const char *title;
    plot_format format;
    const ceiling_rates *ceilings; /* for a roofline; NULL: the recording's own alone */
} plot_request;

/* Draws: has gnuplot run the program that templates/pages/plot_<kind>.tmpl makes of the data. The
 * picture, text for the terminal, is the caller's to free. AT_USAGE for an unknown kind or
 * parameter, AT_NOT_FOUND where the recording lacks what the kind draws, saying what does have it,
 * AT_NO_TOOLCHAIN, with the package's name, where there is no gnuplot, AT_IO when it fails. */
at_status plot_draw(const recorded *r, const plot_request *q, char **picture, size_t *size_bytes,
                    at_error *error);

#endif
