/* The state of the decoder, shared by its files. No other folder includes this header. After the
 * first failure, the functions below return SIM_NO_SLOT or an instruction that is discarded. So
 * callers need not check after each operand. An at_status is the status of the decoder. */
#ifndef AUTOTUNE_SIM_DECODE_DECODER_H
#define AUTOTUNE_SIM_DECODE_DECODER_H

#include "base/error.h"
#include "sim/program/operations.h"
#include "sim/program/program.h"

enum { OPCODE_MODIFIERS = 16, OPCODE_BYTES = 128, DECODE_MAX_DEPTH = 64 };

/* Most local memory of a thread, in bytes (CUDA C++ Programming Guide). */
enum { DECODE_LOCAL_BYTES = 512 * 1024 };

/* An opcode split at its dots: "ld" and {"global", "nc", "f32"}. */
typedef struct opcode {
    char text[OPCODE_BYTES];
    const char *name;
    const char *modifiers[OPCODE_MODIFIERS];
    int count;
    ptx_type types[4]; /* the modifiers that are types, in their order */
    int type_count;
} opcode;

/* A function that is being decoded: the kernel, or a callee that is inlined into it. */
typedef struct frame {
    const ptx_function *function;
    int32_t *slots;    /* for each register: its slot, or SIM_NO_SLOT before its first use */
    int32_t *label_pc; /* for each statement: index of its first instruction */
    sim_shape *shapes; /* for each statement: see reshape_accesses() */
    int32_t *objects;  /* for each register: see addresses_find_objects() */
    struct frame *outer;
} frame;

/* The destination of a result: a slot whose lanes have `width` bytes. If the PTX register has
 * another width, the result is converted to the slot `widen`, which is SIM_NO_SLOT otherwise. */
typedef struct destination {
    int32_t slot, widen;
    uint8_t width;
} destination;

typedef struct address_operand {
    int32_t slot;
    uint8_t width;
    int64_t offset;
    ptx_space space;
    int32_t object; /* see sim_instruction.object */
} address_operand;

typedef struct choice {
    const char *modifier;
    int value;
} choice;

typedef struct decoder {
    at_status status;          /* status of the first failure */
    sim_instruction discarded; /* instruction that is returned after a failure */
    const ptx_module *module;
    sim_program *program;
    frame *frame;
    int depth;    /* number of inlined calls around the statement */
    bool *framed; /* for each function: whether its calls have stack frames */
    bool again;   /* decode the kernel again, because more functions need frames */
    int body;     /* index of the function with frames that is being decoded; -1 in the kernel */
    int32_t base; /* slot with the address of the function's frame; SIM_NO_SLOT in the kernel */
    int32_t frame_slot;       /* slot with the address of the current frame */
    uint32_t frame_alignment; /* alignment of all frames, in bytes */
    int32_t *passed;          /* for each function with frames: index in slots_passed */
    int32_t *slots_passed;    /* slots of the registers that these functions return and take */
    size_t slots_passed_count;
    const ptx_statement *statement; /* current statement */
    int32_t stack;                  /* slot of the stack pointer; SIM_NO_SLOT without alloca */
    const int32_t *given;           /* slots of the next callee's results and parameters, or NULL */
    int32_t carry;                  /* predicate slot of CC.CF; SIM_NO_SLOT before its first use */
    int64_t *local_at;              /* for each variable: offset in local memory, or -1 */
    opcode op;                      /* opcode of the statement */
    const sim_cost *cost; /* cost of the statement; NULL if its operation gives the cost */
    at_error *error;
    char reason[256]; /* message of the failure, without its position */
    /* decodes a function and inlines its code at this statement */
    at_status (*function)(struct decoder *d, const ptx_function *f);
} decoder;

/* Fails with AT_FORMAT at the current statement, unless the decoder has failed before. The
 * statement then becomes SIM_UNKNOWN. decode_unknown() says that the instruction is unknown. */
