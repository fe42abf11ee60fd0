/* The emitter: template and configuration in, CUDA source out.
 *
 * A line that starts with % is Lua, ${...} a Lua expression; configuration, problem and device
 * values are in scope. The emitted source has #line directives to the template wherever the
 * numbering would drift. At its end a comment gives the hash of each file that it includes
 * (script/include.h), so that equal sources under equal options mean equal kernels. */
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
    char *source;      /* NUL-terminated; owned, freed by emitted_deinit */
    size_t size_bytes; /* without the NUL */
    char hash[33]; /* XXH3-128 of all that is compiled, hex: the source, what it includes (by the
                      comment at its end), and the options, each after a NUL */
    const char
        *options[16]; /* extra NVRTC options the pattern asks for; borrowed from the script */
    size_t option_count;
    size_t own_option_count; /* the first of them, which stand for what nvcc does by itself */
    included includes;       /* files of the script's folder, and of the tool's, for the compiler */
} emitted;

/* Emits the variant `indices` of the script's template for `problem`. Errors: AT_SCRIPT naming the
 * template and its line. */
at_status emit_variant(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                       emitted *out, at_error *error);

/* The facts that a source depends on beside the configuration. Problems and devices that agree on
 * these have the same source. */
typedef struct emit_reads {
    bool problem[PATTERN_MAX_VARIABLES]; /* of variable i of the problem */
    bool device[DEVICE_MOST_FIELDS];     /* of field i of device_fields() */
} emit_reads;

/* Like emit_variant() without line marks; *reads gets what the template read. */
at_status emit_variant_noting(script *s, problem_kind problem, const uint16_t *indices,
                              emit_reads *reads, emitted *out, at_error *error);

/* Emit the kernel that makes the expected results for `problem`, and the kernel that fills inputs.
 * `indices` as script_reference_plan() takes them. AT_NOT_FOUND when the pattern has none. */
at_status emit_reference(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                         emitted *out, at_error *error);
at_status emit_filler(script *s, problem_kind problem, const uint16_t *indices, bool line_marks,
                      emitted *out, at_error *error);

void emitted_deinit(emitted *e);

/* Sum of the XXH3-128 of every template of the kernel and the reference, as 32 hex digits and NUL.
 * All are read when the script is loaded, except an include whose name depends on several
 * parameters: it is added when a variant first needs it. */
void emit_template_hash(const script *s, char hex[33]);

#endif
