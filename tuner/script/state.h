/* The state that the files of script/script.h and script/emit.h share; no other room includes this.
 *
 * From the top down: script.c loads and owns; read.c turns the table that autotune.lua made into
 * plain data; problem.c, launch.c, transfer.c, view.c, constraints.c and configuration.c evaluate;
 * emit.c runs templates of kernels, render.c those of texts, over data.c; host.c loads files and
 * has what the tool's own Lua calls; expression.c compiles and evaluates expressions,
 * expression_test.c those of constraints; helpers.c has what expressions and templates call;
 * state.c keeps the memory and finds the files. script/expression has expressions as trees, without
 * Lua; script/sandbox has the Lua state itself. */
#ifndef AUTOTUNE_SCRIPT_STATE_H
#define AUTOTUNE_SCRIPT_STATE_H

#include <lua.h>

#include "base/data_file.h"
#include "device/plan.h"
#include "script/expression.h"
#include "script/expression/lexer.h"
#include "script/kernel_file.h"
#include "script/sandbox/sandbox.h"
#include "script/script.h"

/* The same limits as in lua/lib/autotune.lua. */
enum { SCRIPT_MAX_NAMES = 64, SCRIPT_MAX_CONSTRAINTS = 256, SCRIPT_MAX_OPTIONS = 16 };
enum { SCRIPT_MAX_LAYOUT = 4 }; /* parameters */
enum { SCRIPT_MAX_INCLUDES = 2 * SCRIPT_INCLUDES_MAX };
enum { SCRIPT_MAX_FILE_BYTES = 4 << 20 };

typedef struct arena_block {
    struct arena_block *next;
} arena_block;

typedef struct script_tolerance {
    tolerance_kind kind;
    expression limit, mismatches; /* text NULL when absent */
} script_tolerance;

typedef struct script_buffer {
    const char *name;
    int line;
    buffer_role role;
    expression type, count;
    data_file *file,
        *expected;   /* what fills it, and what it is to hold; NULL: none. The script's */
    uint32_t record; /* with order = "any": buffer_plan.record */
    bool head;       /* the first elements of the file will do */
    expression fill, limit, block; /* text NULL when absent */
    uint32_t value_count;
    expression *values;
    script_tolerance tolerance;
    expression compare; /* text NULL when absent: all elements */
    uint32_t rank;
    expression shape[4];
} script_buffer;

typedef enum argument_type {
    ARGUMENT_BUFFER,
    ARGUMENT_STRUCT,
    ARGUMENT_PLAIN,
    ARGUMENT_INT8,
    ARGUMENT_UINT8,
    ARGUMENT_INT16,
    ARGUMENT_UINT16,
    ARGUMENT_INT32,
    ARGUMENT_UINT32,
    ARGUMENT_INT64,
    ARGUMENT_UINT64,
    ARGUMENT_HALF,
    ARGUMENT_BFLOAT16,
    ARGUMENT_FLOAT,
    ARGUMENT_DOUBLE,
    ARGUMENT_BOOL,
    ARGUMENT_TENSOR,
    ARGUMENT_TEXTURE,
    ARGUMENT_SURFACE,
    ARGUMENT_TYPES
} argument_type;

/* A tensor map, a texture or a surface of a buffer. */
typedef struct script_view {
    uint32_t rank, stride_count, box_count;
    expression size[VIEW_MAX_RANK], strides[VIEW_MAX_RANK], box[VIEW_MAX_RANK];
    /* Text NULL when absent; the first three of tensor maps, the others of textures, the last two
     * of these of surfaces, too. */
    expression swizzle, l2, outside, filter, address, coordinates, reads, memory, channels, layers;
} script_view;

typedef struct script_argument {
    argument_type type;
    uint32_t buffer;
    script_view *view; /* of a tensor map, a texture or a surface */
    expression value;
    size_t member_count; /* of a struct; members are scalars */
    struct script_argument *members;
} script_argument;

