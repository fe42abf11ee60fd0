/* A kernel of a simulated device: parsed and decoded PTX, and the variables of its module. A kernel
 * owns everything except the buffers of a launch. As on a GPU, __device__ and __constant__
 * variables start with the values in the PTX and keep their contents until a reset. */
#ifndef AUTOTUNE_SIM_KERNEL_H
#define AUTOTUNE_SIM_KERNEL_H

#include "base/error.h"
#include "device/plan.h"
#include "sim/machine/memory.h"
#include "sim/program/program.h"

typedef struct sim_kernel {
    ptx_module *module;
    size_t program_count;
    sim_program *programs[PLAN_MAX_LAUNCHES]; /* programs of the entries, which share the variables;
                                                 owned */
    uint8_t *variables; /* contents of all variables: programs[0]->global_bytes bytes, from address
                           SIM_MODULE_BASE on */
    uint8_t *initial;   /* initial contents, as the module defines them */
    sim_heap *heap;     /* heap of malloc(); NULL if no program allocates memory */
} sim_kernel;

/* Makes a kernel from PTX text, which messages call `name`. Entries may repeat; NULL is the
 * module's first entry. On success the caller frees the kernel with sim_kernel_deinit(). Returns
 * AT_FORMAT, AT_NOT_FOUND or AT_NO_MEMORY. */
at_status sim_kernel_init(sim_kernel *k, const char *ptx, size_t size, const char *name,
                          const char *const *entries, size_t entry_count, at_error *error);
void sim_kernel_deinit(sim_kernel *k);

void sim_kernel_reset(const sim_kernel *k);

/* Returns a variable that launches have changed and the plan does not fill, or NULL. */
const ptx_variable *sim_kernel_find_changed(const sim_kernel *k, const launch_plan *plan);

/* Finds the address of the variable `name`. Returns AT_COMPILE if the kernel lacks the variable, or
 * if it has fewer than `size_bytes` bytes. */
at_status sim_kernel_find_variable(const sim_kernel *k, const char *name, uint64_t size_bytes,
                                   uint64_t *address, at_error *error);

/* Overwrites the start of the variable `name`. Returns AT_COMPILE as above. */
at_status sim_kernel_set_variable(const sim_kernel *k, const char *name, const uint8_t *bytes,
                                  uint64_t size_bytes, at_error *error);

/* Adds the heap and the variables of the kernel to `memory`, which the caller frees before the
 * kernel. Of a variable whose address begins a region of `memory`, only the rest is added. */
at_status sim_kernel_add_variables(const sim_kernel *k, sim_memory *memory, at_error *error);

#endif
