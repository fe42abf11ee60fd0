/* CUPTI's range profiler, opened at run time: its functions, their parameters, its errors.
 *
 * The library is $AUTOTUNE_LIBCUPTI, or libcupti.so of CUDA 13 or 12. Nothing links to it, and its
 * headers (some in C++) are not needed. The declarations follow NVIDIA's documentation (CUPTI 12.6
 * and newer, "Range Profiling API" and "Profiler Host API"). The first member of each structure is
 * its size up to the last member that is declared here; newer libraries recognise the version by
 * that size. */
#ifndef AUTOTUNE_CUDA_CUPTI_H
#define AUTOTUNE_CUDA_CUPTI_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    CUPTI_OK = 0,
    CUPTI_INVALID_METRIC_NAME = 17,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUAL_DEVICE = 33,
    CUPTI_NO_PRIVILEGE = 35,
    CUPTI_SEVERAL_SUBSCRIBERS = 39,
    CUPTI_VIRTUAL_NO_PRIVILEGE = 40,
    CUPTI_CONFIDENTIAL = 41,
    CUPTI_CHIP_UNKNOWN = 46,
    /* CUpti_ProfilerType, CUpti_ProfilerRange, CUpti_ProfilerReplayMode */
    CUPTI_RANGE_PROFILER = 0,
    CUPTI_RANGES_OF_USER = 2,
    CUPTI_REPLAYED_BY_USER = 3
};

#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

typedef struct cupti_host cupti_host; /* CUPTI's description of a chip's metrics; needs no GPU */
typedef struct cupti_ranges cupti_ranges; /* CUPTI's profiler of a context */

typedef struct cupti_initialize {
    size_t size_bytes;
    void *unused;
} cupti_initialize;

typedef struct cupti_chip_name {
    size_t size_bytes;
    void *unused;
    size_t ordinal;
    const char *name; /* out */
} cupti_chip_name;

typedef struct cupti_host_new {
    size_t size_bytes;
    void *unused;
    int profiler;
    const char *chip;
    const uint8_t *availability; /* may be NULL */
    cupti_host *host;            /* out */
} cupti_host_new;

typedef struct cupti_host_free {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
} cupti_host_free;

typedef struct cupti_metric_properties {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
    const char *name;
    const char *description, *hardware_unit, *unit; /* out */
    int type;                                       /* out */
} cupti_metric_properties;

typedef struct cupti_add_metrics {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
    const char **names;
    size_t count;
} cupti_add_metrics;

typedef struct cupti_config_size {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
    size_t image_bytes; /* out */
} cupti_config_size;

typedef struct cupti_config_image {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
    size_t image_bytes;
    uint8_t *image;
} cupti_config_image;

typedef struct cupti_evaluate {
    size_t size_bytes;
    void *unused;
    cupti_host *host;
    const uint8_t *data;
    size_t data_bytes;
    size_t range;
    const char **names;
    size_t count;
    double *values; /* out */
} cupti_evaluate;

typedef struct cupti_enable {
    size_t size_bytes;
    void *unused;
    CUcontext context;
    cupti_ranges *ranges; /* out */
} cupti_enable;

/* Parameter of disable, start and pop. */
typedef struct cupti_ranges_call {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
} cupti_ranges_call;

typedef struct cupti_data_size {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    const char **names;
    size_t count;
    size_t most_ranges;
    uint32_t most_nodes;
    size_t data_bytes; /* out */
} cupti_data_size;

typedef struct cupti_data_initialize {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    size_t data_bytes;
    uint8_t *data;
} cupti_data_initialize;

typedef struct cupti_set_config {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    size_t image_bytes;
    const uint8_t *image;
    size_t data_bytes;
    uint8_t *data;
    int range_mode, replay_mode;
    size_t ranges_a_pass;
    uint16_t nesting_levels, least_nesting_level;
    size_t pass;
    uint16_t target_nesting_level;
} cupti_set_config;

typedef struct cupti_push {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    const char *name;
} cupti_push;

typedef struct cupti_stop {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    size_t pass, target_nesting_level; /* out */
    uint8_t all_passes_done;           /* out */
} cupti_stop;

typedef struct cupti_decode {
    size_t size_bytes;
    void *unused;
    cupti_ranges *ranges;
    size_t dropped; /* out: number of ranges that did not fit */
} cupti_decode;

typedef struct cupti_data_info {
    size_t size_bytes;
    void *unused;
    const uint8_t *data;
    size_t data_bytes;
    size_t ranges; /* out */
} cupti_data_info;

/* Calls X(function, type of its parameter) for each function of the table. */
#define CUPTI_FUNCTIONS(X)                                                                         \
    X(cuptiProfilerInitialize, cupti_initialize)                                                   \
    X(cuptiDeviceGetChipName, cupti_chip_name)                                                     \
    X(cuptiProfilerHostInitialize, cupti_host_new)                                                 \
    X(cuptiProfilerHostDeinitialize, cupti_host_free)                                              \
    X(cuptiProfilerHostGetMetricProperties, cupti_metric_properties)                               \
    X(cuptiProfilerHostConfigAddMetrics, cupti_add_metrics)                                        \
    X(cuptiProfilerHostGetConfigImageSize, cupti_config_size)                                      \
    X(cuptiProfilerHostGetConfigImage, cupti_config_image)                                         \
    X(cuptiProfilerHostEvaluateToGpuValues, cupti_evaluate)                                        \
    X(cuptiRangeProfilerEnable, cupti_enable)                                                      \
    X(cuptiRangeProfilerDisable, cupti_ranges_call)                                                \
    X(cuptiRangeProfilerGetCounterDataSize, cupti_data_size)                                       \
    X(cuptiRangeProfilerCounterDataImageInitialize, cupti_data_initialize)                         \
    X(cuptiRangeProfilerSetConfig, cupti_set_config)                                               \
    X(cuptiRangeProfilerStart, cupti_ranges_call)                                                  \
    X(cuptiRangeProfilerStop, cupti_stop)                                                          \
    X(cuptiRangeProfilerPushRange, cupti_push)                                                     \
    X(cuptiRangeProfilerPopRange, cupti_ranges_call)                                               \
    X(cuptiRangeProfilerDecodeData, cupti_decode)                                                  \
    X(cuptiRangeProfilerGetCounterDataInfo, cupti_data_info)

#define CUPTI_FIELD(name, parameter) int (*name)(parameter *);

typedef struct cupti {
    void *library; /* NULL if not open */
    int (*cuptiGetResultString)(int, const char **);
    CUPTI_FUNCTIONS(CUPTI_FIELD)
} cupti;

/* Finds the library at $AUTOTUNE_LIBCUPTI or in the Toolkit. Returns false if it is missing. */
bool cupti_find(char *path, size_t size_bytes);

/* Opens the library, for the rest of the process, and finds its functions. AT_NO_DEVICE. */
at_status cupti_open(cupti *out, at_error *error);

/* Returns AT_OK, or AT_NO_DEVICE with cause and remedy. `what` names the function. */
at_status cupti_check(const cupti *c, int code, const char *what, at_error *error);

#endif
