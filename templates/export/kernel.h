
/* Which of the sources has a configuration's kernels for this problem and device: there
 * are sizes and limits in some. -1: none has. */
AUTOTUNE_FUNCTION int autotune_$_kernel(
    const autotune_device *device, const autotune_$_problem *problem,
    const autotune_$_config *config)
{
    (void)device;
    (void)problem;
    (void)config;
@uses@
    return -1;
}
