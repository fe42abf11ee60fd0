/* A kernel of a simulated device: PTX parsed and decoded once, with its module's variables.
 *
 * Owns everything but the buffers that a launch names. __device__ and __constant__ variables start
 * as the PTX says and keep their contents from launch to launch, as on a GPU, until they are
 * reset. */
#ifndef AUTOTUNE_SIM_KERNEL_H
#define AUTOTUNE_SIM_KERNEL_H

#include "base/error.h"
#include "device/plan.h"
#include "sim/machine/heap.h"
#include "sim/machine/memory.h"
#include "sim/program/program.h"

typedef struct sim_kernel {
    ptx_module *module;
    size_t program_count;
    sim_program *programs[PLAN_MAX_LAUNCHES]; /* of each entry; they share the variables */
    uint8_t *variables;                       /* programs[0]->global_bytes, from SIM_MODULE_BASE */
    uint8_t *initial;                         /* as many: what the module defines */
    sim_heap *heap;                           /* NULL: no program uses it */
} sim_kernel;

/* Makes a kernel of PTX text; `name` is used in messages. An entry may occur more than once; NULL
 * is the module's first. On success free it with sim_kernel_deinit. AT_FORMAT, AT_NOT_FOUND,
 * AT_NO_MEMORY. */
at_status sim_kernel_init(sim_kernel *k, const char *ptx, size_t size, const char *name,
                          const char *const *entries, size_t entry_count, at_error *error);
void sim_kernel_deinit(sim_kernel *k);

/* Gives the module's variables the values that the module defines. */
void sim_kernel_reset(const sim_kernel *k);

/* Finds a variable that differs from what the module defines and that no constant of the plan
 * fills; NULL if there is none. */
const ptx_variable *sim_kernel_find_changed(const sim_kernel *k, const launch_plan *plan);

/* Finds the address of the module's variable `name`. AT_COMPILE when there is none or it has less
 * than `size_bytes`. */
at_status sim_kernel_find_variable(const sim_kernel *k, const char *name, uint64_t size_bytes,
                                   uint64_t *address, at_error *error);

/* Overwrites the start of such a variable. */
at_status sim_kernel_set_variable(const sim_kernel *k, const char *name, const uint8_t *bytes,
                                  uint64_t size_bytes, at_error *error);

/* Adds the kernel's heap and its variables to `memory`, which must be given to sim_run() and freed
 * by the caller before the kernel is. Where a region begins at a variable's address, only what is
 * behind that region is added. */
at_status sim_kernel_add_variables(const sim_kernel *k, sim_memory *memory, at_error *error);

#endif
