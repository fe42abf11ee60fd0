/* Kokkos' C interface for tuning tools: functions that Kokkos calls in the library that the
 * environment variable KOKKOS_TOOLS_LIBS names. Layouts and names are as in Kokkos 3.4 to 4.6
 * (Kokkos_Profiling_C_Interface.h); only the parts used here are declared. A program declares input
 * variables, which describe a piece of work, and output variables, which the tool chooses. It opens
 * a context, passes inputs, requests outputs, does the work and closes the context. */
#ifndef AUTOTUNE_KOKKOS_INTERFACE_H
#define AUTOTUNE_KOKKOS_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KOKKOS_TEXT_BYTES = 64 };

typedef char kokkos_text[KOKKOS_TEXT_BYTES];

typedef union kokkos_value {
    int64_t integer;
    double number;
    kokkos_text text;
} kokkos_value;

typedef enum kokkos_type { KOKKOS_DOUBLE, KOKKOS_INT64, KOKKOS_STRING } kokkos_type;

typedef enum kokkos_category {
    KOKKOS_CATEGORICAL,
    KOKKOS_ORDINAL,
    KOKKOS_INTERVAL,
    KOKKOS_RATIO
} kokkos_category;

typedef enum kokkos_candidates { KOKKOS_SET, KOKKOS_RANGE, KOKKOS_UNBOUNDED } kokkos_candidates;

typedef struct kokkos_set {
    size_t size;
    union {
        int64_t *integers;
        double *numbers;
        kokkos_text *texts;
    };
} kokkos_set;

typedef struct kokkos_range {
    kokkos_value lower, upper, step;
    bool open_lower, open_upper;
} kokkos_range;

typedef struct kokkos_info {
    kokkos_type type;
    kokkos_category category;
    kokkos_candidates kind;
    union {
        kokkos_set set;
        kokkos_range range;
    };
    void *own; /* for the tool's use */
} kokkos_info;

typedef struct kokkos_variable {
    size_t id;
    kokkos_value value;
    kokkos_info *info;
} kokkos_variable;

#define KOKKOS_API __attribute__((visibility("default")))

KOKKOS_API void kokkosp_finalize_library(void);
KOKKOS_API void kokkosp_declare_output_type(const char *name, size_t id, kokkos_info *info);
KOKKOS_API void kokkosp_declare_input_type(const char *name, size_t id, kokkos_info *info);
KOKKOS_API void kokkosp_request_values(size_t context, size_t input_count,
                                       const kokkos_variable *inputs, size_t output_count,
                                       kokkos_variable *outputs);
KOKKOS_API void kokkosp_end_context(size_t context, kokkos_variable goal);

#endif