typedef struct script_launch {
    const char *entry_text; /* as the script has it */
    expression entry;
    size_t argument_count;
    script_argument *arguments;
    int group; /* launches that run in rounds have the same number; 0: it is in no group */
    /* Text NULL when absent. */
    expression when, times, grid[3], block[3], cluster[3], shared, balanced, cooperative;
} script_launch;

/* The data in the host's memory, and how it is moved. */
typedef struct script_transfer {
    bool given;
    int line;
    uint32_t from, to;                   /* buffers */
    expression direction, pieces, pitch; /* read no parameters */
    expression memory, staging, chunk, streams;
} script_transfer;

/* A template (of the kernel, the reference or what fills inputs), with what launches it. */
typedef struct script_kernel {
    const char *template_name; /* as the script spells it */
    const char *template_path; /* as found; NULL: there is no such kernel */
    int template_line;
    size_t launch_count;
    script_launch *launches;
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
    size_t option_count;
    expression options[SCRIPT_MAX_OPTIONS];
    size_t include_count;
    const char *includes[SCRIPT_INCLUDES_MAX]; /* folders below the script's, as paths */
    bool is_file; /* a file of the user's own (script/kernel_file.h), and no template */
    size_t define_count;
    const char **defines; /* of a file: the names that are defined before it is read */
} script_kernel;

/* A name for an expression; `state` tells whether it has been compiled. A short one takes the place
 * of its name in what reads it, a long one is a function that is called there. */
typedef struct script_derived {
    const char *name;
    expression value;
    enum { DERIVED_WAITING, DERIVED_COMPILING, DERIVED_COMPILED } state;
    const char *call; /* what the function is called in code; NULL: a short one */
    size_t rank;      /* of those that are functions: after the ones it reads */
} script_derived;

/* One of the cases of a conditional parameter. */
typedef struct script_case {
    expression condition; /* text NULL: always, the last case */
    uint16_t first;       /* index of the value that stands for the case */
} script_case;

/* A parameter, beside its values. */
typedef struct script_choice {
    bool in_layout;
    size_t case_count; /* 0: unconditional */
    script_case *cases;
} script_choice;

typedef struct script_range { /* of bytes */
    char *bytes;
    size_t size_bytes;
} script_range;

typedef struct script_warning {
    struct script_warning *next;
    int line;
    const char *text;
} script_warning;

/* The place of the script, and hashes of what was read. */
typedef struct script_from {
    char *path, *folder, *lua_dir, *template_dir;
    size_t include_count;
    char *includes[SCRIPT_INCLUDES_MAX]; /* folders that the command line names */
    char *kernel_path;   /* of the kernel's file if the pattern is_described; else `path` again */
    script_range source; /* of the script itself, for lines */
    bool is_described;   /* the script is the comment of a kernel's file, or stands for one */
    void *hash;          /* XXH3 state of the Lua files read */
    uint64_t template_hash[2]; /* sum of the templates' XXH3-128, low half first */
} script_from;

/* References into the registry of the Lua state. */
typedef struct script_lua {
    int expression_environment;
    int template_environment;
    int template_module;    /* value that template.lua returns */
    int template_metatable; /* of the environment of one run */
    int kept_strings;       /* set of strings that C points to */
    int interned;           /* text -> its one copy */
    int declared;           /* value that at.pattern made, and the token that it returned */
    int token;
    int *value_tables;                 /* each parameter's values as a Lua array */
    int problem_tables[PROBLEM_KINDS]; /* each problem as a Lua table */
    bool quiet_modules; /* errors in the tool's own modules are told where these are called */
} script_lua;

/* The comment that script_sketch() makes. */
typedef struct script_sketching {
    const char *entry; /* borrowed; NULL: the file's only kernel */
    bool wanted;       /* a comment is wanted, and no pattern */
    char *text;
} script_sketching;

/* The files that the script has opened, and long lists of at.values, one for each size of a buffer
 * that a list fills. */
