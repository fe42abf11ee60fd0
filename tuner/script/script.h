/* Pattern scripts: Lua in, a pattern and evaluated plans out. A script runs in a sandbox with
 * limits of memory and instructions, without io, os, debug, load and binary chunks. It loads only
 * modules of its own folder and the tool's Lua folder. Each error names the script, the line and,
 * for a misspelt name, the nearest valid one. One thread uses a script. Only the modules of this
 * header, launch_c.h, emit.h and render.h use Lua. */
#ifndef AUTOTUNE_SCRIPT_SCRIPT_H
#define AUTOTUNE_SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "base/text.h"
#include "device/arch.h"
#include "device/outcome.h"
#include "device/plan.h"
#include "space/pattern.h"
#include "space/space.h"

typedef struct script script;

typedef struct script_setting { /* one option --set NAME=VALUE */
    const char *name;
    const char *text;
} script_setting;

/* A source that NVRTC compiles in its own process, to answer questions about a kernel's file. */
typedef struct script_source {
    const char *name; /* name of the file, for messages */
    const char *text;
    const source_header *headers;
    size_t header_count;
    const char *const *options;
    size_t option_count;
} script_source;

typedef struct script_compiler {
    /* Compiles a source that is not launched. *ptx is NULL if it does not compile; *log is the
     * compiler's log. The caller frees both. The function is NULL if there is no compiler. */
    at_status (*compile)(void *context, const script_source *source, char **ptx, char **log,
                         at_error *error);
    void *context;
} script_compiler;

/* A captured launch: a launch that a program made of the kernel in a file. The values of its
 * arguments describe the problem. */

/* A captured address: the files with the contents of its allocation, the offset of the address in
 * the allocation, and the bytes from there to the end. */
typedef struct script_captured_pointer {
    uint32_t at; /* offset of the address in the argument */
    uint64_t address;
    const char *before, *after; /* contents; `after` is NULL if the launch changed nothing */
    uint64_t offset, left_bytes;
} script_captured_pointer;

typedef struct script_captured_argument {
    const void *bytes; /* value of the argument */
    size_t size_bytes;
    size_t pointer_count; /* number of addresses in the argument; a struct may have several */
    const script_captured_pointer *pointers;
} script_captured_argument;

/* A variable of the kernel's module, and the file of its contents before the launch. */
typedef struct script_captured_variable {
    const char *name; /* mangled name */
    const char *before;
    uint64_t size_bytes;
} script_captured_variable;

typedef struct script_captured {
    const char *path;   /* path of the capture, for messages */
    const char *kernel; /* demangled name, with types */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    size_t argument_count;
    const script_captured_argument *arguments;
    size_t variable_count;
    const script_captured_variable *variables;
} script_captured;

/* ---- loading ---- */

/* Most folders of headers that the command line may name; a script may name as many. */
enum { SCRIPT_INCLUDES_MAX = 16 };

typedef struct script_options {
    const char *lua_dir;      /* installed patterns; lib/ has autotune.lua and template.lua */
    const char *template_dir; /* installed templates, searched after the script's folder */
    const script_setting *settings;
    size_t setting_count;
    const script_setting *only; /* NAME=V1,V2,...: restricts the parameter to these values */
    size_t only_count;
    const char *describe; /* a file to use instead of the comment of a kernel's file; may be NULL */
    const char *const *includes;     /* more folders in which headers are looked up */
    size_t include_count;            /* at most SCRIPT_INCLUDES_MAX */
    script_compiler compiler;        /* compiler for kernel = { source = FILE } */
    const script_captured *captured; /* a captured launch of the kernel, borrowed; may be NULL */
    arch_limits device;              /* the values of `device.*` in expressions */
    /* Skips the templates, which saves most of the loading time; nothing can be emitted. */
    bool without_templates;
    size_t memory_limit_bytes;  /* limit of Lua's memory; 0 means 256 MiB */
    uint64_t instruction_limit; /* in VM instructions; 0 means a default of about 2 s */
    /* Called every few milliseconds while the script is loaded or evaluated. If it returns true,
     * the work ends with AT_INTERRUPTED. May be NULL. */
    bool (*stop)(void *context);
    void *stop_context;
} script_options;

/* Tells whether a path names a CUDA C++ file, in which a comment may describe the pattern. */
bool script_is_kernel_file(const char *path);

/* Loads a script, or a file of CUDA C++. On success *out owns the pattern. Errors: AT_SCRIPT (with
 * file and line), AT_USAGE (an unknown --set name), AT_NOT_FOUND, AT_IO, AT_NO_MEMORY. */
at_status script_load(const char *path, const script_options *options, script **out,
                      at_error *error);
void script_free(script *s); /* `s` may be NULL */

