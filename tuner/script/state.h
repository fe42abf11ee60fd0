/* The state that the files of this folder share; no other folder includes this header. script.c
 * loads and frees a script. read.c, read_space.c and fields.c turn the table of autotune.lua into
 * plain data. problem.c, launch.c, constraints.c, configuration.c and derived.c evaluate it. emit.c
 * runs templates of kernels, render.c templates of texts over data.c. host.c, captured.c and the
 * kernel_ files have the functions of the tool's own Lua. expression.c compiles and evaluates
 * expressions, evaluate.c tests constraints, helpers.c has the functions that expressions and
 * templates call. state.c keeps memory and finds files. script/expression has expressions as trees,
 * without Lua; script/sandbox has the Lua state. */
#ifndef AUTOTUNE_SCRIPT_STATE_H
#define AUTOTUNE_SCRIPT_STATE_H

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>

#include "base/data_file.h"
#include "device/plan.h"
#include "script/expression.h"
#include "script/expression/lexer.h"
#include "script/kernel_file.h"
#include "script/sandbox/sandbox.h"
#include "script/script.h"

/* These limits are also in lua/lib/autotune.lua. */
enum { SCRIPT_MAX_NAMES = 64, SCRIPT_MAX_CONSTRAINTS = 256, SCRIPT_MAX_OPTIONS = 16 };
enum { SCRIPT_MAX_LAYOUT = 4 }; /* most parameters that decide the layout */
enum { SCRIPT_MAX_INCLUDES = 2 * SCRIPT_INCLUDES_MAX };
enum { SCRIPT_MAX_FILE_BYTES = 4 << 20 };

typedef struct arena_block {
    struct arena_block *next;
} arena_block;

typedef struct script_tolerance {
    tolerance_kind kind;
    expression limit, mismatches; /* `text` is NULL if absent */
} script_tolerance;

typedef struct script_buffer {
    const char *name;
    int line;
    buffer_role role;
    expression type, count;
    data_file *file, *expected;    /* contents and expected results; may be NULL; owned by the
                                    * script */
    uint32_t record;               /* buffer_plan.record, with order = "any" */
    bool head;                     /* first elements of the file are enough */
    expression fill, limit, block; /* their `text` is NULL if absent */
    uint32_t value_count;
    expression *values;
    script_tolerance tolerance;
    expression compare; /* its `text` is NULL if all elements are compared */
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
    /* Their `text` is NULL if absent. The first three are for tensor maps, the others for textures,
     * the last two for surfaces. */
    expression swizzle, l2, outside, filter, address, coordinates, reads, memory, channels, layers;
} script_view;

typedef struct script_argument {
    argument_type type;
    uint32_t buffer;
    script_view *view; /* set for a tensor map, a texture or a surface */
    expression value;
    size_t member_count; /* for a struct, whose members are scalars */
    struct script_argument *members;
} script_argument;

typedef struct script_launch {
    const char *entry_text; /* name of the kernel in the script */
    expression entry;
    size_t argument_count;
    script_argument *arguments;
    int group; /* launches of one group run in rounds; 0 without a group */
    /* Their `text` is NULL if absent. */
    expression when, times, grid[3], block[3], cluster[3], shared, balanced, cooperative;
} script_launch;

typedef struct script_transfer {
    bool given;
    int line;
    uint32_t from, to;                   /* indices of buffers */
    expression direction, pieces, pitch; /* these expressions read no parameters */
    expression memory, staging, chunk, streams;
} script_transfer;

/* The kernel, the reference or the kernel that fills inputs: its template and its launches. */
typedef struct script_kernel {
    const char *template_name; /* name in the script */
    const char *template_path; /* path of the template found; NULL without such a kernel */
    int template_line;
    size_t launch_count;
    script_launch *launches;
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
    size_t option_count;
    expression options[SCRIPT_MAX_OPTIONS];
    size_t include_count;
    const char *includes[SCRIPT_INCLUDES_MAX]; /* paths of folders below the script's */
    bool is_file; /* the kernel is in its own file (kernel_file.h), not a template */
    size_t define_count;
    const char **defines; /* for a kernel in its own file: names defined before the file is read */
} script_kernel;