typedef struct script_data_files {
    data_file **files;
    size_t file_count;
    data_file **lists;
    size_t list_count;
} script_data_files;

/* The space of configurations. */
typedef struct script_searched {
    space_parameter *parameters;
    script_choice *choices; /* one a parameter */
    bool has_only;          /* the user narrowed the space: the baseline may lie outside */
    size_t derived_count, called_count; /* called: derived values that are functions */
    script_derived *derived;
    expression *constraint_tests;
    size_t layout_count;
    size_t layout[SCRIPT_MAX_LAYOUT]; /* parameters that the data may depend on */
} script_searched;

/* How results are compared. */
typedef struct script_checks {
    bool has_expected;          /* files have the right results */
    bool has_oracle;            /* results are compared */
    script_tolerance tolerance; /* of buffers that have none of their own */
    bool deterministic_given, deterministic;
} script_checks;

/* The work of a launch. Text NULL when absent. */
typedef struct script_work {
    expression traffic, flops, items, ceiling;
} script_work;

struct script {
    sandbox box;
    script_options options; /* what `settings` points to is used while loading only */
    script_from from;
    script_lua lua;
    script_sketching sketch;
    script_warning *warnings;
    arena_block *arena; /* everything that the pattern points to */
    tree *expressions;  /* of all that are compiled */
    script_data_files data;
    pattern pattern;
    pattern_variable *problems[PROBLEM_KINDS];
    bool *is_set; /* of each variable: the command line says what it is */
    script_searched space;
    const struct emission *emission; /* in progress, for the derived values that a template reads */
    expression *features;            /* one for each of the pattern's */
    size_t buffer_count;
    script_buffer *buffers;
    script_checks checks;
    script_work work;
    script_kernel kernel, reference, filler;
    kernel_file kernel_source;           /* of `kernel`, if that is a file; else empty */
    struct kernel_syntax *kernel_syntax; /* of the same file; NULL: nothing asked for it */
    script_transfer transfer;
};

/* Zeroed memory that lives as long as the script; raises AT_NO_MEMORY. */
void *script_allocate(lua_State *L, size_t size_bytes);
const char *script_copy(lua_State *L, const char *text);
/* The same copy for equal texts. */
const char *script_intern(lua_State *L, const char *text);

void script_push_value(lua_State *L, value v);

script *script_of(lua_State *L);

/* Opens and reads a whole regular file of at most SCRIPT_MAX_FILE_BYTES; the caller frees
 * out->bytes, which has a NUL after the end. AT_IO, AT_NO_MEMORY. */
at_status script_read_file(const char *path, script_range *out, at_error *error);

/* Finds `name` under one of the folders: a relative path of plain components that leads to a file
 * below that folder, symbolic links included. Fills `path`; false when there is none. */
bool script_find_file(const char *const *folders, size_t folder_count, const char *name, char *path,
                      size_t path_bytes);

/* The folders in which what a kernel's source includes is looked for, in order; how many. */
size_t script_include_folders(const script *s, const script_kernel *k,
                              const char *folders[SCRIPT_MAX_INCLUDES + 2]);

/* Is there such a file in one of the folders, but by a link that leads out of it? *what tells why
 * it is not read, and what to do: static storage, "" where there is none. */
bool script_leads_out(const char *const *folders, size_t folder_count, const char *name,
                      const char **what);
/* Pushes nil and what else is to be said of a file that is in none of the folders: what a function
 * of the host returns, which are two. */
int script_push_absent(lua_State *L, const char *const *folders, size_t folder_count,
                       const char *name);

/* The tool's functions that expressions and templates share (ceil_div, sizeof ...), added to the
 * table on top of the stack, which has `math`. */
void script_add_functions(lua_State *L);
/* The same, and `device`. */
void script_add_helpers(lua_State *L);

