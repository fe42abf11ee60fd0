/* Structures and functions that the modules of libautotune share: library.c opens results, choice.c
 * picks a configuration, source.c and kernel.c compile and launch it. */
#ifndef AUTOTUNE_LIBRARY_LIBRARY_H
#define AUTOTUNE_LIBRARY_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

#include "autotune.h"
#include "base/value.h"
#include "cuda/driver.h"
#include "device/device.h"
#include "device/outcome.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "record/record.h"

enum { LIBRARY_TEXT_BYTES = CONFIGURATION_BYTES };
enum { LIBRARY_VALUE_BYTES = 300 }; /* length of a problem's value as text */

struct at_results {
    patterns known;
    char *folder; /* the argument of at_open(); NULL for the known folders */
    struct tunings *tunings;
    pthread_mutex_t lock; /* guards the following members, which are filled in when first needed */
    bool has_all;
    record_set all; /* records of all patterns, which were read to list their faults */
    cuda_driver cuda;
    size_t device_count;
    device_properties *devices; /* NULL until the devices are listed; never changes after that */
};

struct at_choice {
    struct pattern_records *records;
    char *pattern;
    at_gpu gpu;
    record_values problem; /* the variables, with their texts in one block of memory */
    pick_rule rule;
    bool checked;           /* the pattern's constraints were checked for this configuration */
    record_values fallback; /* the script's default, in one block; `values` may point to it */
    int64_t time_ns;        /* recorded time of a launch; 0 for a portfolio or the default */
    const record *from;
    const record_values *values; /* values of the chosen configuration */
    char text[LIBRARY_TEXT_BYTES];
};

/* Finds the GPU of the calling thread's current context. The results own `*out`. AT_NO_DEVICE,
 * AT_NO_MEMORY. */
at_status library_device_of(at_results *results, const device_properties **out, at_error *error);

/* Describes the GPU of the calling thread's current context. Errors as library_device_of(). */
at_status library_current_device(device_properties *out, at_error *error);

/* Returns the name and the compute capability of a GPU. */
at_gpu library_gpu_of(const arch_limits *limits);

/* Clears the error and returns AT_USAGE, because an argument of `function` must not be NULL. */
at_status argument_refuse_null(const char *function, const char *argument, at_error *error);

/* Clears the error and checks the arguments of `function`. AT_USAGE if a required argument is NULL,
 * there are too many variables, or a variable lacks a name, a kind or its text. */
at_status argument_check_problem(const char *function, const at_results *results,
                                 const char *pattern_name, const at_variable *problem, size_t count,
                                 at_error *error);

/* Returns the value of a variable of a valid kind. A text is borrowed. */
static inline value argument_value(const at_variable *v)
{
    switch (v->kind) {
    case AT_KIND_NUMBER:
        return (value){.kind = VALUE_NUMBER, .number = v->number};
    case AT_KIND_BOOLEAN:
        return (value){.kind = VALUE_BOOLEAN, .boolean = v->integer != 0};
    case AT_KIND_TEXT:
        return (value){.kind = VALUE_STRING, .string = v->text};
    case AT_KIND_INTEGER:
        break;
    }
    return (value){.kind = VALUE_INTEGER, .integer = v->integer};
}

#endif
