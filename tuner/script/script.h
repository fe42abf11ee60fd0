/* Pattern scripts: Lua in, a pattern and evaluated plans out.
 *
 * Only the modules of this header and of script/emit.h touch Lua; script/state.h lists them. The
 * script runs in a sandbox with a memory and an instruction limit, without io, os, debug, load,
 * binary chunks, and modules outside its own folder and the tool's Lua folder. Every error names
 * the script, the line and, for a misspelt name, the nearest valid one. A script is used by one
 * thread. */
#ifndef AUTOTUNE_SCRIPT_SCRIPT_H
#define AUTOTUNE_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/text.h"
#include "device/arch.h"
#include "device/measurement.h"
#include "device/plan.h"
#include "script/captured.h"
#include "space/pattern.h"
#include "space/space.h"

typedef struct script script;

typedef struct script_setting { /* one --set NAME=VALUE */
    const char *name;
    const char *text;
} script_setting;

/* Questions about a kernel's own file are answered by NVRTC, in a process of its own. */
typedef struct script_source {
    const char *name; /* of the file, in messages */
    const char *text;
    const source_header *headers;
    size_t header_count;
    const char *const *options;
    size_t option_count;
} script_source;

typedef struct script_compiler {
    /* Compiles a source that nothing is launched of. *ptx is NULL where it does not compile, *log
     * what the compiler says; the caller frees both. NULL: there is no compiler. */
    at_status (*compile)(void *context, const script_source *source, char **ptx, char **log,
                         at_error *error);
    void *context;
} script_compiler;

/* Folders of headers that the command line may name, and as many that a script may. */
enum { SCRIPT_INCLUDES_MAX = 16 };

typedef struct script_options {
    const char *lua_dir; /* holds the installed patterns, in lib/ autotune.lua and template.lua */
    const char *template_dir; /* installed templates; the script's own folder is searched first */
    const script_setting *settings;
    size_t setting_count;
    const script_setting *only; /* NAME=V1,V2,...: the space has no other values of the parameter */
    size_t only_count;
    const char *describe; /* a file that stands for the comment of a kernel's file; NULL: none */
    const char *const *includes; /* folders of the user's, in which headers are looked for, too */
    size_t include_count;        /* at most SCRIPT_INCLUDES_MAX */
    script_compiler compiler;    /* for kernel = { source = FILE } */
    const script_captured *captured; /* a launch of that kernel, borrowed; NULL: none */
    arch_limits device;              /* what `device.*` means in expressions */
    /* Nothing is emitted: templates are not read, which is most of the time that loading takes. */
    bool without_templates;
    size_t memory_limit_bytes;  /* 0: 256 MiB */
    uint64_t instruction_limit; /* 0: a default worth a few seconds */
    /* Called every few milliseconds while the script is loaded or evaluated; true ends that with
     * AT_INTERRUPTED. May be NULL. */
    bool (*stop)(void *context);
    void *stop_context;
} script_options;

/* Is it a file of CUDA C++, by its name, in which a comment describes the pattern? */
bool script_is_kernel_file(const char *path);

/* Loads the script at `path`, or the file of CUDA C++. On success *out owns the pattern. Errors:
 * AT_SCRIPT (with file and line), AT_USAGE (an unknown --set name), AT_IO, AT_NO_MEMORY. */
at_status script_load(const char *path, const script_options *options, script **out,
                      at_error *error);
void script_free(script *s); /* NULL is fine */

/* The place-th oddity of the file that does not change what is tuned, with its line; NULL: there
 * are no more. */
const char *script_warning_text(const script *s, size_t place, int *line);

/* Calls `tell` for each key of a table in the script's text that the table has already: Lua takes
 * the last value without a word. */
void script_tell_repeated_keys(const script *s,
                               void (*tell)(void *context, const char *path, int line,
                                            const char *text),
                               void *context);

/* Writes the comment to start from for a kernel of a file of CUDA C++ that has none, with what can
 * be inferred; `entry` NULL: the file's only kernel. The caller frees *comment. Errors as
 * script_load(), and AT_USAGE if it has a comment. */
