#ifdef __cplusplus
extern "C" {
#endif

/* Picks a configuration for a device (NULL: the current one) and a problem, evaluates its launches and
 * allows its kernels the shared memory that they need on the current device. *choice (NULL: not
 * wanted) says which. cudaErrorNotSupported when the file has no kernel for that problem there. */
cudaError_t autotune_$_plan(const autotune_device *device,
                            const autotune_$_problem *problem,
                            autotune_$_choice *choice, autotune_plan *plan);

/* Queues the launches of a plan, and before them what fills __constant__ data, for which launches of
 * one pattern must then not overlap. Allocates nothing, waits for nothing. */
cudaError_t autotune_$_run(const autotune_plan *plan, const autotune_$_buffers *buffers,
                           cudaStream_t stream);

/* Both, on the current device. */
cudaError_t autotune_$_launch(const autotune_$_problem *problem,
                              const autotune_$_buffers *buffers, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