/* Returns warning number `place` of the script, with its line. Returns NULL after the last.
 * Warnings do not change what is tuned. */
const char *script_warning_text(const script *s, size_t place, int *line);

/* Returns the line of a field of the pattern, or of `key` in that field (may be NULL). If the
 * script does not write it, returns the line of what surrounds it. */
int script_field_line(const script *s, const char *field, const char *key);

/* Returns whether the script writes the field of the pattern. */
bool script_has_field(const script *s, const char *field);

/* Calls `tell` for each repeated key of a table in the script. Lua would take the last value. */
void script_report_repeated_keys(const script *s,
                                 void (*tell)(void *context, const char *path, int line,
                                              const char *text),
                                 void *context);

typedef struct script_sketch_of {
    const char *entry;            /* the kernel; NULL if the file has one */
    const char *const *arguments; /* of the program's command line, without its name */
    size_t argument_count;        /* 0 if the command line is unknown */
} script_sketch_of;

/* Writes the comment that describes a kernel, for a CUDA C++ file without one, with all facts that
 * the file gives. The caller frees *comment. Errors as script_load(), and AT_USAGE if the file has
 * such a comment. */
at_status script_sketch(const char *path, const script_sketch_of *of, const script_options *options,
                        char **comment, at_error *error);

/* Returns the pattern, owned by the script. */
const pattern *script_pattern(const script *s);

/* Returns the kernel's own file (kernel_file.h) and the macros defined before it. Returns false if
 * the kernel is a template. */
struct kernel_file;
bool script_file(const script *s, const struct kernel_file **file, const char *const **defines,
                 size_t *define_count);

/* Returns the work of the script so far, in VM instructions. */
uint64_t script_instructions_spent(const script *s);

typedef struct script_space_limits {
    /* Work is counted in seconds of a usual machine, so that each run has the same space. */
    double enumerate_s;  /* a space that takes more work to enumerate is sampled */
    size_t memory_bytes; /* a space that takes more memory is sampled */
    double sample_s;     /* most work for the sample */
    bool *timed_out; /* may be NULL; set to true if the clock of a very slow machine ended the work:
                      * the next run may then give another space */
    uint64_t sample; /* most configurations in a sample */
    void (*show)(void *context,
                 const space_progress *progress); /* called with the progress; may be NULL */
    void *show_context;
} script_space_limits;

/* Returns 30 s, 512 MiB, 10 s for the sample, and 65,536 configurations in it. */
script_space_limits script_space_defaults(void);

/* Makes the space of valid configurations for `problem`. The caller frees the space before the
 * script. Beyond the limits the space is a sample that contains the baseline (space_is_sample()).
 * If the space is empty, AT_SCRIPT names the constraint that removed the last configurations. */
at_status script_space_within(script *s, problem_kind problem, const script_space_limits *limits,
                              space **out, at_error *error);

/* Makes the space within the default limits. */
at_status script_space(script *s, problem_kind problem, space **out, at_error *error);

/* Tells whether a configuration satisfies every constraint. *broken is the index of a constraint
 * that the configuration does not satisfy, or that cannot be evaluated (AT_SCRIPT). */
at_status script_valid(script *s, problem_kind problem, const uint16_t *indices, bool *valid,
                       size_t *broken, at_error *error);

/* Checks the baseline. AT_SCRIPT names the constraint that it breaks. Ragged problems and --only
 * may exclude the baseline. */
at_status script_check_baseline(script *s, problem_kind problem, at_error *error);

/* Tells whether a constraint depends on the problem or the device, also through derived values. */
bool script_constraint_varies(const script *s, size_t constraint);

/* Writes the definitions of the derived values that a constraint reads, ", where turned = a ==
 * 'b'". Writes "" if the constraint reads no derived value. */
void script_describe_derived(const script *s, size_t constraint, char *text, size_t size_bytes);

/* Writes the values that a constraint reads: ", where cols is 7 (by --set), vec is 2". Writes "" if
 * the constraint reads none. */
void script_describe_values(const script *s, size_t constraint, problem_kind problem,
                            const uint16_t *indices, char *text, size_t size_bytes);

/* Evaluates a feature. `indices` is read only if the feature is of_configuration. AT_SCRIPT, with
 * the line, if the evaluation fails or gives no finite number. */
at_status script_feature(script *s, problem_kind problem, size_t feature, const uint16_t *indices,
                         double *out, at_error *error);

/* Returns the index of the feature with this name and definition, or SIZE_MAX. */
size_t pattern_find_feature(const pattern *p, const char *name, const char *definition);

/* The parameters of `layout` decide how data lies in memory. Variants with the same layout share
 * buffers and the reference's results. Layouts are numbered from 0; a pattern has at least one. */