/* NULL: there is none of that name. */
script_derived *script_find_derived(const script *s, const char *name);
/* Makes a compiled value a function that expressions can call, if it is long. Raises. */
void script_make_called(lua_State *L, script_derived *derived);
struct luaL_Buffer;
/* Appends a call of the function of one that has been made so. */
void script_add_call(lua_State *L, struct luaL_Buffer *code, const script_derived *derived);
/* Compiles a derived value, and first those that it reads. Raises, also when it reads itself. */
void script_derive(lua_State *L, script_derived *derived);

/* In script/expression.c. Pushes the function and its arguments, for lua_call(L, result, 1);
 * allocates nothing in Lua. `indices` may be NULL when the expression reads no parameter. */
int expression_push(script *s, const expression *e, problem_kind problem, const uint16_t *indices);
/* The message on top of the stack; "expression:1: attempt to ..." without its place. */
const char *expression_failure(lua_State *L);

/* In script/expression.c: writes ", where rows is 0, tile is 32", the values that an expression
 * reads, as many as there is room for; nothing where it reads none. Returns `text`. */
const char *expression_values(const script *s, const expression *e, problem_kind problem,
                              const uint16_t *indices, char *text, size_t size_bytes);

const char *expression_input_name(const script *s, expression_input input);

/* The place of a field of `device` among device_fields(); -1: there is none of that name, and
 * *nearest is what may have been meant or NULL. */
int script_device_field(const char *name, const char **nearest);

/* The name most like `name` among parameters, problem variables, derived values and an environment
 * (a registry reference); NULL when none is similar. It lives as long as the environment does. */
const char *script_nearest_name(lua_State *L, int environment, const char *name);

/* Loads a file as a function with the environment on top of the stack, which is popped. The file's
 * bytes stay with the caller through *source, whatever happens. Raises. */
void script_load_file(lua_State *L, const char *path, const char *chunk_name, script_range *source);

/* The same of a text, which messages call `path`. */
void script_load_text(lua_State *L, const char *text, size_t size_bytes, const char *path,
                      const char *chunk_name);

/* Reads and runs one of the tool's own Lua files (autotune.lua, template.lua), which get a table of
 * functions as their argument, and leaves its result on the stack. */
void script_run_own(lua_State *L, const char *file);

/* Functions for Lua: nearest(word, names) returns the name that `word` misspells, or nil;
 * parse(text) returns the value that a person typed. */
int script_nearest(lua_State *L);
int script_parse(lua_State *L);

/* In script/kernel_host.c: functions for the tool's own Lua. */
int host_captured(lua_State *L);
int host_captured_file(lua_State *L);
int host_captured_variable(lua_State *L);
int host_is_needed(lua_State *L);
int host_sizeof(lua_State *L);
int host_unpack(lua_State *L);
int host_open_kernel(lua_State *L);
int host_cut_kernel(lua_State *L);
int host_kernel_signature(lua_State *L);
int host_kernel_words(lua_State *L);
int host_launches(lua_State *L);
int host_syntax(lua_State *L);
void kernel_syntax_free(struct kernel_syntax *k);
int host_syntax_text(lua_State *L);
int host_texts(lua_State *L);
int host_shaping_words(lua_State *L);
int host_variables(lua_State *L);
int host_is_type_like(lua_State *L);
int host_variable_line(lua_State *L);
int host_is_index_array(lua_State *L);
int host_is_declared(lua_State *L);
int host_sketches(lua_State *L);
int host_sketch(lua_State *L);

/* In script/described.c: runs the comment of the kernel's file with the environment on top of the
 * stack, and leaves there what at.pattern made of its fields. Raises. */
void script_load_described(lua_State *L);

/* The last part of the kernel's file's path, by which it is found in its folder. */
const char *script_own_name(const script *s);

/* The table in which the fields of the pattern are looked for. */
source_text script_source_text(const script *s);

/* Gives the environment on top of the stack require(), which loads modules of the script's folder
 * and the tool's. */
void script_add_require(lua_State *L);

/* Reads the canonical table on top of the stack into the script; pops it. Raises. */
void script_read_pattern(lua_State *L);

