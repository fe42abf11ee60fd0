/* The shared state of fault_inject and its preloaded library: a file that both map.
 *
 * The injector writes the plan before the program starts; the library counts its faults, in all
 * processes of the program. */
#ifndef AUTOTUNE_FAULT_STATE_H
#define AUTOTUNE_FAULT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULT_STATE_VARIABLE "FAULT_STATE"

/* One kind of fault: one of `one_in` chances is taken, until `quota` faults were injected. All
 * chances are counted. */
typedef struct fault_kind {
    uint64_t quota, one_in;
    _Atomic uint64_t chances, done;
} fault_kind;

typedef struct fault_state {
    uint64_t seed;
    uint64_t begin; /* number of sent pieces before the first fault */
    int program;    /* process id for the next signal */
    int signal;     /* sent to the program when `signal_at` pieces were sent; 0: no signal */
    uint64_t signal_at;
    int refuses_records; /* records cannot be moved into place, as on a full disk */
    fault_kind frames;   /* sends on a socket: a bit of the data is flipped */
    fault_kind writes;   /* writes to files: refused, half of them after a part */
} fault_state;

#endif
