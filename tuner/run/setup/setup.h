/* The target of a command (a GPU or an architecture), the script loaded for it, and the compilation
 * of sources. Constraints and templates may read `device.*`, so a script is loaded for a target.
 * Commands that need no GPU take --arch, otherwise the limits of the first GPU, otherwise sm_90. */
#ifndef AUTOTUNE_RUN_SETUP_SETUP_H
#define AUTOTUNE_RUN_SETUP_SETUP_H

#include <jansson.h>

#include "base/error.h"
#include "compile/compile.h"
#include "device/arch.h"
#include "device/device.h"
#include "run/setup/settings.h"
#include "script/emit.h"
#include "script/script.h"
#include "space/pattern.h"

struct sim_chip;       /* of sim/chip.h */
struct record_feature; /* of record/record.h */
struct record_values;

/* Finds an architecture's name and limits: of --arch (which may be a simulated chip such as
 * "h100"), otherwise of the machine's first GPU (asked in a worker process), otherwise of sm_90. */
at_status target_find(const char *arch, arch_limits *out, at_error *error);

/* Finds the machine's first GPU, or sm_90 if there is none. */
at_status target_here(arch_limits *out, at_error *error);

/* Checks that the script exists, for commands with much work before they load it. */
at_status target_check_script(const settings *o, at_error *error);

/* Finds and loads o->script with --set for a device's limits. The caller frees *out. */
at_status target_load_script(const settings *o, const arch_limits *limits, script **out,
                             at_error *error);

/* Writes a comment to start from for a kernel of o->script (script_sketch). The caller frees it. */
at_status target_sketch(const settings *o, const script_sketch_of *of, const arch_limits *limits,
                        char **comment, at_error *error);

/* Computes a feature of a recorded configuration; INFINITY if that fails. Returns false if the
 * script lacks the configuration, or a feature with that name and definition. */
bool target_feature(script *s, problem_kind problem, const struct record_feature *feature,
                    const struct record_values *configuration, double *out);

/* Parses --config (NULL for the default) and completes it to the nearest valid configuration;
 * reports a change on stderr. Swept parameters (`is_swept`, may be NULL) may change freely. If no
 * valid configuration is found, the parsed configuration stays. Returns the errors of
 * script_parse_configuration(), and AT_SCRIPT if the script's default breaks a constraint. */
at_status setup_choose_configuration(script *s, problem_kind problem, const char *text,
                                     const bool *is_swept, uint16_t *indices, at_error *error);

/* Chooses in the same way, but returns AT_USAGE if the configuration breaks a constraint. */
at_status setup_choose_valid(script *s, problem_kind problem, const char *text, uint16_t *indices,
                             at_error *error);

/* Writes a problem's name for messages, "the ragged problem rows=204 cols=308", with the variables
 * that differ from the tuned problem's. For the tuned problem, names all variables if the script
 * has another problem to prove variants on. */
void problem_label(const pattern *p, problem_kind kind, char *text, size_t size_bytes);

/* A script_space_limits.show: shows an enumeration on the progress `context` (may be NULL). */
void setup_show_space(void *context, const space_progress *progress);

/* Queues an emitted source for compilation. `name` is the file name in messages, `launch` has the
 * kernels, `want_ptx` is set for a simulated device. Errors as compile_submit(). */
at_status submit_source(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                        const launch_plan *launch, const char *arch, bool want_ptx,
                        at_error *error);

/* Does the same for PTX alone (compile_request.ptx_alone): for kernels that only check results on a
 * simulated device. `launch` may be NULL for a source without kernels. */
at_status submit_ptx(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                     const launch_plan *launch, const char *arch, at_error *error);

/* Compiles a source in a pool that compiles nothing else. Returns AT_COMPILE with the compiler's
 * message. The caller deinitialises *out, also after a failure. */
at_status compile_source(compile_pool *pool, const emitted *source, const char *name,
                         const launch_plan *launch, const char *arch, bool want_ptx,
                         compile_result *out, at_error *error);

/* Compiles the kernel that fills inputs (`launch` by script_filler_plan()) to PTX in the same way.
 * *out is empty if the script has no such kernel. */
at_status compile_filler(script *s, problem_kind problem, const uint16_t *indices,
                         const launch_plan *launch, compile_pool *pool, const char *arch,
                         compile_result *out, at_error *error);

/* Extends `hash` by the compiled text, its launches and, if `problem` is not NULL, its buffers. */
void extend_hash(char hash[33], const emitted *source, const launch_plan *launch,
                 const problem_plan *buffers);

/* Returns a result's image: machine code or, for a simulated device, PTX. Borrows the bytes. */
device_image result_image(const compile_result *r, bool ptx);

/* Finds the chip for predicted times: the one of --arch, which may name a chip ("h100"), else the
 * one of --device ("sim:h100"), else the machine's GPU with its measured figures
 * (results/<gpu>/device.json), else the typical chip of sm_90. Returns AT_USAGE for an unknown
 * name, AT_FORMAT for a damaged file of measurements. */
at_status chips_wanted(const settings *o, struct sim_chip *out, at_error *error);

/* Return a problem or configuration in JSON: {name: value, ...}, in the script's order. Return a
 * new reference, or NULL without memory. */

json_t *pattern_json_problem(const pattern *p, problem_kind which);

/* `indices` has the index of each parameter's value. */
json_t *pattern_json_configuration(const pattern *p, const uint16_t *indices);

#endif