/* A derived value. A short one replaces its name; a long one is a function that readers call. */
typedef struct script_derived {
    const char *name;
    expression value;
    enum { DERIVED_WAITING, DERIVED_COMPILING, DERIVED_COMPILED } state;
    const char *call; /* name of the function in code; NULL for a short value */
    size_t rank;      /* rank of the function; exceeds the ranks of the functions that it calls */
} script_derived;

typedef struct script_case {
    expression condition; /* its `text` is NULL for the last case, which always holds */
    uint16_t first;       /* index of the parameter's value in this case */
} script_case;

/* The properties of a parameter besides its values. */
typedef struct script_choice {
    bool in_layout;
    size_t case_count; /* 0 for an unconditional parameter */
    script_case *cases;
} script_choice;

typedef struct script_bytes { /* The bytes of a file. */
    char *bytes;
    size_t size_bytes;
} script_bytes;

typedef struct script_warning {
    struct script_warning *next;
    int line;
    const char *text;
} script_warning;

/* Where the script and its files come from, and hashes of the files that were read. */
typedef struct script_from {
    char *path, *folder, *lua_dir, *template_dir;
    size_t include_count;
    char *includes[SCRIPT_INCLUDES_MAX]; /* folders that the command line names */
    char *kernel_path;         /* path of the kernel's file if is_described, otherwise `path` */
    script_bytes source;       /* text of the script, to look up lines */
    bool is_described;         /* the script is, or replaces, the comment of a kernel's file */
    void *hash;                /* XXH3 state over the Lua files */
    uint64_t template_hash[2]; /* sum of the templates' XXH3-128, low half first */
} script_from;

/* References into the registry of the Lua state. */
typedef struct script_lua {
    int expression_environment;
    int template_environment;
    int template_module;    /* the module that template.lua returns */
    int template_metatable; /* metatable of the environment of a template's run */
    int kept_strings;       /* set of strings to which C has pointers */
    int interned;           /* maps a text to its one copy */
    int declared;           /* the table that at.pattern made; `token` is its result */
    int token;
    int *value_tables;                 /* values of each parameter as a Lua list */
    int problem_tables[PROBLEM_KINDS]; /* values of each problem as a Lua list */
    bool quiet_modules; /* errors in the tool's modules are reported at their callers */
} script_lua;

/* A request for the comment that script_sketch() makes. */
typedef struct script_sketch_request {
    script_sketch_of of; /* borrowed */
    bool wanted;         /* a comment is wanted instead of a pattern */
    char *text;
} script_sketch_request;

/* The files that the script has opened, and the long lists of at.values (one list for each size of
 * a buffer). */
typedef struct script_data_files {
    data_file **files;
    size_t file_count;
    data_file **lists;
    size_t list_count;
} script_data_files;

typedef struct script_space_data {
    space_parameter *parameters;
    script_choice *choices; /* one for each parameter */
    bool has_only;          /* --only restricted the space, which may exclude the baseline */
    size_t derived_count, called_count; /* called_count of them are functions */
    script_derived *derived;
    expression *constraint_tests;
    size_t layout_count;
    size_t layout[SCRIPT_MAX_LAYOUT]; /* the parameters of the layout */
} script_space_data;

typedef struct script_checks {
    bool has_expected;          /* files have the expected results */
    bool has_oracle;            /* results are compared */
    script_tolerance tolerance; /* for buffers without a tolerance of their own */
    bool deterministic_given, deterministic;
} script_checks;

/* The work of a launch; `text` is NULL if absent. */
typedef struct script_work {
    expression traffic, flops, items, ceiling;
} script_work;

