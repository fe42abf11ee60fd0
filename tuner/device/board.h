/* The state of the board that carries a GPU, at one moment: plain data. A figure that is not known
 * is 0. */
#ifndef AUTOTUNE_DEVICE_BOARD_H
#define AUTOTUNE_DEVICE_BOARD_H

#include <stddef.h>
#include <stdint.h>

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
