/* The sources that an exported .cu file has, and what each is for.
 *
 * A source may have the problem's sizes in it, or limits of the device: it is then used for those
 * alone. */
#ifndef AUTOTUNE_EXPORT_KERNELS_H
#define AUTOTUNE_EXPORT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "device/arch.h"
#include "device/plan.h"
#include "record/record.h"

/* CUDA C++ that several of can be in one file: what it includes of the Toolkit is apart, what it
 * defines for the preprocessor is undefined at its end. */
typedef struct export_source {
    char *text;       /* owned; goes into a namespace */
    char *includes;   /* owned; "#include <cuda_fp16.h>\n" ... */
    char *undefines;  /* owned; "#undef TILE\n" ... */
    bool has_entry[PLAN_MAX_LAUNCHES]; /* of the launch's entries: does it define this kernel? */
} export_source;

enum { EXPORT_IDENTIFIER_BYTES = 80 };

typedef struct export_condition {
    bool of_device;
    size_t index; /* of the variable, or of the field of device_fields() */
} export_condition;

/* A configuration whose kernels are in a source, where conditions hold. */
typedef struct export_use {
    size_t source;
    const record_values *configuration; /* borrowed */
    const record_values *problem;       /* borrowed: what variables must be, */
    arch_limits device;                 /* and fields of the device */
    size_t condition_count;
    export_condition *conditions;       /* owned */
} export_use;

typedef struct export_kernels {
    size_t source_count;
    export_source *sources;
    size_t use_count;
    export_use *uses;
} export_kernels;

/* What all configurations launch, in C (script/launch_c.h). */
typedef struct export_launch {
    char *statements; /* owned; NULL: none */
    size_t entry_count;
    const char *entries[PLAN_MAX_LAUNCHES]; /* names of kernels */
    size_t buffer_count;
    char buffers[PLAN_MAX_BUFFERS][EXPORT_IDENTIFIER_BYTES]; /* as members of a struct */
    bool is_input[PLAN_MAX_BUFFERS];
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
} export_launch;

/* The place of the source among those that there are; it is added (or freed where it was there) in any case.
 * AT_NO_MEMORY. */
at_status export_kernels_add_source(export_kernels *k, export_source source, size_t *place,
                                    at_error *error);

/* Adds a use unless the same is there; takes the conditions over in any case. AT_NO_MEMORY. */
at_status export_kernels_add_use(export_kernels *k, export_use use, at_error *error);

void export_source_deinit(export_source *s);
void export_kernels_deinit(export_kernels *k); /* a zeroed one is fine */

#endif