struct script {
    sandbox box;
    script_options options; /* its `settings` are valid only while the script is loaded */
    script_from from;
    script_lua lua;
    script_sketch_request sketch;
    script_warning *warnings;
    arena_block *arena; /* owner of all memory to which the pattern points */
    tree *expressions;  /* trees of all expressions */
    script_data_files data;
    pattern pattern;
    pattern_variable *problems[PROBLEM_KINDS];
    bool *is_set; /* for each variable: --set gives its value */
    script_space_data space;
    const struct emission *emission; /* the running emission, or NULL */
    expression *features;            /* one for each feature of the pattern */
    size_t buffer_count;
    script_buffer *buffers;
    script_checks checks;
    script_work work;
    script_kernel kernel, reference, filler;
    kernel_file kernel_source;           /* parsed file of `kernel`, or empty */
    struct kernel_syntax *kernel_syntax; /* syntax tree of the same file; NULL until it is needed */
    script_transfer transfer;
};

/* Allocates zeroed memory that lives as long as the script. Raises AT_NO_MEMORY. */
void *script_allocate(lua_State *L, size_t size_bytes);
const char *script_copy(lua_State *L, const char *text);
/* Copies a text. Equal texts get the same copy. */
const char *script_intern(lua_State *L, const char *text);

/* Pushes a value as a Lua value. */
void script_push_value(lua_State *L, value v);

/* Returns the script of a Lua state. */
script *script_of(lua_State *L);

/* Reads a regular file of at most SCRIPT_MAX_FILE_BYTES. The caller frees out->bytes, which end
 * with NUL. AT_NOT_FOUND, AT_IO, AT_NO_MEMORY. */
at_status script_read_file(const char *path, script_bytes *out, at_error *error);

/* Finds a file in one of the folders and writes its path. `name` is a relative path without "." and
 * ".."; links must stay below the folder. Returns false if the file does not exist. */
bool script_find_file(const char *const *folders, size_t folder_count, const char *name, char *path,
                      size_t path_bytes);

/* Lists the folders of a kernel's headers, in the order of the search. Returns their number. */
size_t script_include_folders(const script *s, const script_kernel *k,
                              const char *folders[SCRIPT_MAX_INCLUDES + 2]);

/* Tells whether a folder has the file, but only as a link that leaves the folder. */
bool script_leads_out(const char *const *folders, size_t folder_count, const char *name);

/* the end of a message about a link that leaves the folders */
extern const char script_link_text[];

enum { SCRIPT_ABSENT_BYTES = 1536 };

/* Writes the end of the message about a missing file: the folders, the script's first, and the
 * nearest name in them. Returns `text`. */
const char *script_absent(const char *const *folders, size_t folder_count, const char *name,
                          char text[SCRIPT_ABSENT_BYTES]);

/* Pushes nil and script_absent(). Returns 2, the number of results. */
int script_push_absent(lua_State *L, const char *const *folders, size_t folder_count,
                       const char *name);

/* Adds the functions that expressions and templates share (ceil_div, sizeof ...) to the table on
 * top of the stack, which has `math`; script_add_helpers() also adds `device`. */
void script_add_functions(lua_State *L);
void script_add_helpers(lua_State *L);

/* Returns the derived value with that name, or NULL. */
script_derived *script_find_derived(const script *s, const char *name);
/* Makes a compiled derived value a function, if its text is long. Raises. */
void script_make_called(lua_State *L, script_derived *derived);
/* Appends a call of a derived value's function. */
void script_add_call(lua_State *L, luaL_Buffer *code, const script_derived *derived);
/* Compiles a derived value after the values that it reads. Raises, also if it reads itself. */
void script_derive(lua_State *L, script_derived *derived);

/* Pushes the function of an expression and its arguments, for lua_call(L, result, 1). Allocates
 * nothing in Lua. `indices` may be NULL if the expression reads no parameter. */
int expression_push(script *s, const expression *e, problem_kind problem, const uint16_t *indices);
/* Returns the message on top of the stack, without the leading position "expression:1:". */
const char *expression_failure(lua_State *L);

/* Writes the values that an expression reads, ", where rows is 0, tile is 32", as far as they fit.
 * Returns `text`, which is "" if the expression reads no value. */
const char *expression_values(const script *s, const expression *e, problem_kind problem,
                              const uint16_t *indices, char *text, size_t size_bytes);

/* Returns the name of a parameter or variable, borrowed from the script. */
const char *expression_input_name(const script *s, expression_input input);

