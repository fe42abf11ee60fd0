/* The measurement of a variant that was tried, which the device's answer, the journal, the race and
 * the summary use; the state of the board. */
#ifndef AUTOTUNE_DEVICE_MEASUREMENT_H
#define AUTOTUNE_DEVICE_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/arch.h"
#include "device/outcome.h"

/* Room for a configuration as text, "tile=64,vec=4,...", with its NUL. Scripts keep to it. */
enum { CONFIGURATION_BYTES = 16 * 1024 };

typedef struct measurement {
    outcome outcome;
    const char *message;       /* why it is not ok; may be NULL or "" */
    const int64_t *samples_ns; /* in the order in which they were taken */
    size_t sample_count;
    int64_t compile_ns, check_ns; /* time it took to compile (0: not compiled) and to check */
    bool has_resources;           /* it compiled */
    kernel_resources resources;
} measurement;

/* Replaces message and samples by copies that *m owns (measurement_deinit). False when memory ran
 * out: what could not be copied is absent then. */
bool measurement_own(measurement *m);

/* Frees what measurement_own() made. */
void measurement_deinit(measurement *m);

/* The fastest sample, 0 without one. */
int64_t measurement_fastest_ns(const measurement *m);

/* The state of the board that carries a GPU, at one moment. A figure that is not known is 0. */
typedef struct board_reading {
    double sm_clock_khz;
    uint64_t throttle;  /* reasons, as board_throttle_text() spells them */
    double power_w;     /* of the board, averaged by it over up to a second */
    uint64_t energy_mj; /* of the board since the driver was loaded */
} board_reading;

/* Writes the reasons why the chip is slowed down ("power cap, thermal limit"), "" for none.
 * Idleness and clocks set by the user do not count. Returns `out`. */
char *board_throttle_text(uint64_t throttle, char *out, size_t size_bytes);

#endif
