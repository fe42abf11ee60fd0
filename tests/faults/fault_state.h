/* The state that fault_inject and its preloaded library share, in a file that both map. The
 * injector writes the plan before the program starts. The library counts faults of all processes of
 * the program. */
#ifndef AUTOTUNE_FAULT_STATE_H
#define AUTOTUNE_FAULT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULT_STATE_VARIABLE "FAULT_STATE"

/* A kind of fault. On average one of `one_in` chances injects a fault, until `quota` faults were
 * injected. `chances` counts all chances. */
typedef struct fault_kind {
    uint64_t quota, one_in;
    _Atomic uint64_t chances, done;
} fault_kind;

typedef struct fault_state {
    uint64_t seed;
    uint64_t begin; /* number of sent pieces before the first fault */
    int program;    /* process id of the program */
    int signal; /* signal that the program gets after sending `signal_at` pieces; 0 for no signal */
    uint64_t signal_at;
    int refuses_records; /* whether moving records into place fails, as on a full disk */
    fault_kind frames;   /* faults of sending on sockets: a bit of the data is flipped */
    fault_kind writes;   /* faults of writing to files: half of the failing writes write a part */
} fault_state;

#endif
