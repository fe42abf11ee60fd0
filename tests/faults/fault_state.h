/* The state that fault_inject and its preloaded library share: a file that both map. The injector
 * writes the plan before the program starts. The library counts the faults of all processes of the
 * program. */
#ifndef AUTOTUNE_FAULT_STATE_H
#define AUTOTUNE_FAULT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULT_STATE_VARIABLE "FAULT_STATE"

/* A kind of fault. One of `one_in` chances injects a fault, until `quota` faults were injected. All
 * chances are counted. */
typedef struct fault_kind {
    uint64_t quota, one_in;
    _Atomic uint64_t chances, done;
} fault_kind;

typedef struct fault_state {
    uint64_t seed;
    uint64_t begin; /* pieces to send before the first fault */
    int program;    /* process that gets the next signal */
    int signal;     /* signal for the program once `signal_at` pieces were sent; 0 for none */
    uint64_t signal_at;
    int refuses_records; /* moving records into place fails, as on a full disk */
    fault_kind frames;   /* sends on sockets: a bit of the data is flipped */
    fault_kind writes;   /* writes to files: they fail, half of them after writing a part */
} fault_state;

#endif