/* Returns the index of a field of `device` in device_fields(), or -1 with *nearest set to the
 * nearest name, which may be NULL. */
int script_device_field(const char *name, const char **nearest);

/* Returns the most similar name among parameters, problem variables, derived values and an
 * environment (a registry reference), or NULL. The name lives as long as the environment. */
const char *script_nearest_name(lua_State *L, int environment, const char *name);

/* Writes "; did you mean 'NAME'?", or "" if `nearest` is NULL. Returns `text`. */
enum { SCRIPT_MEANT_BYTES = 320 };
const char *script_meant(const char *nearest, char text[SCRIPT_MEANT_BYTES]);

/* Returns the element type with the most similar name, or NULL. */
const char *script_nearest_dtype(const char *name);

/* Loads a file as a function. Pops the function's environment from the stack. The caller owns
 * *source, also after an error. Raises. */
void script_load_file(lua_State *L, const char *path, const char *chunk_name, script_bytes *source);

/* Loads a text, which messages call `path`. */
void script_load_text(lua_State *L, const char *text, size_t size_bytes, const char *path,
                      const char *chunk_name);

/* Returns the text between a message's subject and the message. "" if the message begins with a
 * blank, because both are then one sentence ("space.tile" " has no values"), otherwise ": ". */
const char *script_joint(const char *message);

/* Runs one of the tool's own Lua files with a table of functions as argument. Pushes its result. */
void script_run_own(lua_State *L, const char *file);

/* nearest(word, names) returns the name that `word` misspells, or nil; parse(text) returns the
 * value that a person typed. */
int script_nearest(lua_State *L);
int script_parse(lua_State *L);

/* Functions for the tool's own Lua (host.NAME); each list ends with a NULL name. */
extern const luaL_Reg host_kernel_functions[];   /* kernel_host.c */
extern const luaL_Reg host_syntax_functions[];   /* kernel_syntax.c */
extern const luaL_Reg host_captured_functions[]; /* captured.c */

/* Frees the syntax tree. `k` may be NULL. */
void kernel_syntax_free(struct kernel_syntax *k);

/* Runs a kernel file's comment. Replaces the environment on the stack by the pattern. Raises. */
void script_load_described(lua_State *L);

/* Returns the last part of the path of the kernel's file. */
const char *script_kernel_file_name(const script *s);

/* Returns the text in which fields of the pattern are looked up. */
source_text script_source_text(const script *s);

/* Adds require(), for modules of the script's folder and the tool's, to the table on the stack. */
void script_add_require(lua_State *L);

/* Pops the table that autotune.lua made, and reads it. Raises. */
void script_read_pattern(lua_State *L);

/* Reads the space and the layout's parameters. Raises. */
void script_read_space(lua_State *L, script *s);

/* Evaluates a configuration's transfer. `has_kernel` tells whether the configuration launches a
 * kernel. Raises. */
void evaluate_transfer(lua_State *L, problem_kind problem, const uint16_t *indices, bool has_kernel,
                       transfer_plan *out);

/* Returns the index among `names` of the string that `e` gives. Raises for another string. */
size_t evaluate_name(lua_State *L, const expression *e, problem_kind problem,
                     const uint16_t *indices, const char *const *names, size_t count);

/* Evaluates the type of a buffer and its number of elements. Raises. */
uint64_t evaluate_elements(lua_State *L, problem_kind problem, const uint16_t *indices,
                           const script_buffer *b, dtype *type);

/* Finds the script's launches that are in a configuration's plan, in the plan's order. */
at_status script_planned_launches(script *s, const script_kernel *kernel, problem_kind problem,
                                  const uint16_t *indices,
                                  const script_launch *out[PLAN_MAX_LAUNCHES], at_error *error);

static inline bool argument_is_view(argument_type type)
{
    return type == ARGUMENT_TENSOR || type == ARGUMENT_TEXTURE || type == ARGUMENT_SURFACE;
}

