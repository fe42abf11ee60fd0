/* The decoded form of a kernel: sim/decode/decode.h makes it from PTX, sim/machine/run.h executes
 * it.
 *
 * A register becomes a slot: a byte offset into a warp's block of registers, where the 32 lanes of
 * 4 or 8 bytes lie side by side. The host compiler then vectorises a handler's loop over lanes. A
 * predicate is one 32-bit mask. A register of 128 bits takes two slots, lower half first. Constants
 * and special registers are slots that are filled before the kernel starts. */
#ifndef AUTOTUNE_SIM_PROGRAM_PROGRAM_H
#define AUTOTUNE_SIM_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/module.h"

enum {
    SIM_LANES = 32,
    SIM_NO_SLOT = -1,
    SIM_SLOT_STEP = 64,            /* alignment of slots, in bytes */
    SIM_EXIT_PC = INT32_MAX,       /* the paths of a branch meet at the end of the kernel */
    SIM_LANE_OF_PREDICATE = 1,     /* value of sim_program.slot_lanes: one bit per lane */
    SIM_HIGH_HALF = 8 * SIM_LANES, /* distance between the slots of the lower and of the upper half
                                      of 128 bits */
};

/* Loops over the lanes of a mask. */
#define SIM_EACH_OF(l, mask)                                                                       \
    for (int left_##l = (int)(mask), l = 0;                                                        \
         left_##l && (l = __builtin_ctz((uint32_t)left_##l), true);                                \
         left_##l = (int)((uint32_t)left_##l & ((uint32_t)left_##l - 1)))

/* Computes one operation on all lanes: d from up to four sources. d never overlaps a source. */
typedef void (*sim_compute)(void *restrict d, const void *const sources[4]);
/* Compares all lanes. Returns one bit per lane. */
typedef uint32_t (*sim_compare)(const void *a, const void *b);

typedef enum sim_kind {
    SIM_COMPUTE, /* compute(d, a, b, c, e) */
    SIM_COMPARE, /* predicate d = compare(a, b) [combined with c]; d2 = the same with the opposite
                    comparison */
    SIM_LOGIC,   /* predicates: d = a op b */
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
    SIM_CLUSTER_BARRIER, /* op: sim_cluster_op */
    SIM_CLUSTER_MAP, /* d = address or rank of shared address a in block b. op: sim_cluster_op */
    SIM_SHUFFLE,
    SIM_VOTE,
    SIM_MATCH,
    SIM_REDUCE,
    SIM_ACTIVE_MASK,
    SIM_CLOCK, /* d = a clock counter */
    SIM_FENCE,
    SIM_NOTHING,
    SIM_MBARRIER,    /* operation on the barrier in shared memory at a. op: sim_mbarrier_op */
    SIM_BULK_LOAD,   /* copies c bytes from global a to shared b and completes on the mbarrier at e.
                        The slot `target` holds a mask of the cluster's blocks that receive the
                        copy; SIM_NO_SLOT stands for this block only. If lists has `target_count`
                        coordinates, the source is a box of the tensor whose map is at a */
    SIM_BULK_MOVE,   /* the same copy, from the block's own shared memory at a */
    SIM_BULK_STORE,  /* copies c bytes from shared b to global a; coordinates as in SIM_BULK_LOAD */
    SIM_STORE_ASYNC, /* stores a vector in lists to shared a and completes on the mbarrier at e */
    SIM_TEXTURE, /* reads texture a, with `source_width` dimensions, into the vector in lists. After
                    the vector, lists holds `target_count` slots: the layer, then the coordinates.
                    op: sim_texture_op */
    SIM_SURFACE, /* d = the address of `vector` bytes of surface a at the coordinates in lists, as
                    in SIM_TEXTURE; predicate d2 = the bytes are inside the surface. op:
                    sim_surface_op */
    SIM_BULK_COMMIT,
    SIM_BULK_WAIT, /* waits until at most `offset` groups are pending; op: true if it is enough that
                      the copies have read their source */
    SIM_MATRIX,    /* matrix product d = a * b + c: sim/program/matrix.h */
    SIM_WARPGROUP_FENCE,
    SIM_WARPGROUP_PRODUCT, /* lists has the registers of d and perhaps a. Slots a and b have
                              descriptors of matrices in shared memory. Predicate c: the old d is
                              added. See sim/program/warpgroup.h */
    SIM_WARPGROUP_COMMIT,
    SIM_WARPGROUP_WAIT, /* waits until at most `offset` groups are pending */
    SIM_FORGET,  /* `target` bytes of local memory become undefined, or all bytes to the end if
                    `target` is 0. The first byte is `offset`, plus slot a if given */
    SIM_DISCARD, /* `vector` bytes of global memory at a become undefined */
    SIM_ALIGNED, /* faults if address a is not a multiple of `vector` in a lane of mask `target` */
    SIM_SPACE_TEST, /* predicate d = address a is in `space` */
    SIM_CALLEE, /* d = the number of the function with address a, among `target_count` functions in
                   lists at `target` */
    SIM_CALL, /* calls a function that has stack frames. lists holds, from `list` on: the indices of
                 callee and caller in sim_program.bodies (-1 for the kernel); the number of
                 parameters in local memory and the number of results; for each of these, its offset
                 in the caller's frame, its offset in the callee's frame, and its bytes. `target`:
                 first instruction of the callee. d = the start of the callee's frame */
    SIM_RETURN,    /* returns from a call. d = the start of the caller's frame */
    SIM_PRINT,     /* vprintf; lists holds the local addresses of its parameters from `target` on,
                      results last */
    SIM_ASSERTION, /* __assertfail; operands as in SIM_PRINT */
    SIM_HEAP,      /* malloc or free; operands as in SIM_PRINT. op: sim_heap_op */
    SIM_UNKNOWN    /* not simulated; sim_program.reasons[target] says why */
} sim_kind;

/* Classes in which issued instructions are counted. */
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
    SIM_MBARRIER_ARRIVE_ONLY, /* must not complete the phase */
    SIM_MBARRIER_ARRIVE_DROP, /* arrives, and later phases expect one arrival less */
    SIM_MBARRIER_EXPECT,
    SIM_MBARRIER_ARRIVE_EXPECT,
    SIM_MBARRIER_COMPLETE,
    SIM_MBARRIER_ARRIVE_COPIED,      /* arrives once the thread's cp.async copies are complete */
    SIM_MBARRIER_ARRIVE_COPIED_MORE, /* the same, and the phase expects one more arrival */
    SIM_MBARRIER_TEST,
    SIM_MBARRIER_TEST_PARITY
} sim_mbarrier_op;