enum { SCRIPT_MAX_LAYOUTS = 64 };
size_t script_layout_count(const script *s);
size_t script_layout_of(const script *s, const uint16_t *indices);
/* Tells whether the space uses each value that the layout gives its parameters. */
bool script_layout_occurs(const script *s, const space *space, size_t layout);
/* Sets only the parameters of the layout to their values in it. */
void script_set_layout(const script *s, size_t layout, uint16_t *indices);

/* Evaluates buffers, tolerances and work for a problem. `indices` is any configuration of the
 * wanted layout, or NULL for the baseline. */
at_status script_problem_plan(script *s, problem_kind problem, const uint16_t *indices,
                              uint64_t seed, problem_plan *out, at_error *error);

/* Changes the values of a problem's variables, in a hundredth of the time of loading. Does not
 * check the values that a script allows (at.one_of, at.within). AT_USAGE if a variable does not
 * exist or its value is of another kind; variables before it are changed nevertheless. */
at_status script_set_problem(script *s, problem_kind problem, const pattern_variable *values,
                             size_t count, at_error *error);

/* Evaluates the launches of a configuration. AT_USAGE if no GPU can make them. */
at_status script_launch_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error);

/* Returns the source of the expected results. If files have the results, the baseline still
 * computes them for problems of other sizes (problem_plan.oracle). */
oracle_kind script_oracle(const script *s);

/* Returns the data with this key, from a plan, or NULL. The script owns the data. */
data_file *script_data(const script *s, const data_key *key);

/* Copies of files that fill buffers, for simulations in this process; NULL for other buffers. */
typedef struct script_contents {
    const void *of[PLAN_MAX_BUFFERS];
} script_contents;

/* Reads the contents. AT_USAGE if they exceed 1 GiB, AT_IO, AT_NO_MEMORY. The caller calls
 * script_contents_deinit(), also after a failure. */
at_status script_contents_load(const script *s, const problem_plan *plan, script_contents *out,
                               at_error *error);
void script_contents_deinit(script_contents *c);

/* If the baseline is the oracle, finds the configuration that computes the expected results: the
 * baseline with the layout of `indices` or, if `problem` forbids that, the nearest allowed one.
 * Writes it into `indices`. *found is false if `problem` allows no configuration of the layout. */
at_status script_oracle_configuration(script *s, problem_kind problem, uint16_t *indices,
                                      bool *found, at_error *error);

/* Evaluate the launches of the kernel that computes the expected results, and of the kernel that
 * fills inputs without a buffer_fill. Only the layout of `indices` matters; NULL means the
 * baseline's layout. If the baseline is the oracle, `indices` come from
 * script_oracle_configuration(). AT_NOT_FOUND if the pattern has no such kernel. */
at_status script_reference_plan(script *s, problem_kind problem, const uint16_t *indices,
                                launch_plan *out, at_error *error);
bool script_has_filler(const script *s);
at_status script_filler_plan(script *s, problem_kind problem, const uint16_t *indices,
                             launch_plan *out, at_error *error);

/* Finds the index of a parameter. AT_USAGE names the nearest parameter, or all. */
at_status script_find_parameter(const script *s, const char *name, size_t *parameter,
                                at_error *error);

/* Finds the index of a parameter's value that is written `typed`. AT_USAGE lists the values. */
at_status script_find_value(const script *s, size_t parameter, const char *typed, uint16_t *index,
                            at_error *error);

/* Parses "tile=64,vec=4,...", with optional quotes and blanks; other parameters have the baseline's
 * values. AT_USAGE names the nearest parameter, or lists the valid values. */
at_status script_parse_configuration(const script *s, const char *text, uint16_t *indices,
                                     at_error *error);

/* Parses as script_parse_configuration(), and sets given[i] to whether the text names parameter i.
 */
at_status script_parse_given(const script *s, const char *text, uint16_t *indices, bool *given,
                             at_error *error);

/* Replaces an invalid configuration by the nearest configuration that is valid for `problem`.
 * Parameters in `is_given` keep their values; parameters in `is_swept` (may be NULL) change freely.
 * Changes as few other parameters as possible, in as few steps as possible. *changed is false, and
 * `indices` stays, if the configuration is valid or no valid configuration is found. A space that
 * takes more than 10 s to enumerate is only sampled. */
at_status script_complete_configuration(script *s, problem_kind problem, const bool *is_given,
                                        const bool *is_swept, uint16_t *indices, bool *changed,
                                        at_error *error);

/* Writes "tile=64,vec=4,...". Returns the length as snprintf: below CONFIGURATION_BYTES. */
int script_format_configuration(const script *s, const uint16_t *indices, char *text,
                                size_t size_bytes);

/* Writes the XXH3-128 of the script, of every Lua file that it loaded, and of its data files, as 32
 * hex digits and NUL. */
void script_hash(const script *s, char hex[33]);

#endif
