/* What fault_inject and the library that it preloads share: a file that both map.
 *
 * The injector writes the plan before the program starts; the library counts what it did, in
 * whatever process of the program it was. */
#ifndef AUTOTUNE_FAULT_STATE_H
#define AUTOTUNE_FAULT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULT_STATE_VARIABLE "FAULT_STATE"

/* One kind of fault: of every `one_in` chances one is taken, until `quota` were. Chances are
 * counted whatever the quota. */
typedef struct fault_kind {
    uint64_t quota, one_in;
    _Atomic uint64_t chances, done;
} fault_kind;

typedef struct fault_state {
    uint64_t seed;
    uint64_t begin; /* no fault before so many pieces were sent */
    int program;    /* process id, for the next */
    int signal;     /* is sent to the program when `signal_at` pieces were sent; 0: none */
    uint64_t signal_at;
    int refuses_records; /* no record can be put in its place: the disk is full */
    fault_kind frames;   /* sends on a socket: a bit of what is sent is flipped */
    fault_kind
        writes; /* writes to regular files and the like: refused, half of them after a part */
} fault_state;

#endif
