/* The kernel sources of an exported .cu file, and the configurations that use each source. A source
 * that contains sizes of a problem, or limits of a device, is used only for those. */
#ifndef AUTOTUNE_EXPORT_KERNELS_H
#define AUTOTUNE_EXPORT_KERNELS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "device/arch.h"
#include "device/plan.h"
#include "record/record.h"

/* A kernel of the launch in a source. */
typedef struct export_entry {
    char *name;   /* owned; the kernel as a C++ expression; NULL if the kernel is not launched */
    size_t place; /* index among the kernels of the compiled source */
} export_entry;

/* A source in CUDA C++, as NVRTC compiles it. */
typedef struct export_source {
    char *text;      /* owned; ends with a comment that lists the included files (script/emit.h) */
    json_t *headers; /* owned; {name, text} of each included file that is not from the Toolkit */
    char *ptx;       /* owned; the kernels as inline PTX; NULL if only `text` can be used */
    int capability;  /* compute capability that the PTX is compiled for, such as 90: the lowest of
                        the devices that use this source; 0 without PTX */
    export_entry entries[PLAN_MAX_LAUNCHES]; /* one per kernel of the launch */
} export_source;

enum { EXPORT_IDENTIFIER_BYTES = 80 };

typedef struct export_condition {
    bool of_device;
    size_t index; /* index of the variable, or of the field in device_fields() */
} export_condition;

/* A configuration, the index of its source, and the conditions for using this source. */
typedef struct export_use {
    size_t source;
    const record_values *configuration; /* borrowed */
    const record_values *problem;       /* borrowed; values for conditions on the problem */
    arch_limits device;                 /* values for conditions on the device */
    size_t condition_count;
    export_condition *conditions; /* owned */
} export_use;

typedef struct export_kernels {
    size_t source_count;
    export_source *sources;
    size_t use_count;
    export_use *uses;
} export_kernels;

/* The launches of all configurations, in C (script/launch_c.h). */
typedef struct export_launch {
    char *statements; /* owned; NULL if there is no launch */
    size_t entry_count;
    const char *entries[PLAN_MAX_LAUNCHES]; /* names of the kernels in the script */
    size_t buffer_count;
    const char *buffer_names[PLAN_MAX_BUFFERS];              /* borrowed from the script */
    char buffers[PLAN_MAX_BUFFERS][EXPORT_IDENTIFIER_BYTES]; /* names of the members of a struct */
    bool is_input[PLAN_MAX_BUFFERS];
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
} export_launch;

/* Adds `source`, or frees it if `k` has an equal source. Returns the index of the source in `k`. */
size_t export_kernels_add_source(export_kernels *k, export_source source);

/* Adds `use`, unless `k` has an equal use. Takes over the conditions. */
void export_kernels_add_use(export_kernels *k, export_use use);

/* Writes kernels in CUDA C++ whose bodies are PTX, as inline assembly. Another compiler may make
 * slower code from a measured kernel's source, but not from its PTX. A kernel cannot be written as
 * inline assembly if it uses constant or global variables, calls functions or takes a struct, or if
 * the PTX fixes a cluster or a number of registers.
 *
 * Writes each of `entries` that has a name and whose kernel is in the PTX. `symbols` lists the
 * names of the PTX's kernels, one per line; the `place` of an entry is the index of a line. The
 * written kernel has the entry's name, or autotune_ptx_<e> if that name is not an identifier.
 *
 * The caller frees *out, which is NULL if one of these kernels cannot be written, or there are no
 * kernels to write. AT_FORMAT if `ptx` is not PTX. */
at_status export_inline_ptx(const char *ptx, size_t ptx_bytes, const char *symbols,
                            const export_entry *entries, size_t entry_count, char **out,
                            at_error *error);

void export_source_deinit(export_source *s);
void export_kernels_deinit(export_kernels *k); /* `k` may be zeroed */

#endif
