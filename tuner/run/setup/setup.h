/* What a command works for: the GPU or the architecture, and the script loaded for it.
 *
 * Constraints and templates may read `device.*`, so a script is loaded for a target. Commands that
 * need no GPU take --arch, else the first GPU's limits, else sm_90. */
#ifndef AUTOTUNE_RUN_SETUP_SETUP_H
#define AUTOTUNE_RUN_SETUP_SETUP_H

#include "base/error.h"
#include "compile/compile.h"
#include "device/arch.h"
#include "device/device.h"
#include "run/setup/settings.h"
#include "script/emit.h"
#include "script/script.h"

/* The architecture's name and limits from --arch, or of the machine's first GPU (found by a worker
 * process), or of sm_90 where there is none. */
at_status target_find(const char *arch, arch_limits *out, at_error *error);

/* The machine's first GPU with its own name; sm_90 where there is none. */
at_status target_here(arch_limits *out, at_error *error);

/* Is there such a script? For commands that have much to do before they load it. */
at_status target_check_script(const settings *o, at_error *error);

/* Finds and loads the script `o->script` with --set for the limits of a device. The caller frees
 * *out. */
at_status target_load_script(const settings *o, const arch_limits *limits, script **out,
                             at_error *error);

/* The configuration that --config asks for (NULL: the script's default), completed to the nearest valid
 * one, of which stderr tells; parameters that are swept (NULL: none) may change freely. When there is no
 * valid one it is as asked. Errors: as script_parse_configuration(). */
at_status setup_choose_configuration(script *s, problem_kind problem, const char *text,
                                     const bool *is_swept, uint16_t *indices, at_error *error);

/* Writes what a problem is called in messages: "the ragged problem rows=204 cols=308", with the
 * variables that differ from the tuned problem's. */
void problem_label(const pattern *p, problem_kind kind, char *text, size_t size_bytes);

/* Shows on a progress (`context`; NULL: none) how far a space is made: script_space_limits.show. */
void setup_show_space(void *context, const space_progress *progress);

/* Queues an emitted source for compilation, with its options and what it includes. `name` is the file
 * in messages, `launch` says which kernels are wanted, `arch` what to compile for; `want_ptx` for a device that is simulated. As
 * compile_submit(). */
at_status submit_source(compile_pool *pool, uint64_t id, const emitted *source, const char *name,
                        const launch_plan *launch, const char *arch, bool want_ptx, at_error *error);

/* What a device is given of a result: the machine code, or the PTX for one that is simulated. Borrows
 * the result's bytes. */
device_image result_image(const compile_result *r, bool ptx);

#endif
