/* The ceilings of a kernel: the rates of a device that patterns name, and the units of a launch's
 * work. Static tables; nothing here fails. */
#ifndef AUTOTUNE_DEVICE_CEILING_H
#define AUTOTUNE_DEVICE_CEILING_H

#include <stdbool.h>

/* The unit of a launch's work. Rates are in 10^9 of these a second. */
typedef enum work_unit { WORK_BYTES, WORK_FLOPS, WORK_ITEMS, WORK_UNITS } work_unit;

typedef enum ceiling_kind {
    CEILING_DEFAULT, /* chosen from the work that the pattern states: plan_ceiling() in
                        device/plan.h */
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
    const char *name;  /* as scripts and files spell it: "fp32" */
    const char *words; /* "the FP32 rate": a share is of that */
    work_unit unit;
    bool in_run; /* each run measures it, on as many bytes as the problem's */
} ceiling_info;

/* The row of a ceiling below CEILING_KINDS. That of CEILING_DEFAULT, which has no name, is
 * empty. */
const ceiling_info *ceiling_get(ceiling_kind kind);

/* Finds a ceiling, or "none", by its name. */
bool ceiling_find(const char *name, ceiling_kind *out);

/* "GB/s", "GFLOP/s", "Gkeys/s" where `item` is "keys". */
enum { WORK_RATE_BYTES = 32 };
const char *work_rate_name(work_unit unit, const char *item, char out[WORK_RATE_BYTES]);

#endif