/* In script/read_space.c: reads its space, and which parameters are of the layout. Raises. */
void script_read_space(lua_State *L, script *s);

/* In script/feature.c: reads what a choice may ask. Raises. */
void script_read_features(lua_State *L, script *s);

/* In script/transfer.c: what is moved between host and device, and how a configuration does it
 * (`has_kernel`: it launches one). Both raise. */
void transfer_evaluate_task(lua_State *L, problem_kind problem, transfer_task *out);
void transfer_evaluate_plan(lua_State *L, problem_kind problem, const uint16_t *indices,
                            bool has_kernel, transfer_plan *out);

/* The index among `names` of the string that `e` evaluates to; raises when it is none of them. */
size_t evaluate_name(lua_State *L, const expression *e, problem_kind problem,
                     const uint16_t *indices, const char *const *names, size_t count);

/* A buffer's type, and how many elements it has. Raises. */
uint64_t evaluate_elements(lua_State *L, problem_kind problem, const uint16_t *indices,
                           const script_buffer *b, dtype *type);

/* The script's launches that a configuration's plan has, in its order. */
at_status script_planned_launches(script *s, problem_kind problem, const uint16_t *indices,
                                  const script_launch *out[PLAN_MAX_LAUNCHES], at_error *error);

static inline bool argument_is_view(argument_type type)
{
    return type == ARGUMENT_TENSOR || type == ARGUMENT_TEXTURE || type == ARGUMENT_SURFACE;
}

/* In script/view.c: a tensor map, a texture or a surface of a buffer. Raises at the field that
 * makes no sense. */
void view_evaluate(lua_State *L, problem_kind problem, const uint16_t *indices,
                   const script_argument *from, view_plan *out);

/* In script/file.c. host.file(name, dtype): what is known of a file of the user's; nil and what is
 * wrong. */
int script_open_file(lua_State *L);
/* Takes over a file and pushes what at.file() gives; false: the script has too many already. */
bool script_keep_file(lua_State *L, data_file *f);
/* The file with this number, as that call told it; NULL for 0. */
data_file *script_numbered_file(const script *s, int number);
/* The hash of a file's contents. Raises. */
void script_file_key(lua_State *L, data_file *f, data_key *out);

/* Keeps a list of `value_count` elements as data that fill a buffer of `count`; *out gets its key.
 * The script keeps equal data once. */
void script_keep_list(lua_State *L, const char *buffer, dtype type, const void *values,
                      uint32_t value_count, uint64_t count, data_key *out);

/* A userdata that frees the bytes of the range in it when it is collected. */
script_range *script_new_range(lua_State *L);

/* In script/launch.c: the types of arguments that have a size of their own. */
typedef struct script_scalar {
    int64_t least, most;
    uint32_t size_bytes;
    const char *floating; /* what a floating-point type is called; NULL: it is whole */
} script_scalar;
extern const script_scalar script_scalars[ARGUMENT_TYPES];

/* The limits of a grid, a block and a cluster along each side. */
extern const int64_t script_most_blocks[3], script_most_threads[3], script_most_cluster[3];

/* In script/emit.c: loads template.lua; compiles the templates. Both raise. */
void emit_open(lua_State *L);
void emit_compile_templates(lua_State *L);

/* The length of the first item of a comma-separated list; a comma in quotes does not separate. */
size_t script_item_length(const char *list);
/* Strips blanks, then quotes, from both ends of a word, in place. */
char *script_bare(char *word);

/* The test of constraints: script_test_constraint is a space_test whose context is a
 * script_test. */
typedef struct script_test {
    script *s;
    problem_kind problem;
    bool failed; /* a test raised an error, which is not the same as a constraint that fails */
    patience patience; /* which each test takes from; whether it is over is for who makes the space
                          to ask */
} script_test;

at_status script_test_constraint(void *context, const space_question *question, bool *holds,
                                 at_error *error);

#endif