/* Flags. The bits from 2 on are the component that a gather reads. */
typedef enum sim_texture_op { SIM_TEXTURE_LAYERED = 1, SIM_TEXTURE_GATHER = 2 } sim_texture_op;

/* Flags. Without CLAMP and ZERO, an access outside the surface is a fault. */
typedef enum sim_surface_op {
    SIM_SURFACE_LAYERED = 1,
    SIM_SURFACE_CLAMP = 2,
    SIM_SURFACE_ZERO = 4
} sim_surface_op;

/* First bit of the number of pending arrivals in the state that an arrival returns. */
enum { SIM_MBARRIER_PENDING = 40 };

typedef enum sim_heap_op { SIM_HEAP_MALLOC, SIM_HEAP_FREE, SIM_HEAP_ALIGNED } sim_heap_op;

typedef enum sim_rounding {
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

/* Subnormal sources and results that .ftz replaces by zero. */
typedef enum sim_flush {
    SIM_FLUSH_NOTHING,
    SIM_FLUSH_FLOATS,
    SIM_FLUSH_HALVES,
    SIM_FLUSH_BFLOATS /* one or two in a register */
} sim_flush;

/* Operations with .ftz whose result may be rounded up to the smallest normal number. */
typedef enum sim_tiny {
    SIM_TINY_NEVER,
    SIM_TINY_PRODUCT,
    SIM_TINY_SUM,
    SIM_TINY_QUOTIENT,
    SIM_TINY_RECIPROCAL,
    SIM_TINY_DIRECTED = 8 /* flag: the rounding is directed */
} sim_tiny;

/* The bits of the operands on which a bit of the result depends. If some bits of the operands are
 * undefined, this tells which bits of the result are. */
typedef enum sim_flow {
    SIM_FLOW_MIXES,     /* on every bit of the operands */
    SIM_FLOW_MOVES_ONE, /* on one bit of the first, the first two or all four operands; the other
                           operands select it */
    SIM_FLOW_MOVES_TWO,
    SIM_FLOW_MOVES_FOUR,
    SIM_FLOW_AND,
    SIM_FLOW_OR,
    SIM_FLOW_BITWISE,    /* on the same bit of each operand */
    SIM_FLOW_DIFFERENCE, /* as MIXES, but on nothing if both operands are the same register */
    SIM_FLOW_EXCLUSIVE,  /* as BITWISE, but on nothing if both operands are the same register */
    SIM_FLOW_PRODUCT,    /* as MIXES, but on nothing if one operand is zero */
    SIM_FLOW_HALVES      /* on the same 16-bit half of each operand */
} sim_flow;

/* How the bits of a register are read as a number. */
typedef enum affine_order { AFFINE_SIGNED, AFFINE_UNSIGNED, AFFINE_REAL } affine_order;

affine_order sim_order_of(ptx_type t);

/* Rules by which an instruction is computed for many threads at once (sim/affine.h). */
typedef enum sim_rule {
    RULE_NUMBERS, /* no rule: the instruction is computed for known numbers only */
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
    RULE_MONOTONE, /* monotone in each operand, as long as the operand keeps its sign */
    RULE_EQUAL,
    RULE_UNEQUAL,
    RULE_LESS,
    RULE_LESS_EQUAL,
    RULE_GREATER,
    RULE_GREATER_EQUAL
} sim_rule;

/* Execution pipes of a streaming multiprocessor. */
typedef enum sim_pipe {
    SIM_PIPE_FLOAT,   /* 32-bit float arithmetic, and packed halves */
    SIM_PIPE_INTEGER, /* integer additions, comparisons, shifts, logic */
    SIM_PIPE_PRODUCT, /* integer products */
    SIM_PIPE_DOUBLE,
    SIM_PIPE_SPECIAL, /* reciprocals, roots, exponentials, conversions from and to 64 bits */
    SIM_PIPE_MEMORY,  /* loads, stores, atomics, shuffles */
    SIM_PIPE_MATRIX,
    SIM_PIPE_BARRIER,
    SIM_PIPE_OTHER, /* branches, votes: cost only their issue slot */
    SIM_PIPE_COUNT,
    SIM_PIPE_EITHER = SIM_PIPE_COUNT /* INTEGER or PRODUCT, whichever is free */
} sim_pipe;

/* Machine instructions that ptxas emits for a PTX instruction, and their pipe. Some become a chain:
 * `specials` on the special function unit and `others`. */
typedef struct sim_cost {
    uint8_t pipe; /* sim_pipe */
    float instructions;
    uint8_t specials, others; /* 0 if the instruction is no chain */
} sim_cost;

/* clang-format off */
#define SIM_COST(pipe, instructions) {SIM_PIPE_##pipe, instructions, 0, 0}
#define SIM_COST_OF_CHAIN(pipe, instructions, specials, others) {SIM_PIPE_##pipe, instructions, specials, others}
/* clang-format on */

/* Cache hints of loads from global memory. */
typedef enum sim_hint {
    SIM_HINT_NONE,
    SIM_HINT_STREAMING,
    SIM_HINT_NO_ALLOCATE,
    SIM_HINT_WIDE,
    SIM_HINT_L2, /* .cg: bypasses the L1 */
    SIM_HINT_WIDE_NO_ALLOCATE,
    SIM_HINT_COUNT
} sim_hint;

/* Scope of a strong memory access or a fence. PTX ISA, "Scope". */
typedef enum sim_scope {
    SIM_SCOPE_NONE,
    SIM_SCOPE_BLOCK,
    SIM_SCOPE_CLUSTER,
    SIM_SCOPE_GPU
} sim_scope;

/* Whether a read acquires. LOOSELY: an atomic without a memory order (sim/machine/order.h). */
typedef enum sim_acquires { SIM_ACQUIRES_NOTHING, SIM_ACQUIRES_LOOSELY, SIM_ACQUIRES } sim_acquires;

/* A machine access of a load or store, for counting: see sim/decode/reshape.h. */
typedef struct sim_piece {
    int8_t skip; /* offset from the address in the PTX, in bytes */
    uint8_t bytes;
} sim_piece;

typedef struct sim_shape {
    bool reshaped; /* the machine accesses differ from the access in the PTX */
    uint8_t count; /* number of machine accesses; 0 if another instruction's access covers it, or
                      its result is unused */
    sim_piece pieces[4];
} sim_shape;

enum { SIM_TENSOR_RANK = 5 }; /* highest number of dimensions of a tensor */

typedef struct sim_instruction {
    uint8_t kind;         /* sim_kind */
    uint8_t count_class;  /* sim_class */
    uint8_t width;        /* bytes of a lane of d: 4 or 8; 0 for a predicate */
    uint8_t source_width; /* bytes of a lane of a, for kinds where it may differ */
    uint8_t type;         /* ptx_type of the operation */
    uint8_t source_type;  /* ptx_type of the source of a conversion */
    uint8_t op;           /* sim_logic, sim_atomic_op, sim_warp_op, sim_barrier_op, sim_rounding,
                             sim_mbarrier_op, sim_cluster_op or sim_tiny. Loads: sim_hint. Clocks:
                             right shift in bits. Fences: true if sequentially consistent */
    uint8_t space;        /* ptx_space */
    uint8_t vector;       /* number of elements of a load or store; 2 for a 128-bit atomic */
    bool guard_negated;
    uint8_t flush; /* sim_flush */
    bool saturate;
    bool relu;   /* conversions: negative results become zero */
    bool finite; /* conversions: too large results become the largest number */
    bool negate_a, negate_b, negate_c; /* the predicate source is negated */
    bool drops_negated; /* lanes where the predicate of `drops` is false drop the value */
    bool extra;         /* belongs to the previous PTX instruction: is not counted */
    uint8_t scope;      /* sim_scope of a strong memory access or a fence */
    uint8_t acquires;   /* sim_acquires */
    bool releases;
    bool is_volatile;  /* strong only because it is volatile */
    bool noncoherent;  /* load through the read-only cache */
    bool is_surface;   /* non-coherent load of a surface, whose contents may be written later */
    bool cluster;      /* shared memory address that may belong to another block of the cluster */
    bool proxy;        /* proxy fence: orders accesses of threads and of the copy engine */
    uint8_t flow;      /* SIM_COMPUTE: sim_flow */
    uint8_t rule;      /* SIM_COMPUTE, SIM_COMPARE: sim_rule */
    uint8_t number;    /* SIM_COMPUTE, SIM_COMPARE: affine_order of the operands */
    int8_t reduction;  /* copies and asynchronous stores: sim_atomic_op on elements of `type`, or of
                          the tensor's type; -1 if they do not combine values */
    uint8_t widths[4]; /* SIM_COMPUTE: bytes of a lane of a, b, c, e; 0 for no such operand */
    int32_t guard;     /* slot of a predicate, or SIM_NO_SLOT */
    int32_t d, d2;     /* slots */
    int32_t a, b, c, e;
    int64_t offset; /* bytes added to the address */
    int32_t object; /* accesses to shared memory: index of the module's variable from which the
                       address is computed (copies: address b); negative if unknown */
    int32_t list;   /* vector loads and stores: index in sim_program.lists of their slots */
    int32_t drops;  /* loads: index of the instruction whose predicate says which lanes do not use
                       the loaded value; -1 if it is unknown */
    int32_t target; /* branches: index of the target instruction, or of the first of `target_count`
                       targets in lists */
    int32_t target_count;
    int32_t e_offset;   /* bulk loads: bytes added to e */
    int32_t reconverge; /* branches: index of the instruction where the paths meet again */
    union {
        sim_compute compute;
        sim_compare compare;
    };
    const sim_cost *cost;
    sim_shape shape;   /* machine accesses of a load or store of shared or global memory */
    int32_t line;      /* line of the PTX */
    int32_t location;  /* index in ptx_module.locations */
    int32_t statement; /* index in ptx_module.statements */
} sim_instruction;

/* Returns whether the instruction accesses global memory, or may do so by a generic address. */
static inline bool sim_reaches_global(const sim_instruction *c)
{
    return c->space == PTX_SPACE_GLOBAL || c->space == PTX_SPACE_GENERIC;
}

/* Returns whether the instruction only compares two integers. */
static inline bool sim_is_comparison(const sim_instruction *c)
{
    return c->kind == SIM_COMPARE && c->number != AFFINE_REAL && c->c == SIM_NO_SLOT && !c->flush;
}

typedef struct sim_constant {
    int32_t slot;
    uint8_t width;
    uint64_t bits;
} sim_constant;

/* A function whose calls have stack frames, because it may be recursive. */
typedef struct sim_body {
    int function;
    int32_t entry;                  /* index of its first instruction */
    int32_t first_slot, slot_bytes; /* its registers, which each frame saves */
} sim_body;

enum { SIM_MOST_LEVELS = 1024 }; /* highest depth of calls of a thread */

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
    SIM_RESERVED_SMEM, /* start of the shared memory that CUDA reserves, which is zero when a block
                          starts */
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
    SIM_ENVREG2,             /* the high and the low word of the address of the workspace */
    SIM_IS_EXPLICIT_CLUSTER, /* a predicate: all bits are equal */
    SIM_SPECIAL_COUNT
} sim_special;

