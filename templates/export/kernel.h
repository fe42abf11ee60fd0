% local text = require "lib.c_header"

/* Returns the number of the source with a configuration's kernels, or -1 if no source has them. The
 * source depends on problem and device if it contains sizes or limits. */
AUTOTUNE_FUNCTION int autotune_${p.name}_kernel(
    const autotune_device *device, const autotune_${p.name}_problem *problem,
    const autotune_${p.name}_config *config)
{
    (void)device;
    (void)problem;
    (void)config;
% for _, use in ipairs(p.uses) do
    if (${text.conditions(p, use, device_fields)})
        return ${use.kernel - 1};
% end
    return -1;
}