at_status script_sketch(const char *path, const char *entry, const script_options *options,
                        char **comment, at_error *error);

const pattern *script_pattern(const script *s);

/* The file of the user's own that the kernel is in (script/kernel_file.h), and the names that are
 * macros of it. False: the kernel is a template. */
struct kernel_file;
bool script_file(const script *s, const struct kernel_file **file, const char *const **defines,
                 size_t *define_count);

/* The work of the script up to now, in VM instructions: for whoever asks it again and again. */
uint64_t script_spent(const script *s);

typedef struct script_space_limits {
    /* Seconds of a usual machine: the work is counted, so that the same script has the same space
     * each time. */
    double enumerate_s;  /* a space that takes longer to enumerate, */
    size_t memory_bytes; /* or more memory, is sampled */
    double sample_s;     /* for the sample */
    bool *timed_out; /* gets whether a machine was so slow that the clock ended it: then the space
                        may be another one the next time. May be NULL */
    uint64_t sample; /* most configurations in it */
    void (*show)(void *context, const space_progress *progress); /* may be NULL */
    void *show_context;
} script_space_limits;

/* 30 s, 512 MiB; 10 s, 65,536 configurations. */
script_space_limits script_space_defaults(void);

/* The valid configurations for `problem`; the caller frees the space, before the script. Beyond the
 * limits it is a sample of them, of which the baseline is one (space_is_sample()). An empty space
 * is AT_SCRIPT, naming the constraint that removed the last configurations. */
at_status script_space_within(script *s, problem_kind problem, const script_space_limits *limits,
                              space **out, at_error *error);

/* Within the default limits. */
at_status script_space(script *s, problem_kind problem, space **out, at_error *error);

/* Does the configuration satisfy every constraint under `problem`? If not, *broken is the index of
 * the first constraint that fails, also if the constraint cannot be evaluated: AT_SCRIPT. */
at_status script_valid(script *s, problem_kind problem, const uint16_t *indices, bool *valid,
                       size_t *broken, at_error *error);

/* Does the baseline satisfy them? AT_SCRIPT names the one that it breaks: whoever uses the pattern
 * asks. It may break those of a ragged problem, and --only may rule it out. */
at_status script_check_baseline(script *s, problem_kind problem, at_error *error);

/* Does a constraint read the problem or the device, themselves or by other names? */
bool script_constraint_varies(const script *s, size_t constraint);

/* Writes what the derived names stand for that a constraint reads, ", where turned = a == 'b'"; ""
 * where it reads none. */
void script_tell_derived(const script *s, size_t constraint, char *text, size_t size_bytes);

/* Evaluates a feature of the pattern for a configuration; `indices` is not read where the feature
 * is not of_configuration. AT_SCRIPT, with its line, when it fails or gives no finite number. */
at_status script_feature(script *s, problem_kind problem, size_t feature, const uint16_t *indices,
                         double *out, at_error *error);

/* The feature of this name and definition; SIZE_MAX: the pattern has none. */
size_t pattern_find_feature(const pattern *p, const char *name, const char *definition);

/* How data lies in memory may depend on a few parameters (`layout` in the script); variants that
 * agree on them share buffers and what the reference made. Layouts are numbered: a pattern without
 * such parameters has one. */
enum { SCRIPT_MAX_LAYOUTS = 64 };
size_t script_layout_count(const script *s);
size_t script_layout_of(const script *s, const uint16_t *indices);
/* Does the space use each value that the layout gives its parameters? */
bool script_layout_occurs(const script *s, const space *space, size_t layout);
/* Gives the parameters of the layout their values in it; leaves the others alone. */
void script_set_layout(const script *s, size_t layout, uint16_t *indices);

/* Evaluates buffers, tolerances and work for a problem. `indices` is any configuration of the
 * layout wanted; NULL: the baseline. */
at_status script_problem_plan(script *s, problem_kind problem, const uint16_t *indices,
                              uint64_t seed, problem_plan *out, at_error *error);

