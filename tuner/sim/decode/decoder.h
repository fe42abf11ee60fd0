/* The state that the files of the decoder share; no other room includes this. */
#ifndef AUTOTUNE_SIM_DECODE_DECODER_H
#define AUTOTUNE_SIM_DECODE_DECODER_H

#include "base/error.h"
#include "sim/program/operations.h"
#include "sim/program/program.h"

enum { OPCODE_MODIFIERS = 16, OPCODE_BYTES = 128, DECODE_MAX_DEPTH = 64 };

enum { DECODE_LOCAL_BYTES = 512 * 1024 }; /* a thread: CUDA C++ Programming Guide */

/* An opcode cut at its dots: "ld" and {"global", "nc", "f32"}. */
typedef struct opcode {
    char text[OPCODE_BYTES];
    const char *name;
    const char *modifiers[OPCODE_MODIFIERS];
    int count;
    ptx_type types[4]; /* those of the modifiers that are types, in order */
    int type_count;
} opcode;

/* One function being decoded: the kernel, or a callee inlined into it. */
typedef struct frame {
    const ptx_function *function;
    int32_t *slots;    /* of its registers; SIM_NO_SLOT until used */
    int32_t *label_pc; /* of its statements: where each begins */
    sim_shape *shapes; /* of its statements */
    int32_t *objects;  /* of its registers: sim/decode/objects.h */
    struct frame *outer;
} frame;

/* The destination of a result: a slot with lanes of `width` bytes. `widen` is a register of the
 * other width to be filled from it afterwards, or SIM_NO_SLOT. */
typedef struct destination {
    int32_t slot, widen;
    uint8_t width;
} destination;

/* Keeps the first failure. After it the functions below do nothing: they return SIM_NO_SLOT, or an
 * instruction that is discarded, so that callers need not check after each operand. */
typedef struct decoder {
    at_status status;
    sim_instruction nowhere; /* what is emitted after a failure */
    const ptx_module *module;
    sim_program *program;
    frame *frame;
    int depth;
    bool *framed; /* for each function: its calls have frames, so that its code stands there once */
    bool again;   /* more functions are to have frames: decode anew */
    int body;     /* number of the function with frames that is being decoded; -1: the kernel */
    int32_t base; /* slot of the address of its frame; SIM_NO_SLOT in the kernel */
    int32_t frame_slot;       /* that slot */
    uint32_t frame_alignment; /* of the frames, in bytes */
    int32_t *passed;          /* for each function with frames: from where on slots_passed has
                                 those for the registers that it returns and takes */
    int32_t *slots_passed;
    size_t slots_passed_count;
    const ptx_statement *statement;
    int32_t stack;        /* slot of the stack pointer; SIM_NO_SLOT: nothing takes memory there */
    const int32_t *given; /* slots of the results and parameters that the callee whose code comes
                             next has in registers; NULL */
    int32_t carry;        /* predicate slot of CC.CF; SIM_NO_SLOT until used */
    int64_t *local_at;    /* variables in local memory (and .param of callees): offset or -1 */
    opcode op;
    const sim_cost *cost; /* of the statement; NULL: the operation's, or by its types */
    at_error *error;
    char reason[256]; /* of the failure, without where it is */
    /* Decodes all statements of a function into the program: decode.c's, for calls. */
    at_status (*function)(struct decoder *d, const ptx_function *f);
} decoder;

/* Set AT_FORMAT (AT_NO_MEMORY) with the current statement, unless something failed before. Return
 * the decoder's status. A statement that fails with AT_FORMAT becomes SIM_UNKNOWN: it matters only
 * where it is executed. */
