/* The target of a command: the GPU or the architecture, and the script loaded for it.
 *
 * Constraints and templates may read `device.*`, so a script is loaded for a target. Commands that
 * need no GPU take --arch, else the limits of the first GPU, else sm_90. */
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

struct sim_chip;       /* sim/chip.h */
struct record_feature; /* record/record.h */
struct record_values;

/* Finds the name and limits of the architecture: of --arch (an architecture, or a chip that is
 * simulated: "h100"), else of the machine's first GPU (asked in a worker process), else of sm_90.
 */
at_status target_find(const char *arch, arch_limits *out, at_error *error);

/* The machine's first GPU with its own name; sm_90 if there is none. */
at_status target_here(arch_limits *out, at_error *error);

/* Does the script exist? For commands that do much before they load it. */
at_status target_check_script(const settings *o, at_error *error);

/* Finds and loads the script `o->script` with --set for the limits of a device. The caller frees
 * *out. */
at_status target_load_script(const settings *o, const arch_limits *limits, script **out,
                             at_error *error);

/* Writes the comment to start from for a kernel of the file `o->script`, as script_sketch(). The
 * caller frees *comment. */
at_status target_sketch(const settings *o, const char *entry, const arch_limits *limits,
                        char **comment, at_error *error);

/* Computes a feature of a recorded configuration: INFINITY where it fails. False: the script has
 * none of that name and definition, or no such configuration. */
bool target_feature(script *s, problem_kind problem, const struct record_feature *feature,
                    const struct record_values *configuration, double *out);

/* Parses the configuration of --config (NULL: the script's default) and completes it to the nearest
 * valid one; a change is reported on stderr. Parameters that are swept (NULL: none) may change
 * freely. If no configuration is valid it is left as asked. Errors: as
 * script_parse_configuration(), and AT_SCRIPT where the script's default breaks a constraint. */
at_status setup_choose_configuration(script *s, problem_kind problem, const char *text,
                                     const bool *is_swept, uint16_t *indices, at_error *error);

/* The same, of which AT_USAGE is told where it breaks a constraint. */
at_status setup_choose_valid(script *s, problem_kind problem, const char *text, uint16_t *indices,
                             at_error *error);

/* Writes what a problem is called in messages: "the ragged problem rows=204 cols=308", with the
 * variables that differ from the tuned problem's. */
void problem_label(const pattern *p, problem_kind kind, char *text, size_t size_bytes);

/* Shows how far a space is enumerated on the progress `context` (NULL: none): for
 * script_space_limits.show.
 */
void setup_show_space(void *context, const space_progress *progress);

/* Queues an emitted source for compilation, with its options and headers. `name` is the file name
 * in messages, `launch` says which kernels are wanted, `arch` what to compile for; `want_ptx`: for
 * a simulated device. Errors as compile_submit(). */
at_status submit_source(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                        const launch_plan *launch, const char *arch, bool want_ptx,
                        at_error *error);

/* The same at once, where nothing else is being compiled: AT_COMPILE with what the compiler says.
 * *out is the caller's, also after a failure. */
at_status compile_source(compile_pool *pool, const emitted *source, const char *name,
                         const launch_plan *launch, const char *arch, bool want_ptx,
                         compile_result *out, at_error *error);

/* Compiles the kernel that prepares inputs likewise, as PTX; `launch` is script_filler_plan()'s.
 * *out is empty where the script has no such kernel. */
at_status compile_filler(script *s, problem_kind problem, const uint16_t *indices,
                         const launch_plan *launch, compile_pool *pool, const char *arch,
                         compile_result *out, at_error *error);

/* hash := hash of (hash, what is compiled, how it is launched, and, unless NULL, its buffers) */
void extend_hash(char hash[33], const emitted *source, const launch_plan *launch,
                 const problem_plan *buffers);

/* The image of a result for a device: machine code, or PTX for a simulated one. Borrows the
 * result's bytes.
 */
device_image result_image(const compile_result *r, bool ptx);

/* Which chip times are predicted for: the one that is asked for by name, else the machine's GPU,
 * with what was measured of it (results/<gpu>/device.json), else the typical one of sm_90. */

/* By --arch, which may name a chip ("h100"). AT_USAGE for an unknown name; AT_FORMAT for a damaged
 * file of measurements. */
at_status chips_wanted(const settings *o, struct sim_chip *out, at_error *error);

/* The chip of a device: a GPU, or a simulated one. Errors as above. */
at_status chips_of_device(const device_properties *d, const char *results_dir, struct sim_chip *out,
                          at_error *error);

/* A pattern's problems and configurations in JSON: {name: value, ...}, in the script's order. New
 * references, NULL when out of memory. */

json_t *pattern_json_problem(const pattern *p, problem_kind which);

/* `indices`: of each parameter's value. */
json_t *pattern_json_configuration(const pattern *p, const uint16_t *indices);

#endif
