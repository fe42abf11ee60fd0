/* A PTX module as plain arrays: functions, variables, registers, statements and where they come
 * from.
 *
 * ptx/parse.h makes one; it owns a copy of the text and does not change once made. Texts are views
 * of that copy. */
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

/* Bytes of a value; 0 for a predicate. */
uint32_t ptx_type_bytes(ptx_type type);

/* Finds a type by its modifier (".f32"); false when it is none. */
bool ptx_type_find(ptx_text modifier, ptx_type *type);

/* The type that an opcode ends in ("ld.global.f32"); false when it does in none. */
bool ptx_opcode_type(ptx_text opcode, ptx_type *type);

typedef enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM
} ptx_space;

const char *ptx_space_name(ptx_space space);

typedef struct ptx_variable {
    ptx_text name;
    ptx_space space;
    uint32_t alignment;  /* bytes, a power of two */
    uint64_t size_bytes; /* 0: an unsized extern array (dynamic shared memory) */
    uint8_t *initial;    /* size_bytes bytes; NULL: none given */
} ptx_variable;

/* A place in an initial value that holds an address: bits `shift` and up of it, `bytes` bytes. */
typedef struct ptx_relocation {
    int variable; /* whose initial value it is in */
    uint64_t at;  /* bytes from its start */
    uint32_t bytes, shift;
    bool is_function; /* whose address: function or variable `target`, plus `addend` */
    int target;
    int64_t addend;
} ptx_relocation;

typedef enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* index: register of the function */
    PTX_OPERAND_SPECIAL,  /* text: "%tid.x", "%clock64" ... */
    PTX_OPERAND_INTEGER,  /* bits */
    PTX_OPERAND_FLOAT,    /* bits of a float */
    PTX_OPERAND_DOUBLE,   /* bits of a double */
    PTX_OPERAND_VARIABLE, /* index: variable; offset */
    PTX_OPERAND_ADDRESS,  /* [operand `first` + offset]; count 2: a view, then its coordinates */
    PTX_OPERAND_VECTOR,   /* {...}: operands first .. first + count - 1 */
    PTX_OPERAND_GROUP,    /* (...): the same, of a call */
    PTX_OPERAND_PAIR,     /* a|b: the same, two of them */
    PTX_OPERAND_LABEL,    /* index: label of the module */
    PTX_OPERAND_FUNCTION, /* index: function */
    PTX_OPERAND_SINK      /* _ */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    bool negated; /* !p */
    int index;
    int64_t offset;
    uint64_t bits;
    int first, count; /* in ptx_module.operands */
    ptx_text text;
    ptx_text selector; /* of a register: the part that is meant, ".h1"; empty: all of it */
} ptx_operand;

typedef struct ptx_note { /* ptx/notes.h says what they count */
    uint16_t common, integers, products, specials, locals, others;
    uint16_t loads_ahead;
} ptx_note;

typedef struct ptx_statement {
    ptx_text opcode; /* with modifiers: "ld.global.nc.f32" */
    int guard;       /* predicate register; PTX_NONE */
    bool guard_negated;
    int first, count; /* operands, in ptx_module.operands */
    int line;         /* of the PTX */
    int location;     /* in ptx_module.locations; PTX_NONE */
    bool rolled;      /* the loop that it begins is not to be unrolled (.pragma "nounroll") */
    ptx_note note;
    bool unreadable; /* its guard or operands are of a form that the parser does not know: it has
                        none */
} ptx_statement;

typedef struct ptx_label {
    ptx_text name;
    int statement; /* that follows it; PTX_NONE: a table, or not defined */
    int first,
        count; /* .branchtargets: label operands, .calltargets: functions; count 0: no table */
    int line;  /* of the definition or first use */
} ptx_label;

typedef struct ptx_location { /* a .loc directive */
    int file, line, column;
    int outer; /* location that it was inlined at; PTX_NONE */
} ptx_location;

/* The limits that a kernel's directives set its launches: 0 where they set none. */
typedef struct ptx_launch_limits {
    uint64_t max_threads;         /* .maxntid: of a block, the product of its extents */
    uint32_t required_block[3];   /* .reqntid: exactly this block */
    uint32_t cluster[3];          /* .reqnctapercluster: blocks of a cluster */
    uint32_t most_cluster_blocks; /* .maxclusterrank: of a cluster, the product of its extents */
    bool explicit_cluster;        /* .explicitcluster: to be launched with clusters */
    bool blocks_are_clusters;     /* .blocksareclusters: a grid counts clusters, not blocks */
    uint32_t least_blocks;        /* .minnctapersm: blocks that an SM is to have registers for */
    uint32_t most_registers;      /* .maxnreg: of a thread */
} ptx_launch_limits;

typedef struct ptx_function {
    ptx_text name;
    bool is_entry, has_body;
    ptx_text body;                        /* between its braces */
    int first_parameter, parameter_count; /* variables of PTX_SPACE_PARAM */
    int first_result, result_count;       /* the same; .func only */
    int first_variable, variable_count;   /* all of its own, parameters and results among them */
    int first_register, register_count;   /* in ptx_module.register_types; the first of them are */
    int register_results, register_parameters; /* those that it returns and takes (.reg) */
    int first_statement, statement_count;
    int line;
    ptx_launch_limits limits;
} ptx_function;

typedef struct ptx_module {
    char *text;
    char name[256];          /* for messages */
    char target[16];         /* "sm_90" */
    uint8_t *register_types; /* ptx_type of each register */
    ptx_variable *variables;
    ptx_function *functions;
    ptx_statement *statements;
    ptx_operand *operands;
    ptx_label *labels;
    ptx_location *locations;
    ptx_relocation *relocations;
    ptx_text *files; /* by number; empty where a number is not used */
    size_t register_count, variable_count, function_count, statement_count, operand_count,
        label_count, location_count, file_count, relocation_count;
    bool has_notes; /* statements have them (ptx/notes.h) */
} ptx_module;

void ptx_module_free(ptx_module *m); /* NULL is fine */

/* The entry of that name, or PTX_NONE; a NULL name finds the first entry. */
int ptx_module_entry(const ptx_module *m, const char *name);

/* Did the file come with the toolkit? There a person does not look for an error. The files of a
 * pattern have relative names (compile/file_names.h). */
bool ptx_is_header(ptx_text file);

/* The source line of a location: of the innermost one, through inlined calls, that is outside the
 * toolkit's headers. The file is empty and the line 0 when it is not known. */
void ptx_source_line(const ptx_module *m, int location, ptx_text *file, int *line);

/* That location itself: PTX_NONE where it is unknown. */
int ptx_outside_headers(const ptx_module *m, int location);

/* The name of its file; empty where it has none. */
ptx_text ptx_location_file(const ptx_module *m, const ptx_location *l);

/* The same in words, as every message names places: "tile.cuh:6, inlined at dot.cu.tmpl:14". */
enum { PTX_PLACE_BYTES = 640 };
void ptx_place(const ptx_module *m, int location, char *text, size_t size_bytes);

#endif
