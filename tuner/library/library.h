/* What the parts of libautotune share: library/library.c opens records, library/choice.c picks a
 * configuration, library/kernel.c compiles and launches it. */
#ifndef AUTOTUNE_LIBRARY_LIBRARY_H
#define AUTOTUNE_LIBRARY_LIBRARY_H

#include "autotune.h"
#include "device/device.h"
#include "device/measurement.h"
#include "record/pick.h"
#include "record/record.h"

enum { LIBRARY_TEXT_BYTES = CONFIGURATION_BYTES };
enum { LIBRARY_VALUE_BYTES = 300 }; /* of a problem's value as text */

struct at_choice {
    struct pattern_records *records; /* library/pattern.h */
    char *pattern;
    at_gpu gpu;
    record_values problem; /* with its texts owned by `texts` */
    char **texts;
    size_t text_count;
    pick_rule rule;
    bool checked; /* against the pattern's constraints */
    record_pair
        defaults[RECORD_MAX_VALUES]; /* the pairs of `fallback`, to which `values` may point */
    record_values fallback;
    int64_t time_ns; /* of a launch, where that was measured; 0: of a portfolio, or the default */
    const record *from;
    const record_values *values; /* of the configuration; NULL: only the script knows it */
    char text[LIBRARY_TEXT_BYTES];
};

/* The device of the calling thread's current context. */
at_status library_current_device(device_properties *out, at_error *error);

at_gpu library_gpu_of(const arch_limits *limits);

#endif
