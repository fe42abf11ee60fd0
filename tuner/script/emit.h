/* Emits CUDA source from a template and a configuration. A line that starts with % is Lua, and
 * ${...} is a Lua expression; both see the values of the configuration, the problem and the device.
 * The source has #line directives where its line numbers differ from the template's. It ends with a
 * hash of the included files (include.h), so equal sources with equal options are equal kernels. */
#ifndef AUTOTUNE_SCRIPT_EMIT_H
#define AUTOTUNE_SCRIPT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/field.h"
#include "script/include.h"
#include "script/script.h"

typedef struct emitted {
    char *source;      /* ends with NUL; owned */
    size_t size_bytes; /* without the NUL */
    char hash[33]; /* XXH3-128 in hex of everything that is compiled: the source, its includes (by
                    * the comment at its end) and the options, with a NUL before each option */
    const char *options[16]; /* more NVRTC options, borrowed from the script */
    size_t option_count;
    size_t own_option_count; /* number of leading options that nvcc has by default */
    included includes;       /* files from the script's folder and the tool's */
} emitted;

/* Emits the kernel's source. AT_SCRIPT names the template and its line. The caller frees *out. */
at_status emit_variant(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                       emitted *out, at_error *error);

/* The variables and fields on which a source depends besides the configuration. Problems and
 * devices with equal values of these have the same source. */
typedef struct emit_reads {
    bool problem[PATTERN_MAX_VARIABLES]; /* the template reads variable i of the problem */
    bool device[DEVICE_MOST_FIELDS];     /* the template reads field i of device_fields() */
} emit_reads;

/* Emits a source without #line directives, and sets *reads to the names that the template read. */
at_status emit_variant_tracking(script *s, problem_kind problem, const uint16_t *indices,
                                emit_reads *reads, emitted *out, at_error *error);

/* Emit the kernel that computes the expected results, and the kernel that fills inputs. `indices`
 * as for script_reference_plan(). AT_NOT_FOUND if the pattern has no such kernel. */
at_status emit_reference(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                         emitted *out, at_error *error);
at_status emit_filler(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                      emitted *out, at_error *error);

/* Frees the memory of an emitted source. */
void emitted_deinit(emitted *e);

/* Writes the sum of the XXH3-128 of all templates, as 32 hex digits and NUL. Loading a script reads
 * all templates, except includes whose names depend on several parameters. A variant that needs
 * such an include adds it. */
void emit_template_hash(const script *s, char hex[33]);

/* Prototypes (prototype.c): checks the script's arguments against the kernels' parameters. PTX has
 * the size of a parameter, but not the type of a pointer's target. A kernel that reads doubles as
 * floats computes wrong results, and a reference with the same mistake agrees. So each script
 * compiles, once, a source that also has the kernels' types (cpp/signature.h). The script may name
 * another type if a kernel reads void, structs, vectors, bytes, or bits packed into wider words. */

/* PROTOTYPE_REFERENCE is only used if a reference kernel is the pattern's oracle. */
typedef enum prototype_of { PROTOTYPE_KERNEL, PROTOTYPE_REFERENCE, PROTOTYPE_COUNT } prototype_of;

/* Emits the source with the kernels' types for the launch `plan`. Errors as emit_variant() or
 * emit_reference(). */
at_status prototype_emit(script *s, prototype_of of, problem_kind problem, const uint16_t *indices,
                         const launch_plan *plan, emitted *out, at_error *error);

/* Called for each suspicious but legal difference, with its line in the script. */
typedef void prototype_warning(void *context, const char *path, int line, const char *text);

/* Compares the script with the PTX of that source. AT_SCRIPT, with the line of the script, in three
 * cases: the number or size of arguments differs, a pointer gets a number, or elements are read as
 * another type. Kernels that the PTX does not declare are not checked. */
at_status prototype_compare(script *s, prototype_of of, problem_kind problem,
                            const uint16_t *indices, const launch_plan *plan, const char *ptx,
                            prototype_warning *doubt, void *context, at_error *error);

#endif