at_status decode_fail(decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
at_status decode_unknown(decoder *d);

/* Forgets an AT_FORMAT and emits SIM_UNKNOWN for it, in place of what the current statement
 * emitted. */
void decode_not_simulated(decoder *d);

/* Appends an instruction with the current statement's guard and lines; it is valid up to the next
 * one. */
sim_instruction *decode_emit(decoder *d, sim_kind kind, sim_class count_class);
void decode_list(decoder *d, int32_t value); /* appends to program->lists */
void decode_lists(decoder *d, const int32_t *values, size_t count);

const ptx_operand *decode_operand(const decoder *d,
                                  int i); /* of the statement; past the last: a sink */
/* The i-th of a vector, group or pair. */
const ptx_operand *decode_part(const decoder *d, const ptx_operand *o, int i);
bool decode_has(const decoder *d, const char *modifier);
typedef struct choice { /* what a modifier stands for */
    const char *modifier;
    int value;
} choice;
/* The value of the first choice whose modifier the opcode has, of a list that ends in one without;
 * `otherwise`: it has none of them. */
int decode_choice(const decoder *d, const choice *choices, int otherwise);
/* The statement must have between `least` and `most` operands. */
at_status decode_count(decoder *d, int least, int most);

int32_t decode_new_slot(decoder *d, uint32_t lane_bytes);   /* 0: predicate */
int32_t decode_fixed_slot(decoder *d, uint32_t lane_bytes); /* of what never changes */
int32_t decode_constant(decoder *d, uint64_t bits, uint32_t width);

/* Slot of a source operand read as lanes of `width` bytes (4 or 8) of type `type`; converts
 * immediates, addresses of variables and registers of another width. */
int32_t decode_source(decoder *d, const ptx_operand *o, uint32_t width, ptx_type type);
destination decode_destination(decoder *d, const ptx_operand *o, uint32_t width);
/* Emits the move that to->widen asks for. Returns the decoder's status. */
at_status decode_finish(decoder *d, const destination *to, bool is_signed);
/* The slot of the lower half of a register of 128 bits, the upper half's SIM_HIGH_HALF after it; a
 * sink may be a destination. */
int32_t decode_wide(decoder *d, const ptx_operand *o, bool is_destination);
int32_t decode_predicate(decoder *d, const ptx_operand *o, bool is_destination);
/* Returns d of an operand d|p, and in *predicate the slot of p; any other operand itself, and
 * SIM_NO_SLOT. */
const ptx_operand *decode_pair(decoder *d, const ptx_operand *o, int32_t *predicate);
uint32_t decode_register_width(const decoder *d,
                               const ptx_operand *o); /* 0 predicate, 4, 8; 16 of 128 bits */
int32_t decode_register_slot(decoder *d, const ptx_operand *o);
/* Emits the operation of that name. */
sim_instruction *decode_compute(decoder *d, const char *name, int32_t to, const int32_t *from,
                                int count);

/* The same into a slot of its own, which it returns: a part of one instruction of PTX, not
 * counted. */
int32_t decode_step(decoder *d, const char *name, const int32_t *from, int count);
/* Emits a comparison into the predicate `to`; the choice of `a` where the predicate `p` holds, else
 * `b`. */
sim_instruction *decode_compare(decoder *d, const char *comparison, ptx_type type, int32_t to,
                                int32_t a, int32_t b);
sim_instruction *decode_select(decoder *d, const destination *to, int32_t a, int32_t b, int32_t p);

bool type_is_signed(ptx_type t);
uint32_t type_lane_bytes(ptx_type t); /* 4 or 8 */

typedef struct place { /* an address operand */
    int32_t slot;
    uint8_t width;
    int64_t offset;
    ptx_space space;
    int32_t object; /* sim_instruction.object */
} place;

/* The state space that the opcode names; PTX_SPACE_GENERIC without one. */
ptx_space decode_space(const decoder *d);
/* An operand in brackets, of the space that the opcode names. */
place decode_address(decoder *d, const ptx_operand *o, ptx_space space);
void decode_put_place(sim_instruction *c, const place *p);
/* Requires the addresses of those lanes to be multiples of so many bytes. */
void decode_alignment(decoder *d, const place *at, uint32_t bytes, uint32_t lanes);
/* Emits a weak load or store of `count` slots of a type. */
sim_instruction *decode_access(decoder *d, sim_kind kind, const place *at, ptx_type type,
                               const int32_t *slots, int count);

/* The decoders of families of instructions. Each returns the decoder's status. */
#define FAMILY(name, function, ...) at_status function(decoder *d);
#define SIM_ROWS_FAMILIES
#include "sim/instructions.def"
#undef SIM_ROWS_FAMILIES
#undef FAMILY

at_status decode_arithmetic(decoder *d); /* everything that is in the tables of operations */
/* The operand of a wait, a constant: the number of copy groups that may stay under way. */
int64_t decode_groups(decoder *d);
at_status decode_cluster_barrier(decoder *d);
/* Emits a move without a guard, which is not counted. */
void decode_copy_slot(decoder *d, int32_t to, int32_t from, uint32_t bytes);
/* Makes the slots in which functions with frames take and return registers. */
void decode_passed(decoder *d);
/* Decodes the bodies of all functions with frames that were called. */
at_status decode_bodies(decoder *d);
/* The kernel begins and has ended; a function of it begins, and gives back what it took, its own
 * variables too: `kept` is what the first of these two returned. */
void decode_stack_begin(decoder *d);
void decode_stack_end(decoder *d);
int32_t decode_stack_enter(decoder *d, const ptx_function *f);
void decode_stack_leave(decoder *d, const ptx_function *f, int32_t kept);
/* Finds the modifiers that are types of elements of matrices (sim_element), in their order; returns
 * how many there are. */
int decode_elements(const decoder *d, int32_t found[4]);
/* The class in which products of such elements are counted. */
sim_class decode_matrix_class(int32_t element);
bool decode_atomic_fits(sim_atomic_op op, ptx_type t); /* does such an atomic exist? */
at_status decode_thread_copy(decoder *d);              /* cp.async by each thread */

#endif