/* Gives variables of a problem other values, which costs a hundredth of loading the script
 * for them; the other problems stay as they are. The values that a variable may have (at.one_of,
 * at.within) is not asked. AT_USAGE: there is no such variable, or its values are of another kind;
 * those before it have been set. */
at_status script_set_problem(script *s, problem_kind problem, const pattern_variable *values,
                             size_t count, at_error *error);

/* Evaluates what one configuration launches. AT_USAGE: no GPU can make a launch of this shape. */
at_status script_launch_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error);

/* The judge of which results are right. Where files do, that is so of the problems that are as
 * large as these; of others the baseline says it (problem_plan.oracle). */
oracle_kind script_oracle(const script *s);

/* The file with these contents, which a plan of the script names; the script's. */
data_file *script_data(const script *s, const data_key *key);

/* Copies of what files hold for the buffers of a problem, for simulations in this process; NULL for
 * other buffers. */
typedef struct script_contents {
    const void *of[PLAN_MAX_BUFFERS];
} script_contents;

/* Reads them. AT_USAGE: they are larger than a simulation is worth. AT_IO, AT_NO_MEMORY. The caller
 * calls script_contents_deinit(), also after a failure. */
at_status script_contents_load(const script *s, const problem_plan *plan, script_contents *out,
                               at_error *error);
void script_contents_deinit(script_contents *c);

/* The configuration whose results are the oracle of a layout, where that is the baseline: itself,
 * with the layout of `indices`, which become it; or the nearest that `problem` allows. *found is
 * false where it allows none of that layout. */
at_status script_oracle_configuration(script *s, problem_kind problem, uint16_t *indices,
                                      bool *found, at_error *error);

/* Like script_launch_plan, for the kernel that makes the expected results and for the kernel that
 * fills inputs which no buffer_fill describes. Of a reference, and of what fills, only the layout
 * of `indices` matters; NULL: the baseline's. Where the baseline is the oracle, `indices` are those
 * of script_oracle_configuration(). AT_NOT_FOUND when the pattern has no such kernel. */
at_status script_reference_plan(script *s, problem_kind problem, const uint16_t *indices,
                                launch_plan *out, at_error *error);
bool script_has_filler(const script *s);
at_status script_filler_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error);

/* The index of the parameter `name`. AT_USAGE naming the nearest, or all. */
at_status script_find_parameter(const script *s, const char *name, size_t *parameter,
                                at_error *error);

/* The index of the parameter's value that is spelt `typed`. AT_USAGE listing the values. */
at_status script_find_value(const script *s, size_t parameter, const char *typed, uint16_t *index,
                            at_error *error);

/* Parses "tile=64,vec=4,..." into value indices; parameters that are not named keep the baseline's
 * value. Names and values may be in quotes, with blanks around them. AT_USAGE naming the nearest
 * parameter or listing the valid values. */
at_status script_parse_configuration(const script *s, const char *text, uint16_t *indices,
                                     at_error *error);

/* Like script_parse_configuration; given[i] tells whether the text names parameter i. */
at_status script_parse_given(const script *s, const char *text, uint16_t *indices, bool *given,
                             at_error *error);

/* Replaces a configuration that is not valid under `problem` by the nearest valid one. Parameters
 * in `is_given` keep their values; those in `is_swept` (NULL: none) may change freely; of the
 * others as few as possible change, by as few values as possible. *changed is false, with `indices`
 * untouched, when the configuration is valid or no valid one was found (a space that takes more
 * than 10 s to enumerate is only sampled). */
at_status script_complete_configuration(script *s, problem_kind problem, const bool *is_given,
                                        const bool *is_swept, uint16_t *indices, bool *changed,
                                        at_error *error);

/* Writes "tile=64,vec=4,..." in the parameters' order. Returns its length, as snprintf does, which
 * is less than CONFIGURATION_BYTES. */
int script_format_configuration(const script *s, const uint16_t *indices, char *text,
                                size_t size_bytes);

/* XXH3-128 of the script, every Lua file that it loaded and the contents of its data files, as 32
 * hex digits and NUL. */
void script_hash(const script *s, char hex[33]);

#endif
