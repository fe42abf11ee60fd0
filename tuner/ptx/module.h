/* A parsed PTX module: functions, variables, registers, statements and source locations, as plain
 * arrays. ptx_parse() (ptx/parse.h) creates a module, which never changes afterwards. The module
 * owns a copy of the PTX text, and all `ptx_text` fields are views of that copy. */
#ifndef AUTOTUNE_PTX_MODULE_H
#define AUTOTUNE_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/token.h"

enum { PTX_NONE = -1 };

typedef enum ptx_type {
    PTX_B8,
    PTX_U8,
    PTX_S8,
    PTX_B16,
    PTX_U16,
    PTX_S16,
    PTX_F16,
    PTX_BF16,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_B32,
    PTX_U32,
    PTX_S32,
    PTX_F32,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_TF32,
    PTX_U16X2,
    PTX_S16X2,
    PTX_B64,
    PTX_U64,
    PTX_S64,
    PTX_F64,
    PTX_F32X2,
    PTX_B128,
    PTX_PRED,
    PTX_TYPE_COUNT
} ptx_type;

/* Returns the size of a value in bytes, or 0 for a predicate. */
uint32_t ptx_type_bytes(ptx_type type);

/* Finds a type by its modifier (".f32"). Returns false if the modifier is no type. */
bool ptx_type_find(ptx_text modifier, ptx_type *type);

/* Finds the type that ends an opcode ("ld.global.f32"). Returns false if no type ends it. */
bool ptx_opcode_type(ptx_text opcode, ptx_type *type);

typedef enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM
} ptx_space;

/* Returns the name of a state space in PTX, without a dot. */
const char *ptx_space_name(ptx_space space);

typedef struct ptx_variable {
    ptx_text name;
    ptx_space space;
    uint32_t alignment;  /* a power of two, in bytes */
    uint64_t size_bytes; /* 0 for an extern array without a size (dynamic shared memory) */
    uint8_t *initial;    /* initial value of `size_bytes` bytes; NULL if there is none */
} ptx_variable;

/* An element of an initial value that holds an address. */
typedef struct ptx_relocation {
    int variable;     /* variable with the initial value */
    uint64_t at;      /* offset of the element in the initial value, in bytes */
    uint32_t bytes;   /* size of the element */
    uint32_t shift;   /* bits by which the address is shifted right before the element takes it */
    bool is_function; /* `target` is a function, otherwise a variable */
    int target;
    int64_t addend; /* bytes added to the address of the target */
} ptx_relocation;

typedef enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* index: register of the function */
    PTX_OPERAND_SPECIAL,  /* text: "%tid.x", "%clock64" ... */
    PTX_OPERAND_INTEGER,  /* bits: the value */
    PTX_OPERAND_FLOAT,    /* bits: a float */
    PTX_OPERAND_DOUBLE,   /* bits: a double */
    PTX_OPERAND_VARIABLE, /* index: variable; offset: added to its address, in bytes */
    PTX_OPERAND_ADDRESS,  /* [operand `first` + offset]; if count is 2: [tensor, {coordinates}] */
    PTX_OPERAND_VECTOR,   /* {...}: operands first .. first + count - 1 */
    PTX_OPERAND_GROUP,    /* (...) of a call: operands as in a vector */
    PTX_OPERAND_PAIR,     /* a|b: two operands as in a vector */
    PTX_OPERAND_LABEL,    /* index: label in ptx_module.labels */
    PTX_OPERAND_FUNCTION, /* index: function in ptx_module.functions */
    PTX_OPERAND_SINK      /* _ */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    bool negated; /* !p */
    int index;
    int64_t offset;
    uint64_t bits;
    int first, count; /* range of ptx_module.operands */
    ptx_text text;
    ptx_text selector; /* part of a register, such as ".h1"; empty for the whole register */
} ptx_operand;

/* Counts of the machine instructions of a PTX line: see ptx_read_notes() in ptx/parse.h. */
typedef struct ptx_note {
    uint16_t common, integers, products, specials, locals, others;
    uint16_t loads_ahead;
} ptx_note;

typedef struct ptx_statement {
    ptx_text opcode; /* opcode with its modifiers: "ld.global.nc.f32" */
    int guard;       /* predicate register, or PTX_NONE */
    bool guard_negated;
    int first, count; /* operands: range of ptx_module.operands */
    int line;         /* line of the PTX */
    int location;     /* index in ptx_module.locations, or PTX_NONE */
    bool rolled;      /* starts a loop that ptxas must not unroll (.pragma "nounroll") */
    ptx_note note;
    bool unreadable; /* the guard or the operands have an unknown form and are not stored */
} ptx_statement;