/* host.file(name, dtype) returns the description of a user's file, or nil and the reason. */
int script_open_file(lua_State *L);
/* Takes over a file and pushes its description. Returns false if the script has too many files. */
bool script_keep_file(lua_State *L, data_file *f);
/* Returns the file whose description has this number, or NULL for 0. */
data_file *script_numbered_file(const script *s, int number);
/* Computes the hash of a file's contents. Raises. */
void script_file_key(lua_State *L, data_file *f, data_key *out);

/* Keeps a list as data that fill a buffer of `count` elements, unless the script has equal data.
 * *out is the key. Raises. */
void script_keep_list(lua_State *L, const char *buffer, dtype type, const void *values,
                      uint32_t value_count, uint64_t count, data_key *out);

/* Pushes a userdata that frees the bytes in it when it is collected. */
script_bytes *script_new_bytes(lua_State *L);

/* A type that a script may give to a scalar argument (launch.c). */
typedef struct script_scalar {
    int64_t least, most;
    uint32_t size_bytes;
    const char *floating; /* name of a floating-point type; NULL for whole numbers */
} script_scalar;
extern const script_scalar script_scalars[ARGUMENT_TYPES];

/* limits of a grid, a block and a cluster along each side (launch.c) */
extern const int64_t script_most_blocks[3], script_most_threads[3], script_most_cluster[3];

/* emit_open() loads template.lua, emit_compile_templates() compiles the templates. Both raise. */
void emit_open(lua_State *L);
void emit_compile_templates(lua_State *L);

/* Returns the length of the first item of a list. A comma in quotes does not separate items. */
size_t script_item_length(const char *list);

/* Removes blanks, then quotes, from both ends of a word, in place. Returns its new beginning. */
char *script_bare(char *word);

/* Read a field of the table on top of the stack, or the value there (fields.c). autotune.lua has
 * checked the table's shape. Only lists stay on the stack. The script owns texts. All may raise. */

const char *field_string(lua_State *L, const char *field);
int field_integer(lua_State *L, const char *field);
bool field_boolean(lua_State *L, const char *field);

/* Returns the index of the word `field` among `names`. */
int field_word(lua_State *L, const char *field, const char *const names[]);

/* Pushes the list `field`, or nil, for fields_next(). Returns its length. */
size_t fields_enter(lua_State *L, const char *field);

/* Replaces the item on the stack by item `i`. After the last item, pops the list, returns false. */
bool fields_next(lua_State *L, size_t i, size_t count);

/* Returns the scalar on top of the stack. Strings are copied. */
value fields_value(lua_State *L);

/* Return the expression in the table: its text only, or compiled. */
expression fields_text(lua_State *L);
expression fields_expression(lua_State *L, expression_reach reach);

/* Returns the expression `field`; its text is NULL if the field is absent. */
expression field_expression(lua_State *L, const char *field, expression_reach reach);

/* Reads up to `capacity` expressions of the list `field`. Returns their number. */
size_t field_expressions(lua_State *L, const char *field, expression_reach reach, expression *out,
                         size_t capacity);

/* Reads the folders `includes`. Raises if one is not a folder below the script's. */
void fields_includes(lua_State *L, const script *s, script_kernel *k);

/* Set a field of the table on top of the stack. `text` may be NULL. */
void set_integer(lua_State *L, const char *field, lua_Integer v);
void set_boolean(lua_State *L, const char *field, bool v);
void set_text(lua_State *L, const char *field, const char *text);
void set_integers(lua_State *L, const char *field, const uint64_t *v, size_t count);

/* Data of templates (data.c): JSON as Lua tables, and Lua values as JSON (render.h lists the
 * functions). Scripts cannot change members that came with the data; a missing name is an error. */

/* Adds json(), names(), has() and object() to the environment on the stack, and replaces pairs().
 * Call this once per state, before the other functions. */
void data_add_functions(lua_State *L);

/* Pushes a JSON value, which must outlive the state. */
void data_push(lua_State *L, const json_t *from);

/* Returns the Lua value at `index` as JSON, a new reference. Raises if JSON has no such value. */
json_t *data_take(lua_State *L, int index);

/* Pushes a new table with the members of an object, which has to outlive the state. */
void data_push_members(lua_State *L, const json_t *from);

#endif