enum { SIM_RESERVED_SMEM_BYTES = 288 }; /* used by CUDA's cooperative groups */

#define SIM_NO_ADDRESS UINT64_MAX

typedef struct sim_program {
    const ptx_module *module; /* borrowed */
    int function;
    char entry[128];
    sim_instruction *code;
    size_t code_count;
    int32_t *lists;
    size_t list_count;
    char **reasons; /* owned; texts that say why an instruction is not simulated */
    size_t reason_count;
    sim_constant *constants;
    size_t constant_count;
    int32_t special_slots[SIM_SPECIAL_COUNT]; /* SIM_NO_SLOT if the program does not read the
                                                 register */
    uint32_t register_bytes;  /* size of a warp's block of registers, constants included */
    uint32_t parameter_bytes; /* size of the kernel's arguments */
    uint32_t parameter_count;
    uint32_t *parameter_offsets, *parameter_sizes;
    uint32_t static_shared_bytes; /* static shared memory; dynamic shared memory follows */
    uint32_t local_bytes;         /* local memory of a thread */
    sim_body *bodies;
    size_t body_count;
    uint8_t *slot_lanes; /* for each SIM_SLOT_STEP of the registers: bytes of a lane of the variable
                            that starts there, or SIM_LANE_OF_PREDICATE; 0 if none does */
    size_t slot_steps;
    uint32_t frames_at; /* offset of the first stack frame in local memory */
    uint32_t frame_bytes;
    uint32_t most_levels; /* number of frames for which a thread has room */
    uint64_t *addresses; /* address of each variable of the module, in its own space; SIM_NO_ADDRESS
                            for shared variables that the kernel does not name */
    uint64_t global_bytes;      /* size of the module's global and constant variables */
    uint32_t shared_cell_bytes; /* bytes of the smallest access to shared memory: 1, 2 or 4 */
    uint32_t global_cell_bytes; /* bytes of the smallest access to global memory */
    bool *deciding;    /* for each SIM_SLOT_STEP of the registers: whether the value decides the
                          control flow */
    int32_t *steering; /* slots that decide branches and exits; NULL if they may get values from
                          memory, clocks or other threads */
    size_t steering_count;
    bool reads_unwritten; /* a thread may read a register that was never written */
    bool allocates;       /* calls malloc() or free() */
    bool shares;          /* threads synchronise, or communicate through shared locations */
    bool rounds; /* updates memory by operations that do not commute, such as sums of floats */
    bool writes_strongly;
    bool reorders; /* a strong read may return one of several writes, or the writes of a location
                      may have several orders */
    bool communicates; /* a block may observe other blocks that run at the same time, or the result
                          may depend on the order of blocks */
} sim_program;

