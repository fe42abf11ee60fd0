/* Ceilings: the rates of a device with which a kernel's rate is compared, and the units of work.
 * This table alone defines the name, the words and the unit of each ceiling. */
#ifndef AUTOTUNE_DEVICE_CEILING_H
#define AUTOTUNE_DEVICE_CEILING_H

#include <stdbool.h>

/* The unit of a launch's work. Rates are in 10^9 units per second. */
typedef enum work_unit { WORK_BYTES, WORK_FLOPS, WORK_ITEMS, WORK_UNITS } work_unit;

typedef enum ceiling_kind {
    CEILING_DEFAULT, /* chosen by plan_ceiling() (device/plan.h) from the work in the script */
    CEILING_NONE,
    CEILING_COPY,
    CEILING_READ,
    CEILING_WRITE,
    CEILING_L2,
    CEILING_SHARED,
    CEILING_FP32,
    CEILING_FP64,
    CEILING_ATOMICS,
    CEILING_HOST_TO_DEVICE,
    CEILING_DEVICE_TO_HOST,
    CEILING_LAUNCHES,
    CEILING_PINNED,
    CEILING_BLOCKS,
    CEILING_ROUND_TRIPS,
    CEILING_PIECES_READ,
    CEILING_PIECES_WRITTEN,
    CEILING_ONE_WORD,
    CEILING_ONE_FLOAT,
    CEILING_ONE_DOUBLE,
    CEILING_L1,
    CEILING_KINDS
} ceiling_kind;

typedef struct ceiling_info {
    const char *name;  /* name in scripts and files: "fp32" */
    const char *words; /* words after "92 % of": "the FP32 rate" */
    work_unit unit;
    bool in_run; /* measured in each run, by a copy of as many bytes as the problem has */
} ceiling_info;

/* Returns the row of a ceiling below CEILING_KINDS. The row of CEILING_DEFAULT is empty. */
const ceiling_info *ceiling_get(ceiling_kind kind);

/* Finds a ceiling, or "none", by its name. Returns false if the name is unknown. */
bool ceiling_find(const char *name, ceiling_kind *out);

/* Writes the unit of a rate: "GB/s", "GFLOP/s", or "Gkeys/s" if `item` is "keys". Returns `out`. */
enum { WORK_RATE_BYTES = 32 };
const char *work_rate_name(work_unit unit, const char *item, char out[WORK_RATE_BYTES]);

#endif