at_status decode_fail(decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
at_status decode_unknown(decoder *d);

/* After AT_FORMAT: resets the status and emits SIM_UNKNOWN with the message. */
void decode_not_simulated(decoder *d);

/* Appends an instruction with the statement's guard and line. It is valid until the next append. */
sim_instruction *decode_emit(decoder *d, sim_kind kind, sim_class count_class);

/* Append to the lists of the program. */
void decode_list(decoder *d, int32_t value);
void decode_lists(decoder *d, const int32_t *values, size_t count);

/* Returns operand `i` of the statement. Beyond the last operand, returns a sink. */
const ptx_operand *decode_operand(const decoder *d, int i);

/* Returns element `i` of a vector, group or pair. */
const ptx_operand *decode_part(const decoder *d, const ptx_operand *o, int i);

/* Returns the first of the `count` registers in `o`: a vector, or one register if `count` is 1. */
const ptx_operand *decode_registers(decoder *d, const ptx_operand *o, int count);

bool decode_has(const decoder *d, const char *modifier);

/* Returns the value of the first choice in the opcode, or `otherwise`. {0} ends the list. */
int decode_choice(const decoder *d, const choice *choices, int otherwise);

/* Requires between `least` and `most` operands. */
at_status decode_count(decoder *d, int least, int most);

/* Return a new slot with lanes of `lane_bytes` (0 for a predicate). A fixed slot stays constant. */
int32_t decode_new_slot(decoder *d, uint32_t lane_bytes);
int32_t decode_fixed_slot(decoder *d, uint32_t lane_bytes);

/* Returns a slot that holds a constant in lanes of `width` bytes. Equal constants share a slot. */
int32_t decode_constant(decoder *d, uint64_t bits, uint32_t width);

/* Returns the width of a register: 0 for a predicate, otherwise 4, 8 or 16 bytes. */
uint32_t decode_register_width(const decoder *d, const ptx_operand *o);

int32_t decode_register_slot(decoder *d, const ptx_operand *o);

/* Returns the slot of a source operand, read as lanes of `width` bytes (4 or 8) of a type. Converts
 * immediates, addresses of variables, and registers of another width. */
int32_t decode_source(decoder *d, const ptx_operand *o, uint32_t width, ptx_type type);

/* Returns the slot of a result. After the instruction that writes it, the caller must call
 * decode_finish(), which converts the result to the width of the PTX register. */
destination decode_destination(decoder *d, const ptx_operand *o, uint32_t width);
at_status decode_finish(decoder *d, const destination *to, bool is_signed);

/* Returns slot s of the low half of a 128-bit register; the high half is s + SIM_HIGH_HALF. */
int32_t decode_wide(decoder *d, const ptx_operand *o, bool is_destination);

/* Returns the slot of a predicate. A destination may be a sink, and a source may be a constant. */
int32_t decode_predicate(decoder *d, const ptx_operand *o, bool is_destination);

/* Returns d of an operand d|p and sets *predicate to the slot of p. Returns any other operand
 * itself and sets *predicate to SIM_NO_SLOT. */
const ptx_operand *decode_pair(decoder *d, const ptx_operand *o, int32_t *predicate);

/* Emits the operation `name` (sim/program/operations.h) with `count` sources. */
sim_instruction *decode_compute(decoder *d, const char *name, int32_t to, const int32_t *from,
                                int count);

/* Emit an uncounted operation: a step of a longer PTX instruction. Return its new slot. */
int32_t decode_step(decoder *d, const char *name, const int32_t *from, int count);
int32_t decode_step1(decoder *d, const char *name, int32_t a);
int32_t decode_step2(decoder *d, const char *name, int32_t a, int32_t b);

/* Emits a comparison of `a` and `b` into the predicate `to`. */
sim_instruction *decode_compare(decoder *d, const char *comparison, ptx_type type, int32_t to,
                                int32_t a, int32_t b);

/* Emits a selection: of `a` where the predicate `p` is true, of `b` elsewhere. */
sim_instruction *decode_select(decoder *d, const destination *to, int32_t a, int32_t b, int32_t p);

bool type_is_signed(ptx_type t);

/* Returns the size of a lane of a type: 4 or 8 bytes. */
uint32_t type_lane_bytes(ptx_type t);

/* Returns the state space in the opcode, or PTX_SPACE_GENERIC. */
ptx_space decode_space(const decoder *d);

/* Decodes an operand in brackets, an address in `space`. */
address_operand decode_address(decoder *d, const ptx_operand *o, ptx_space space);

void decode_put_address(sim_instruction *c, const address_operand *p);

/* Requires that the addresses of the lanes in the mask `lanes` are multiples of `bytes`. */
void decode_alignment(decoder *d, const address_operand *at, uint32_t bytes, uint32_t lanes);

/* Emits a weak load or store of `count` slots of a type. */
sim_instruction *decode_access(decoder *d, sim_kind kind, const address_operand *at, ptx_type type,
                               const int32_t *slots, int count);

/* Returns whether PTX has an atomic with that operation and type. */
bool decode_atomic_fits(sim_atomic_op op, ptx_type t);

/* Returns the constant operand of a wait: the number of groups that may stay pending. */
int64_t decode_groups(decoder *d);

/* For functions with stack frames: decode_passed() makes the slots of their parameters and results,
 * decode_bodies() decodes the functions that are called. */
void decode_passed(decoder *d);
at_status decode_bodies(decoder *d);

/* decode_stack_begin() emits the stack pointer of alloca, decode_stack_end() places the stack. */
void decode_stack_begin(decoder *d);
void decode_stack_end(decoder *d);

/* Start and end a function. At its end, its stack memory and local variables become undefined.
 * `kept` is the result of decode_stack_enter(). */
int32_t decode_stack_enter(decoder *d, const ptx_function *f);
void decode_stack_leave(decoder *d, const ptx_function *f, int32_t kept);

/* The decoders of the families of instructions. */
#define FAMILY(name, function, ...) at_status function(decoder *d);
#define SIM_ROWS_FAMILIES
#include "sim/instructions.def"
#undef SIM_ROWS_FAMILIES
#undef FAMILY

/* Decodes an instruction that instructions.def lists. */
at_status decode_arithmetic(decoder *d);

#endif