typedef struct ptx_label {
    ptx_text name;
    int statement;    /* statement after the label; PTX_NONE for a table or an undefined label */
    int first, count; /* table: operands of .branchtargets (labels) or .calltargets (functions);
                         count is 0 if the label is no table */
} ptx_label;

/* A .loc directive. */
typedef struct ptx_location {
    int file, line, column;
    int outer; /* location of the call if the code was inlined, or PTX_NONE */
} ptx_location;

/* Limits for launches of a kernel, from its directives. A limit without a directive is 0. */
typedef struct ptx_launch_limits {
    uint64_t max_threads;         /* .maxntid: threads of a block (product of the extents) */
    uint32_t required_block[3];   /* .reqntid: extents of a block */
    uint32_t cluster[3];          /* .reqnctapercluster: extents of a cluster, in blocks */
    uint32_t most_cluster_blocks; /* .maxclusterrank: blocks of a cluster */
    bool explicit_cluster;        /* .explicitcluster: a launch must have clusters */
    bool blocks_are_clusters;     /* .blocksareclusters: a grid counts clusters, not blocks */
    uint32_t least_blocks;        /* .minnctapersm: blocks for which an SM must have registers */
    uint32_t most_registers;      /* .maxnreg: registers of a thread */
} ptx_launch_limits;

typedef struct ptx_function {
    ptx_text name;
    bool is_entry, has_body;
    ptx_text body;                        /* text between the braces */
    int first_parameter, parameter_count; /* variables in PTX_SPACE_PARAM */
    int first_result, result_count;       /* variables in PTX_SPACE_PARAM; .func only */
    int first_variable, variable_count;   /* all its variables, including parameters and results */
    int first_register, register_count;   /* range of ptx_module.register_types: .reg results, .reg
                                             parameters, then other registers */
    int register_results, register_parameters; /* number of .reg results; of .reg parameters */
    int first_statement, statement_count;
    int line;
    ptx_launch_limits limits;
} ptx_function;

typedef struct ptx_module {
    char *text;
    char name[256];          /* name of the PTX text in messages */
    char target[16];         /* architecture: "sm_90" */
    uint8_t *register_types; /* ptx_type of each register */
    ptx_variable *variables;
    ptx_function *functions;
    ptx_statement *statements;
    ptx_operand *operands;
    ptx_label *labels;
    ptx_location *locations;
    ptx_relocation *relocations;
    ptx_text *files; /* file names by number; an unused number has an empty name */
    size_t register_count, variable_count, function_count, statement_count, operand_count,
        label_count, location_count, file_count, relocation_count;
    bool has_notes; /* a statement has a note */
} ptx_module;

/* Frees a module. `m` may be NULL. */
void ptx_module_free(ptx_module *m);

/* Returns the index of the entry `name`, or of the first entry if `name` is NULL. Returns PTX_NONE
 * if the module has no such entry. */
int ptx_module_entry(const ptx_module *m, const char *name);

/* Returns whether the file is a header of the CUDA Toolkit, which no message points to. The files
 * of a pattern have relative names; headers of the Toolkit have absolute names. */
bool ptx_is_header(ptx_text file);

/* Finds the source line of the innermost call outside the Toolkit's headers. If `location` is
 * PTX_NONE, *file is empty and *line is 0. */
void ptx_source_line(const ptx_module *m, int location, ptx_text *file, int *line);

/* Returns the innermost location outside the Toolkit's headers, or the outermost location if all of
 * them are in headers. Returns PTX_NONE if `location` is PTX_NONE. */
int ptx_user_location(const ptx_module *m, int location);

/* Returns the file name of a location, or an empty text if its file number has no name. */
ptx_text ptx_location_file(const ptx_module *m, const ptx_location *l);

enum { PTX_LOCATION_BYTES = 640 };

/* Writes a location for a message, without the Toolkit's headers: "tile.cuh:6, inlined at
 * dot.cu.tmpl:14". `text` needs at most PTX_LOCATION_BYTES. */
void ptx_format_location(const ptx_module *m, int location, char *text, size_t size_bytes);

#endif