/* Returns whether the blocks have shared memory that CUDA reserves. */
static inline bool sim_program_reserves(const sim_program *p)
{
    return p->special_slots[SIM_RESERVED_SMEM] != SIM_NO_SLOT;
}

/* Address map: variables of the module, and the windows of generic addresses. Buffers lie elsewhere
 * (sim/machine/memory.h). */
#define SIM_MODULE_BASE 0x7a0000000000ull
#define SIM_SHARED_WINDOW 0x7c0000000000ull
#define SIM_LOCAL_WINDOW 0x7d0000000000ull
#define SIM_PARAM_WINDOW 0x7e0000000000ull
#define SIM_WINDOW_BYTES 0x010000000000ull
/* Addresses of functions. A kernel cannot read there. */
#define SIM_CODE_BASE 0x7b0000000000ull
#define SIM_CODE_STEP 16

/* Returns the address of the module's function with that index. */
static inline uint64_t sim_function_address(int function)
{
    return SIM_CODE_BASE + ((uint64_t)function + 1) * SIM_CODE_STEP;
}
/* First address that malloc() returns (sim/machine/heap.c). */
#define SIM_HEAP_BASE 0x79e000000000ull
/* The workspace where blocks of a cooperative launch synchronise: CUDA's
 * cooperative_groups/details/driver_abi.h has its layout. */
#define SIM_WORKSPACE_BASE 0x79f000000000ull
enum { SIM_WORKSPACE_BYTES = 64 };
/* The shared memory of the block with rank r in its cluster starts at (r + 1) * SIM_PEER_BYTES. The
 * block itself also sees it at 0. */
#define SIM_PEER_BYTES 0x1000000ull

enum { SIM_MOST_OPERANDS = 144 }; /* a warpgroup product has 128 accumulators */

/* The slots that an instruction reads and writes, predicates included. */
typedef struct sim_operands {
    int32_t reads[SIM_MOST_OPERANDS], writes[SIM_MOST_OPERANDS];
    int read_count, write_count;
} sim_operands;

/* Finds all slots of an instruction of the program. The guard counts as read. */
void sim_operands_of(const sim_program *p, const sim_instruction *c, sim_operands *out);

#endif
