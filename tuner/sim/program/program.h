/* A kernel decoded for execution: sim/decode/decode.h makes it of PTX, sim/machine/run.h runs it.
 *
 * Registers become slots: byte offsets into a block of memory that each warp has for itself, 32
 * lanes of 4 or 8 bytes side by side, so that a handler is a loop over 32 neighbours that the host
 * compiler vectorises. A predicate is one 32-bit mask, a register of 128 bits two slots, the lower
 * half first. Constants and special registers are slots
 * too, filled before the kernel starts, so that handlers treat all operands alike. */
#ifndef AUTOTUNE_SIM_PROGRAM_PROGRAM_H
#define AUTOTUNE_SIM_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/module.h"

enum {
    SIM_LANES = 32,
    SIM_NO_SLOT = -1,
    SIM_SLOT_STEP = 64,            /* slots begin at multiples of this */
    SIM_EXIT_PC = INT32_MAX,       /* reconvergence "at the end of the kernel" */
    SIM_LANE_OF_PREDICATE = 1,     /* sim_program.slot_lanes: a bit a lane */
    SIM_HIGH_HALF = 8 * SIM_LANES, /* from the slot of the lower half of 128 bits to the upper's */
};

/* Loop over the lanes of a mask. */
#define SIM_EACH_OF(l, mask)                                                                       \
    for (int left_##l = (int)(mask), l = 0;                                                        \
         left_##l && (l = __builtin_ctz((uint32_t)left_##l), true);                                \
         left_##l = (int)((uint32_t)left_##l & ((uint32_t)left_##l - 1)))

/* One operation on all lanes: d from up to four sources. The result never overlaps a source. */
typedef void (*sim_compute)(void *restrict d, const void *const sources[4]);
/* One comparison of all lanes; a bit a lane. */
typedef uint32_t (*sim_compare)(const void *a, const void *b);

typedef enum sim_kind {
    SIM_COMPUTE, /* compute(d, a, b, c, e) */
    SIM_COMPARE, /* predicate d (and its complement d2) = compare(a, b) [combine] c */
    SIM_LOGIC,   /* predicates: d = a logic b */
    SIM_SELECT,  /* d = c ? a : b */
    SIM_CONVERT, /* d = convert(a) */
    SIM_LOAD,
    SIM_STORE,
    SIM_ATOMIC,
    SIM_COPY_ASYNC,
    SIM_COPY_COMMIT,
    SIM_COPY_WAIT,
    SIM_BRANCH,
    SIM_BRANCH_INDEXED,
    SIM_EXIT,
    SIM_TRAP,
    SIM_BARRIER,
    SIM_WARP_BARRIER,
    SIM_CLUSTER_BARRIER, /* sim_cluster_op */
    SIM_CLUSTER_MAP,     /* sim_cluster_op: d of the shared address a and block b */
    SIM_SHUFFLE,
    SIM_VOTE,
    SIM_MATCH,
    SIM_REDUCE,
    SIM_ACTIVE_MASK,
    SIM_CLOCK, /* d = a counter that grows */
    SIM_FENCE,
    SIM_NOTHING,
    SIM_MBARRIER,    /* the barrier in shared memory at a: sim_mbarrier_op */
    SIM_BULK_LOAD,   /* c bytes from global a to shared b, completing on the mbarrier at e; of each
                        block of the cluster in the set in the slot `target`, unless it is
                        SIM_NO_SLOT. With `target_count` coordinates in lists: a box of the tensor
                        whose map is at a */
    SIM_BULK_MOVE,   /* the same from the block's own shared memory at a */
    SIM_BULK_STORE,  /* c bytes from shared b to global a. With coordinates: likewise */
    SIM_STORE_ASYNC, /* a vector in lists to shared a, completing on the mbarrier at e */
    SIM_TEXTURE,     /* the vector in lists of the texture a, at a place of
                        `source_width` sides: after the vector in lists are `target_count`
                        slots, a layer and coordinates first. op: sim_texture_op */
    SIM_SURFACE,     /* d = the address of `vector` bytes of the surface a, at a place in lists,
                        likewise; predicate d2: they are within it. op: sim_surface_op */
    SIM_BULK_COMMIT,
    SIM_BULK_WAIT, /* at most `offset` groups stay under way; op: it is enough that they have
                      read */
    SIM_MATRIX,    /* d = a * b + c of matrices: sim/program/matrix.h */
    SIM_WARPGROUP_FENCE,
    SIM_WARPGROUP_PRODUCT, /* sim/program/warpgroup.h: d and a as lists say, a in shared memory
                              where the descriptor in the slot a says, b likewise; predicate c: what
                              is in d is added */
    SIM_WARPGROUP_COMMIT,
    SIM_WARPGROUP_WAIT, /* at most `offset` groups stay under way */
    SIM_FORGET,  /* `target` bytes of local memory from `offset` on have no value any more; from the
                    address a on, if it is a slot, as many; 0: all up to the end */
    SIM_DISCARD, /* `vector` bytes of global memory at a have no value any more */
    SIM_ALIGNED, /* a fault where an address a of the lanes `target` is no multiple of `vector` */
    SIM_SPACE_TEST, /* predicate d = is address a in `space`? */
    SIM_CALLEE,    /* d = which of the `target_count` functions in lists at `target` has the address
                      a */
    SIM_CALL,      /* of a function that has frames. In lists from `list` on: the number among
                      sim_program.bodies of the callee and of the caller (-1: the kernel), how many
                      parameters and how many results lie in local memory, and of each where it lies
                      in the caller's frame, where in the callee's, and its bytes. `target`: the
                      callee's first instruction. d = where the callee's frame begins */
    SIM_RETURN,    /* from it. d = where the caller's frame begins */
    SIM_PRINT,     /* vprintf: where its variables lie in local memory is in lists from `target` on,
                      results last */
    SIM_ASSERTION, /* __assertfail: likewise */
    SIM_HEAP,      /* malloc and free: likewise; sim_heap_op */
    SIM_UNKNOWN    /* not simulated, for sim_program.reasons[target] */
} sim_kind;

/* Classes by which issued instructions are counted. */
typedef enum sim_class {
    SIM_CLASS_INTEGER,
    SIM_CLASS_FLOAT,
    SIM_CLASS_DOUBLE,
    SIM_CLASS_HALF,
    SIM_CLASS_SPECIAL,
    SIM_CLASS_CONVERT,
    SIM_CLASS_MOVE,
    SIM_CLASS_PREDICATE,
    SIM_CLASS_CONTROL,
    SIM_CLASS_GLOBAL,
    SIM_CLASS_SHARED,
    SIM_CLASS_LOCAL,
    SIM_CLASS_CONSTANT,
    SIM_CLASS_ATOMIC,
    SIM_CLASS_BARRIER,
    SIM_CLASS_WARP,
    SIM_CLASS_COUNT
} sim_class;

typedef enum sim_logic {
    SIM_LOGIC_AND,
    SIM_LOGIC_OR,
    SIM_LOGIC_XOR,
    SIM_LOGIC_NOT,
    SIM_LOGIC_MOVE
} sim_logic;

typedef enum sim_atomic_op {
    SIM_ATOMIC_ADD,
    SIM_ATOMIC_MIN,
    SIM_ATOMIC_MAX,
    SIM_ATOMIC_INC,
    SIM_ATOMIC_DEC,
    SIM_ATOMIC_AND,
    SIM_ATOMIC_OR,
    SIM_ATOMIC_XOR,
    SIM_ATOMIC_EXCH,
    SIM_ATOMIC_CAS
} sim_atomic_op;

typedef enum sim_warp_op {
    SIM_SHUFFLE_UP,
    SIM_SHUFFLE_DOWN,
    SIM_SHUFFLE_XOR,
    SIM_SHUFFLE_INDEX,
    SIM_VOTE_ALL,
    SIM_VOTE_ANY,
    SIM_VOTE_UNIFORM,
    SIM_VOTE_BALLOT,
    SIM_MATCH_ANY,
    SIM_MATCH_ALL,
    SIM_REDUCE_ADD,
    SIM_REDUCE_MIN,
    SIM_REDUCE_MAX,
    SIM_REDUCE_AND,
    SIM_REDUCE_OR,
    SIM_REDUCE_XOR,
    SIM_ELECT
} sim_warp_op;

typedef enum sim_barrier_op {
    SIM_BARRIER_SYNC,
    SIM_BARRIER_ARRIVE,
    SIM_BARRIER_POPC,
    SIM_BARRIER_AND,
    SIM_BARRIER_OR
} sim_barrier_op;

typedef enum sim_cluster_op {
    SIM_CLUSTER_ARRIVE,
    SIM_CLUSTER_ARRIVE_RELAXED,
    SIM_CLUSTER_WAIT,
    SIM_CLUSTER_ADDRESS,
    SIM_CLUSTER_RANK
} sim_cluster_op;

typedef enum sim_mbarrier_op {
    SIM_MBARRIER_INIT,
    SIM_MBARRIER_DROP,
    SIM_MBARRIER_ARRIVE,
    SIM_MBARRIER_ARRIVE_ONLY, /* completes no phase */
    SIM_MBARRIER_ARRIVE_DROP, /* and is not waited for from then on */
    SIM_MBARRIER_EXPECT,
    SIM_MBARRIER_ARRIVE_EXPECT,
    SIM_MBARRIER_COMPLETE,
    SIM_MBARRIER_ARRIVE_COPIED,      /* once the thread's copies by cp.async are there */
    SIM_MBARRIER_ARRIVE_COPIED_MORE, /* and one more arrival is waited for */
    SIM_MBARRIER_TEST,
    SIM_MBARRIER_TEST_PARITY
} sim_mbarrier_op;

/* Flags; a gather's component is from bit 2 on. */
typedef enum sim_texture_op { SIM_TEXTURE_LAYERED = 1, SIM_TEXTURE_GATHER = 2 } sim_texture_op;

/* Flags; without the last two it is a fault to leave the surface. */
typedef enum sim_surface_op {
    SIM_SURFACE_LAYERED = 1,
    SIM_SURFACE_CLAMP = 2,
    SIM_SURFACE_ZERO = 4
} sim_surface_op;

/* From this bit on the state of an arrival has how many were pending before it. */
enum { SIM_MBARRIER_PENDING = 40 };

typedef enum sim_heap_op { SIM_HEAP_MALLOC, SIM_HEAP_FREE, SIM_HEAP_ALIGNED } sim_heap_op;

typedef enum sim_rounding { /* of conversions and arithmetic */
                            SIM_ROUND_NONE,
                            SIM_ROUND_NEAREST,
                            SIM_ROUND_ZERO,
                            SIM_ROUND_DOWN,
                            SIM_ROUND_UP,
                            SIM_ROUND_AWAY, /* to nearest, ties away from zero */
                            SIM_ROUND_INTEGER_NEAREST,
                            SIM_ROUND_INTEGER_ZERO,
                            SIM_ROUND_INTEGER_DOWN,
                            SIM_ROUND_INTEGER_UP
} sim_rounding;

typedef enum sim_flush { /* which subnormal sources and results .ftz makes zeros */
                         SIM_FLUSH_NOTHING,
                         SIM_FLUSH_FLOATS,
                         SIM_FLUSH_HALVES,
                         SIM_FLUSH_BFLOATS /* one or a pair */
} sim_flush;

typedef enum sim_tiny { /* operations of .ftz whose results may be rounded up to the smallest normal
                           number */
                        SIM_TINY_NEVER,
                        SIM_TINY_PRODUCT,
                        SIM_TINY_SUM,
                        SIM_TINY_QUOTIENT,
                        SIM_TINY_RECIPROCAL,
                        SIM_TINY_DIRECTED = 8 /* with one: it does not round to the nearest */
} sim_tiny;

/* The operands' bits that a result's bits come from, for an operation of which not all operands
 * have a value. */
typedef enum sim_flow {
    SIM_FLOW_MIXES,     /* each from any bit of the operands */
    SIM_FLOW_MOVES_ONE, /* each from one bit of the first, two or four operands; the others say from
                           which */
    SIM_FLOW_MOVES_TWO,
    SIM_FLOW_MOVES_FOUR,
    SIM_FLOW_AND,
    SIM_FLOW_OR,
    SIM_FLOW_BITWISE,    /* each from the same bit of the operands */
    SIM_FLOW_DIFFERENCE, /* as MIXES, and nothing where both operands are the same register */
    SIM_FLOW_EXCLUSIVE,  /* as BITWISE, likewise */
    SIM_FLOW_PRODUCT,    /* as MIXES, and nothing where one operand is zero */
    SIM_FLOW_HALVES      /* each from the same 16 bits of the operands */
} sim_flow;

/* How the bits of a register are read as a number. */
typedef enum affine_order { AFFINE_SIGNED, AFFINE_UNSIGNED, AFFINE_REAL } affine_order;

affine_order sim_number_of(ptx_type t);

/* By which rule an instruction computes with functions of a thread's place (sim/symbolic.h). */
typedef enum sim_rule {
    RULE_NUMBERS, /* has no rule: it is computed for single threads only */
    RULE_COPY,
    RULE_ADD,
    RULE_SUBTRACT,
    RULE_MULTIPLY,
    RULE_MULTIPLY_ADD,
    RULE_SHIFT_LEFT,
    RULE_SHIFT_RIGHT,
    RULE_DIVIDE,
    RULE_REMAINDER,
    RULE_AND,
    RULE_OR,
    RULE_NOT,
    RULE_NEGATE,
    RULE_TAKE_FIELD,
    RULE_PUT_FIELD,
    RULE_WIDEN,
    RULE_LEAST,
    RULE_MOST,
    RULE_MONOTONE, /* in each operand, as long as it keeps its sign */
    RULE_EQUAL,
    RULE_UNEQUAL,
    RULE_LESS,
    RULE_LESS_EQUAL,
    RULE_GREATER,
    RULE_GREATER_EQUAL
} sim_rule;

/* The pipes of a multiprocessor. */
typedef enum sim_pipe {
    SIM_PIPE_FLOAT,   /* additions and products of 32 bits, and what is packed into them */
    SIM_PIPE_INTEGER, /* additions, comparisons, shifts, logic */
    SIM_PIPE_PRODUCT, /* products of integers */
    SIM_PIPE_DOUBLE,
    SIM_PIPE_SPECIAL, /* reciprocals, roots, exponentials, conversions of and to 64 bits */
    SIM_PIPE_MEMORY,  /* all loads, stores, atomics, shuffles */
    SIM_PIPE_MATRIX,
    SIM_PIPE_BARRIER,
    SIM_PIPE_OTHER, /* branches, votes: issued and no more */
    SIM_PIPE_COUNT,
    SIM_PIPE_EITHER = SIM_PIPE_COUNT /* of INTEGER or PRODUCT, whichever is free */
} sim_pipe;

/* What ptxas makes of one instruction: machine instructions, and the pipe that executes them. Some
 * become a chain of instructions that wait for one another: `specials` of the special function unit
 * and `others`. */
typedef struct sim_cost {
    uint8_t pipe; /* sim_pipe */
    float instructions;
    uint8_t specials, others; /* 0 if there is no chain */
} sim_cost;

#define SIM_COST(pipe, instructions)                                                               \
    {                                                                                              \
        SIM_PIPE_##pipe, instructions, 0, 0                                                        \
    }
#define SIM_COST_OF_CHAIN(pipe, instructions, specials, others)                                    \
    {                                                                                              \
        SIM_PIPE_##pipe, instructions, specials, others                                            \
    }

typedef enum sim_hint { /* of a load from global memory: what the caches are asked to do */
                        SIM_HINT_NONE,
                        SIM_HINT_STREAMING,
                        SIM_HINT_NO_ALLOCATE,
                        SIM_HINT_WIDE,
                        SIM_HINT_L2, /* not to look in the L1: .cg */
                        SIM_HINT_COUNT,
                        /* Wide, and allocates no line in the L1. DRAM sees the wide hint. */
                        SIM_HINT_WIDE_NO_ALLOCATE = SIM_HINT_COUNT
} sim_hint;

/* The threads that a strong memory access or a fence reaches. PTX ISA, "scope". */
typedef enum sim_scope {
    SIM_SCOPE_NONE,
    SIM_SCOPE_BLOCK,
    SIM_SCOPE_CLUSTER,
    SIM_SCOPE_GPU
} sim_scope;

/* Does a read acquire what was released there? LOOSELY: an atomic that names no order
 * (sim/machine/order.h). */
typedef enum sim_acquires { SIM_ACQUIRES_NOTHING, SIM_ACQUIRES_LOOSELY, SIM_ACQUIRES } sim_acquires;

/* A load or store as the GPU carries it out, for counting: see sim/decode/reshape.h. */
typedef struct sim_piece {
    int8_t skip; /* from the address that is written */
    uint8_t bytes;
} sim_piece;

typedef struct sim_shape {
    bool reshaped; /* false: as it is written */
    uint8_t count; /* 0: another instruction's piece has all of it, or nothing needs it */
    sim_piece pieces[4];
} sim_shape;

enum { SIM_TENSOR_RANK = 5 }; /* the most dimensions of a tensor */

typedef struct sim_instruction {
    uint8_t kind;         /* sim_kind */
    uint8_t count_class;  /* sim_class */
    uint8_t width;        /* bytes of a lane of d: 4, 8; 0: a predicate */
    uint8_t source_width; /* of a, where it may differ */
    uint8_t type;         /* ptx_type of the operation */
    uint8_t source_type;  /* conversions */
    uint8_t op;           /* sim_logic, sim_atomic_op, sim_warp_op, sim_barrier_op, sim_rounding,
                             sim_mbarrier_op, sim_cluster_op, sim_tiny;
                             loads: sim_hint; clocks: bits by which they are shifted right;
                             fences: are they sequentially consistent? */
    uint8_t space;        /* ptx_space */
    uint8_t vector;       /* elements of a load or store; of an atomic 2: halves of 128 bits */
    bool guard_negated;
    uint8_t flush; /* sim_flush */
    bool saturate;
    bool relu;                         /* of a conversion: negative results are zero, */
    bool finite;                       /* and too large ones the largest number */
    bool negate_a, negate_b, negate_c; /* predicate sources */
    bool drops_negated;                /* of `drops`: the lanes in which it does not hold */
    bool extra;                        /* part of the PTX instruction before: not counted */
    uint8_t scope;                     /* sim_scope: of a strong memory access, or of a fence */
    uint8_t acquires;                  /* sim_acquires */
    bool releases;
    bool is_volatile; /* strong for that reason alone */
    bool noncoherent; /* a load through the read-only path, */
    bool is_surface;  /* of a surface: what it reads may be written later */
    bool cluster;     /* of shared memory: also of other blocks of the cluster */
    bool proxy;       /* a proxy fence: orders accesses of threads and of the copy engine */
    uint8_t flow;     /* SIM_COMPUTE: sim_flow */
    uint8_t rule;     /* SIM_COMPUTE, SIM_COMPARE: sim_rule */
    uint8_t number;   /* likewise: affine_order of the operands */
    int8_t
        reduction; /* of copies and asynchronous stores: the sim_atomic_op by which they are added
                      to what is there, as `type` (of boxes: as the tensor's); -1: they are not */
    uint8_t widths[4]; /* SIM_COMPUTE: bytes of a lane of a, b, c, e; 0: there is none */
    int32_t guard;     /* slot; SIM_NO_SLOT */
    int32_t d, d2;     /* slots */
    int32_t a, b, c, e;
    int64_t offset; /* added to an address */
    int32_t object; /* loads, stores, atomics, copies to shared memory: the module's variable that
                       the address (of copies, b) is computed from; negative: not known */
    int32_t list;   /* vector loads and stores: slots in sim_program.lists */
    int32_t drops;  /* loads: the instruction whose predicate tells the lanes that use nothing of
                       what  they load, or -1 */
    int32_t target; /* branches: instruction, or first of `target_count` in lists */
    int32_t target_count;
    int32_t e_offset;   /* bulk loads: added to e */
    int32_t reconverge; /* branches: where the paths meet again */
    union {
        sim_compute compute;
        sim_compare compare;
    };
    const sim_cost *cost;
    sim_shape shape;   /* loads and stores of shared and global memory */
    int32_t line;      /* of the PTX */
    int32_t location;  /* ptx_module.locations */
    int32_t statement; /* ptx_module.statements */
} sim_instruction;

/* Does what it accesses lie in global memory, or may it, by a generic address? */
static inline bool sim_reaches_global(const sim_instruction *c)
{
    return c->space == PTX_SPACE_GLOBAL || c->space == PTX_SPACE_GENERIC;
}

/* Does it compare two integers, and nothing else? */
static inline bool sim_is_comparison(const sim_instruction *c)
{
    return c->kind == SIM_COMPARE && c->number != AFFINE_REAL && c->c == SIM_NO_SLOT && !c->flush;
}

typedef struct sim_constant {
    int32_t slot;
    uint8_t width;
    uint64_t bits;
} sim_constant;

/* A function whose calls have frames: it may be called again while it runs. */
typedef struct sim_body {
    int function;
    int32_t entry;                  /* its first instruction */
    int32_t first_slot, slot_bytes; /* its registers: each frame has values of its own */
} sim_body;

enum { SIM_MOST_LEVELS = 1024 }; /* of frames, in a thread */

typedef enum sim_special {
    SIM_TID_X,
    SIM_TID_Y,
    SIM_TID_Z,
    SIM_NTID_X,
    SIM_NTID_Y,
    SIM_NTID_Z,
    SIM_CTAID_X,
    SIM_CTAID_Y,
    SIM_CTAID_Z,
    SIM_NCTAID_X,
    SIM_NCTAID_Y,
    SIM_NCTAID_Z,
    SIM_LANEID,
    SIM_WARPID,
    SIM_NWARPID,
    SIM_LANEMASK_EQ,
    SIM_LANEMASK_LT,
    SIM_LANEMASK_LE,
    SIM_LANEMASK_GT,
    SIM_LANEMASK_GE,
    SIM_SMID,
    SIM_NSMID,
    SIM_GRIDID,
    SIM_DYNAMIC_SMEM,
    SIM_TOTAL_SMEM,
    SIM_RESERVED_SMEM, /* where shared memory of the system's begins, zeros as a block begins */
    SIM_CLUSTERID_X,
    SIM_CLUSTERID_Y,
    SIM_CLUSTERID_Z,
    SIM_NCLUSTERID_X,
    SIM_NCLUSTERID_Y,
    SIM_NCLUSTERID_Z,
    SIM_CLUSTER_CTAID_X,
    SIM_CLUSTER_CTAID_Y,
    SIM_CLUSTER_CTAID_Z,
    SIM_CLUSTER_NCTAID_X,
    SIM_CLUSTER_NCTAID_Y,
    SIM_CLUSTER_NCTAID_Z,
    SIM_CLUSTER_CTARANK,
    SIM_CLUSTER_NCTARANK,
    SIM_ENVREG1,
    SIM_ENVREG2,             /* the high and the low word of the workspace's address */
    SIM_IS_EXPLICIT_CLUSTER, /* a predicate: all bits */
    SIM_SPECIAL_COUNT
} sim_special;

enum { SIM_RESERVED_SMEM_BYTES = 288 }; /* which CUDA's cooperative groups rely on */

#define SIM_NO_ADDRESS UINT64_MAX

typedef struct sim_program {
    const ptx_module *module; /* borrowed */
    int function;
    char entry[128];
    sim_instruction *code;
    size_t code_count;
    int32_t *lists;
    size_t list_count;
    char **reasons; /* owned; why instructions are not simulated */
    size_t reason_count;
    sim_constant *constants;
    size_t constant_count;
    int32_t special_slots[SIM_SPECIAL_COUNT]; /* SIM_NO_SLOT where not read */
    uint32_t register_bytes;  /* of a warp's block of registers, constants included */
    uint32_t parameter_bytes; /* of the kernel's arguments */
    uint32_t parameter_count;
    uint32_t *parameter_offsets, *parameter_sizes;
    uint32_t static_shared_bytes; /* dynamic shared memory starts here */
    uint32_t local_bytes;         /* a thread */
    sim_body *bodies;
    size_t body_count;
    uint8_t *slot_lanes; /* for each step of slots: bytes of a lane of the slot that begins
                            there; SIM_LANE_OF_PREDICATE; 0: none that changes begins
                            there */
    size_t slot_steps;
    uint32_t frames_at;    /* where the frames begin in local memory, */
    uint32_t frame_bytes;  /* what each takes, */
    uint32_t most_levels;  /* and how many of a thread there is room for */
    uint64_t *addresses;   /* of each variable of the module, in its own space; SIM_NO_ADDRESS of
                              shared memory   that the kernel does not name */
    uint64_t global_bytes; /* of the module's global and constant variables */
    uint32_t shared_cell_bytes; /* smallest shared access: 1, 2 or 4 */
    uint32_t global_cell_bytes; /* likewise, global */
    bool *deciding; /* for each step of slots: does what it holds decide where the program goes? */
    bool reads_unwritten; /* may a thread read a register that nothing wrote? */
    bool allocates;       /* does it call malloc() or free()? */
    bool shares;          /* do threads synchronise, or meet, in places that they share? */
    bool rounds;          /* does it change places by what does not commute, as sums of floats? */
    bool writes_strongly; /* are there strong writes? */
    bool reorders;        /* may strong reads return one of several writes, or writes of a location
                             have one of several orders? */
    bool communicates;    /* may a block see what others do meanwhile, or the result depend on which
                             comes first? */
} sim_program;

/* Do its blocks have shared memory of the system's? */
static inline bool sim_program_reserves(const sim_program *p)
{
    return p->special_slots[SIM_RESERVED_SMEM] != SIM_NO_SLOT;
}

/* The start of a module's global and constant variables, and the windows through which generic
 * addresses reach shared and local memory. Buffers lie elsewhere (sim/machine/memory.h). */
#define SIM_MODULE_BASE 0x7a0000000000ull
#define SIM_SHARED_WINDOW 0x7c0000000000ull
#define SIM_LOCAL_WINDOW 0x7d0000000000ull
#define SIM_PARAM_WINDOW 0x7e0000000000ull
#define SIM_WINDOW_BYTES 0x010000000000ull
/* The address of a function: nothing can be read there. */
#define SIM_CODE_BASE 0x7b0000000000ull
#define SIM_CODE_STEP 16
static inline uint64_t sim_function_address(int function)
{
    return SIM_CODE_BASE + ((uint64_t)function + 1) * SIM_CODE_STEP;
}
/* malloc() gives addresses from here on: sim/machine/heap.h. */
#define SIM_HEAP_BASE 0x79e000000000ull
/* The workspace of a cooperative launch, in which its blocks meet, in the form of CUDA's
 * cooperative_groups/details/driver_abi.h. */
#define SIM_WORKSPACE_BASE 0x79f000000000ull
enum { SIM_WORKSPACE_BYTES = 64 };
/* Shared addresses of the block with rank r in its cluster begin at (r + 1) times so many bytes; a
 * block's own begin at 0, too. */
#define SIM_PEER_BYTES 0x1000000ull

#endif
