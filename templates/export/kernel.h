% local text = require "lib.c_header"

/* Returns which of the sources has a configuration's kernels for this problem and device, since
 * some sources contain sizes and limits. Returns -1 if none has. */
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
